"""How many times as fast each platform is for each model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modeldyno import platforms
from modeldyno.analysis.best import Rivals, is_trusted, rivals
from modeldyno.analysis.ratio import Ratio, ratio_of_records
from modeldyno.analysis.verdict import Change, word
from modeldyno.core.metrics import Direction, metric, significant
from modeldyno.core.types import Record
from modeldyno.reports.cells import candidate, mark_of, marked, metric_name
from modeldyno.reports.charts.heat_map import Axes, Square, Words, value_map
from modeldyno.reports.document import Chart, Finding, Section, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.sections._names import free_choice
from modeldyno.reports.template import Part

MOST_MODELS = 50


@dataclass(frozen=True)
class _Lead:
    """One record held against another of the same model."""

    row: str
    record: Record
    against: Record
    ratio: Ratio
    """How many times as good."""


def speed_map(material: Material, part: Part) -> Section | None:
    """A map over the baseline platform, and one of models that lack it, over the best."""
    if metric(part.metric).direction is Direction.NEITHER:
        return None
    found = [one for one in rivals(material.measured, part.metric) if _compared(one)]
    based = [(one, base) for one in found if (base := _baseline(one))]
    others = [(one, one.records[0]) for one in found if not _baseline(one)]
    maps = (_map(based, part.metric, True), _map(others, part.metric, False))
    charts = tuple(chart for chart in maps if chart)
    if not charts:
        return None
    title = f"{_gain(part.metric)} by model and platform"
    return Section(name="speed-map", title=title, blocks=charts, findings=_findings(based, part.metric))


def _compared(one: Rivals) -> bool:
    return len(one.records) > 1 and all(record.metrics for record in one.records)


def _baseline(one: Rivals) -> Record | None:
    """The record of the baseline platform, if hardware gave it."""
    name = platforms.baseline()
    return next((record for record in one.records if record.case.platform == name and not mark_of(record)), None)


def _gain(name: str) -> str:
    """Speed-up, of metrics that tell of speed."""
    return "Speed-up" if word(Change.BETTER, name) == "faster" else f"Gain in {metric_name(name)}"


def _leads(found: Iterable[tuple[Rivals, Record]], name: str) -> list[_Lead]:
    less = metric(name).direction is Direction.LESS
    leads = []
    for one, against in found:
        for record in one.records:
            sides = (record, against) if less else (against, record)
            ratio = ratio_of_records(*sides, name)
            leads += [_Lead(_row(one), record, against, ratio)] if ratio.value is not None else []
    return leads


def _row(one: Rivals) -> str:
    return one.model if one.workload == "inference" else f"{one.model} ({one.workload})"


def _map(found: Sequence[tuple[Rivals, Record]], name: str, over_baseline: bool) -> Chart | None:
    ordered = sorted(found, key=lambda item: (-len(item[0].records), item[0].model, item[0].workload))
    shown = sorted(ordered[:MOST_MODELS], key=lambda item: (item[0].model, item[0].workload))
    leads = _leads(shown, name)
    if not leads:
        return None
    over = platforms.baseline() if over_baseline else "the best platform"
    rows = tuple(dict.fromkeys(lead.row for lead in leads))
    axes = Axes(rows, tuple(sorted({marked(lead.record) for lead in leads})), "model", "platform")
    title = f"{_gain(name)} over {over}" if over_baseline else f"{_gain(name)} relative to {over}"
    words = Words(
        f"speed-map-{name}" if over_baseline else f"speed-map-best-{name}",
        title,
        _alt(leads, title),
        _note(found, shown, name, over_baseline),
    )
    return value_map(words, axes, f"{title} (times)", [_square(lead, name) for lead in leads])


def _square(lead: _Lead, name: str) -> Square:
    value = lead.ratio.value or 0.0
    detail = f"{candidate(lead.record)} against {candidate(lead.against)}"
    if lead.record is lead.against:
        return Square(lead.row, marked(lead.record), "1x", value, f"{candidate(lead.record)}, {metric_name(name)}")
    return Square(lead.row, marked(lead.record), f"{significant(value, 3)}x", value, f"{detail}{_between(lead)}")


def _between(lead: _Lead) -> str:
    interval = lead.ratio.interval
    return f", 95 % interval {significant(interval.low, 3)} to {significant(interval.high, 3)}" if interval else ""


def _alt(leads: Sequence[_Lead], title: str) -> str:
    most = max(leads, key=lambda lead: lead.ratio.value or 0.0)
    least = min(leads, key=lambda lead: lead.ratio.value or 0.0)
    rows = counted(len({lead.row for lead in leads}), "model")
    return (
        f"{title} of {rows}: least {least.ratio.value:.3g} times ({least.row} on {marked(least.record)}), "
        f"most {most.ratio.value:.3g} times ({most.row} on {marked(most.record)})"
    )


def _note(found: Sequence[object], shown: Sequence[object], name: str, over_baseline: bool) -> str:
    said = [f"By {metric_name(name)}, for each platform with its best {free_choice(name)}; grey: not measured."]
    if not over_baseline:
        said.append(f"These models were not measured on {platforms.baseline()}, so 1x is the best platform.")
    if len(shown) < len(found):
        said.append(f"The {len(shown)} of {len(found)} models that were measured on most platforms.")
    return " ".join(said)


def _findings(based: Sequence[tuple[Rivals, Record]], name: str) -> tuple[Finding, ...]:
    """The largest gain that hardware gave, if it is one for certain."""
    leads = [lead for lead in _leads(based, name) if lead.record is not lead.against and not mark_of(lead.record)]
    if not leads:
        return ()
    most = max(leads, key=lambda lead: (lead.ratio.value or 0.0, lead.row))
    interval = most.ratio.interval
    if interval is not None and interval.high < 1:
        sure = all(lead.ratio.interval and lead.ratio.interval.high < 1 for lead in leads)
        better = "better" if sure else "shown to be better"
        return (Finding(text=f"No platform is {better} than {platforms.baseline()} at {metric_name(name)}."),)
    text = (
        f"The largest {_gain(name).lower()} over {platforms.baseline()} is {significant(most.ratio.value or 0.0, 3)} "
        f"times, for {most.row} on {most.record.case.platform} "
        f"({_settings(most.record)} against {_settings(most.against)}{_between(most)})"
    )
    caveats = _caveats(most)
    return (Finding(text=f"{''.join([text, *caveats])}.", tone=Tone.DOUBT if caveats else Tone.GOOD),)


def _caveats(lead: _Lead) -> list[str]:
    """Why a gain may be none."""
    interval, said = lead.ratio.interval, []
    if interval is None:
        said.append(", of which no interval is known")
    elif interval.low <= 1:
        said.append(", which cannot be told from none")
    if not (is_trusted(lead.record) and is_trusted(lead.against)):
        said.append("; not both were measured under conditions that a passport calls valid")
    return said


def _settings(record: Record) -> str:
    case = record.case
    return f"{case.runtime} {case.precision} batch {case.batch}"


MEMBER = speed_map
