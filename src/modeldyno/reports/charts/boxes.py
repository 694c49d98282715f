"""Box plots of raw samples: median, quartiles, whiskers, and the points beyond them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.metrics import format_value
from modeldyno.reports.charts.layout import (
    TWO_LINES,
    axis,
    evenly,
    platform_colour,
    two_line_axis,
    two_lines,
)
from modeldyno.reports.charts.style import WIDTH, data, finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

REACH = 1.5
"""Whiskers end at the last sample within so many interquartile ranges (Tukey, Exploratory Data Analysis, 1977)."""
MOST_POINTS = 40
"""Of those beyond the whiskers of one box."""
_FARTHEST = 4.0
_TITLE = "time of a step (ms)"


@dataclass(frozen=True)
class Box:
    """The samples of one record."""

    model: str
    name: str
    """Which candidate, such as the platform and runtime."""
    platform: str
    n: int
    low: float
    q1: float
    median: float
    q3: float
    high: float
    beyond: tuple[float, ...]
    """Samples that lie outside of the whiskers, smallest first."""

    @property
    def spread(self) -> float:
        """The middle half as a share of the median."""
        return (self.q3 - self.q1) / self.median


def box_of(model: str, name: str, platform: str, samples: Iterable[float]) -> Box | None:
    """None where no sample is a time."""
    values = np.sort([value for value in samples if math.isfinite(value) and value > 0])
    if not len(values):
        return None
    q1, median, q3 = (float(value) for value in np.quantile(values, (0.25, 0.5, 0.75)))
    reach = REACH * (q3 - q1)
    inside = values[(values >= q1 - reach) & (values <= q3 + reach)]
    beyond = values[(values < q1 - reach) | (values > q3 + reach)]
    low, high = (float(inside[0]), float(inside[-1])) if len(inside) else (q1, q3)
    return Box(model, name, platform, len(values), low, q1, median, q3, high, tuple(beyond.tolist()))


def box_chart(name: str, title: str, rows: Sequence[Box], note: str) -> Chart:
    """One line for each box, in the order given."""
    return finished(_chart(rows), name, title, _alt(rows), note)


def _alt(rows: Sequence[Box]) -> str:
    widest = max(rows, key=lambda row: row.spread)
    median = format_value("latency_ms", widest.median)
    samples = counted(sum(row.n for row in rows), "sample")
    return (
        f"Step times of {counted(len(rows), 'record')} with {samples}; the widest is "
        f"{widest.model}, {widest.name}, whose middle half spans {widest.spread:.1%} of its median {median}."
    )


def _chart(rows: Sequence[Box]) -> altair.TopLevelMixin:
    import altair as alt

    y = alt.Y("label:N", title=None, sort=None, axis=two_line_axis())
    kind = "log" if _far_apart(rows) else "linear"
    scale = alt.Scale(type=kind, zero=False, nice=False, padding=8)
    labels = two_lines([row.model for row in rows], [row.name for row in rows])
    whole = alt.Chart(data(_boxes(rows, labels))).encode(
        y=y, color=platform_colour(row.platform for row in rows), tooltip=_tooltip()
    )
    layers = [
        whole.mark_rule(strokeWidth=1.5).encode(x=alt.X("low:Q", title=_TITLE, scale=scale, axis=axis()), x2="high:Q"),
        whole.mark_bar(height=13, opacity=1, fillOpacity=0.55).encode(x="q1:Q", x2="q3:Q"),
        whole.mark_tick(thickness=2.5, size=17, opacity=1).encode(x="median:Q"),
    ]
    if beyond := _points(rows, labels):
        points = alt.Chart(data(beyond)).mark_point(size=16, strokeWidth=1)
        layers.append(points.encode(y=y, x="value:Q", color=alt.Color("platform:N"), tooltip=["value:Q"]))
    return alt.layer(*layers).properties(width=WIDTH, height=alt.Step(TWO_LINES))


def _far_apart(rows: Sequence[Box]) -> bool:
    """Boxes are as wide as their times are long, so that short times need a logarithmic axis soon."""
    return max(row.median for row in rows) > _FARTHEST * min(row.median for row in rows)


def _boxes(rows: Sequence[Box], labels: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {
            "label": label,
            "model": row.model,
            "name": row.name,
            "platform": row.platform,
            "n": row.n,
            "low": row.low,
            "q1": row.q1,
            "median": row.median,
            "q3": row.q3,
            "high": row.high,
        }
        for row, label in zip(rows, labels, strict=True)
    ]


def _points(rows: Sequence[Box], labels: Sequence[str]) -> list[dict[str, Any]]:
    return [
        {"label": label, "platform": row.platform, "value": value}
        for row, label in zip(rows, labels, strict=True)
        for value in evenly(row.beyond, MOST_POINTS)
    ]


def _tooltip() -> list[Any]:
    import altair as alt

    said = [alt.Tooltip("model:N"), alt.Tooltip("name:N", title="on"), alt.Tooltip("n:Q", title="samples")]
    numbers = {"low": "whisker from", "q1": "middle half from", "median": "median", "q3": "to", "high": "whisker to"}
    return said + [alt.Tooltip(f"{field}:Q", title=f"{title} (ms)", format=".4~g") for field, title in numbers.items()]
