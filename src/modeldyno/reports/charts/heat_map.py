"""A heat map: rows by columns with a text in each cell, filled by a value or by a category."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.reports.charts.style import GREY, WIDTH, data, finished, spans_decades
from modeldyno.reports.document import Chart

if TYPE_CHECKING:
    import altair

SCHEME = "viridis"
"""Perceptually uniform, and told apart by colour-blind readers (van der Walt and Smith, 2015)."""
_DARK, _LIGHT = "#111111", "#FFFFFF"
_TURNS_LIGHT = 0.45
"""From this place of the scheme on, dark text has more contrast than light text."""
_ROW = 22
"""Pixels."""
_UPRIGHT = 6.5
"""Pixels of a letter of the column names."""


@dataclass(frozen=True)
class Square:
    """One cell that holds something."""

    row: str
    column: str
    text: str
    fill: float | str
    """The value or the category behind its colour."""
    detail: str = ""
    """What else a reader may want to know of it."""


@dataclass(frozen=True)
class Axes:
    """What rows and columns are, and in which order they stand."""

    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_title: str
    column_title: str
    missing: str = ""
    """The text of cells that hold nothing."""


@dataclass(frozen=True)
class Words:
    """What stands around a chart."""

    name: str
    title: str
    alt: str
    note: str | None = None


def value_map(words: Words, axes: Axes, fill_title: str, squares: Sequence[Square]) -> Chart:
    """Filled by value, on a logarithmic scale where the values span decades."""
    import altair as alt

    values = [float(square.fill) for square in squares]
    log = spans_decades(values)
    low, high = _domain(values)
    scale = alt.Scale(type="log" if log else "linear", scheme=SCHEME, domain=[low, high])
    legend = alt.Legend(orient="top", gradientLength=240, titleLimit=400, tickCount=5, format=".3~g")
    fill = alt.Color("fill:Q", scale=scale, title=fill_title, legend=legend)
    places = [_place(value, low, high, log) for value in values]
    return _finished(words, axes, fill, squares, [_DARK if place > _TURNS_LIGHT else _LIGHT for place in places])


def category_map(
    words: Words, axes: Axes, fill_title: str, squares: Sequence[Square], colours: Mapping[str, str]
) -> Chart:
    """Filled by category; the text of each cell has to tell them apart as well."""
    import altair as alt

    used = [name for name in colours if any(square.fill == name for square in squares)]
    scale = alt.Scale(domain=used, range=[colours[name] for name in used])
    fill = alt.Color("fill:N", scale=scale, title=fill_title, legend=alt.Legend(orient="top", columns=6))
    return _finished(words, axes, fill, squares, [text_on(colours[str(square.fill)]) for square in squares])


def text_on(fill: str) -> str:
    """The colour of text that has more contrast on this fill (relative luminance of WCAG 2)."""
    channels = [int(fill[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in channels]
    luminance = sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
    return _DARK if (luminance + 0.05) ** 2 > 1.05 * 0.0556 else _LIGHT


def _domain(values: Sequence[float]) -> tuple[float, float]:
    """Never empty: equal values lie in the middle."""
    low, high = min(values), max(values)
    if low < high:
        return low, high
    return (low / 2, low * 2) if low > 0 else (low - 1, low + 1)


def _place(value: float, low: float, high: float, log: bool) -> float:
    """Where on the scale from 0 to 1."""
    if log:
        value, low, high = math.log(value), math.log(low), math.log(high)
    return (value - low) / (high - low)


def _finished(words: Words, axes: Axes, fill: altair.Color, squares: Sequence[Square], inks: Sequence[str]) -> Chart:
    chart = _layers(axes, fill, squares, inks)
    return finished(chart, words.name, words.title, words.alt, words.note)


def _layers(axes: Axes, fill: altair.Color, squares: Sequence[Square], inks: Sequence[str]) -> altair.LayerChart:
    """Grey squares for what is missing below the others, so that neither has to know of the other's scale."""
    import altair as alt

    filled = [
        {"row": one.row, "column": one.column, "text": one.text, "fill": one.fill, "detail": one.detail, "ink": ink}
        for one, ink in zip(squares, inks, strict=True)
    ]
    place: dict[str, Any] = {"x": _x(axes), "y": _y(axes)}
    about = [
        alt.Tooltip("row:N", title=axes.row_title),
        alt.Tooltip("column:N", title=axes.column_title),
        alt.Tooltip("text:N", title="value"),
        alt.Tooltip("detail:N", title="how"),
    ]
    full = alt.Chart(data(filled)).encode(**place, tooltip=about)
    layers = [full.mark_rect(cornerRadius=2).encode(color=fill), _texts(full)]
    if gaps := _gaps(axes, squares):
        layers = [*_empty(alt.Chart(data(gaps)).encode(**place), axes), *layers]
    return alt.layer(*layers).properties(width=WIDTH, height=alt.Step(_ROW))


def _gaps(axes: Axes, squares: Sequence[Square]) -> list[dict[str, Any]]:
    there = {(square.row, square.column) for square in squares}
    return [
        {"row": row, "column": column, "text": axes.missing}
        for row in axes.rows
        for column in axes.columns
        if (row, column) not in there
    ]


def _empty(base: altair.Chart, axes: Axes) -> list[altair.Chart]:
    squares = base.mark_rect(color=GREY, opacity=0.15, cornerRadius=2)
    return [squares, base.mark_text(fontSize=11, color=GREY).encode(text="text:N")] if axes.missing else [squares]


def _texts(base: altair.Chart) -> altair.Chart:
    import altair as alt

    ink = alt.condition(f"datum.ink === '{_DARK}'", alt.value(_DARK), alt.value(_LIGHT))
    return base.mark_text(fontSize=11).encode(text="text:N", color=ink)


def _x(axes: Axes) -> altair.X:
    import altair as alt

    wide = max(map(len, axes.columns)) * _UPRIGHT > WIDTH / len(axes.columns)
    axis = alt.Axis(orient="top", labelAngle=-35 if wide else 0, domain=False, ticks=False)
    scale = alt.Scale(domain=list(axes.columns), paddingInner=0.04)
    return alt.X("column:N", title=axes.column_title, axis=axis, scale=scale)


def _y(axes: Axes) -> altair.Y:
    import altair as alt

    axis = alt.Axis(domain=False, ticks=False)
    scale = alt.Scale(domain=list(axes.rows), paddingInner=0.08)
    return alt.Y("row:N", title=axes.row_title, axis=axis, scale=scale)
