"""The gate of a stored run: each of its results against the history of its series."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modeldyno.analysis.environments import environment_of
from modeldyno.analysis.false_discovery import discoveries
from modeldyno.analysis.latest import FEWEST, Latest, against_history
from modeldyno.analysis.verdict import Change
from modeldyno.ci.gate import overall
from modeldyno.ci.match import Terms
from modeldyno.ci.report import CaseVerdict, GateReport, Ratio
from modeldyno.core.errors import InputError
from modeldyno.core.metrics import metric
from modeldyno.core.types import Run, Status
from modeldyno.store.points import Point, Series, read_series
from modeldyno.store.query import Filter
from modeldyno.store.store import Store


@dataclass(frozen=True)
class _Question:
    """One metric of one series: the run's point and what came before it in the same environment."""

    series: Series
    name: str
    margin: float
    new: Point
    earlier: tuple[float, ...]

    @property
    def broke(self) -> bool:
        """It was measured before and cannot be any more."""
        return bool(self.earlier) and self.new.status in (Status.FAILED, Status.INVALID)

    def answer(self) -> Latest | None:
        if self.new.value is None:
            return None
        return against_history(self.earlier, self.new.value, self.margin, metric(self.name).direction)


def judge_run(store: Store, run: Run, terms: Terms, command: str | None = None) -> GateReport:
    """Every case of the run that was measured before; what is new has no history and is told so."""
    begin = time.monotonic()
    questions = [question for name in terms.metrics for question in _questions(store, run, name, terms)]
    if not questions:
        raise InputError(
            f"The run {run.run_id} has no result with {', '.join(terms.metrics)}; see dyno show {run.run_id}."
        )
    answers = [question.answer() for question in questions]
    known = [latest.decision.p_value for latest in answers if latest and latest.decision.p_value is not None]
    found = iter(discoveries(known))
    counts = [next(found) if latest and latest.decision.p_value is not None else False for latest in answers]
    cases = tuple(map(_verdict, questions, answers, counts))
    return GateReport(
        kind="history",
        baseline="its history",
        candidate=f"run {run.run_id}",
        candidate_commit=run.commit,
        host=run.host,
        verdict=overall(cases),
        started_at=run.started_at,
        duration_s=time.monotonic() - begin,
        blocks=0,
        cases=cases,
        command=command,
    )


def _questions(store: Store, run: Run, name: str, terms: Terms) -> Iterator[_Question]:
    """Also of what broke in this run, where it was measured before; what was skipped or never worked is no news."""
    mine = read_series(store, Filter(run_id=(run.run_id,)), name)
    models = tuple({series.case.model for series in mine})
    known = read_series(store, Filter(model=models), name) if models else []
    for series in mine:
        for new in series.points:
            earlier = tuple(_earlier(known, series, new))
            question = _Question(series, name, terms.margin(name), new, earlier)
            if question.broke or (new.status is Status.OK and new.value is not None and new.provenance.is_real):
                yield question


def _earlier(known: Sequence[Series], series: Series, new: Point) -> Iterator[float]:
    """What was measured before in the same environment; a case that broke has none, so then all that this host has."""
    for other in known:
        same = other.series_id == series.series_id if new.status is Status.OK else other.case.key == series.case.key
        for point in other.points if same else ():
            alike = (
                environment_of(point) == environment_of(new)
                if new.status is Status.OK
                else point.host_id == new.host_id
            )
            real = point.status is Status.OK and point.provenance.is_real and point.value is not None
            if alike and real and point.started_at < new.started_at and point.run_id != new.run_id:
                yield point.value or 0.0


def _verdict(question: _Question, latest: Latest | None, counts: bool) -> CaseVerdict:
    case = question.series.case
    verdict = CaseVerdict(
        case=case.label,
        case_key=case.key,
        metric=question.name,
        device=question.series.device,
        margin=question.margin,
        change=Change.AMBIGUOUS,
    )
    if question.broke:
        note = f"it worked before and is {question.new.status.value} now"
        return verdict.model_copy(update={"change": Change.WORSE, "regression": True, "note": note})
    if latest is None or latest.decision.ratio is None:
        note = f"{len(question.earlier)} earlier results in this environment, of {FEWEST} needed since the last change"
        return verdict.model_copy(update={"candidate": question.new.value, "note": note})
    decision, ratio = latest.decision, latest.decision.ratio
    worse = decision.change is Change.WORSE
    return verdict.model_copy(
        update={
            "baseline": question.new.value / ratio.value if question.new.value else None,
            "candidate": question.new.value,
            "ratio": Ratio(value=ratio.value, low=ratio.low, high=ratio.high),
            "change": Change.AMBIGUOUS if worse and not counts else decision.change,
            "p_value": decision.p_value,
            "regression": worse and counts,
            "confirmed": worse and counts and latest.is_level,
            "note": "not counted among so many cases" if worse and not counts else None,
        }
    )
