"""What in a finished run someone should look at: results that are off their history."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modeldyno.analysis.environments import environment_of
from modeldyno.analysis.false_discovery import discoveries
from modeldyno.analysis.latest import Latest, against_history
from modeldyno.analysis.verdict import Change, margin_of
from modeldyno.core.metrics import Direction, format_value
from modeldyno.core.types import Run, Status
from modeldyno.store.points import Point, Series, read_series
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.jobs.messages import LATENCY, Alarmed
from modeldyno.web.jobs.types import AlertKind


@dataclass(frozen=True)
class _Suspect:
    """A latency that is off its history to one side."""

    series: Series
    value: float
    slower: bool
    latest: Latest


def alarms_of(store: Store, run: Run) -> Iterator[Alarmed]:
    """By the rules of the gate: the same environment, and rare enough among so many cases."""
    mine = read_series(store, Filter(run_id=(run.run_id,)), LATENCY)
    asked = [suspect for series in mine for suspect in _suspects(store, series, run)]
    p_values = [suspect.latest.decision.p_value for suspect in asked]
    stand_out = discoveries([1.0 if p is None else p for p in p_values])
    for suspect, stands_out in zip(asked, stand_out, strict=True):
        if stands_out and suspect.latest.decision.change is Change.WORSE and _is_news(suspect):
            yield _alarm(suspect)


def _suspects(store: Store, series: Series, run: Run) -> Iterator[_Suspect]:
    known = read_series(store, Filter(series_id=(series.series_id,)), LATENCY)
    for new in filter(_counts, series.points):
        earlier = [
            point.value
            for point in known[0].points
            if _counts(point) and point.value and point.run_id != run.run_id and point.started_at < new.started_at
            if environment_of(point) == environment_of(new)
        ]
        if new.value:
            yield _Suspect(series, new.value, True, _against(earlier, new.value))
            yield _Suspect(series, new.value, False, _against([1 / value for value in earlier], 1 / new.value))


def _counts(point: Point) -> bool:
    return point.status is Status.OK and point.provenance.is_real and bool(point.value)


def _against(earlier: Sequence[float], new: float) -> Latest:
    return against_history(earlier, new, margin_of(LATENCY), Direction.LESS)


def _is_news(suspect: _Suspect) -> bool:
    """A single value that is too good is as odd as one that is too bad; a better level is what people work for."""
    return suspect.slower or not suspect.latest.is_level


def _alarm(suspect: _Suspect) -> Alarmed:
    case, ratio = suspect.series.case, suspect.latest.decision.ratio
    assert ratio
    times = f"{ratio.value:.3g} times [{ratio.low:.3g}, {ratio.high:.3g}]"
    told = f"{case.label}: {format_value(LATENCY, suspect.value)}, {times} {'slower' if suspect.slower else 'faster'}"
    if suspect.latest.is_level:
        text = f"{told} than before its latest change"
        return Alarmed(alert=AlertKind.REGRESSION, about=f"case {case.key}", text=text)
    return Alarmed(alert=AlertKind.OUTLIER, about=f"case {case.key}", text=f"{told} than its history")
