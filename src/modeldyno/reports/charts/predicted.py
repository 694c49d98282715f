"""What was predicted against what was measured, and how far off it was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.reports.charts.layout import axis, evenly, panels, platform_colour, titled
from modeldyno.reports.charts.style import GREY, WIDTH, data, finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

MOST_POINTS = 250
"""Of one panel."""
_ROW = 34
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_LEAST = 0.1
"""Percent; a logarithmic axis has to begin somewhere."""


@dataclass(frozen=True)
class Pair:
    """One result and its prediction."""

    panel: str
    model: str
    device: str
    platform: str
    measured: float
    predicted: float
    low: float
    high: float


def agreement(name: str, unit: str, pairs: Sequence[Pair]) -> Chart:
    """A panel for each split, both axes logarithmic; on the line a prediction is right."""
    shown = [row for panel in dict.fromkeys(pair.panel for pair in pairs) for row in _shown(pairs, panel)]
    told = f"Predicted against measured {unit}: {counted(len(shown), 'result')} around the line where both agree."
    note = "On the line both agree; bars are 90 % intervals." + (
        f" At most {MOST_POINTS} results of each panel." if len(shown) < len(pairs) else ""
    )
    title = titled("Predicted against measured", (pair.panel for pair in shown))
    return finished(panels(_layers(unit, shown), [asdict(pair) for pair in shown]), name, title, told, note)


def _shown(pairs: Sequence[Pair], panel: str) -> list[Pair]:
    ordered = sorted((pair for pair in pairs if pair.panel == panel), key=lambda pair: pair.measured)
    return evenly(ordered, MOST_POINTS)


def _layers(unit: str, pairs: Sequence[Pair]) -> list[altair.Chart]:
    import altair as alt

    scale = alt.Scale(type="log", nice=False, padding=10)
    x = alt.X("measured:Q", title=f"measured ({unit})", scale=scale, axis=axis())
    y = alt.Y("predicted:Q", title=f"predicted ({unit})", scale=scale, axis=axis())
    colour = platform_colour(pair.platform for pair in pairs)
    base = alt.Chart().encode(x=x)
    return [
        base.mark_line(color=GREY, strokeDash=[4, 3]).encode(y=alt.Y("measured:Q", scale=scale)),
        base.mark_rule(opacity=0.35).encode(y=alt.Y("low:Q", scale=scale), y2="high:Q", color=colour),
        base.mark_point(filled=True, size=22, opacity=0.8).encode(y=y, color=colour, tooltip=_tooltip(unit)),
    ]


def _tooltip(unit: str) -> list[Any]:
    import altair as alt

    names = [alt.Tooltip("model:N"), alt.Tooltip("device:N")]
    fields = ("measured", "predicted", "low", "high")
    return names + [alt.Tooltip(f"{field}:Q", title=f"{field} ({unit})", format=".4~g") for field in fields]


def error_chart(name: str, errors: Mapping[str, Sequence[float]], near: float) -> Chart:
    """A line for each split: the middle, the middle half and the middle four fifths of its errors, as shares."""
    import altair as alt

    rows = [_row(split, some) for split, some in errors.items()]
    scale = alt.Scale(type="log", nice=False, padding=10)
    y = alt.Y("split:N", title=None, sort=None)
    base = alt.Chart(data(rows)).encode(y=y, tooltip=_error_tooltip())
    limit = alt.Chart(data([{"limit": near * 100}])).mark_rule(strokeDash=[4, 3], color="black")
    x = alt.X("low:Q", title="error of the prediction (%)", scale=scale, axis=axis())
    chart = alt.layer(
        base.mark_rule(strokeWidth=2, color=GREY).encode(x=x, x2="high:Q"),
        base.mark_bar(height=14, color=GREY).encode(x="q1:Q", x2="q3:Q"),
        base.mark_tick(thickness=3, size=22, color="black").encode(x="median:Q"),
        limit.encode(x=alt.X("limit:Q", scale=scale)),
    ).properties(width=WIDTH, height=alt.Step(_ROW))
    middles = ", ".join(f"{row['split']} {row['median']:.2g} %" for row in rows)
    note = (
        f"Thick: the middle half of the errors, with their median; thin: from the 10th to the 90th of a hundred; "
        f"the dashed line is {near:.0%}."
    )
    return finished(chart, name, "How far off predictions were", f"Middle errors by split: {middles}.", note)


def _row(split: str, errors: Sequence[float]) -> dict[str, Any]:
    low, q1, median, q3, high = np.maximum(np.quantile(errors, _QUANTILES) * 100, _LEAST).tolist()
    told = {"low": low, "q1": q1, "median": median, "q3": q3, "high": high}
    return {"split": split, "n": len(errors)} | told


def _error_tooltip() -> list[Any]:
    import altair as alt

    numbers = {"low": "10th of 100", "q1": "25th", "median": "median", "q3": "75th", "high": "90th"}
    said = [alt.Tooltip("split:N"), alt.Tooltip("n:Q", title="results")]
    return said + [alt.Tooltip(f"{field}:Q", title=f"{title} (%)", format=".3~g") for field, title in numbers.items()]
