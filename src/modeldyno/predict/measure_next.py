"""What to measure next: the empty cells whose measurement would narrow most predictions most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modeldyno.analysis.roofline import HARDWARE
from modeldyno.predict._corrected import COVERAGE
from modeldyno.predict._experts import FEW_CELLS, distance_of
from modeldyno.predict._table import Bools, Floats, Ints
from modeldyno.predict.cells import Cell, newest
from modeldyno.predict.prediction import Distance
from modeldyno.predict.predictor import Predictor

MOST_CANDIDATES = 2000
"""Empty cells that are asked for, at random of more."""
ENOUGH = 20
"""Examined cells of one distance that it takes to tell its usual width."""
WIDEST_TOLD = 2.0
"""Half-widths, as logarithms, count up to this: of what can hardly be told it does not matter how hardly."""
Kind = tuple[str, str]
"""Workload, and whether work is counted: a device that was seen with one kind may not do another, or not be told."""


@dataclass(frozen=True)
class Suggestion:
    """One measurement, and what it would be good for."""

    cell: Cell
    half_width: float | None
    """Of the prediction as it is, as a factor; None where nothing can be said."""
    gain: float
    """By how much it would narrow intervals, its own and those of others: the sum of logarithms of factors."""
    why: str

    def document(self) -> dict[str, Any]:
        cell = self.cell
        named = {name: getattr(cell, name) for name in ("model", "device", "platform", "runtime", "precision", "work")}
        return named | {
            "batch": cell.batch,
            "half_width": self.half_width,
            "gain": round(self.gain, 4),
            "why": self.why,
        }


def suggest(
    predictor: Predictor, cells: Sequence[Cell], budget: int, wanted: Callable[[Cell], bool] = lambda _: True
) -> list[Suggestion]:
    """The best first; each is chosen as if those before it were measured already."""
    known = newest(cells)
    candidates = _some([cell for cell in empty_cells(known) if wanted(cell)])
    if not candidates:
        return []
    told = predictor.predict(candidates)
    widths = [float(np.sqrt(one.high / one.low)) if one.low and one.high else None for one in told]
    table = _Table(candidates, widths, known, _usual_widths(predictor))
    return list(table.greedy(budget))


def empty_cells(known: Sequence[Cell]) -> Iterator[Cell]:
    """Each known model on each device where it was not measured in any way, in the way most used there."""
    seen = {(cell.model, cell.device) for cell in known}
    of_models = [cell for cell in known if _kind(cell)[0] != HARDWARE]
    models = {cell.model: cell for cell in of_models}
    ways = _usual_ways(of_models)
    batches = {(cell.device, cell.batch) for cell in of_models}
    for model, like in models.items():
        for (device, kind), way in ways.items():
            if kind == _kind(like) and (model, device) not in seen:
                yield replace(
                    like.asked(),
                    **{name: getattr(way, name) for name in ("device", "platform", "runtime", "precision")},
                    **{name: getattr(way, name) for name in ("setting", "version", "year")},
                    batch=like.batch if (device, like.batch) in batches else way.batch,
                )


def _kind(cell: Cell) -> Kind:
    return cell.work.split()[0], "counted" if cell.gflop else "uncounted"


def _usual_ways(known: Sequence[Cell]) -> dict[tuple[str, Kind], Cell]:
    """For each device and kind of work the newest cell of the way that most cells have."""
    count = Counter((cell.device, _kind(cell), cell.way) for cell in known)
    found: dict[tuple[str, Kind], Cell] = {}
    for cell in known:
        place = (cell.device, _kind(cell))
        if place not in found or count[*place, cell.way] >= count[*place, found[place].way]:
            found[place] = cell
    return found


def _some(candidates: list[Cell]) -> list[Cell]:
    if len(candidates) <= MOST_CANDIDATES:
        return candidates
    return [candidates[place] for place in np.random.default_rng(0).permutation(len(candidates))[:MOST_CANDIDATES]]


def _usual_widths(predictor: Predictor) -> dict[Distance, float]:
    """Half-widths that would have held in nine of ten examinations, by distance; never wider when nearer."""
    found = {
        distance: float(np.quantile(np.abs(errors), COVERAGE))
        for distance, errors in predictor.errors.items()
        if len(errors) >= ENOUGH
    }
    nearest = found.get(Distance.PAIR)
    return {} if nearest is None else {distance: max(width, nearest) for distance, width in found.items()}


class _Table:
    """The candidates with their widths, which shrink as measurements are chosen."""

    def __init__(
        self,
        candidates: Sequence[Cell],
        widths: Sequence[float | None],
        known: Sequence[Cell],
        usual: Mapping[Distance, float],
    ) -> None:
        self._candidates, self._factors, self._usual = candidates, widths, usual
        self._width = np.minimum([np.log(one) if one else np.inf for one in widths], WIDEST_TOLD)
        models, devices = (sorted({of(cell) for cell in candidates}) for of in (_model, _device))
        self._model: Ints = np.asarray([models.index(cell.model) for cell in candidates])
        self._device: Ints = np.asarray([devices.index(cell.device) for cell in candidates])
        pairs = {(cell.model, cell.device) for cell in known}
        of_model, of_device = Counter(model for model, _ in pairs), Counter(cell.device for cell in known)
        self._devices_of_model: Ints = np.asarray([of_model[model] for model in models])
        self._cells_of_device: Ints = np.asarray([of_device[device] for device in devices])
        self._open: Bools = np.ones(len(candidates), dtype=bool)

    def greedy(self, budget: int) -> Iterator[Suggestion]:
        while self._open.any() and budget > 0:
            same_model, same_device = self._shrinking()
            by_model = np.bincount(self._model, same_model)[self._model] - same_model
            by_device = np.bincount(self._device, same_device)[self._device] - same_device
            gains = np.where(self._open, self._width + by_model + by_device, -np.inf)
            best = int(np.argmax(gains))
            parts = (float(by_model[best]), float(by_device[best]))
            yield Suggestion(self._candidates[best], self._factors[best], float(gains[best]), self._why(best, *parts))
            self._measure(best, same_model, same_device)
            budget -= 1

    def _measure(self, best: int, same_model: Floats, same_device: Floats) -> None:
        alike, there = self._model == self._model[best], self._device == self._device[best]
        self._width = np.maximum(self._width - alike * same_model - there * same_device, 0.0)
        self._width[best] = 0.0
        self._open[best] = False
        self._devices_of_model[self._model[best]] += 1
        self._cells_of_device[self._device[best]] += 1

    def _shrinking(self) -> tuple[Floats, Floats]:
        """By how much each width would shrink with one more device of its model, one more cell of its device."""
        devices, cells = self._devices_of_model[self._model], self._cells_of_device[self._device]
        missing = np.maximum(FEW_CELLS - cells, 1)
        by_model = [self._share(d, c, d + 1, c) for d, c in zip(devices, cells, strict=True)]
        by_device = [self._share(d, c, d, max(c, FEW_CELLS)) for d, c in zip(devices, cells, strict=True)]
        width = self._width * self._open
        return width * np.asarray(by_model), width * np.asarray(by_device) / missing

    def _share(self, devices: int, cells: int, more_devices: int, more_cells: int) -> float:
        """Of the width that goes with the step to a nearer distance; nothing where examinations do not tell."""
        now = self._usual.get(distance_of(devices, cells))
        then = self._usual.get(distance_of(more_devices, more_cells))
        return max(0.0, 1 - then / now) if now and then else 0.0

    def _why(self, place: int, by_model: float, by_device: float) -> str:
        cell, factor = self._candidates[place], self._factors[place]
        own = f"predicted within a factor of {factor:.2f}" if factor else "nothing measured bears on it"
        if by_model >= max(by_device, 1e-9):
            others = int((self._open & (self._model == self._model[place])).sum()) - 1
            return f"{own}; {cell.model} is known on one device, {others} other predictions of it would narrow"
        if by_device > 1e-9:
            others = int((self._open & (self._device == self._device[place])).sum()) - 1
            count = int(self._cells_of_device[self._device[place]])
            return f"{own}; {cell.device} has {count} results, {others} other predictions for it would narrow"
        return own


def _model(cell: Cell) -> str:
    return cell.model


def _device(cell: Cell) -> str:
    return cell.device
