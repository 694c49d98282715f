"""How charts of many cases are laid out: a panel for each model, two lines of label for each case."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from modeldyno.reports.charts.style import GREY, WIDTH, data, platform_colours, spans_decades

if TYPE_CHECKING:
    import altair

PANEL = 280
"""Pixels of width, also for the name above."""
MOST_PANELS = 6
TWO_LINES = 32
"""Pixels of a row whose label has two lines."""
_COLUMNS = 2
_T = TypeVar("_T")


def panels(layers: Sequence[altair.Chart], rows: Sequence[Mapping[str, Any]]) -> altair.TopLevelMixin:
    """The layers once for each `panel` of the rows, with axes of their own; a single one is as wide as the page."""
    import altair as alt

    together = alt.layer(*layers)
    if len({row["panel"] for row in rows}) == 1:
        return together.properties(data=data(rows), width=WIDTH, height=300)
    header = alt.Header(title=None, labelAlign="left", labelAnchor="start", labelLimit=PANEL)
    many = together.properties(width=PANEL, height=210).facet(
        facet=alt.Facet("panel:N", header=header, title=None), data=data(rows), columns=_COLUMNS
    )
    return many.resolve_scale(x="independent", y="independent")


def titled(title: str, names: Iterable[str]) -> str:
    """A single panel has no name above it, so that the title says it."""
    single = set(names)
    return f"{title}: {single.pop()}" if len(single) == 1 else title


def wants_log(groups: Iterable[Sequence[float]]) -> bool:
    """Whether logarithmic axes show more in some panel, and can be drawn in all."""
    found = list(groups)
    return all(value > 0 for group in found for value in group) and any(map(spans_decades, found))


def axis() -> altair.Axis:
    """For numbers: no powers of ten where digits do, and lines that stay in the background."""
    import altair as alt

    return alt.Axis(tickCount=5, format=",.12~g", gridOpacity=0.5)


def legend(title: str) -> altair.Legend:
    """For shapes and dashes: below, where it takes no width, and grey, which is seen on white and on black."""
    import altair as alt

    return alt.Legend(title=title, orient="bottom", columns=4, symbolFillColor=GREY, symbolStrokeColor=GREY)


def platform_colour(names: Iterable[str]) -> altair.Color:
    import altair as alt

    below = alt.Legend(title="platform", orient="bottom", columns=4)
    return alt.Color("platform:N", scale=platform_colours(names), legend=below)


def two_lines(first: Sequence[str], second: Sequence[str]) -> list[str]:
    """Labels of rows, unlike each other, that `two_line_axis` breaks in two."""
    return unlike("\n".join(" ".join(line.split()) for line in lines) for lines in zip(first, second, strict=True))


def unlike(labels: Iterable[str]) -> list[str]:
    """The same labels with a number behind those that repeat: rows of one label would lie on each other."""
    seen: Counter[str] = Counter()
    told = []
    for label in labels:
        seen[label] += 1
        told.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return told


def two_line_axis() -> altair.Axis:
    import altair as alt

    return alt.Axis(labelExpr=r"split(datum.label, '\n')", labelLineHeight=12, labelBaseline="line-bottom")


def evenly(items: Sequence[_T], most: int) -> list[_T]:
    """At most so many of them, with the first and the last."""
    if len(items) <= most:
        return list(items)
    return [items[round(place * (len(items) - 1) / (most - 1))] for place in range(most)]
