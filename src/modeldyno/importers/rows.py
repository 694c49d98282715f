"""Flat rows with named columns: CSV, Parquet, lists of JSON objects, lines of JSON. Columns are found by their names,
or by a mapping that the user gives (`--map latency_ms=my_column:s`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Status
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import flagged, per_step
from modeldyno.importers._facts import as_dict, as_list, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, truth_of

FIELDS: dict[str, tuple[str, ...]] = {
    "model": ("model", "model_name", "model_id", "network"),
    "platform": ("platform", "hardware_type", "hardware", "backend", "accelerator_type", "device_type"),
    "device": ("device", "device_name", "accelerator", "gpu", "gpu_name"),
    "runtime": ("runtime", "framework", "engine"),
    "precision": ("precision", "dtype", "data_type"),
    "batch": ("batch", "batch_size", "bs"),
    "seq": ("seq", "sequence_length", "seq_len", "seq_length"),
    "workload": ("workload", "mode"),
    "started_at": ("started_at", "timestamp", "created_at", "date", "time"),
    "status": ("status", "success"),
    "reason": ("reason", "error", "error_message"),
}
NUMBERS: dict[str, tuple[str, ...]] = {
    "latency_ms": ("latency_ms", "median_latency_ms", "step_time_ms", "inference_time_ms"),
    "latency_mean_ms": ("latency_mean_ms", "mean_latency_ms", "avg_latency_ms", "average_latency_ms"),
    "throughput_per_s": (
        "throughput_per_s",
        "throughput_items_per_second",
        "throughput_samples_per_sec",
        "samples_per_sec",
        "fps",
        "throughput",
        "items_per_second",
    ),
    "memory_peak_mb": ("memory_peak_mb", "peak_memory_mb", "memory_mb"),
    "load_ms": ("load_ms", "load_time_ms"),
    "tokens_per_s": ("tokens_per_s", "tokens_per_second"),
    "energy_j": ("energy_j",),
    "power_w": ("power_w",),
}
_UNITS = {
    "_ms": {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3},
    "_mb": {"kb": 1 / 1024, "mb": 1.0, "gb": 1024.0},
}
"""By the ending of a metric's name, the units it can be given in."""


class Rows:
    name = "rows"
    about = "tables with one result per row: CSV, Parquet, JSON lists and lines, with or without a column mapping"
    general = True

    def recognises(self, document: Document) -> bool:
        columns = set(next((row for _, row in _rows(document)), {}))
        return any(_is_column(columns, names) for names in (FIELDS["model"],)) and any(
            _is_column(columns, names) for names in NUMBERS.values()
        )

    def read(self, document: Document, sheet: Sheet) -> None:
        run = sheet.run()
        mapping = {name: _target(name, text) for name, text in sheet.mapping.items()}
        if missing := _missing(document, mapping):
            sheet.reject("columns", missing)
            return
        for place, row in _rows(document):
            self._read_row(sheet, run, place, row, mapping)

    def _read_row(
        self, sheet: Sheet, run: str, place: str, row: Mapping[str, Any], mapping: Mapping[str, tuple[str, float]]
    ) -> None:
        def said(field: str) -> Any:
            if field in mapping:
                return row.get(mapping[field][0])
            return next((row[name] for name in FIELDS[field] if row.get(name) is not None), None)

        status, word = _status(said("status"))
        sizes = {name: said(name) for name in ("batch", "seq")}
        if bad := next((name for name, given in sizes.items() if given is not None and not _is_size(given)), None):
            sheet.reject(place, f"has {bad} {sizes[bad]!r}, which is no size")
            return
        batch, seq = number_of(sizes["batch"]), number_of(sizes["seq"])
        worked = status is Status.OK
        values, notes = per_step(_numbers(row, mapping), int(batch or 1)) if worked else ({}, ())
        sheet.record(
            place,
            run=run,
            model=said("model"),
            platform=said("platform"),
            device=as_text(said("device")),
            runtime=as_text(said("runtime")),
            precision=as_text(said("precision")),
            workload=as_text(said("workload")) or "inference",
            batch=batch and int(batch),
            shape={} if seq is None else {"seq": int(seq)},
            family=as_text(row.get("model_family")),
            metrics=values,
            status=status,
            reason=None if worked else (as_text(said("reason")) or f"its status is {word}"),
            evidence=(*flagged(dict(row)), *_said_to_be_made_up(row)),
            started_at=moment_of(said("started_at")),
            log="\n".join(notes) or None,
        )


def _status(given: Any) -> tuple[Status, str]:
    """Our own four words, or a word of success; any other means that it failed."""
    word = "" if given is None else str(given).strip().lower()
    if word in set(Status):
        return Status(word), word
    return (Status.OK if given is None or truth_of(given) is True else Status.FAILED), word


def _is_size(given: Any) -> bool:
    number = number_of(given)
    return number is not None and number >= 1 and number == int(number)


def _said_to_be_made_up(row: Mapping[str, Any]) -> tuple[str, ...]:
    provenance = str(row.get("provenance") or "").lower()
    return (f"the file says provenance: {provenance}",) if provenance in ("simulated", "predicted") else ()


def _numbers(row: Mapping[str, Any], mapping: Mapping[str, tuple[str, float]]) -> dict[str, Any]:
    """The metrics of a row, in our units; what is no number stays for the sheet to reject."""
    values: dict[str, Any] = {}
    for metric in METRICS:
        if metric in mapping:
            column, factor = mapping[metric]
            given = row.get(column)
            number = number_of(given)
            values[metric] = given if number is None else number * factor
        else:
            names = NUMBERS.get(metric, (metric,))
            values[metric] = next((row[name] for name in names if row.get(name) is not None), None)
    return {name: value for name, value in values.items() if value is not None}


def _target(name: str, text: str) -> tuple[str, float]:
    """`my_column:s` -> the column and the factor to our unit."""
    if name not in METRICS and name not in FIELDS:
        known = ", ".join([*FIELDS, *METRICS])
        raise InputError(f"--map {name}=... names nothing that a row can hold; known: {known}.")
    column, colon, unit = text.rpartition(":")
    if not colon:
        return text, 1.0
    units = next((units for ending, units in _UNITS.items() if name.endswith(ending)), {})
    if unit.lower() not in units:
        known = ", ".join(units) or "none, it is taken as it is"
        raise InputError(f"--map {name}={text} has the unit '{unit}'; for {name} these are known: {known}.")
    return column, units[unit.lower()]


def _missing(document: Document, mapping: Mapping[str, tuple[str, float]]) -> str | None:
    """What is wrong with a mapping to columns that no row has."""
    if not mapping:
        return None
    columns = dict.fromkeys(column for _, row in _rows(document) for column in row)
    wrong = [f"{name}={column}" for name, (column, _) in mapping.items() if column not in columns]
    if not wrong or not columns:
        return None
    return f"has no column for --map {', '.join(wrong)}; its columns are {', '.join(map(str, columns))}"


def _rows(document: Document) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if document.table:
        yield from ((f"row {number}", row) for number, row in enumerate(document.table.rows, 1))
    elif document.lines:
        yield from ((f"line {number}", as_dict(row)) for number, row in document.lines)
    else:
        yield from ((f"item {number}", as_dict(row)) for number, row in enumerate(as_list(document.data), 1))


def _is_column(columns: set[str], names: tuple[str, ...]) -> bool:
    return any(name in columns for name in names)


MEMBER = Rows()
