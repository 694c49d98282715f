"""What every section has to hold to, whatever the records are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import vl_convert
from world import SPEED, a_run, a_store, records

from modeldyno.core.types import Record, Run
from modeldyno.reports.document import Chart, Section, Table
from modeldyno.reports.material import Material
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import Part
from modeldyno.store.words import filter_of, real

MOST_ROWS = 2500
HOSTILE = (
    "<script>alert('x')</script>",
    'a|b `c` *d* [e](f) #g $h$ \\ "i"',
    "🚀 ש\u202e",
    "x" * 200,
    "line\nbreak, '; DROP TABLE records; --",
)


def section(path: Path, name: str, *items: Run | Record, metric: str = "latency_ms", **words: str) -> Section | None:
    """The section of a store that holds these; None where it has nothing to say."""
    store = a_store(path / "dyno.duckdb", *items)
    made = SECTIONS.get(name)(Material(store, real(filter_of(words)), words), Part(section=name, metric=metric))
    if made is not None:
        _look_at(made)
    return made


def many(run: Run | None = None) -> tuple[Run | Record, ...]:
    """50 models on 8 platforms."""
    run = run or a_run()
    return run, *records(run, [f"model-{number:02}" for number in range(50)], SPEED)


def charts(made: Section) -> dict[str, Chart]:
    return {block.name: block for block in made.blocks if isinstance(block, Chart)}


def tables(made: Section) -> dict[str, Table]:
    return {block.name: block for block in made.blocks if isinstance(block, Table)}


def findings(made: Section) -> str:
    return " ".join(finding.text for finding in made.findings)


def column(table: Table, key: str) -> list[str]:
    """The texts of one column."""
    place = [each.key for each in table.columns].index(key)
    return [row.cells[place].text for row in table.rows]


def texts(made: Section, chart: str) -> dict[tuple[str, str], str]:
    """What stands in the cells of a map, by row and column."""
    return {(row["row"], row["column"]): row["text"] for row in rows(charts(made)[chart])}


def rows(chart: Chart) -> list[dict[str, Any]]:
    """All data of a chart."""
    found = []
    for part in _walk(chart.spec):
        values = part.get("data", {}).get("values") if isinstance(part.get("data"), dict) else None
        found += values or []
    for values in chart.spec.get("datasets", {}).values():
        found += values
    return found


def _look_at(made: Section) -> None:
    """Each chart compiles, has words for those who cannot see it, and units; no row of a table is short."""
    assert len(made.findings) <= 3
    assert all(finding.text.endswith(".") for finding in made.findings)
    for chart in charts(made).values():
        assert chart.title and chart.alt and chart.note
        assert 0 < len(rows(chart)) < MOST_ROWS
        compiled = vl_convert.vegalite_to_vega(chart.spec)
        titles = list(_axis_titles(compiled))
        assert titles, chart.name
        assert all(title.endswith(")") for title, counts in titles if counts), titles
    for table in tables(made).values():
        assert all(len(row.cells) == len(table.columns) for row in table.rows)
        assert table.rows and len(table.head) <= table.shown


def _axis_titles(spec: dict[str, Any]) -> Iterator[tuple[str, bool]]:
    """Each title of an axis, and whether it counts something; places in time have a zone in place of a unit."""
    named = {
        scale["name"]: scale["type"] for part in _walk(spec) for scale in part.get("scales", []) if "type" in scale
    }
    for part in _walk(spec):
        for axis in part.get("axes", []):
            if isinstance(axis.get("title"), str):
                yield axis["title"], named.get(axis["scale"]) not in ("band", "point")


def _walk(part: Any) -> Iterator[dict[str, Any]]:
    if isinstance(part, dict):
        yield part
    for child in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _walk(child)
