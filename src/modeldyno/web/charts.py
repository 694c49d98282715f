"""Charts as SVG, drawn on the server: no script is needed to see them, and a tooltip says what each mark is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache

from markupsafe import Markup, escape

from modeldyno import platforms
from modeldyno.core.metrics import significant

WIDTH = 720
HOUR = 3600.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 14, 34
colour = cache(platforms.colour)
_LETTER = 6.6
"""Pixels of a letter of the axis, about."""


@dataclass(frozen=True)
class Bar:
    """One value with its interval."""

    label: str
    value: float
    text: str
    low: float | None = None
    high: float | None = None
    platform: str = ""
    link: str | None = None
    mark: str = ""
    """A word such as `predicted`: the bar is hatched then."""


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    text: str
    low: float | None = None
    high: float | None = None
    kind: str = "point"
    """Its class in the style sheet."""
    link: str | None = None


@dataclass(frozen=True)
class Plane:
    """Two axes, each linear or logarithmic."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: float = 260
    log_x: bool = False
    log_y: bool = False
    times: bool = False
    """Whether x is a moment, in seconds."""
    x_title: str = ""
    y_title: str = ""
    width: float = field(default=WIDTH)

    def at_x(self, value: float) -> float:
        return _LEFT + _share(value, self.x, self.log_x) * (self.width - _LEFT - _RIGHT)

    def at_y(self, value: float) -> float:
        return self.height - _BOTTOM - _share(value, self.y, self.log_y) * (self.height - _TOP - _BOTTOM)


def _share(value: float, reach: tuple[float, float], log: bool) -> float:
    low, high = (math.log(reach[0]), math.log(reach[1])) if log else reach
    place = math.log(max(value, 1e-300)) if log else value
    return (place - low) / (high - low) if high > low else 0.5


def _svg(width: float, height: float, alt: str, parts: Iterable[str]) -> Markup:
    """All texts in the parts are escaped already."""
    size = f"0 0 {width:.0f} {height:.0f}"
    inside = "".join(parts)
    role = "group" if "<a " in inside else "img"  # an image has nothing inside that could be pressed
    drawing = f'<svg class="chart" viewBox="{size}" role="{role}" aria-label="{escape(alt)}">{inside}</svg>'
    return Markup(f'<div class="wide">{drawing}</div>')


