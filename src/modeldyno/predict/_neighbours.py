"""How far off the experts were for models of like names on the same device: an error that they share is foreseen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from modeldyno.predict._table import DEVICE, PRECISION, Floats, Ints, Table
from modeldyno.predict.prediction import Distance

WIDTH = 3
"""Columns of an answer."""
_SHARPNESS = 12.0
"""How quickly models of less like names count less."""
_SAME_PRECISION, _OTHER_WAY = 0.5, 0.2
"""What results of other runtimes count, with the same precision and with another."""
_DOUBT = 0.02
_FARTHEST = 0.7


@dataclass(frozen=True)
class Neighbours:
    """Cells that were asked for in examinations."""

    asked: Table
    off: Floats
    distance: tuple[Distance, ...]

    def of(self, questions: Table, distance: Sequence[Distance]) -> Floats:
        """The usual error of the same way, that of all ways, and how much is known; nan where nothing is.

        Of a new device nothing was examined, and of an unseen family none of its models: neither may tell here."""
        told = np.full((len(questions), WIDTH), np.nan)
        for mine, theirs in self._together(questions, distance):
            strange = distance[mine[0]] is Distance.FAMILY
            told[mine] = self._of_one_device(questions.take(mine), questions.likeness, theirs, strange)
        return told

    def _together(self, questions: Table, distance: Sequence[Distance]) -> Iterator[tuple[Ints, Ints]]:
        """Rows of one device and distance, here and there."""
        asked_far, known_far = _ranks(distance), _ranks(self.distance)
        device, known_device = questions.attributes[:, DEVICE], self.asked.attributes[:, DEVICE]
        for far in np.setdiff1d(asked_far, _ranks([Distance.DEVICE])):
            for one in np.unique(device[asked_far == far]):
                theirs = np.flatnonzero((known_far == far) & (known_device == one) & np.isfinite(self.off))
                if len(theirs):
                    yield np.flatnonzero((asked_far == far) & (device == one)), theirs

    def _of_one_device(self, questions: Table, likeness: Floats, theirs: Ints, strange: bool) -> Floats:
        known = self.asked.take(theirs)
        off = np.clip(self.off[theirs], -_FARTHEST, _FARTHEST)
        models, place = np.unique(known.model, return_inverse=True)
        like = np.exp(_SHARPNESS * likeness[np.ix_(questions.model, models)])
        like[questions.model[:, None] == models[None, :]] = 0.0
        weight = like[:, place]
        if strange:
            weight[questions.family[:, None] == known.family[None, :]] = 0.0
        same_way = questions.way[:, None] == known.way[None, :]
        precision = questions.attributes[:, PRECISION][:, None] == known.attributes[:, PRECISION][None, :]
        mine = weight * same_way
        every = weight * np.where(same_way, 1.0, np.where(precision, _SAME_PRECISION, _OTHER_WAY))
        amount = every.sum(axis=1)
        return np.column_stack(
            [mine @ off / (mine.sum(axis=1) + _DOUBT), every @ off / (amount + _DOUBT), np.log(amount + _DOUBT)]
        )


def _ranks(distance: Sequence[Distance]) -> Ints:
    order = {one: place for place, one in enumerate(Distance)}
    return np.fromiter((order[one] for one in distance), dtype=np.int64)
