"""Recommend: which hardware should run a model, ranked for a goal and its limits, with the evidence for each."""

from __future__ import annotations

from typing import Any

from modeldyno.advise.ask import answer
from modeldyno.advise.candidates import Candidate
from modeldyno.advise.documents import candidate
from modeldyno.advise.prices import read_prices
from modeldyno.advise.recommend import Advice, Question
from modeldyno.advise.told import command, figure_text, percent, price_notes, sentences, untried_notes
from modeldyno.advise.wishes import Goal, read_wishes
from modeldyno.core.errors import InputError
from modeldyno.models import catalogue
from modeldyno.web import charts
from modeldyno.web.jobs.order import check_model
from modeldyno.web.sheet import Ask, Page, Sheet

SHOWN = 40


def make(ask: Ask) -> Sheet:
    model = ask.one("model")
    names = [row["model"] for row in ask.snapshot.models()]
    known = sorted({*names, *(entry.name for entry in catalogue())})
    common: dict[str, Any] = {"models": known, "goals": [goal.value for goal in Goal], "model": model}
    if not model:
        return Sheet("Recommend", common | {"advice": None})
    if model not in names:
        check_model(model)
    predict = ask.one("predict") == "1"
    question = Question(model, _wishes(ask), ask.choice("workload", ("inference", "training"), "inference"))
    advice = answer(
        ask.snapshot.store,
        question,
        read_prices(None),
        predict=predict and ask.house.has_predictor(),
        here=ask.house.devices,
    )
    rows = [_row(advice, one) for one in advice.candidates if not one.is_untried][:SHOWN]
    return Sheet(
        f"Recommend {model}",
        common
        | {
            "advice": {"says": sentences(advice), "run": command(advice)},
            "unit": question.wishes.goal.unit,
            "goal": question.wishes.goal.value,
            "rows": rows,
            "limits": [limit.name for limit in question.wishes.limits],
            "prices": question.wishes.needs_prices,
            "predicting": predict,
            "can_predict": ask.house.has_predictor(),
            "notes": [*untried_notes(advice), *advice.notes, *price_notes(advice)],
            "_chart": _chart(advice),
        },
        rows,
    )


def _wishes(ask: Ask) -> Any:
    budget = ask.one("budget")
    try:
        amount = float(budget) if budget else None
    except ValueError:
        raise InputError(f"The budget '{budget[:40]}' is no number; write dollars per hour, such as 2.") from None
    goal = ask.choice("goal", [one.value for one in Goal], Goal.LATENCY.value)
    return read_wishes(goal, ask.one("slo") or None, ask.one("memory") or None, amount)


def _row(advice: Advice, one: Candidate) -> dict[str, Any]:
    """As the API has it, and what people read."""
    goal, chance = advice.question.wishes.goal, advice.chances.get(one.way)
    return candidate(advice, one) | {
        "runtime": f"{one.way.runtime} {one.way.settings}".strip(),
        "figure": figure_text(goal, one.figure),
        "choice": one is advice.choice,
        "better": None if chance is None else percent(chance),
        "limits": [{"name": held.limit.name, "holds": held.holds, "text": held.text} for held in one.held],
    }


def _chart(advice: Advice) -> Any:
    known = [one for one in advice.candidates if one.is_known and one.figure.value is not None][:20]
    goal = advice.question.wishes.goal
    bars = [
        charts.Bar(
            f"{one.way.platform} {one.way.runtime} {one.way.precision} b{one.way.batch} {one.way.device}",
            one.figure.value or 0.0,
            figure_text(goal, one.figure),
            one.figure.low,
            one.figure.high,
            one.way.platform,
            f"/dashboard/records/{one.record.record_id}" if one.record else None,
            "" if one.evidence.value == "measured" else one.evidence.value,
        )
        for one in known
    ]
    return charts.bars(bars, f"Candidates by {goal.value}")


MEMBER = Page("/dashboard/recommend", make, nav="Recommend", place=7, moody=True)
