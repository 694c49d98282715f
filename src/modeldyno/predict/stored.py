"""Prediction over a store: what is known there, and a predictor that is kept until new results come."""

from __future__ import annotations

import json
import math
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from modeldyno.core.cache import cache_dir
from modeldyno.core.identity import digest
from modeldyno.core.types import Case, Record
from modeldyno.predict.cells import Cell, cell_of
from modeldyno.predict.predictor import Predictor, learnable
from modeldyno.store.cells import read_cells
from modeldyno.store.models import StoredModel, keep_model, newest_model
from modeldyno.store.store import Store

VERSION = 3
"""Of the way to predict: raised whenever it changes."""
LATENCY = "latency_ms"
Say = Callable[[str], None]
_MANY = 1000
"""Results from which learning takes long enough to be told."""
_PER_ITEM = {LATENCY: ("latency_mean_ms", "throughput_per_s")}
"""Metrics that are told per item, and what else tells them."""


@dataclass(frozen=True)
class Standing:
    """The predictor that is kept, if any, and whether results have come since."""

    kept: StoredModel | None
    cells: int
    stale: bool


def cells_of(store: Store, metric: str = LATENCY) -> list[Cell]:
    """All that is known, oldest first."""
    others = _PER_ITEM.get(metric, ())
    return [cell for row in read_cells(store, metric, *others) if (cell := _cell(row, metric)) is not None]


def cell_of_record(record: Record, metric: str = LATENCY) -> Cell | None:
    """The cell of a result, or of one that is asked for; None where the device has no name."""
    if record.device is None:
        return None
    numbers = {name: found.value for name, found in record.metrics.items()}
    return cell_of(
        record.case,
        record.device.name,
        gflop=record.model.gflop if record.model else None,
        activations=numbers.get("activations"),
        parameters=record.model.parameters if record.model else None,
        nodes=record.placement.nodes if record.placement else None,
        software=dict(record.software),
        moment=record.started_at,
        value=_value(numbers, metric, record.case.batch),
    )


def quiet(_: str) -> None:
    """Says nothing."""


def predictor_of(store: Store, metric: str = LATENCY, say: Say = quiet) -> Predictor | None:
    """As kept, where nothing new has come; else trained now. None with too few results."""
    cells = cells_of(store, metric)
    if not learnable(cells):
        return None
    if found := _loaded(_file(fingerprint(cells))):
        return found
    if len(cells) >= _MANY:
        say(f"Learning {metric} from {len(cells):,} results; this can take minutes, and is kept until new ones come.")
    return train(store, metric, cells)


def kept_predictor(store: Store, metric: str = LATENCY) -> Predictor | None:
    """The last that was trained, whatever came since; None where there is none, or it is no longer in the cache."""
    kept = newest_model(store, metric)
    return _loaded(_file(kept.fingerprint)) if kept and kept.version == VERSION else None


def train(store: Store, metric: str = LATENCY, cells: list[Cell] | None = None) -> Predictor:
    """Fit on all that is known; its quality goes into the store, itself into the cache."""
    cells = cells_of(store, metric) if cells is None else cells
    made = Predictor.fit(cells)
    mark = fingerprint(cells)
    file = _file(mark)
    part = file.with_suffix(".part")
    part.write_bytes(pickle.dumps(made))
    part.replace(file)
    keep_model(store, StoredModel(mark, datetime.now(UTC), metric, VERSION, made.size, made.quality()))
    return made


def standing(store: Store, metric: str = LATENCY) -> Standing:
    cells = cells_of(store, metric)
    kept = newest_model(store, metric)
    return Standing(kept, len(cells), kept is None or kept.fingerprint != fingerprint(cells))


def fingerprint(cells: Iterable[Cell]) -> str:
    """Of the results, and of the way to predict."""
    return digest([VERSION, sorted(repr(cell) for cell in cells)], 16)


def _file(mark: str) -> Path:
    return cache_dir("predictors") / f"{mark}.pickle"


def _loaded(file: Path) -> Predictor | None:
    """From the user's own cache, never from a store that may come from elsewhere; an unreadable one is made again."""
    try:
        found = pickle.loads(file.read_bytes())
    except Exception:  # noqa: BLE001 - a cut-off file, or one of another version of a library
        return None
    return found if isinstance(found, Predictor) else None


def _cell(row: Mapping[str, Any], metric: str) -> Cell | None:
    value = _value(row, metric, row["batch"])
    if value is None or not 0 < value < math.inf:
        return None
    return cell_of(
        _case(
            *(
                row[name]
                for name in ("workload", "model", "platform", "runtime", "precision", "batch", "shape", "options")
            )
        ),
        row["device"],
        gflop=row["gflop"],
        activations=row["activations"],
        parameters=row["parameters"],
        nodes=_read(row["nodes"]),
        software=_read(row["software"]),
        moment=row["started_at"].replace(tzinfo=UTC),
        value=value,
    )


def _value(numbers: Mapping[str, Any], metric: str, batch: int) -> float | None:
    """Of latencies, milliseconds per item, however they are told."""
    if metric not in _PER_ITEM:
        return numbers.get(metric)
    return next(_told(numbers, batch), None)


def _told(numbers: Mapping[str, Any], batch: int) -> Iterator[float]:
    for name in (LATENCY, "latency_mean_ms"):
        if numbers.get(name):
            yield numbers[name] / batch
    if numbers.get("throughput_per_s"):
        yield 1e3 / numbers["throughput_per_s"]


@lru_cache(maxsize=65536)
def _case(
    workload: str, model: str, platform: str, runtime: str, precision: str, batch: int, shape: str, options: str
) -> Case:
    return Case(
        workload=workload,
        model=model,
        platform=platform,
        runtime=runtime,
        precision=precision,
        batch=batch,
        shape=json.loads(shape),
        options=json.loads(options),
    )


@lru_cache(maxsize=4096)
def _read(text: str | None) -> dict[str, Any]:
    return dict(json.loads(text or "{}") or {})
