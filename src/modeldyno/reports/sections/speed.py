"""How fast each model is on each platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from modeldyno.analysis.best import Rivals, both_have_bounds, cannot_be_told_apart, rivals
from modeldyno.core.metrics import Direction, metric
from modeldyno.reports.cells import mark_of, metric_name
from modeldyno.reports.charts.bars import bars
from modeldyno.reports.document import Finding, Section
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.sections._bars import bar_of
from modeldyno.reports.sections._names import free_choice
from modeldyno.reports.template import Part

MOST_MODELS = 50


def speed(material: Material, part: Part) -> Section | None:
    """Bars with their intervals for the best of each model and platform."""
    found = [one for one in rivals(material.measured, part.metric) if one.workload == "inference"]
    if not found:
        return None
    shown = sorted(found, key=lambda one: (-len(one.records), one.model))[:MOST_MODELS]
    name = metric_name(part.metric)
    chart = bars(
        f"speed-{part.metric}",
        f"{name.capitalize()} by platform",
        part.metric,
        [bar_of(record, part.metric) for one in shown for record in one.records],
        _note(found, shown, part.metric),
    )
    title = f"{name.capitalize()}: {_better(part.metric)} is better"
    return Section(name="speed", title=title, blocks=(chart,), findings=_findings(found, part.metric))


def _better(name: str) -> str:
    return {Direction.LESS: "less", Direction.MORE: "more", Direction.NEITHER: "neither"}[metric(name).direction]


def _note(found: Sequence[Rivals], shown: Sequence[Rivals], name: str) -> str:
    """How the bars were chosen."""
    said = [f"For each platform its best {free_choice(name)}; thin lines are 95 % intervals."]
    if any(one.other_shapes for one in shown):
        said.append("Of several shapes the one that most platforms have.")
    if len(shown) < len(found):
        said.append(f"The {len(shown)} of {len(found)} models that were measured on most platforms.")
    return " ".join(said)


def _findings(found: Sequence[Rivals], name: str) -> tuple[Finding, ...]:
    """Who wins how often, of what hardware gave; a race that is too close is nobody's."""
    races = [one for one in map(_real, found) if len({record.case.platform for record in one.records}) > 1]
    if not races:
        return ()
    clear = [one for one in races if not _is_even(one, name)]
    wins = _wins(clear)
    if len(wins) == 1 and len(clear) == len(races) > 1:
        text = f"{wins[0][0]} has the best {metric_name(name)} for all {len(races)} models that several platforms ran."
        return (Finding(text=text),)
    told = ", ".join(f"{platform} for {count}" for platform, count in wins)
    first = f"the best {metric_name(name)} is on {told}" if wins else f"none has a clear best {metric_name(name)}"
    text = "; ".join([f"Of {counted(len(races), 'model')} measured on several platforms, {first}", *_open(races, name)])
    return (Finding(text=f"{text}."),)


def _real(one: Rivals) -> Rivals:
    return replace(one, records=tuple(record for record in one.records if mark_of(record) is None))


def _is_even(one: Rivals, name: str) -> bool:
    return cannot_be_told_apart(one.records[0], one.records[1], name)


def _open(races: Iterable[Rivals], name: str) -> list[str]:
    """The races that have no winner, by why."""
    even = [one.records for one in races if _is_even(one, name)]
    close = sum(both_have_bounds(first, second, name) for first, second, *_ in even)
    said = [f"for {close} it is too close to call"] if close else []
    return said + ([f"for {len(even) - close} no interval is known"] if close < len(even) else [])


def _wins(clear: Sequence[Rivals]) -> list[tuple[str, int]]:
    wins = Counter(one.records[0].case.platform for one in clear)
    return sorted(wins.items(), key=lambda item: (-item[1], item[0]))


MEMBER = speed
