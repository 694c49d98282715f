"""`dyno history`: what became of a metric over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.analysis.history import History, Step

FEWEST = 6
"""Points of two levels, without which no change can be seen."""


@choosing("status")
def history(
    only: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Only these models; none for all.")] = None,
    choice: Choice = Choice(),
    metric: Annotated[str, typer.Option(help="The metric to look at.")] = "latency_ms",
    margin: Annotated[
        float | None, typer.Option(min=0, max=1, help="The smallest share that matters (2 %, memory 1 %).")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Also series without a change.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show where a metric changed over time, with the run, the commit and the environment."""
    from modeldyno.analysis import documents
    from modeldyno.analysis.history import analyse
    from modeldyno.core.types import Provenance
    from modeldyno.store.points import read_series

    opened = open_store(store)
    chosen = choice.but(model=",".join(filter(None, (only, choice.words.get("model"))))).filter()
    made_up = bool({Provenance.SIMULATED, Provenance.PREDICTED} & set(chosen.provenance))
    found = analyse(read_series(opened, chosen, metric), metric, made_up, margin)
    counted = sorted((one for one in found if one.points), key=_order)
    if json:
        print_json({"metric": metric, **_terms(), "series": [documents.history(one) for one in counted]})
        return
    _tell(counted, metric, everything, len(found) - len(counted))


def _order(one: History) -> tuple[bool, bool, str]:
    """Alarms first, then other changes."""
    return not one.alarm, not one.changed, one.series.case.label


def _terms() -> dict[str, float]:
    """What the answer promises."""
    from modeldyno.analysis.changes import ALPHA, FALSE_ALARMS
    from modeldyno.analysis.false_discovery import Q

    return {"false_alarms_at_100_points": FALSE_ALARMS, "p_value_limit": ALPHA, "false_discovery_rate": Q}


def _tell(counted: list[History], metric: str, everything: bool, without: int) -> None:
    if not counted:
        others = f"; {without} series have other metrics, or only simulated numbers (--provenance)" if without else ""
        print_line(f"No measured value of {metric} matches{others}.")
        return
    changed = [one for one in counted if one.changed]
    shown = counted if everything else changed
    if shown:
        print_table(_series_table(shown, metric))
    for one in shown:
        for line in _details(one, metric):
            print_line(line)
    for line in _odd_hosts(counted):
        print_line(line)
    short = sum(_is_short(one) for one in counted if not one.changed)
    still = len(counted) - len(changed) - short
    hint = "" if everything else "; --all lists them"
    if still:
        print_line(f"{still} of {len(counted)} series show no change{hint}.")
    if short:
        print_line(f"{short} of {len(counted)} series have fewer than {FEWEST} points, too few to see one{hint}.")
    print_note(_promise(counted))


def _is_short(one: History) -> bool:
    return len(one.points) < FEWEST


def _promise(counted: list[History]) -> str:
    short = sum(one.smallest is None for one in counted)
    text = (
        "A series of 100 points without a change is flagged in at most 1 % of cases (a short one with autocorrelation "
        "in 3 %), and of the changes told inside an environment, over all series, at most 5 % are false on average; "
        "for new environments and hosts that differ there are only the 95 % intervals. The smallest change is the one "
        "found in nine of ten cases within five runs when its series is looked at alone; among many it takes more."
    )
    return text + (f" {short} series are too short for that, or have values of zero." if short else "")


def _series_table(shown: list[History], metric: str) -> Table:
    from modeldyno.cli._tables import new_table
    from modeldyno.core.metrics import format_value

    columns = ["series", "points", "level", "last change", "commit", "ratio", "verdict", "smallest change"]
    table = new_table(f"History of {metric}", columns)
    for one in shown:
        step = max(one.felt, key=lambda step: step.after.started_at, default=None)
        bounds = (one.level.low, one.level.high) if one.level and one.since > 1 else (None, None)
        level = format_value(metric, one.level.value, *bounds) if one.level else "-"
        unchanged = "too few points" if _is_short(one) else "no change found"
        cells = _step_cells(step, metric) if step else ("-", "-", "-", unchanged)
        smallest = "-" if one.smallest is None else f"{one.smallest:.1%}"
        table.add_row(_label(one), str(len(one.points)), level, *cells, smallest)
    return table


def _label(one: History) -> str:
    """The case, its device, and where a number is not measured."""
    others = sorted({point.provenance.value for point in one.points} - {"measured"})
    return " · ".join([one.series.case.label, *filter(None, [one.series.device]), *others])


def _step_cells(step: Step, metric: str) -> tuple[str, str, str, str]:
    from modeldyno.analysis.told import commit_of, ratio_text

    return (
        f"{step.after.started_at:%Y-%m-%d %H:%M}",
        commit_of(step.after),
        ratio_text(step.ratio),
        _verdict(step, metric),
    )


def _verdict(step: Step, metric: str) -> str:
    from modeldyno.analysis.verdict import word

    if step.environment:
        return f"environment, {word(step.change, metric)}"
    return f"{word(step.change, metric)}{', gone' if step.gone else ''}"


def _details(one: History, metric: str) -> list[str]:
    """A line for each change, in order of time."""
    from modeldyno.analysis.told import host_names

    steps = sorted((*one.steps, *one.environments), key=lambda step: step.after.started_at)
    names = host_names(one)
    lines = [_line(step, metric, names) for step in steps]
    if one.doubted:
        lines.append(f"  {one.doubted} more did not stand out among all series; look at this series alone to see it")
    return [_label(one), *lines] if lines else []


def _odd_hosts(counted: list[History]) -> list[str]:
    """Hosts that differ from equal ones, a line for each series."""
    from modeldyno.analysis.told import host_names, ratio_text

    lines = [
        f"  {host_names(one)[host]} is at {ratio_text(ratio)}: {_label(one)}"
        for one in counted
        for host, ratio in one.odd_hosts.items()
    ]
    return ["Hosts that differ from equal ones at the same commits:", *lines] if lines else []


def _line(step: Step, metric: str, names: dict[str, str]) -> str:
    from modeldyno.analysis.told import commit_of, ratio_text, suspicion_text

    before, after = (f"{point.run_id} ({commit_of(point)})" for point in (step.before, step.after))
    runs = f"between run {before} and {after}"
    text = f"  {step.after.started_at:%Y-%m-%d %H:%M}  {_verdict(step, metric)}, ratio {ratio_text(step.ratio)}, {runs}"
    if step.p_value is not None:
        text += f", p {step.p_value:.1g}"
    if step.environment:
        text += f": {', '.join(step.environment)}"
    suspect = suspicion_text(step, names)
    return f"{text}; {suspect}" if suspect else text
