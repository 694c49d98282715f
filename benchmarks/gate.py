"""Does the gate cry wolf, and is it blind? Whole gates on this machine, without a change and with work added.

python benchmarks/gate.py --jobs 40 --extra 0.05

Prints for each job what was found, in how many blocks and seconds, then the counts; a job that could not be decided
counts as not found. Exits with 1 where more than one in forty is a false alarm or fewer than 95 % are found. `--extra`
is the share of work that the new side does on top (option `extra_work` of a case).
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from modeldyno.ci.gate import Gate
from modeldyno.ci.match import Terms
from modeldyno.ci.report import GateReport, GateVerdict
from modeldyno.ci.sides import contender
from modeldyno.measure.host import describe_host
from modeldyno.runner.suite import read_suite

SUITE = """\
model: {model}
on: cpu
runtime: {runtime}
batch: {batch}
seq: {seq}
options: {{threads: {threads}, extra_work: {extra}}}
"""


def job(options: argparse.Namespace, folder: Path, extra: float) -> GateReport:
    """One gate, as `dyno gate --a suite=FILE --b suite=FILE` holds it."""
    with ExitStack() as stack:
        sides = []
        for letter, added in (("a", 0.0), ("b", extra)):
            path = folder / f"{letter}.yaml"
            path.write_text(SUITE.format(**vars(options) | {"extra": added}))
            sides.append(stack.enter_context(contender(letter, (f"suite={path}",), partial(read_suite, path))))
        gate = Gate(*sides, Terms(budget_s=options.budget))
        gate.play(lambda *_: None)
        return gate.report(describe_host())


def line(kind: str, number: int, report: GateReport) -> str:
    (case,) = report.cases
    ratio, noise = case.ratio, report.control.noise if report.control else float("nan")
    shown = f"{ratio.value:.4f} [{ratio.low:.4f}, {ratio.high:.4f}]" if ratio.value else "-"
    return (
        f"{kind} {number:3}: {report.verdict.value:10} ratio {shown}  margin {case.margin:.2%}  noise {noise:.2%}  "
        f"{report.blocks} blocks, {report.duration_s:.0f} s"
    )


def summary(kind: str, reports: list[GateReport]) -> str:
    verdicts = [report.verdict.value for report in reports]
    seconds = [report.duration_s for report in reports]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in ("ok", "regression", "undecided"))
    return (
        f"{kind}: {len(reports)} jobs: {counts}; "
        f"median {statistics.median(seconds):.0f} s, longest {max(seconds):.0f} s, "
        f"median {statistics.median(report.blocks for report in reports):g} blocks"
    )


def holds(same: list[GateReport], slower: list[GateReport]) -> bool:
    """At most one false alarm in forty jobs, and thirty-eight of forty changes found."""
    alarms = sum(report.verdict is GateVerdict.REGRESSION for report in same)
    found = sum(report.verdict is GateVerdict.REGRESSION for report in slower)
    return alarms <= max(1, len(same) // 40) and found >= 0.95 * len(slower)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=40, help="of each kind")
    parser.add_argument("--extra", type=float, default=0.05)
    parser.add_argument("--model", default="tiny-bert")
    parser.add_argument("--runtime", default="onnxruntime")
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--seq", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=180.0, help="seconds of a job")
    parser.add_argument("--output", type=Path, help="all reports as JSON lines")
    options = parser.parse_args()
    reports: dict[str, list[GateReport]] = {"A/A": [], f"+{options.extra:.0%}": []}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(1, options.jobs + 1):  # in turns, so that an hour of noise hits both kinds
            for kind, extra in zip(reports, (0.0, options.extra), strict=True):
                report = job(options, Path(folder), extra)
                reports[kind].append(report)
                print(line(kind, number, report), flush=True)
                if options.output:
                    with options.output.open("a") as file:
                        file.write(json.dumps({"kind": kind, **report.model_dump(mode="json")}) + "\n")
    for kind, found in reports.items():
        print(summary(kind, found))
    print(f"{time.monotonic() - begin:.0f} s in all")
    raise SystemExit(0 if holds(*reports.values()) else 1)


if __name__ == "__main__":
    main()
