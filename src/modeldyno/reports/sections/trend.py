"""What became of a metric over time: the series, their levels and changes."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno.analysis.calibration import SHORTEST
from modeldyno.analysis.history import History, Step
from modeldyno.analysis.stretches import Level, levels_of
from modeldyno.analysis.told import change_text, commit_of, made_up
from modeldyno.analysis.verdict import Change
from modeldyno.core.metrics import format_value
from modeldyno.reports.cells import (
    MISSING,
    metric_column,
    metric_name,
    number,
    number_column,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.timeline import MOST_POINTS, Kind, Line, Mark, Rule, Track, timeline
from modeldyno.reports.document import Cell, Chart, Finding, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.sections._histories import unchanged
from modeldyno.reports.template import Part
from modeldyno.store.points import Point

MOST_SERIES = 8
COMMIT = 7
"""Characters of a commit for which a chart has room."""
FEWEST = 2
"""Points that make a line."""
_KINDS = {Change.WORSE: Kind.WORSE, Change.BETTER: Kind.BETTER}


def trend(material: Material, part: Part) -> Section | None:
    """Charts of the series that say most, and a table of the levels of all."""
    found = sorted((one for one in material.histories(part.metric) if len(one.points) >= FEWEST), key=importance)
    if not found:
        return None
    return Section(
        name="trend",
        title=f"{metric_name(part.metric).capitalize()} over time",
        blocks=(_chart(found, part.metric), _table(found, part.metric)),
        findings=_findings(found, part.metric),
    )


def importance(one: History) -> tuple[bool, bool, bool, int, str, str]:
    """Alarms first, those of hardware before others, then other changes, then the longest."""
    label = one.series.case.label
    made_up_alarm = one.alarm and made_up(one) is not None
    return not one.alarm, made_up_alarm, not one.changed, -len(one.points), label, one.series.series_id


def _chart(found: Sequence[History], name: str) -> Chart:
    shown = found[:MOST_SERIES]
    changed = sum(one.changed for one in found)
    first = min(one.points[0].started_at for one in shown)
    last = max(one.points[-1].started_at for one in shown)
    alt = (
        f"{metric_name(name)} of {len(shown)} series over time, {first:%Y-%m-%d} to {last:%Y-%m-%d}; "
        f"{changed} of {len(found)} series changed"
    )
    title = f"{metric_name(name).capitalize()} over time"
    tracks = [_track(one, place) for place, one in enumerate(shown, start=1)]
    return timeline(f"trend-{name}", title, name, tracks, alt, _note(found, shown))


def _note(found: Sequence[History], shown: Sequence[History]) -> str:
    said = [
        "Dots are runs with 95 % intervals, thick lines levels, upright lines changes, dashed ones new environments."
    ]
    if len(shown) < len(found):
        said.append(f"{len(shown)} of {len(found)} series: alarms first, then other changes, then the longest.")
    if any(len(one.points) > MOST_POINTS for one in shown):
        said.append(f"Of more than {MOST_POINTS} points that many are drawn, evenly chosen; levels rest on all.")
    return " ".join(said)


def _track(one: History, place: int) -> Track:
    case, mark = one.series.case, made_up(one)
    how = " ".join([case.target, case.runtime, case.precision, f"batch {case.batch}", case.sizes]).strip()
    model = " ".join(case.model.split())
    what = model if case.workload == "inference" else f"{model} ({case.workload})"
    return Track(
        name=f"{place}. {what}\n{how}{f' ({mark})' if mark else ''}",
        platform=f"{case.platform} ({mark})" if mark else case.platform,
        marks=tuple(_mark(point) for point in one.points),
        lines=tuple(_line(level) for level in levels_of(one) if len(level.points) >= SHORTEST),
        rules=_rules(one),
    )


def _line(level: Level) -> Line:
    return Line(level.points[0].started_at, level.points[-1].started_at, level.value.value)


def _mark(point: Point) -> Mark:
    about = f"{point.started_at:%Y-%m-%d %H:%M} run {point.run_id} commit {commit_of(point)}"
    return Mark(point.started_at, point.value or 0.0, point.low, point.high, about)


def _rules(one: History) -> tuple[Rule, ...]:
    steps = sorted((*one.steps, *one.environments), key=lambda step: (step.after.started_at, step.after.record_id))
    return tuple(_rule(step) for step in steps)


def _rule(step: Step) -> Rule:
    if step.environment:
        return Rule(step.after.started_at, Kind.ENVIRONMENT, ", ".join(step.environment))
    ratio = f"x{step.ratio.value:.3g}" if step.ratio else step.change.value
    return Rule(
        step.after.started_at,
        _KINDS.get(step.change, Kind.UNCLEAR),
        f"{ratio} {(step.after.commit or '')[:COMMIT]}".strip(),
    )


def _table(found: Sequence[History], name: str) -> Table:
    columns = (
        text_column("series"),
        text_column("device"),
        number_column("points"),
        metric_column(name),
        number_column("points at this level", "since"),
        text_column("last change", "last_change"),
        number_column("smallest detectable change", "smallest"),
    )
    caption = f"Levels of {metric_name(name)} since the last change"
    return table(f"levels-{name}", caption, columns, [_row(one, name) for one in found])


def _row(one: History, name: str) -> Row:
    cells = (
        words(one.series.case.label),
        words(one.series.device or "-"),
        number(len(one.points)),
        _level(one, name),
        number(one.since),
        _last(one, name),
        number(one.smallest, None if one.smallest is None else f"{one.smallest:.1%}"),
    )
    return Row(cells=cells, mark=made_up(one))


def _level(one: History, name: str) -> Cell:
    if one.level is None:
        return MISSING
    bounds = (one.level.low, one.level.high) if one.since > 1 else (None, None)
    text = format_value(name, one.level.value, *bounds)
    return Cell(text=text, value=one.level.value, low=bounds[0], high=bounds[1])


def _last(one: History, name: str) -> Cell:
    step = max(one.felt, key=lambda step: step.after.started_at, default=None)
    if step is None:
        return words("none found")
    tone = {Change.WORSE: Tone.BAD, Change.BETTER: Tone.GOOD}.get(step.change, Tone.DOUBT)
    new = "with a new environment, " if step.environment else ""
    gone = ", gone" if step.gone else ""
    return words(
        f"{change_text(step, name)}{gone}, {new}{step.after.started_at:%Y-%m-%d}", Tone.PLAIN if gone else tone
    )


def _findings(found: Sequence[History], name: str) -> tuple[Finding, ...]:
    if alarms := [one for one in found if one.alarm]:
        return (_alarm(alarms, len(found), name),)
    if changed := sum(one.changed for one in found):
        worse = sum(any(step.change is Change.WORSE for step in one.environments) for one in found)
        now = f"{worse} became worse with a new environment" if worse else "none is worse now"
        text = f"{metric_name(name).capitalize()} changed in {changed} of {len(found)} series, {now}."
        return (Finding(text=text, tone=Tone.DOUBT if worse else Tone.PLAIN),)
    return (unchanged(found, name),)


def _alarm(alarms: Sequence[History], looked_at: int, name: str) -> Finding:
    """Bad news only where hardware gave the numbers."""
    marks = [mark for one in alarms if (mark := made_up(one))]
    kinds = ", ".join(sorted(set(marks)))
    those = f", {len(marks)} of them {kinds}" if marks else ""
    text = f"{metric_name(name).capitalize()} is worse than it was in {len(alarms)} of {looked_at} series{those}."
    return Finding(text=text, tone=Tone.BAD if len(marks) < len(alarms) else Tone.DOUBT)


MEMBER = trend