def _text(x: float, y: float, text: str, kind: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _linked(link: str | None, inside: str, name: str = "") -> str:
    """With a name where nothing inside can be read."""
    label = f' aria-label="{escape(name)}"' if name else ""
    return f'<a href="{escape(link)}"{label}>{inside}</a>' if link else inside


def _titled(text: str, *inside: str) -> str:
    """Marks with a tooltip."""
    return f"<g><title>{escape(text)}</title>{''.join(inside)}</g>"


def _line_of(x1: float, x2: float, y1: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _block(x: float, y: float, width: float, height: float, kind: str, fill: str = "") -> str:
    colour_ = f' fill="{fill}"' if fill else ""
    return f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" class="{kind}"{colour_}/>'


def bars(rows: Sequence[Bar], alt: str) -> Markup:
    """Horizontal, from zero, each with its value and the interval as a whisker."""
    if not rows:
        return Markup("")
    room = min(360.0, max(len(row.label) for row in rows) * _LETTER + 12)
    most = max(max(row.value, row.high or 0.0) for row in rows) or 1.0
    value_room = max(len(row.text) for row in rows) * _LETTER + 14
    scale = max(80.0, WIDTH - room - value_room) / most
    parts = [_bar(row, 8 + 26 * place, room, scale) for place, row in enumerate(rows)]
    return _svg(WIDTH, 26 * len(rows) + 14, alt, parts)


def _bar(row: Bar, y: float, room: float, scale: float) -> str:
    long = max(1.0, row.value * scale)
    label = row.label if len(row.label) * _LETTER < room else row.label[: int(room / _LETTER) - 1] + "…"
    end, whisker = room + long, ""
    if row.low is not None and row.high is not None:
        end = max(end, room + row.high * scale)
        whisker = _line_of(room + row.low * scale, room + row.high * scale, y + 8, y + 8, "whisker")
    return _titled(
        f"{row.label}: {row.text}",
        _linked(row.link, _text(room - 8, y + 12, label, "label", "end")),
        _block(room, y, long, 16, "bar made" if row.mark else "bar", colour(row.platform)),
        whisker,
        _text(end + 6, y + 12, row.text, "value"),
    )


Mark = tuple[float, str, str]
"""A vertical line: where, what it says, and its class."""


def plane(
    at: Plane,
    dots: Sequence[Dot],
    alt: str,
    lines: Sequence[Sequence[tuple[float, float]]] = (),
    marks: Sequence[Mark] = (),
) -> Markup:
    """Points, lines between some, and vertical marks."""
    bottom = at.height - _BOTTOM
    parts = [
        *_grid(at),
        *(_titled(text, _line_of(at.at_x(x), at.at_x(x), _TOP, bottom, kind)) for x, text, kind in marks),
        *(_line(at, line) for line in lines if len(line) > 1),
        *(_dot(at, dot) for dot in dots),
    ]
    return _svg(at.width, at.height, alt, parts)


def _line(at: Plane, line: Sequence[tuple[float, float]]) -> str:
    points = " ".join(f"{at.at_x(x):.1f},{at.at_y(y):.1f}" for x, y in line)
    return f'<polyline points="{points}" class="line"/>'


def _dot(at: Plane, dot: Dot) -> str:
    x, y, whisker = at.at_x(dot.x), at.at_y(dot.y), ""
    if dot.low is not None and dot.high is not None:
        whisker = _line_of(x, x, at.at_y(max(dot.low, at.y[0])), at.at_y(min(dot.high, at.y[1])), "whisker")
    circle = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" class="{dot.kind}"/>'
    return _titled(dot.text, whisker, _linked(dot.link, circle, dot.text))


def _grid(at: Plane) -> Iterable[str]:
    bottom, right = at.height - _BOTTOM, at.width - _RIGHT
    for value in ticks(*at.y, log=at.log_y):
        y = at.at_y(value)
        yield _line_of(_LEFT, right, y, y, "grid")
        yield _text(_LEFT - 6, y + 4, significant(value, 3), "axis", "end")
    for value, text in _x_ticks(at):
        x = at.at_x(value)
        yield _line_of(x, x, bottom, bottom + 4, "grid")
        yield _text(x, bottom + 16, text, "axis", "middle")
    yield _text(right, at.height - 4, at.x_title, "axis", "end")
    yield _text(4, _TOP - 2, at.y_title, "axis")


def _x_ticks(at: Plane) -> list[tuple[float, str]]:
    if not at.times:
        return [(value, significant(value, 3)) for value in ticks(*at.x, log=at.log_x)]
    span = at.x[1] - at.x[0]
    form = "%Y-%m-%d" if span > 2 * 86400 else "%m-%d %H:%M" if span > 3600 else "%H:%M:%S"
    return [
        (at.x[0] + span * share, datetime.fromtimestamp(at.x[0] + span * share, UTC).strftime(form))
        for share in (0.06, 0.35, 0.65, 0.94)
    ]


def ticks(low: float, high: float, log: bool = False, about: int = 5) -> list[float]:
    """Round numbers from low to high."""
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    if log:
        decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        found = [m * 10.0**d for d in decades for m in (1, 2, 5) if low <= m * 10.0**d <= high]
        return found if len(found) <= 9 else [value for value in found if str(significant(value, 1))[0] == "1"]
    rough = (high - low) / about
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * m for m in (1, 2, 5, 10) if size * m >= rough)
    first = math.ceil(low / step)
    return [step * k for k in range(first, first + 12) if step * k <= high * (1 + 1e-12)]


def reach(values: Iterable[float], log: bool = False, room: float = 0.06, alone: float = 0.0) -> tuple[float, float]:
    """From the smallest to the largest, with some air; a single value stands in the middle, `alone` from the ends."""
    good = [value for value in values if math.isfinite(value) and (value > 0 or not log)]
    if not good:
        return (0.1, 1.0)
    low, high = min(good), max(good)
    if log:
        factor = max((high / low) ** room, 1.15)
        return low / factor, high * factor
    air = (high - low) * room or alone or abs(high) * 0.1 or 1.0
    return low - air, high + air


def histogram(values: Sequence[float], unit: str, alt: str) -> Markup:
    """How often samples took how long."""
    good = sorted(value for value in values if math.isfinite(value))
    if len(good) < 3:
        return Markup("")
    low, high = good[0], good[max(0, math.ceil(len(good) * 0.995) - 1)]
    if high <= low:
        high = low * 1.01 or 1.0
    bins = min(60, max(10, int(math.sqrt(len(good)))))
    counts = [0] * bins
    for value in good:
        counts[min(bins - 1, max(0, int((value - low) / (high - low) * bins)))] += 1
    at = Plane((low, high), (0.0, max(counts) * 1.05), height=190, x_title=unit, y_title="samples")
    wide = (at.at_x(high) - at.at_x(low)) / bins
    blocks = [
        _titled(
            f"{number} samples from {significant(low + place * (high - low) / bins, 4)} {unit}",
            _block(
                at.at_x(low) + place * wide,
                at.at_y(number),
                max(1.0, wide - 1),
                at.height - _BOTTOM - at.at_y(number),
                "column",
            ),
        )
        for place, number in enumerate(counts)
    ]
    return _svg(at.width, at.height, alt, [*_grid(at), *blocks])


def course(processes: Sequence[Sequence[float]], unit: str, alt: str) -> Markup:
    """Samples in the order they were taken, one process after the other."""
    values = [value for process in processes for value in process if math.isfinite(value)]
    if len(values) < 2:
        return Markup("")
    step = max(1, len(values) // 600)
    at = Plane((0.0, float(len(values))), reach(values), height=190, x_title="sample", y_title=unit)
    dots, number = [], 0
    for place, process in enumerate(processes):
        for value in process:
            if math.isfinite(value) and number % step == 0:
                dots.append(
                    Dot(float(number), value, f"process {place}: {significant(value, 4)} {unit}", kind=f"p{place % 5}")
                )
            number += 1
    return plane(at, dots, alt)


def heat(value: float | None, reach_: tuple[float, float]) -> str:
    """The class of a cell from h0 (best) to h9, by the logarithm."""
    if value is None or value <= 0:
        return "none"
    low, high = reach_
    share = _share(value, (low, high), log=True) if high > low > 0 else 0.0
    return f"h{min(9, max(0, int(share * 10)))}"


def share_bar(parts: Mapping[str, int], alt: str) -> Markup:
    """How many ended how, in one line."""
    total = sum(parts.values()) or 1
    x, shapes = 0.0, []
    for kind, number in parts.items():
        if number:
            wide = 120 * number / total
            shapes.append(_titled(f"{number} {kind}", _block(x, 0, wide, 8, kind)))
            x += wide
    return Markup('<svg class="share" viewBox="0 0 120 8" role="img" aria-label="{}">{}</svg>').format(
        alt, Markup("".join(shapes))
    )
