"""What to use where: the platform for each architecture and model size, as far as it was measured."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno import platforms
from modeldyno.analysis.recommendation import Recommendation, Sureness, recommend
from modeldyno.core.metrics import Direction, metric
from modeldyno.models import SIZES
from modeldyno.reports.cells import metric_name, number, number_column, table, text_column, words
from modeldyno.reports.charts.heat_map import Axes, Square, Words, category_map
from modeldyno.reports.document import Chart, Finding, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

EVEN = "undecided"
_EVEN_COLOUR = "#C9C9C9"
"""Lighter than the grey that is a platform's own."""
_TONES = {
    Sureness.CLEAR: Tone.GOOD,
    Sureness.WITHIN_ERROR: Tone.DOUBT,
    Sureness.CONTESTED: Tone.DOUBT,
    Sureness.UNRIVALLED: Tone.PLAIN,
}
_SIGNS = {Sureness.CLEAR: "", Sureness.WITHIN_ERROR: " ≈", Sureness.CONTESTED: " ?", Sureness.UNRIVALLED: " (only)"}
_COLUMNS = (
    text_column("architecture"),
    text_column("size"),
    text_column("use"),
    number_column("models"),
    text_column("best for", "wins"),
    text_column("how sure", "sureness"),
    text_column("remarks"),
)


def recommendation(material: Material, part: Part) -> Section | None:
    """The matrix, and the same as a table with what it rests on."""
    if metric(part.metric).direction is Direction.NEITHER:
        return None
    found = sorted(recommend(material.measured, part.metric), key=lambda one: (one.kind, _size(one.size)))
    if not found:
        return None
    return Section(
        name="recommendation",
        title="What to use where",
        blocks=(_chart(found, part.metric), _table(found, part.metric)),
        findings=_findings(found, part.metric),
    )


def _size(name: str) -> tuple[int, str]:
    """Small before large; names from elsewhere last."""
    return (SIZES.index(name), "") if name in SIZES else (len(SIZES), name)


def _chart(found: Sequence[Recommendation], name: str) -> Chart:
    rows = tuple(dict.fromkeys(one.kind for one in found))
    columns = tuple(sorted({one.size for one in found}, key=_size))
    told = "; ".join(f"{one.kind} {one.size}: {_use(one)}" for one in found)
    note = (
        f"By {metric_name(name)}: the platform that is best for most models of the cell, from records of real hardware "
        "only. ≈ the next cannot be told from it for some models; ? another is best for some; (only) no second "
        "platform was measured; light grey with several names: undecided; empty: nothing was measured."
    )
    chart_words = Words(f"recommendation-{name}", "Platform by architecture and model size", told, note)
    axes = Axes(rows, columns, "architecture", "model size")
    used = sorted({one.platform for one in found if one.platform})
    colours = {platform: platforms.colour(platform) for platform in used} | {EVEN: _EVEN_COLOUR}
    return category_map(chart_words, axes, "platform", [_square(one) for one in found], colours)


def _square(one: Recommendation) -> Square:
    text = f"{_use(one)}{_SIGNS[one.sureness]}" if one.platform else _use(one)
    return Square(one.kind, one.size, text, one.platform or EVEN, f"{_rests_on(one)}, {one.sureness.value}")


def _use(one: Recommendation) -> str:
    if one.platform:
        return one.platform
    most = one.wins[0][1]
    best = [platform for platform, count in one.wins if count == most or one.sureness is Sureness.UNRIVALLED]
    return " or ".join(best)


def _rests_on(one: Recommendation) -> str:
    return counted(len(one.models), "model")


def _table(found: Sequence[Recommendation], name: str) -> Table:
    caption = f"What the recommendation by {metric_name(name)} rests on"
    return table(f"recommendation-{name}", caption, _COLUMNS, map(_row, found))


def _row(one: Recommendation) -> Row:
    cells = (
        words(one.kind),
        words(one.size),
        words(_use(one)),
        number(len(one.models)),
        words(", ".join(f"{platform} {count}" for platform, count in one.wins)),
        words(one.sureness.value, _TONES[one.sureness]),
        words(_remarks(one)),
    )
    return Row(cells=cells)


def _remarks(one: Recommendation) -> str:
    said = []
    if one.close:
        said.append(f"the next cannot be told from the best for {len(one.close)} of {_rests_on(one)}")
    if one.doubtful:
        said.append(f"measured under doubtful conditions: {one.doubtful} of {_rests_on(one)}")
    return "; ".join(said) or "-"


def _findings(found: Sequence[Recommendation], name: str) -> tuple[Finding, ...]:
    """The platform that is right for most cells in which there was a choice."""
    chosen = [one for one in found if one.sureness is not Sureness.UNRIVALLED]
    if not chosen:
        text = "No model of known architecture and size was measured on two platforms at one shape."
        return (Finding(text=text, tone=Tone.DOUBT),)
    counts = {one.platform: sum(other.platform == one.platform for other in chosen) for one in chosen if one.platform}
    if not counts:
        return (Finding(text="No platform is best for most models of any architecture and size.", tone=Tone.DOUBT),)
    platform, count = min(counts.items(), key=lambda item: (-item[1], item[0]))
    its = [one for one in chosen if one.platform == platform]
    clear = sum(one.sureness is Sureness.CLEAR for one in its)
    doubtful = sum(one.doubtful > 0 for one in its)
    caveat = f"; for {doubtful} of them some conditions were doubtful" if doubtful else ""
    text = (
        f"By {metric_name(name)}, {platform} is the platform to use for {count} of {len(chosen)} pairs of architecture "
        f"and size with a choice, for {clear} of them clearly{caveat}."
    )
    return (Finding(text=text, tone=Tone.GOOD if clear == count and not doubtful else Tone.DOUBT),)


MEMBER = recommendation
