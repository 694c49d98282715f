"""The gate of a stored run: each of its results against the history of its series."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from modeldyno.analysis.decision import Decision
from modeldyno.analysis.false_discovery import discoveries
from modeldyno.analysis.latest import FEWEST, against_history, is_new_level
from modeldyno.analysis.verdict import Change
from modeldyno.ci.gate import Terms, overall
from modeldyno.ci.report import CaseVerdict, GateReport, Ratio
from modeldyno.core.errors import InputError
from modeldyno.core.metrics import metric
from modeldyno.core.types import Run, Status
from modeldyno.store.points import Point, Series, read_series
from modeldyno.store.query import Filter
from modeldyno.store.store import Store


@dataclass(frozen=True)
class _Question:
    """One metric of one series: the run's value and what came before it in the same environment."""

    series: Series
    name: str
    new: Point
    earlier: tuple[float, ...]
    decision: Decision


def judge_run(store: Store, run: Run, terms: Terms, command: str | None = None) -> GateReport:
    """Every case of the run that was measured before; what is new has no history and is told so."""
    begin = time.monotonic()
    questions = [question for name in terms.metrics for question in _questions(store, run, name, terms)]
    if not questions:
        raise InputError(
            f"The run {run.run_id} has no result with {', '.join(terms.metrics)}; see dyno show {run.run_id}."
        )
    p_values = [1.0 if q.decision.p_value is None else q.decision.p_value for q in questions]
    cases = tuple(map(_verdict, questions, discoveries(p_values)))
    return GateReport(
        kind="history",
        baseline="its history",
        candidate=f"run {run.run_id}",
        host=run.host,
        verdict=overall(cases),
        started_at=run.started_at,
        duration_s=time.monotonic() - begin,
        blocks=0,
        cases=cases,
        command=command,
    )


def _questions(store: Store, run: Run, name: str, terms: Terms) -> Iterator[_Question]:
    chosen = tuple(series.series_id for series in read_series(store, Filter(run_id=(run.run_id,)), name))
    for series in read_series(store, Filter(series_id=chosen), name) if chosen else ():
        points = [point for point in series.points if point.status is Status.OK and point.provenance.is_real]
        for new in (point for point in points if point.run_id == run.run_id and point.value is not None):
            before = (point for point in points if point.started_at < new.started_at and point.run_id != run.run_id)
            earlier = tuple(p.value for p in before if p.value is not None and _environment(p) == _environment(new))
            decision = against_history(earlier, new.value or 0.0, terms.margin(name), metric(name).direction)
            yield _Question(series, name, new, earlier, decision)


def _environment(point: Point) -> tuple[object, ...]:
    return point.host_id, point.driver, point.software


def _verdict(question: _Question, counts: bool) -> CaseVerdict:
    decision, case = question.decision, question.series.case
    regression = decision.change is Change.WORSE and counts
    return CaseVerdict(
        case=case.label,
        case_key=case.key,
        metric=question.name,
        baseline=question.new.value / decision.ratio.value if question.new.value and decision.ratio else None,
        candidate=question.new.value,
        ratio=_ratio(decision),
        margin=decision.margin,
        change=Change.AMBIGUOUS if decision.change is Change.WORSE and not counts else decision.change,
        p_value=decision.p_value,
        regression=regression,
        confirmed=regression and is_new_level([*question.earlier, question.new.value or 0.0]),
        note=_note(question, counts),
    )


def _ratio(decision: Decision) -> Ratio:
    found = decision.ratio
    return Ratio(value=found.value, low=found.low, high=found.high) if found else Ratio()


def _note(question: _Question, counts: bool) -> str | None:
    if question.decision.ratio is None:
        return f"{len(question.earlier)} earlier results in this environment, of {FEWEST} needed since the last change"
    if question.decision.change is Change.WORSE and not counts:
        return "not counted among so many cases"
    return None
