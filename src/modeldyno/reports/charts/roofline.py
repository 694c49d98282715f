"""A roofline plot: what one device can do at each intensity, and where the records lie below it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.metrics import significant
from modeldyno.reports.charts.layout import evenly
from modeldyno.reports.charts.style import GREY, WIDTH, data, finished, platform_colours
from modeldyno.reports.document import Chart

if TYPE_CHECKING:
    import altair

MOST_POINTS = 300
MOST_NAMES = 24
"""Of more points only the tooltip tells the names."""
_HEIGHT, _LINE, _LETTER, _LONGEST = 340, 12, 5.5, 160
"""Pixels of the plot, of a line of text, of a letter and of a whole name."""
_ROOM = 4.0
"""How far the roofs reach beyond points and ridges, as a factor."""


@dataclass(frozen=True)
class Roof:
    """The peaks of the device in one precision."""

    precision: str
    gflops: float
    gb_per_s: float | None
    """None where no bandwidth was measured: the roof is flat then."""


@dataclass(frozen=True)
class Spot:
    """One record."""

    name: str
    precision: str
    intensity: float
    gflops: float
    about: str


@dataclass(frozen=True)
class Plot:
    """All that is drawn of one device."""

    device: str
    platform: str
    roofs: tuple[Roof, ...]
    spots: tuple[Spot, ...]


def roofline(name: str, plot: Plot, alt: str, note: str) -> Chart:
    """Both axes are logarithmic, as Williams, Waterman and Patterson draw it."""
    import altair as alt_

    low, high = _reach(plot)
    heights = [*(roof.gflops for roof in plot.roofs), *(spot.gflops for spot in plot.spots)]
    axes = (_x(low, high), _y(min(heights), max(heights)))
    roofs = [row for place, roof in enumerate(_ordered(plot)) for row in _roof_rows(roof, place, low, high)]
    precisions = sorted({roof.precision for roof in plot.roofs} | {spot.precision for spot in plot.spots})
    layers = [*_roofs(roofs, precisions, axes), *_spots(plot, precisions, axes, (low, high))]
    chart = alt_.layer(*layers).properties(width=WIDTH, height=_HEIGHT)
    return finished(chart, name, f"Roofline of {plot.device} ({plot.platform})", alt, note)


def _ordered(plot: Plot) -> list[Roof]:
    return sorted(plot.roofs, key=lambda roof: (-roof.gflops, roof.precision))


def _reach(plot: Plot) -> tuple[float, float]:
    """Intensities from the leftmost to the rightmost of points and ridges."""
    ridges = [roof.gflops / roof.gb_per_s for roof in plot.roofs if roof.gb_per_s]
    places = [*(spot.intensity for spot in plot.spots), *ridges] or [1.0]
    return min(places) / _ROOM, max(places) * _ROOM


def _roof_rows(roof: Roof, place: int, low: float, high: float) -> Iterable[dict[str, Any]]:
    """The highest roof has its text above, the others below."""
    ridge = roof.gflops / roof.gb_per_s if roof.gb_per_s else low
    for intensity in sorted({low, max(low, ridge), high}):
        height = roof.gflops if roof.gb_per_s is None else min(roof.gflops, intensity * roof.gb_per_s)
        row = {"precision": roof.precision, "intensity": intensity, "gflops": height, "above": place == 0}
        label = f"{roof.precision} {significant(roof.gflops, 4)} GFLOP/s"
        yield row | ({"label": label} if intensity == high else {})


Axes = tuple["altair.X", "altair.Y"]


def _x(low: float, high: float) -> altair.X:
    import altair as alt

    scale = alt.Scale(type="log", domain=[low, high], nice=False)
    return alt.X("intensity:Q", title="intensity (FLOP/byte)", scale=scale, axis=_axis(low, high))


def _y(low: float, high: float) -> altair.Y:
    import altair as alt

    bottom, top = low / 2, high * 2
    scale = alt.Scale(type="log", domain=[bottom, top], nice=False, clamp=True)
    return alt.Y("gflops:Q", title="compute rate (GFLOP/s)", scale=scale, axis=_axis(bottom, top))


def _axis(low: float, high: float) -> altair.Axis:
    """Powers of ten, with steps between where there are few."""
    import altair as alt

    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if math.log10(high / low) > 2 else (1, 2, 5)
    ticks = [step * 10.0**power for power in powers for step in steps]
    return alt.Axis(format=",~f", values=[tick for tick in ticks if low <= tick <= high], labelOverlap="greedy")


def _roofs(rows: Sequence[dict[str, Any]], precisions: Sequence[str], axes: Axes) -> list[altair.Chart]:
    import altair as alt

    if not rows:
        return []
    scale = alt.Scale(domain=list(precisions))
    dash = alt.StrokeDash("precision:N", scale=scale, title="precision", legend=alt.Legend(orient="top"))
    base = alt.Chart(data(rows)).encode(x=axes[0], y=axes[1])
    line = base.mark_line(color=GREY, strokeWidth=1.8).encode(strokeDash=dash)
    labels = [
        base.transform_filter(f"isValid(datum.label) && {test}")
        .mark_text(align="right", baseline=baseline, dy=dy, fontSize=10)
        .encode(text="label:N")
        for test, baseline, dy in (("datum.above", "bottom", -3), ("!datum.above", "top", 4))
    ]
    return [line, *labels]


def _spots(plot: Plot, precisions: Sequence[str], axes: Axes, reach: tuple[float, float]) -> list[altair.Chart]:
    import altair as alt

    shown = evenly(plot.spots, MOST_POINTS)
    named = _named(plot, shown, reach)
    rows = [_spot_row(spot, plot.platform, place in named) for place, spot in enumerate(shown)]
    legend = alt.Legend(orient="top")
    shape = alt.Shape("precision:N", scale=alt.Scale(domain=list(precisions)), title="precision", legend=legend)
    colour = alt.Color("platform:N", scale=platform_colours([plot.platform]), legend=None)
    base = alt.Chart(data(rows)).encode(x=axes[0], y=axes[1], tooltip=_tooltip())
    points = base.mark_point(filled=True, size=60, opacity=0.7).encode(shape=shape, color=colour)
    names = base.transform_filter("isValid(datum.label)").mark_text(align="left", dx=7, fontSize=10, limit=_LONGEST)
    return [points, names.encode(text="label:N")] if named else [points]


def _spot_row(spot: Spot, platform: str, named: bool) -> dict[str, Any]:
    row = {"name": spot.name, "precision": spot.precision, "intensity": spot.intensity, "gflops": spot.gflops}
    return row | {"about": spot.about, "platform": platform} | ({"label": spot.name} if named else {})


def _named(plot: Plot, spots: Sequence[Spot], reach: tuple[float, float]) -> set[int]:
    """Places of the points whose names have room beside them, by about where they will stand."""
    if len(spots) > MOST_NAMES:
        return set()
    low, high = reach
    heights = [*(spot.gflops for spot in spots), *(roof.gflops for roof in plot.roofs)]
    bottom, top = min(heights) / 2, max(heights) * 2

    def up(gflops: float) -> float:
        return _HEIGHT * math.log(gflops / bottom) / math.log(top / bottom)

    taken = [(float(WIDTH - _LONGEST), float(WIDTH), up(roof.gflops) - _LINE / 2) for roof in plot.roofs]
    named: set[int] = set()
    for place, spot in enumerate(spots):
        left = WIDTH * math.log(spot.intensity / low) / math.log(high / low)
        right = left + 14 + min(_LONGEST, len(spot.name) * _LETTER)
        y = up(spot.gflops)
        if all(abs(y - other) >= _LINE or right < begin or left > end for begin, end, other in taken):
            taken.append((left, right, y))
            named.add(place)
    return named


def _tooltip() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("name:N", title="model"),
        alt.Tooltip("about:N", title="case"),
        alt.Tooltip("intensity:Q", title="FLOP/byte", format=".3~g"),
        alt.Tooltip("gflops:Q", title="GFLOP/s", format=".4~g"),
    ]
