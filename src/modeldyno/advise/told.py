"""An answer in sentences: what to use, how sure that is, what to use without it, and what to measure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from modeldyno.advise._figures import Figure
from modeldyno.advise.candidates import Candidate, Evidence, Held
from modeldyno.advise.configure import Configuration, Demand
from modeldyno.advise.recommend import Advice
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.core.metrics import significant
from modeldyno.runtimes import RUNTIMES

UNIT_MIXED_UP = 100.0
"""A limit that everything misses by so much was likely meant in another unit."""


def sentences(advice: Advice) -> list[str]:
    return list(_chosen(advice, advice.choice) if advice.choice else _nothing(advice))


def _chosen(advice: Advice, choice: Candidate) -> Iterator[str]:
    goal = advice.question.wishes.goal
    yield f"Use {_where(choice)}: {figure_text(goal, choice.figure)}, {choice.evidence.value} ({choice.rests_on})."
    yield _risk_sentence(advice)
    if choice.way.place not in advice.here:
        best = advice.best_here
        yield (
            f"It is not on this machine; here use {_where(best)}: {figure_text(goal, best.figure)}."
            if best
            else ("It is not on this machine, and of what is here not enough is known.")
        )
    others = [one for one in advice.fallbacks if one is not advice.best_here]
    if others:
        told = "; ".join(f"{_where(one)}, {figure_text(goal, one.figure)}" for one in others)
        yield f"Where that device is not to be had: {told}."
    if choice.evidence is Evidence.PREDICTED:
        yield f"It is predicted; before you rely on it, measure it: {command(advice)}"


def _risk_sentence(advice: Advice) -> str:
    if not advice.chances:
        return "There is no other candidate of which enough is known to compare it with."
    if advice.risk is None:
        blind = sum(chance is None for chance in advice.chances.values())
        return f"How likely another is really better is not known: {blind} of {len(advice.chances)} cannot be weighed."
    risk = f"at most {percent(advice.risk)}" if advice.risk >= 0.01 else "below 1 %"
    return f"The risk that another candidate is really better is {risk}."


def _nothing(advice: Advice) -> Iterator[str]:
    known = [one for one in advice.candidates if one.is_known]
    limits = ", ".join(limit.name for limit in advice.question.wishes.limits)
    if not known:
        yield f"Not enough data: {_gap(advice)}."
        yield f"Run: {command(advice)}"
    elif any(one.holds is None for one in known):
        note = next((held.note for one in known for held in one.held if held.holds is None and held.note), "")
        yield f"Not enough data: whether any candidate keeps {limits} is not known{f' ({note})' if note else ''}."
        yield f"Run: {command(advice)}"
    elif advice.nearest:
        yield f"Nothing keeps {limits}; nearest is {_where(advice.nearest)}: {_misses(advice.nearest)}."
        if all(max(held.excess for held in one.held) > UNIT_MIXED_UP for one in known):
            yield f"Everything misses it by more than {UNIT_MIXED_UP:g} times: is the unit right?"


def why_no_configuration(made: Configuration) -> list[str]:
    """What is missing, and how to get it; or what comes nearest to the limits."""
    demand = made.demand
    limits = ", ".join(limit.name for limit in demand.wishes.limits)
    run = f"Run: {_search_command(demand)}"
    if not made.tried:
        return [f"Not enough data: nothing was measured of {demand.model} on {made.device}.", run]
    if made.nearest and not made.undecided:
        return [f"Nothing keeps {limits}; nearest is {_where(made.nearest)}: {_misses(made.nearest)}."]
    return [f"Not enough data: {undecided_sentence(made)}", run]


def undecided_sentence(made: Configuration) -> str:
    limits = ", ".join(limit.name for limit in made.demand.wishes.limits)
    notes = [held.note for one in made.undecided for held in one.held if held.holds is None and held.note]
    why = f" ({notes[0]})" if notes else ""
    return f"of {len(made.undecided)} measured ways it is not known whether they keep {limits}{why}."


def _search_command(demand: Demand) -> str:
    place = f"{demand.platform}:{demand.index}" if demand.index else demand.platform
    words = ["dyno", "configure", demand.model, "--on", place]
    for option, values in (("--runtime", demand.runtimes), ("--precision", demand.precisions)):
        words += [option, ",".join(values)] if values else []
    words += [word for axis, size in demand.shape.items() for word in ("--shape", f"{axis}={size}")]
    for limit in demand.wishes.limits:
        words += ["--slo", limit.name] if limit.unit == "ms" else ["--max-memory", limit.name.split()[-1]]
    return shlex.join([*words, "--search"])


def _gap(advice: Advice) -> str:
    """What it is that nobody knows."""
    goal, measured = advice.question.wishes.goal, [one for one in advice.candidates if one.record]
    if not measured:
        where = " on this machine" if advice.question.available else ""
        return f"nothing was measured of {advice.question.model}{where}, and nothing tells enough to predict it"
    note = next((one.figure.note for one in measured if one.figure.note), "")
    return f"no result of {advice.question.model} tells its {goal.value}{f' ({note})' if note else ''}"


def _misses(one: Candidate) -> str:
    return ", ".join(_missed(held) for held in one.held if held.holds is False)


def _missed(held: Held) -> str:
    return f"{held.text}, {held.excess:.3g} times {held.limit.name}"


def _where(one: Candidate) -> str:
    return f"{one.way.label} on {one.way.device}"


def command(advice: Advice) -> str:
    """What would tell most: the choice itself where it was only predicted, else the model on what is here."""
    question, choice = advice.question, advice.choice
    words = ["dyno", "run", question.model]
    words += ["--workload", question.workload] if question.workload != "inference" else []
    if choice and choice.evidence is Evidence.PREDICTED and choice.way.runtime in RUNTIMES.names():
        way = choice.way
        words += ["--on", way.platform, "--runtime", way.runtime, "--precision", way.precision]
        words += ["--batch", str(way.batch)]
        words += [word for option in way.settings.split() for word in ("--option", option)]
        words += [word for axis, size in advice.work.shape.items() for word in ("--shape", f"{axis}={size}")]
    else:
        words += _effort(question.wishes)
    return shlex.join(words)


def _effort(wishes: Wishes) -> list[str]:
    words = ["--quick"]
    if wishes.samples:
        words += ["--samples", str(wishes.samples)]
    if wishes.goal is Goal.ENERGY:
        words.append("--energy")
    return words


def figure_text(goal: Goal, figure: Figure) -> str:
    if figure.value is None:
        return "-"
    text = f"{significant(figure.value, 4)} {goal.unit}"
    if figure.low is None or figure.high is None:
        return text
    return f"{text} [{significant(figure.low, 3)}, {significant(figure.high, 3)}]"


def percent(chance: float) -> str:
    return "< 1 %" if chance < 0.01 else "> 99 %" if chance > 0.99 else f"{chance:.0%}".replace("%", " %")


def untried_notes(advice: Advice) -> list[str]:
    """What this machine offers besides, in one line."""
    runtimes: dict[str, list[str]] = {}
    for one in filter(lambda one: one.is_untried, advice.candidates):
        runtimes.setdefault(one.way.platform, []).append(one.way.runtime)
    told = "; ".join(f"{platform} with {', '.join(sorted(names))}" for platform, names in sorted(runtimes.items()))
    return [f"Here, but never measured with this model: {told}."] if told else []


def price_notes(advice: Advice) -> list[str]:
    """Where prices matter: from when and where they are, and which devices have none."""
    if not advice.question.wishes.needs_prices:
        return []
    rows = {one.price.row for one in advice.candidates if one.price.row and one.price.amount is not None}
    missing = {one.price.why_not: None for one in advice.candidates if one.price.why_not}
    told = [f"{row.device}: {row.per_hour:g} USD per {row.per} and hour, {row.date}, {row.source}" for row in rows]
    return [*sorted(told), *(f"{why}." for why in missing)]
