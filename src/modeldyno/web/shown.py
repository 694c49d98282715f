"""Words and numbers as pages show them: the filters of the templates."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from modeldyno.core.metrics import METRICS, format_value

_AGES = ((86400 * 365, "y"), (86400 * 30, "mo"), (86400, "d"), (3600, "h"), (60, "min"))


def moment(value: datetime | None) -> str:
    return value.strftime("%Y-%m-%d %H:%M") if value else "-"


def age(value: datetime | None) -> str:
    """How long ago, in one unit."""
    if value is None:
        return "-"
    seconds = (datetime.now(UTC).replace(tzinfo=None) - value.replace(tzinfo=None)).total_seconds()
    for size, unit in _AGES:
        if seconds >= size:
            return f"{int(seconds / size)} {unit} ago"
    return "just now"


def figure(row: Mapping[str, Any], name: str) -> str:
    """A metric of a row, with its interval where the row has one."""
    value = row.get(name)
    if value is None:
        return "-"
    return format_value(name, value, row.get(f"{name}_low"), row.get(f"{name}_high"))


def metric(value: float | None, name: str) -> str:
    return "-" if value is None else format_value(name, value)


def count(value: float | None) -> str:
    """Large numbers as people say them."""
    if value is None:
        return "-"
    for size, unit in ((1e9, " G"), (1e6, " M"), (1e4, " k")):
        if value >= size:
            return f"{value / (1e3 if size == 1e4 else size):.3g}{unit}"
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def sizes(row: Mapping[str, Any]) -> str:
    """Shape and options, from the text that the store has of them."""
    return _sizes(row.get("shape") or "{}", row.get("options") or "{}")


@lru_cache(maxsize=4096)
def _sizes(shape_text: str, options_text: str) -> str:
    shape, options = json.loads(shape_text), json.loads(options_text)
    return " ".join([*(f"{axis} {size}" for axis, size in shape.items()), *(f"{k}={v}" for k, v in options.items())])


def unit(name: str) -> str:
    return METRICS[name].unit if name in METRICS else ""


def meaning(name: str) -> str:
    return METRICS[name].meaning if name in METRICS else ""


def path_part(text: str) -> str:
    """A name inside a path."""
    return quote(text, safe="")


def address(path: str, /, **words: Any) -> str:
    """A path with a query of what is not empty."""
    given = [(name, value) for name, value in words.items() if value not in (None, "", [], ())]
    return f"{path}?{urlencode(given, doseq=True)}" if given else path


FILTERS = {
    "moment": moment,
    "age": age,
    "figure": figure,
    "metric": metric,
    "count": count,
    "sizes": sizes,
    "unit": unit,
    "meaning": meaning,
    "path_part": path_part,
}
