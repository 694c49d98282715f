"""Series over time: points with their intervals, levels as lines, changes and new environments as rules."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from modeldyno.reports.cells import metric_title
from modeldyno.reports.charts.layout import evenly
from modeldyno.reports.charts.style import GREY, WIDTH, data, finished, platform_colours
from modeldyno.reports.document import Chart

if TYPE_CHECKING:
    import altair

MOST_POINTS = 150
"""Of one series; more of them lie on each other."""
MOST_RULES = 12
_PANEL, _HEIGHT = 280, 150
_LINE = 12
"""Pixels of a line of text at a rule."""
_LINES = 3
_LETTER, _LONGEST = 5.5, 170
"""Pixels of a letter and of a whole text there."""
_DOT = 16


class Kind(StrEnum):
    """What a rule stands for, which decides its colour."""

    WORSE = "worse"
    BETTER = "better"
    UNCLEAR = "unclear"
    ENVIRONMENT = "environment"


_COLOURS = {Kind.WORSE: "#C0392B", Kind.BETTER: "#2E7D4F", Kind.UNCLEAR: "#B07C00", Kind.ENVIRONMENT: GREY}


@dataclass(frozen=True)
class Mark:
    """One point."""

    moment: datetime
    value: float
    low: float | None = None
    high: float | None = None
    about: str = ""


@dataclass(frozen=True)
class Line:
    """One level."""

    begin: datetime
    end: datetime
    value: float


@dataclass(frozen=True)
class Rule:
    """One change."""

    moment: datetime
    kind: Kind
    text: str


@dataclass(frozen=True)
class Track:
    """One series."""

    name: str
    """Two lines: what, and how."""
    platform: str
    marks: tuple[Mark, ...]
    lines: tuple[Line, ...]
    rules: tuple[Rule, ...]


def timeline(name: str, title: str, metric: str, tracks: Sequence[Track], alt: str, note: str) -> Chart:
    """A panel for each series with an axis of its own; one alone is as wide as the page."""
    alone = len(tracks) == 1
    rows = [row for track in tracks for row in _rows(track, WIDTH if alone else _PANEL)]
    layers = _layers(metric, tracks)
    chart = layers.properties(data=data(rows), width=WIDTH, height=240) if alone else _panels(layers, rows)
    return finished(chart, name, title, alt, note)


def _panels(layers: altair.LayerChart, rows: Sequence[dict[str, Any]]) -> altair.FacetChart:
    import altair as alt

    header = alt.Header(
        title=None, labelAlign="left", labelAnchor="start", labelLimit=_PANEL, labelExpr="split(datum.label, '\\n')"
    )
    facet = alt.Facet("series:N", header=header, title=None, sort=None)
    panels = layers.properties(width=_PANEL, height=_HEIGHT).facet(facet=facet, data=data(rows), columns=2)
    return panels.resolve_scale(x="independent", y="independent")


def _rows(track: Track, width: int) -> Iterable[dict[str, Any]]:
    """All that is drawn in one table, for a facet has only one."""
    common = {"series": track.name, "platform": track.platform}
    for mark in evenly(track.marks, MOST_POINTS):
        low, high = (_bound(bound, mark.value) for bound in (mark.low, mark.high))
        told = {"moment": _iso(mark.moment), "value": mark.value, "low": low, "high": high, "about": mark.about}
        yield common | {"part": "point"} | told
    for line in track.lines:
        yield common | {"part": "level", "moment": _iso(line.begin), "end": _iso(line.end), "value": line.value}
    yield from (common | row for row in _rule_rows(track, width))


def _bound(bound: float | None, value: float) -> float:
    """The value itself where no bound can be drawn."""
    return value if bound is None or not math.isfinite(bound) else bound


def _rule_rows(track: Track, width: int) -> Iterable[dict[str, Any]]:
    """Each text on the side where there is room, on the first line where no other stands; without room only a rule."""
    first, last = track.marks[0].moment, track.marks[-1].moment
    taken: list[float] = [0.0] * _LINES
    for rule in track.rules[-MOST_RULES:]:
        place = width * ((rule.moment - first) / (last - first) if last > first else 0.5)
        side, long = ("before" if place > width / 2 else "after"), min(_LONGEST, len(rule.text) * _LETTER)
        begin = place - long if side == "before" else place
        line = next((line for line, end in enumerate(taken) if begin >= end), None)
        row = {"part": rule.kind.value, "moment": _iso(rule.moment), "text": rule.text}
        if line is None:
            yield row
        else:
            taken[line] = begin + long + _LETTER
            yield row | {"side": side, "line": 4 + _LINE * line}


def _iso(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def _layers(metric: str, tracks: Sequence[Track]) -> altair.LayerChart:
    import altair as alt

    scale = platform_colours(track.platform for track in tracks)
    colour = alt.Color("platform:N", scale=scale, title="platform", legend=alt.Legend(orient="top"))
    y = alt.Y(
        "value:Q",
        title=metric_title(metric),
        scale=alt.Scale(zero=False, padding=_LINE * _LINES),
        axis=alt.Axis(minExtent=44, tickCount=5),
    )
    x = _x(tracks)
    points = alt.Chart().transform_filter("datum.part === 'point'").encode(x=x, color=colour, tooltip=_tooltip(metric))
    levels = alt.Chart().transform_filter("datum.part === 'level'")
    return alt.layer(
        *(_rules(kind, x) for kind in Kind),
        points.mark_rule(strokeWidth=1, opacity=0.5).encode(y=alt.Y("low:Q"), y2="high:Q"),
        points.mark_point(size=_DOT, filled=True, opacity=0.8).encode(y=y),
        levels.mark_rule(strokeWidth=2.5, opacity=0.7).encode(x=x, x2="end:T", y=y, color=colour),
        _texts("after", "left", 3, x),
        _texts("before", "right", -3, x),
    )


def _x(tracks: Sequence[Track]) -> altair.X:
    """Days, or hours where there is no second day."""
    import altair as alt

    longest = max(track.marks[-1].moment - track.marks[0].moment for track in tracks)
    days = longest.total_seconds() / 86400
    text = "%b %d %H:%M" if days < 2 else "%b %d" if days < 300 else "%Y-%m-%d"
    axis = alt.Axis(labelOverlap="greedy", labelSeparation=10, tickCount=8, format=text, grid=False)
    return alt.X("moment:T", title="date (UTC)", scale=alt.Scale(type="utc"), axis=axis)


def _tooltip(metric: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("series:N", title="series"),
        alt.Tooltip("about:N", title="point"),
        alt.Tooltip("value:Q", title=metric_title(metric), format=".4~g"),
        alt.Tooltip("low:Q", title="95 % from", format=".4~g"),
        alt.Tooltip("high:Q", title="to", format=".4~g"),
    ]


def _rules(kind: Kind, x: altair.X) -> altair.Chart:
    import altair as alt

    dash = {"strokeDash": [4, 3]} if kind is Kind.ENVIRONMENT else {}
    base = alt.Chart().transform_filter(f"datum.part === '{kind.value}'")
    tooltip = [alt.Tooltip("series:N", title="series"), alt.Tooltip("text:N", title="change")]
    return base.mark_rule(strokeWidth=1.5, color=_COLOURS[kind], **dash).encode(x=x, tooltip=tooltip)


def _texts(side: str, align: str, dx: int, x: altair.X) -> altair.Chart:
    import altair as alt

    base = alt.Chart().transform_filter(f"datum.side === '{side}'")
    text = base.mark_text(align=align, dx=dx, baseline="top", fontSize=9, limit=_LONGEST)
    return text.encode(x=x, y=alt.Y("line:Q", scale=None, axis=None), text="text:N")
