"""Advice as a JSON document, the same for the command and the API."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from modeldyno.advise.candidates import Candidate
from modeldyno.advise.recommend import Advice
from modeldyno.advise.told import command, sentences

Document = dict[str, Any]


def recommendation(advice: Advice) -> Document:
    question, choice = advice.question, advice.choice
    limits = question.wishes.limits
    return {
        "model": question.model,
        "workload": question.workload,
        "shape": dict(advice.work.shape),
        "goal": question.wishes.goal.value,
        "unit": question.wishes.goal.unit,
        "limits": [{"name": b.name, "figure": b.figure, "most": b.most, "unit": b.unit} for b in limits],
        "choice": candidate(advice, choice) if choice else None,
        "risk": advice.risk if choice else None,
        "fallbacks": [candidate(advice, one) for one in advice.fallbacks],
        "best_here": candidate(advice, advice.best_here) if advice.best_here else None,
        "nearest": candidate(advice, advice.nearest) if advice.nearest and not choice else None,
        "candidates": [candidate(advice, one) for one in advice.candidates],
        "says": sentences(advice),
        "run": command(advice),
        "notes": list(advice.notes),
    }


def candidate(advice: Advice, one: Candidate) -> Document:
    row = one.price.row
    return {
        **asdict(one.way),
        "value": one.figure.value,
        "low": one.figure.low,
        "high": one.figure.high,
        "evidence": one.evidence.value,
        "rests_on": one.rests_on,
        "record_id": one.record.record_id if one.record else None,
        "trusted": one.trusted,
        "really_better": advice.chances.get(one.way),
        "limits": [{"name": h.limit.name, "value": h.value, "holds": h.holds, "note": h.note} for h in one.held],
        "per_hour": one.price.amount,
        "price": {"device": row.device, "date": str(row.date), "source": row.source} if row else one.price.why_not,
        "here": one.way.place in advice.here,
    }
