"""`dyno gate`: did it get slower? Two versions side by side, or the latest run against its history."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._cases import CaseWords, Targets, TimeoutOption, case_suite, naming_cases
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_line, print_note, print_table
from modeldyno.cli._store import open_store
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.ci.gate import Gate
    from modeldyno.ci.match import Terms
    from modeldyno.ci.report import CaseVerdict, GateReport
    from modeldyno.ci.sides import Contender
    from modeldyno.core.types import Host
    from modeldyno.store.store import Store

_SIDE = "commit=SHA, python=PATH of an installation, suite=FILE; several with commas. Left out: as it is here."


@naming_cases
def gate(
    targets: Targets = None,
    a: Annotated[list[str] | None, typer.Option("--a", metavar="KIND=VALUE", help=f"The old side: {_SIDE}")] = None,
    b: Annotated[
        list[str] | None, typer.Option("--b", metavar="KIND=VALUE", help="The new side, in the same words.")
    ] = None,
    history: Annotated[
        str | None, typer.Option("--history", metavar="RUN", help="Judge this run (`latest`) against its history.")
    ] = None,
    metric: Annotated[str, typer.Option(help="What must not get worse.")] = "latency_ms",
    margin: Annotated[
        str | None, typer.Option(help="Smallest change that matters: 0.03, or latency_ms=0.03,memory_peak_mb=0.05.")
    ] = None,
    rounds: Annotated[int, typer.Option(min=1, help="Turns of each side in a block of fresh processes.")] = 32,
    turn: Annotated[float, typer.Option(min=0.001, help="Seconds of a turn, of three steps at least.")] = 0.025,
    budget: Annotated[float, typer.Option(min=1, help="Seconds after which no further block begins.")] = 1800.0,
    words: CaseWords = CaseWords(),
    timeout: TimeoutOption = 900.0,
    keep: Annotated[
        bool, typer.Option("--keep", help="Keep what was measured in the store, a run for each side.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Write the JSON document to this file as well.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Judge whether it got slower: exit 0 when not, 1 for a regression, 3 when that could not be decided."""
    terms = _terms(metric, margin, budget, timeout, rounds, turn)
    if output:
        _write(output, "")  # a bad path shows before anything is measured
    if history is not None:
        report = _against_history(history, terms, store, bool(targets or a or b or keep))
    else:
        report = _side_by_side(targets, words, a, b, terms, open_store(store) if keep else None)
    if json:
        print_line(report.model_dump_json(indent=2))
    else:
        _print(report)
    if output:
        _write(output, report.model_dump_json(indent=2) + "\n")
    raise typer.Exit(report.exit_code)


def _terms(metric: str, margin: str | None, budget: float, timeout: float, rounds: int, turn: float) -> Terms:
    from modeldyno.ci.match import Terms
    from modeldyno.core.errors import InputError
    from modeldyno.core.metrics import metric as known
    from modeldyno.runner.turns import Pace

    names = tuple(comma_list(metric))
    if not names:
        raise InputError("--metric names no metric; write for example --metric latency_ms.")
    for name in names:
        known(name)
    return Terms(names, _margins(margin, names), budget, Pace(rounds, turn), timeout)


def _margins(text: str | None, names: tuple[str, ...]) -> dict[str, float]:
    """`0.03` is for all metrics, `latency_ms=0.03` for one."""
    from modeldyno.core.errors import InputError

    margins: dict[str, float] = {}
    for part in comma_list(text):
        name, equals, value = part.rpartition("=")
        try:
            share = float(value)
        except ValueError:
            share = -1.0
        if not 0 < share < 1 or (equals and name not in names):
            raise InputError(
                f"--margin {part} is not a share between 0 and 1 of a metric that is judged; "
                f"write 0.02 or {names[0]}=0.02."
            )
        margins |= {name: share} if equals else dict.fromkeys(names, share)
    return margins


def _side_by_side(
    targets: list[str] | None,
    words: CaseWords,
    a: list[str] | None,
    b: list[str] | None,
    terms: Terms,
    store: Store | None,
) -> GateReport:
    from modeldyno.ci.gate import Gate
    from modeldyno.ci.sides import contender
    from modeldyno.cli._invocation import command_line
    from modeldyno.core.errors import InputError
    from modeldyno.measure.host import describe_host

    if not a and not b:
        raise InputError(
            "Nothing to compare; give --a and --b, e.g. --a commit=main --b commit=HEAD, or --history latest."
        )
    host, command = describe_host(), command_line()
    with ExitStack() as sides:
        old = sides.enter_context(contender("a", a or (), lambda: case_suite(targets, words)))
        new = sides.enter_context(contender("b", b or (), lambda: case_suite(targets, words)))
        if targets and old.own_suite and new.own_suite:
            raise InputError(f"Both sides have a suite of their own; leave out {' '.join(targets)}.")
        judged = Gate(old, new, terms)
        try:
            judged.play(lambda case, blocks, state: print_note(f"{case.label}: block {blocks}, {state}"))
        finally:
            if store:
                _keep(store, judged, old, new, host, command)
        return judged.report(host, command)


def _keep(store: Store, judged: Gate, old: Contender, new: Contender, host: Host, command: str) -> None:
    from modeldyno.ci.keep import items

    for is_new, side in enumerate((old, new)):
        store.add(items(side, bool(is_new), judged.matches, host, command))


def _against_history(run: str, terms: Terms, store: str | None, mixed: bool) -> GateReport:
    from modeldyno.ci.latest import judge_run
    from modeldyno.cli._invocation import command_line
    from modeldyno.core.errors import InputError

    if mixed:
        raise InputError("--history judges a stored run; leave out models, --a, --b and --keep.")
    opened = open_store(store)
    return judge_run(opened, opened.find_run(run), terms, command_line())


def _write(output: Path, text: str) -> None:
    from modeldyno.core.errors import InputError

    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror}; choose another --output.") from None


def _print(report: GateReport) -> None:
    print_table(_table(report))
    if report.control:
        wide = "; margins gave way to it" if report.control.widened else ""
        print_line(f"Noise of the old side against itself: {report.control.noise:.2%}{wide}.")
    sentences = {
        "ok": "Nothing got worse.",
        "regression": "It got worse.",
        "undecided": "Not all could be decided; give more --budget, a larger --margin, or a quieter host.",
    }
    print_line(f"{sentences[report.verdict.value]} {report.blocks} blocks in {report.duration_s:.0f} s.")


def _table(report: GateReport) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table(
        f"{report.baseline} -> {report.candidate}", ["case", "metric", "a", "b", "b / a", "margin", "verdict"]
    )
    for case in report.cases:
        table.add_row(
            case.case, case.metric, _value(case, case.baseline), _value(case, case.candidate), *_judgement(case)
        )
    return table


def _value(case: CaseVerdict, value: float | None) -> str:
    from modeldyno.core.metrics import format_value

    return "-" if value is None else format_value(case.metric, value)


def _judgement(case: CaseVerdict) -> tuple[str, str, str]:
    from modeldyno.analysis.verdict import word

    ratio = case.ratio
    if ratio.value is None or ratio.low is None or ratio.high is None:
        text = "-"
    else:
        text = f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"
    verdict = word(case.change, case.metric).upper() if case.regression else word(case.change, case.metric)
    return text, f"{case.margin:.1%}", f"{verdict}: {case.note}" if case.note else verdict
