"""What all charts have in common: size, fonts, the colours of the platforms, and how one becomes part of a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modeldyno import platforms
from modeldyno.reports.document import Chart

if TYPE_CHECKING:
    import altair

WIDTH = 640
GREY = "#808080"
"""Of lines and cells that stand behind all else, on a light and on a dark page."""
LONGEST_LABEL = 280
"""Pixels; longer names end in an ellipsis and stand whole in the tooltip."""
_CONFIG: dict[str, Any] = {
    "font": "Helvetica, Arial, sans-serif",
    "view": {"stroke": None, "continuousWidth": WIDTH, "continuousHeight": 300},
    "axis": {"labelLimit": LONGEST_LABEL, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
    "header": {"labelLimit": LONGEST_LABEL, "labelFontSize": 11, "labelFontWeight": "bold", "titleFontSize": 11},
    "legend": {"labelLimit": LONGEST_LABEL, "labelFontSize": 11, "titleFontSize": 11, "titleFontWeight": "normal"},
}


def data(rows: Iterable[Mapping[str, Any]]) -> altair.InlineData:
    """Rows as the data of a chart; they travel with it."""
    import altair

    return altair.InlineData(values=[dict(row) for row in rows])


def platform_colours(names: Iterable[str]) -> altair.Scale:
    """A colour for each platform, the same in every chart."""
    import altair

    ordered = sorted(set(names))
    return altair.Scale(domain=ordered, range=[platforms.colour(name.split(" ")[0]) for name in ordered])


def spans_decades(values: Sequence[float]) -> bool:
    """Whether a logarithmic axis shows more: all are positive and the largest is far from the smallest."""
    good = [value for value in values if value > 0]
    return len(good) == len(values) > 1 and max(good) / min(good) > 20


def finished(chart: altair.TopLevelMixin, name: str, title: str, alt: str, note: str | None = None) -> Chart:
    """The chart as a part of a document; each format draws the title itself."""
    spec = chart.to_dict()
    config = {"config": _CONFIG}
    return Chart(name=name, title=title, alt=alt, spec=spec | config | {"description": alt}, note=note)
