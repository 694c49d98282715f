"""Examinations on what is known: cells are hidden as if they had never been measured, and asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from modeldyno.predict._distances import twins
from modeldyno.predict._grouped import codes_of
from modeldyno.predict._table import DEVICE, Bools, Ints, Table
from modeldyno.predict.prediction import Distance

CALIBRATION = 10
"""Measurements that are left of a device that counts as new."""
SHARE = 0.12
"""Of models, families or pairs, hidden at once."""
_DEVICES = 5
_LEAST_CELLS = 3 * CALIBRATION


@dataclass(frozen=True)
class Trial:
    """What is hidden, and how far that is from what is left."""

    distance: Distance
    hidden: Bools


def trials(known: Table, random: np.random.Generator, rounds: int = 3) -> Iterator[Trial]:
    """Copies of a device under another name are hidden with it: else they would tell."""
    device = twins(known)[known.attributes[:, DEVICE]]
    pair = codes_of(known.model, device)
    for _ in range(rounds):
        yield Trial(Distance.PAIR, _some(pair, random))
        yield Trial(Distance.ONE, _all_but_one_device(known.model, device, random))
        yield Trial(Distance.MODEL, _some(known.model, random))
        yield Trial(Distance.FAMILY, _some(known.family, random))
    yield from _new_devices(device, random)


def _some(groups: Ints, random: np.random.Generator) -> Bools:
    found = np.unique(groups)
    chosen = random.permutation(found)[: max(1, round(SHARE * len(found)))] if len(found) > 1 else found[:0]
    return np.isin(groups, chosen)


def _all_but_one_device(model: Ints, device: Ints, random: np.random.Generator) -> Bools:
    hidden = _some(model, random)
    for one in np.unique(model[hidden]):
        rows = np.flatnonzero(model == one)
        hidden[rows[device[rows] == random.choice(np.unique(device[rows]))]] = False
    return hidden


def _new_devices(device: Ints, random: np.random.Generator) -> Iterator[Trial]:
    found, count = np.unique(device, return_counts=True)
    large = found[count >= _LEAST_CELLS]
    for one in random.permutation(large)[:_DEVICES] if len(found) > 1 else large[:0]:
        hidden = device == one
        hidden[random.permutation(np.flatnonzero(hidden))[:CALIBRATION]] = False
        yield Trial(Distance.DEVICE, hidden)
