"""The same work in the same way on other devices, shifted by how the two differ for work of a like size."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from modeldyno.predict._grouped import MAD
from modeldyno.predict._table import DEVICE, Floats, Ints, Table

_REACH = 0.7
"""Logarithm of the time: work that differs so much tells clearly less."""
_FAR, _OTHER_WAY = 0.02, 0.03
"""Weights of work of any size, and of work done in another way."""
_FEWEST = 30
"""Pairs of results that two devices must have: a new device's few tell nothing of sizes and ways."""
_FEW, _FLOOR, _SHARPNESS = 0.15, 0.02, 4

_Place = tuple[int, int, float]
"""Item, way and batch size."""


class Near:
    """What is known, ready to be asked."""

    def __init__(self, known: Table) -> None:
        self._known = known
        self._pairs: dict[tuple[int, int], tuple[Floats, Floats, Ints]] = {}

    def ask(self, questions: Table) -> tuple[Floats, Floats]:
        """Logarithm and doubt; nan where no device that is well known beside this one did the same in the same way."""
        told, doubt = np.full(len(questions), np.nan), np.full(len(questions), np.nan)
        for row, (place, device) in enumerate(_places(questions)):
            way = place[1]
            found = [
                one
                for source, value in self._by_place.get(place, {}).items()
                if source != device and (one := self._shifted(source, device, way, value))
            ]
            if found:
                each = np.asarray(found)
                weight = each[:, 1] ** -_SHARPNESS
                told[row] = np.average(each[:, 0], weights=weight)
                doubt[row] = each[:, 1].min()
        return told, doubt

    def _shifted(self, source: int, device: int, way: int, value: float) -> tuple[float, float] | None:
        if (source, device) not in self._pairs:
            self._pairs[source, device] = self._differences(source, device)
        values, off, ways = self._pairs[source, device]
        if len(off) < _FEWEST:
            return None
        weight = np.exp(-0.5 * ((values - value) / _REACH) ** 2) + _FAR
        weight *= np.where(ways == way, 1.0, _OTHER_WAY)
        middle = _weighted_median(off, weight)
        spread = MAD * _weighted_median(np.abs(off - middle), weight)
        effective = weight.sum() ** 2 / (weight**2).sum()
        return value + middle, spread + _FEW / float(np.sqrt(effective)) + _FLOOR

    def _differences(self, source: int, device: int) -> tuple[Floats, Floats, Ints]:
        both = [
            (there[source], there[device] - there[source], way)
            for way, there in self._by_device.get(device, [])
            if source in there
        ]
        each = np.asarray(both, dtype=np.float64).reshape(len(both), 3)
        return each[:, 0], each[:, 1], each[:, 2].astype(np.int64)

    @cached_property
    def _by_place(self) -> dict[_Place, dict[int, float]]:
        found: dict[_Place, dict[int, float]] = {}
        for (place, device), value in zip(_places(self._known), self._known.value.tolist(), strict=True):
            found.setdefault(place, {})[device] = value
        return found

    @cached_property
    def _by_device(self) -> dict[int, list[tuple[int, dict[int, float]]]]:
        found: dict[int, list[tuple[int, dict[int, float]]]] = {}
        for (_, way, _), there in self._by_place.items():
            for device in there:
                found.setdefault(device, []).append((way, there))
        return found


def _places(table: Table) -> Iterator[tuple[_Place, int]]:
    """With the device."""
    batches, devices = table.numbers[:, 0].tolist(), table.attributes[:, DEVICE].tolist()
    for item, way, batch, device in zip(table.item.tolist(), table.way.tolist(), batches, devices, strict=True):
        yield (item, way, batch), device


def _weighted_median(values: Floats, weight: Floats) -> float:
    order = np.argsort(values)
    total = np.cumsum(weight[order])
    return float(values[order[np.searchsorted(total, total[-1] / 2)]])
