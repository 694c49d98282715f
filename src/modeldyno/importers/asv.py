"""Airspeed velocity: `results/MACHINE/COMMIT-ENV.json`, versions 1 and 2.

The kind of a benchmark is in its name. Times are seconds of one call; the result of several samples is their median."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._document import Document, Row
from modeldyno.importers._facts import MB, MS_PER_S, as_dict, as_text, host, moment, record_function, scaled
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import number_of

_KEYS = {"commit_hash", "date", "params", "results"}
_KINDS = {
    "timeraw_": ("latency_ms", MS_PER_S),
    "time_": ("latency_ms", MS_PER_S),
    "peakmem_": ("memory_peak_mb", 1 / MB),
}
_MAX_COMBINATIONS = 100_000


class Asv:
    name = "asv"
    about = "airspeed velocity: asv run writes results/MACHINE/COMMIT-ENV.json"

    def recognises(self, document: Document) -> bool:
        return document.keys >= _KEYS

    def read(self, document: Document, sheet: Sheet) -> None:
        data = as_dict(document.data)
        results = data.get("results")
        if not isinstance(results, dict) or not results:
            sheet.reject("results", "is no object with results")
            return
        started_at = _started_at(data)
        run = _run(sheet, data, started_at)
        for name, row in results.items():
            try:
                cells = _cells(data, name, row)
            except ValueError as error:
                sheet.reject(as_text(name) or "results", str(error))
                continue
            cells["started_at"] = moment(cells.get("started_at")) or started_at
            self._read_benchmark(document, sheet, run, as_text(name) or "", cells)

    def _read_benchmark(self, document: Document, sheet: Sheet, run: str, name: str, cells: Row) -> None:
        kind = _kind(name)
        if kind is None:
            sheet.reject(name or "results", "is neither a time nor a peak of memory; its unit is not in this file")
            return
        metric, factor = kind
        values = cells.get("result")
        try:
            combinations = _combinations(cells.get("params"))
        except ValueError as error:
            sheet.reject(name, str(error))
            return
        for number, combination in enumerate(combinations):
            value = _item(values, number)
            status, reason = _outcome(value)
            label = f"{name}({', '.join(combination)})" if combination else name
            samples = _item(cells.get("samples"), number) if metric == "latency_ms" else None
            record_function(
                sheet,
                label,
                name=name,
                cpu=as_text(as_dict(as_dict(document.data).get("params")).get("cpu")),
                options={f"param{place}": given for place, given in enumerate(combination, 1)},
                run=run,
                started_at=cells["started_at"],
                duration_s=max(0.0, number_of(cells.get("duration")) or 0.0),
                status=status,
                reason=reason,
                metrics={metric: scaled(value, factor)} if status is Status.OK else {},
                samples_ms=[scaled(s, factor) for s in samples] if isinstance(samples, list) else (),
                software=_software(as_dict(document.data)),
            )


def _started_at(data: Row) -> datetime | None:
    """When the first benchmark ran; the oldest files have only the commit's date."""
    found = []
    for name, row in as_dict(data.get("results")).items():
        with suppress(ValueError):
            found.append(moment(_cells(data, name, row).get("started_at")))
    return min(filter(None, found), default=moment(data.get("date")))


def _run(sheet: Sheet, data: Row, started_at: datetime | None) -> str:
    params = as_dict(data.get("params"))
    memory = number_of(params.get("ram"))
    return sheet.run(
        started_at=started_at,
        host=host(
            hostname=params.get("machine"),
            system=params.get("os"),
            cpu=params.get("cpu"),
            cores=params.get("num_cpu"),
            memory_mb=memory / MB if memory and memory >= 2**30 else None,  # bytes, or a person's own words
            python=data.get("python"),
        ),
        commit=as_text(data.get("commit_hash")),
    )


def _cells(data: Row, name: str, row: Any) -> Row:
    """One benchmark by column, whatever the version of the file."""
    columns = data.get("result_columns")
    if columns is None:
        aside = {key: as_dict(data.get(key)).get(name) for key in ("started_at", "duration")}
        return {**aside, **(row if isinstance(row, dict) else {"result": row})}
    if not isinstance(columns, list) or not isinstance(row, list):
        raise ValueError("is no list of the columns' values")
    return {column: value for column, value in zip(columns, row, strict=False) if isinstance(column, str)}


def _kind(name: str) -> tuple[str, float] | None:
    """The metric and the factor into its unit."""
    last = name.rsplit(".", 1)[-1].lower()
    return next((kind for prefix, kind in _KINDS.items() if last.startswith(prefix)), None)


def _combinations(params: Any) -> Iterator[tuple[str, ...]]:
    """Of the parameters' values, in the order of the results; a ValueError says what is wrong with them."""
    lists = [] if params is None else params
    if not isinstance(lists, list) or not all(isinstance(values, list) for values in lists):
        raise ValueError("its params are no list of lists of values")
    if math.prod(map(len, lists)) > _MAX_COMBINATIONS:
        raise ValueError(f"its params make more than {_MAX_COMBINATIONS} combinations")
    words = [[as_text(value) or "" for value in values] for values in lists]
    return itertools.product(*words)


def _item(values: Any, number: int) -> Any:
    """The result of one combination; a benchmark without parameters may come without the list."""
    if not isinstance(values, list):
        return values if number == 0 else None
    return values[number] if number < len(values) else None


def _outcome(value: Any) -> tuple[Status, str | None]:
    if value is None:
        return Status.FAILED, "asv has no result: the benchmark failed"
    if isinstance(value, float) and math.isnan(value):
        return Status.SKIPPED, "the benchmark was skipped"
    return Status.OK, None


def _software(data: Row) -> dict[str, str]:
    found = {as_text(name): as_text(version) for name, version in as_dict(data.get("requirements")).items()}
    return {name: version for name, version in found.items() if name and version}


MEMBER = Asv()
