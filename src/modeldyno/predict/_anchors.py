"""The same work done elsewhere, shifted by how the two places differ for others: simple, and hard to mislead."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from modeldyno.predict._grouped import MAD, pairs_within, spreads, weighted_medians
from modeldyno.predict._table import DEVICE, WORK, Bools, Floats, Ints, Table

BEST = 4
"""Anchors that are told one by one."""
_TRUST_OFFSET, _TRUST_SPREAD = 2.0, 3.0
"""Observations that a difference of whole columns must have to weigh as much as that of its parts."""
_FLOOR, _PER_YEAR, _FEW = 0.01, 0.05, 0.015
_WITHOUT = 0.5
_UNKNOWN_BATCH = 0.5
"""How much two octaves of the batch size may change, where none was ever seen to."""
_PULL, _PULL_OFFSET, _ROUNDS = 3.0, 0.01, 3
_USUAL_SPREAD, _DOUBT = 0.15, 4.0
_SHARPNESS = 3
"""Anchors weigh by this power of their precision."""


@dataclass(frozen=True)
class _Shift:
    """By pairs of codes: the middle difference, its spread and how often it was seen."""

    size: int
    pairs: Ints
    offset: Floats
    spread: Floats
    count: Ints

    def of(self, left: Ints, right: Ints) -> tuple[Floats, Floats, Floats]:
        """nan and 0 for pairs that were never seen."""
        wanted = left * self.size + right
        inside = (left < self.size) & (right < self.size)
        place = np.minimum(np.searchsorted(self.pairs, wanted), max(0, len(self.pairs) - 1))
        seen = inside & (self.pairs[place] == wanted) if len(self.pairs) else np.zeros(len(left), dtype=bool)
        place = np.where(seen, place, 0)
        if not len(self.pairs):
            return np.full(len(left), np.nan), np.full(len(left), np.nan), np.zeros(len(left))
        return (
            np.where(seen, self.offset[place], np.nan),
            np.where(seen, self.spread[place], np.nan),
            np.where(seen, self.count[place], 0.0),
        )


def _shift(codes: Ints, left: Ints, right: Ints, value: Floats, use: Bools) -> _Shift:
    size = int(codes.max()) + 1
    a, b = left[use], right[use]
    return _Shift(size, *spreads(codes[a] * size + codes[b], value[a] - value[b]))


class _DeviceShift:
    """How two devices differ for the same work: by its size and kind, and for each runtime and precision."""

    def __init__(self, known: Table, left: Ints, right: Ints) -> None:
        self._known = known
        words = known.attributes[:, 1:].max(axis=0) + 1
        first = 2 + WORK - 1
        self._starts, self._width = np.concatenate([[first], first + np.cumsum(words)[:-1]]), int(first + words.sum())
        self._found: dict[tuple[int, int], tuple[Floats, float, int]] = {}
        device = known.attributes[:, DEVICE]
        self._centre = float(np.median(known.value))
        groups = device[left] * (int(device.max()) + 1) + device[right]
        order = np.argsort(groups, kind="stable")
        for rows in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
            if len(rows):
                a, b = left[rows], right[rows]
                self._found[int(device[a[0]]), int(device[b[0]])] = self._fit(a, b)

    def _fit(self, left: Ints, right: Ints) -> tuple[Floats, float, int]:
        """Ridge regression that lets few outliers have little say."""
        features = self._features(right)
        wanted = self._known.value[left] - self._known.value[right]
        middle = float(np.median(wanted))
        pull = np.full(self._width, _PULL)
        pull[0] = _PULL_OFFSET
        weights: Floats = np.ones(len(left))
        found: Floats = np.zeros(self._width)
        for _ in range(_ROUNDS):
            scaled = features * weights[:, None]
            found = np.asarray(
                np.linalg.solve(scaled.T @ features + np.diag(pull), scaled.T @ (wanted - middle)), dtype=np.float64
            )
            off = np.abs(wanted - middle - features @ found)
            limit = max(_FLOOR, 1.5 * float(np.median(off)))
            weights = np.minimum(1.0, limit / np.maximum(off, 1e-9))
        found[0] += middle
        few = (_USUAL_SPREAD * _DOUBT + MAD * float(np.median(off)) * len(off)) / (_DOUBT + len(off))
        return found, few, len(off)

    def _features(self, anchors: Ints) -> Floats:
        attributes = self._known.attributes[anchors]
        features = np.zeros((len(anchors), self._width))
        features[:, 0] = 1.0
        features[:, 1] = np.clip(self._known.value[anchors] - self._centre, -4.0, 4.0) / 2
        features[:, 2 : 1 + WORK] = self._known.work[anchors, 1:]
        for place, start in enumerate(self._starts):
            codes = attributes[:, 1 + place]
            inside = start + codes < (self._starts[place + 1] if place + 1 < len(self._starts) else self._width)
            features[np.flatnonzero(inside), start + codes[inside]] = 1.0
        return features

    def of(self, left: Ints, anchors: Ints) -> tuple[Floats, Floats]:
        """nan for devices that were never seen to do the same work."""
        right = self._known.attributes[anchors, DEVICE]
        features = self._features(anchors)
        offset, spread = np.full(len(left), np.nan), np.full(len(left), np.nan)
        for pair in set(zip(left.tolist(), right.tolist(), strict=True)):
            rows = np.flatnonzero((left == pair[0]) & (right == pair[1]))
            if pair[0] == pair[1]:
                offset[rows] = spread[rows] = 0.0
            elif pair in self._found:
                slopes, doubt, _ = self._found[pair]
                offset[rows], spread[rows] = features[rows] @ slopes, doubt
        return offset, spread


class Anchors:
    """What is known, ready to be asked."""

    def __init__(self, known: Table) -> None:
        self._known = known
        left, right = pairs_within(known.item)
        device = known.attributes[:, DEVICE]
        same_device, same_way = device[left] == device[right], known.way[left] == known.way[right]
        across = ~same_device & same_way
        self._devices = _DeviceShift(known, left[across], right[across])
        self._columns = _shift(known.column, left, right, known.value, known.column[left] != known.column[right])
        self._ways = _shift(known.way, left, right, known.value, same_device & ~same_way)
        self._batches = _batch_shift(known, left, right)
        self._order = np.argsort(known.item, kind="stable")
        self._items = known.item[self._order]

    def ask(self, questions: Table) -> Floats:
        """For each question the weighted median of its anchors, their spread and number, and the best one by one."""
        asked, anchor = self._anchors_of(questions)
        told, doubt = self._shifted(questions, asked, anchor)
        usable = np.isfinite(told)
        return _summary(len(questions), asked[usable], told[usable], doubt[usable])

    def _anchors_of(self, questions: Table) -> tuple[Ints, Ints]:
        first = np.searchsorted(self._items, questions.item, side="left")
        count = np.searchsorted(self._items, questions.item, side="right") - first
        asked = np.repeat(np.arange(len(questions)), count)
        within = np.arange(len(asked)) - np.repeat(np.cumsum(count) - count, count)
        return asked, self._order[np.repeat(first, count) + within]

    def _shifted(self, questions: Table, asked: Ints, anchor: Ints) -> tuple[Floats, Floats]:
        known = self._known
        device, way = questions.attributes[asked, DEVICE], questions.way[asked]
        by_device = self._devices.of(device, anchor)
        by_way = _parts(self._ways, way, known.way[anchor])
        parts, parts_doubt = by_device[0] + by_way[0], np.hypot(by_device[1], by_way[1])
        offset, spread, count = self._columns.of(questions.column[asked], known.column[anchor])
        trusted = np.where(np.isnan(parts), 0.0, _TRUST_OFFSET)
        shift = (count * np.nan_to_num(offset) + trusted * np.nan_to_num(parts)) / np.maximum(count + trusted, 1e-9)
        shift = np.where(np.isnan(parts) & (count < _TRUST_SPREAD), np.nan, shift)
        doubt = (
            count * np.nan_to_num(spread) + _TRUST_SPREAD * np.where(np.isnan(parts), _WITHOUT, parts_doubt) + 0.05
        ) / (count + _TRUST_SPREAD)
        years = questions.numbers[asked, 1] - known.numbers[anchor, 1]
        octaves = questions.numbers[asked, 0] - known.numbers[anchor, 0]
        slope, slope_doubt = self._batches
        variance = doubt**2 + _FLOOR**2 + (_PER_YEAR * years) ** 2 + _FEW / (count + _TRUST_OFFSET)
        return known.value[anchor] + shift + slope * octaves, np.sqrt(variance + (slope_doubt * octaves) ** 2)


def _batch_shift(known: Table, left: Ints, right: Ints) -> tuple[float, float]:
    """What two more octaves of the batch size add to the logarithm of an item's time, and how much that varies."""
    octaves = known.numbers[left, 0] - known.numbers[right, 0]
    same = (known.column[left] == known.column[right]) & (octaves > 0)
    if same.sum() < _TRUST_SPREAD:
        return 0.0, _UNKNOWN_BATCH
    slopes = (known.value[left] - known.value[right])[same] / octaves[same]
    _, middle, spread, _ = spreads(np.zeros(len(slopes), dtype=np.int64), slopes)
    return float(middle[0]), float(spread[0])


def _parts(shift: _Shift, left: Ints, right: Ints) -> tuple[Floats, Floats]:
    offset, spread, _ = shift.of(left, right)
    same = left == right
    return np.where(same, 0.0, offset), np.where(same, 0.0, spread)


def _summary(count: int, asked: Ints, told: Floats, doubt: Floats) -> Floats:
    weight = doubt**-_SHARPNESS
    middle = weighted_medians(asked, told, weight, count)
    total = np.bincount(asked, weight, count)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = np.sqrt(np.bincount(asked, weight * (told - middle[asked]) ** 2, count) / total)
        effective = total**2 / np.bincount(asked, weight**2, count)
    order = np.lexsort((doubt, asked))
    rank = np.arange(len(order)) - np.searchsorted(asked[order], asked[order])
    best = np.full((count, 2 * BEST), np.nan)
    for place in range(BEST):
        rows = order[rank == place]
        best[asked[rows], place] = told[rows] - middle[asked[rows]]
        best[asked[rows], BEST + place] = doubt[rows]
    return np.column_stack([middle, spread, effective, np.bincount(asked, minlength=count), best])
