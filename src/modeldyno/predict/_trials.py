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
FOLDS = 8
"""One of so many parts of the models, families or pairs is hidden at once."""
_LEAST_CELLS = 3 * CALIBRATION


@dataclass(frozen=True)
class Trial:
    """What is hidden, and how far that is from what is left."""

    distance: Distance
    hidden: Bools


def trials(known: Table, random: np.random.Generator, rounds: int, devices: int) -> Iterator[Trial]:
    """So many parts and devices in turn. Copies of a device under another name are hidden with it: they would tell."""
    device = twins(known)[known.attributes[:, DEVICE]]
    for distance, groups in (
        (Distance.WAY, np.arange(len(known))),
        (Distance.PAIR, codes_of(known.model, device)),
        (Distance.ONE, known.model),
        (Distance.MODEL, known.model),
        (Distance.FAMILY, known.family),
    ):
        few = distance is Distance.WAY  # single results, hidden anywhere, tell as much in one part as in many
        for hidden in _parts(groups, 1 if few else rounds, random):
            if distance is Distance.ONE:
                hidden = _but_one_device(hidden, known.model, device, random)
            yield Trial(distance, hidden)
    yield from _new_devices(device, devices, random)


def _parts(groups: Ints, rounds: int, random: np.random.Generator) -> Iterator[Bools]:
    found = np.unique(groups)
    part = random.permutation(len(found)) % FOLDS
    for one in range(rounds if len(found) > 1 else 0):
        yield np.isin(groups, found[part == one])


def _but_one_device(hidden: Bools, model: Ints, device: Ints, random: np.random.Generator) -> Bools:
    """Each model stays known on one device, more often on one that it has many results of."""
    hidden = hidden.copy()
    for one in np.unique(model[hidden]):
        rows = np.flatnonzero(model == one)
        left = device[random.choice(rows)]
        hidden[rows[device[rows] == left]] = False
    return hidden


def _new_devices(device: Ints, most: int, random: np.random.Generator) -> Iterator[Trial]:
    found, count = np.unique(device, return_counts=True)
    large = found[count >= _LEAST_CELLS]
    for one in random.permutation(large)[:most] if len(found) > 1 else large[:0]:
        hidden = device == one
        hidden[random.permutation(np.flatnonzero(hidden))[:CALIBRATION]] = False
        yield Trial(Distance.DEVICE, hidden)
