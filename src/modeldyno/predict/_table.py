"""Cells as arrays: codes for what has names, numbers for what is counted."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from modeldyno.predict.cells import Cell
from modeldyno.predict.specifications import specification

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
ATTRIBUTES: tuple[Callable[[Cell], str], ...] = (
    lambda cell: cell.device,
    lambda cell: cell.platform,
    lambda cell: cell.runtime,
    lambda cell: cell.precision,
    lambda cell: cell.setting,
    lambda cell: cell.version,
)
"""What a column of the table is made of; the device comes first."""
DEVICE, RUNTIME, PRECISION = 0, 2, 3
WORK, NUMBERS = 4, 2
"""How many numbers tell of the work, and of the batch and the time."""
ACCELERATED_BYTES, PLAIN_BYTES = 2, 4
_USUAL_TFLOPS, _USUAL_GB_PER_S = 20.0, 500.0
"""Where the learning begins for a device without published peaks; how far off that is, its measurements tell."""
_WORDS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Table:
    """Cells in columns; all arrays have one row per cell."""

    model: Ints
    item: Ints
    """Model and work together: equal items are equal work."""
    family: Ints
    attributes: Ints
    column: Ints
    """All attributes together."""
    way: Ints
    """All attributes but the device."""
    work: Floats
    """Logarithms of operations, of activations and parameters over operations, of the input's size; standardised."""
    roofline: Floats
    """Logarithms of milliseconds: computing, moving activations, reading weights; nan where nothing is counted."""
    numbers: Floats
    """Batch size and time, scaled."""
    operators: Floats
    """Logarithms; nan where they are not told."""
    value: Floats
    """Logarithms; nan for questions."""
    likeness: Floats
    """Of the names of models with each other, by model; 0 for equal ones, -1 for those that share nothing."""

    def __len__(self) -> int:
        return len(self.model)

    def take(self, rows: Any) -> Table:
        each = {name: getattr(self, name)[rows] for name in _BY_ROW}
        return replace(self, **each)

    @property
    def described(self) -> bool:
        """Whether operations of most cells are known."""
        return bool(np.isfinite(self.roofline[:, 0]).mean() > 0.5)


_COUNTED = ("work", "roofline", "numbers", "operators", "value")
_BY_ROW = ("model", "item", "family", "attributes", "column", "way", *_COUNTED)


class Words:
    """Codes of words, in the order they come."""

    def __init__(self) -> None:
        self._codes: dict[Any, int] = {}

    def code(self, word: Any) -> int:
        return self._codes.setdefault(word, len(self._codes))

    def all(self) -> list[Any]:
        return list(self._codes)


class Tabulator:
    """Makes tables whose codes agree with each other."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._models, self._items, self._families, self._columns, self._ways = (Words() for _ in range(5))
        self._attributes = tuple(Words() for _ in ATTRIBUTES)
        counts = _counts(cells)
        self._centre = _means(counts)
        self._scale = _deviations(counts)
        self._spelled = _spelling([cell.model for cell in cells])
        self._like: Floats = np.zeros((0, 0))

    def table(self, cells: Sequence[Cell]) -> Table:
        counts = _counts(cells)
        attributes = [
            [words.code(of(cell)) for words, of in zip(self._attributes, ATTRIBUTES, strict=True)] for cell in cells
        ]
        model = _codes(self._models, (cell.model for cell in cells))
        return Table(
            model=model,
            item=_codes(self._items, ((cell.model, cell.work) for cell in cells)),
            family=_codes(self._families, (cell.family for cell in cells)),
            attributes=np.asarray(attributes, dtype=np.int64).reshape(len(cells), len(ATTRIBUTES)),
            column=_codes(self._columns, ((cell.device, *cell.way) for cell in cells)),
            way=_codes(self._ways, (cell.way for cell in cells)),
            work=np.nan_to_num((counts - self._centre) / self._scale),
            roofline=_roofline(cells),
            numbers=np.asarray([[np.log2(cell.batch) / 2, (cell.year or 2025.0) - 2025.0] for cell in cells]).reshape(
                -1, 2
            ),
            operators=np.asarray([np.log(cell.operators) if cell.operators else np.nan for cell in cells]),
            value=np.asarray([np.nan if cell.value is None else np.log(cell.value) for cell in cells]),
            likeness=self._likeness(),
        )

    def _likeness(self) -> Floats:
        """Reckoned once for all models that were seen so far."""
        models = self._models.all()
        if len(models) > len(self._like):
            spelled = self._spelled.transform(map(_words, models))
            self._like = np.asarray((spelled @ spelled.T).todense()) - 1.0
        return self._like


def _codes(words: Words, said: Iterable[Any]) -> Ints:
    return np.fromiter((words.code(word) for word in said), dtype=np.int64)


def _words(name: str) -> str:
    """A name without any is spelled as it is, marked so that it has at least one piece."""
    return _WORDS.sub(" ", name.lower()).strip() or f"x{name}x"


def _spelling(names: Sequence[str]) -> Any:
    """Pieces of names, rare ones weighing more: models of one design have names that share them."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 5), sublinear_tf=True)
    return pieces.fit(map(_words, dict.fromkeys(names)))


def _counts(cells: Sequence[Cell]) -> Floats:
    """Operations, activations per operation, parameters per operation, size of the input, as logarithms."""
    told = ((cell.gflop, cell.activations, cell.parameters, cell.size) for cell in cells)
    logs = [[np.nan if count is None or count <= 0 else np.log(count) for count in counts] for counts in told]
    counts = np.asarray(logs, dtype=np.float64).reshape(len(cells), WORK)
    counts[:, 1:3] -= counts[:, :1]
    return counts


def _means(counts: Floats) -> Floats:
    """Nothing for a count that no cell has."""
    there = np.isfinite(counts)
    return np.asarray(np.where(there, counts, 0.0).sum(axis=0) / np.maximum(1, there.sum(axis=0)))


def _deviations(counts: Floats) -> Floats:
    there = np.isfinite(counts)
    off = np.where(there, counts - _means(counts), 0.0)
    return np.asarray(np.sqrt((off**2).sum(axis=0) / np.maximum(1, there.sum(axis=0))) + 1e-9)


def _roofline(cells: Sequence[Cell]) -> Floats:
    return np.asarray([_bounds(cell) for cell in cells], dtype=np.float64).reshape(len(cells), 3)


def _bounds(cell: Cell) -> tuple[float, float, float]:
    """Milliseconds that one item takes at the least, by published peaks; those of a middling device where none are."""
    if not cell.gflop:
        return (np.nan, np.nan, np.nan)
    found = specification(cell.device)
    peak = found.peak_tflops(cell.precision) if found else _USUAL_TFLOPS
    bandwidth = found.bandwidth_gb_per_s if found else _USUAL_GB_PER_S
    size = PLAIN_BYTES if cell.precision == "fp32" else ACCELERATED_BYTES
    moved_mb = 2 * size * (cell.activations or 2.0 * cell.gflop)
    weights_mb = size * (cell.parameters or 0.0) / cell.batch
    return tuple(np.log([cell.gflop / peak, moved_mb / bandwidth, (weights_mb + 1e-6) / bandwidth]))
