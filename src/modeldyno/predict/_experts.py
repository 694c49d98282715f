"""Three ways to tell a cell from others, asked together: what they say is where the boosted correction begins."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from modeldyno.predict._anchors import BEST, Anchors
from modeldyno.predict._covariance import Covariance
from modeldyno.predict._distances import distances
from modeldyno.predict._expected import expect
from modeldyno.predict._grouped import medians
from modeldyno.predict._near import Near
from modeldyno.predict._process import Process, learn
from modeldyno.predict._table import DEVICE, RUNTIME, Bools, Floats, Ints, Table
from modeldyno.predict.prediction import Distance

FEW_CELLS = 30
"""A device with fewer counts as new."""
_LEAST_DOUBT, _LEAST_PRECISION, _EFFECTS_DOUBT = 0.02, 0.1, 0.4
_MANY = 1 << 20
PROFILE = 12
"""Devices whose times for the same work are told one by one."""


@dataclass(frozen=True)
class Told:
    """Of each question."""

    middle: Floats
    """The logarithm, before it is corrected; nan where nothing is known that bears on it."""
    doubt: Floats
    features: Floats
    distance: list[Distance]
    strange: Bools
    """Whether nothing at all is known of the device, the way to run or the batch size: no examination is like that."""


class Experts:
    """Fitted on what is known."""

    def __init__(self, known: Table, covariance: Covariance | None, profile: Ints) -> None:
        self._known, self._devices = known, profile
        self._anchors = Anchors(known)
        self._near = Near(known)
        self._process: Process | None = None
        if covariance is not None:
            reach = Covariance(covariance.parameters, distances(known))
            self._process = Process(reach, expect(known, described=True), known)
        self._expected = None if self._process else expect(known, described=False)

    def ask(self, questions: Table) -> Told:
        anchored = self._anchors.ask(questions)
        anchor, anchor_doubt = anchored[:, 0], np.hypot(anchored[:, 1], anchored[:, 4 + BEST])
        near, near_doubt = self._near.ask(questions)
        if self._process:
            process, process_doubt = self._process.ask(questions)
            middle, doubt = _mixed(anchor, anchor_doubt, process, process_doubt)
        else:
            process, process_doubt = self._effects(questions)
            middle, doubt = _rather(anchor, anchor_doubt, process, process_doubt)
            middle = np.where(np.isfinite(near), (middle + near) / 2, middle)
        counts = self._counts(questions)
        features = np.column_stack(
            [
                *(middle, doubt, anchor - middle, process - middle, process_doubt, anchored[:, 1:]),
                *(near - middle, near_doubt),
                *(counts, questions.work, questions.numbers, questions.attributes),
                *self._per_operator(questions, middle),
                *(self._profile(questions, middle),),
            ]
        )
        known = self._known
        strange = (counts[:, 2] == 0) | ~np.isin(questions.way, known.way)
        strange |= ~np.isin(questions.numbers[:, 0], known.numbers[:, 0])
        return Told(middle, doubt, features, self._distances(questions, counts), strange)

    def _effects(self, questions: Table) -> tuple[Floats, Floats]:
        """Without counted work: a sum of effects, which knows nothing of a model that was never seen."""
        assert self._expected is not None
        told = self._expected.of(questions)
        unknown = ~np.isin(questions.model, self._known.model)
        told[unknown] = np.nan
        return told, np.full(len(told), _EFFECTS_DOUBT)

    def _counts(self, questions: Table) -> Floats:
        """Cells of the model, devices it was seen on, cells of the device, and the likeness of the next model."""
        known, others = self._known, self._models
        size = max(int(known.model.max()), int(questions.model.max())) + 1
        devices = max(int(known.attributes[:, DEVICE].max()), int(questions.attributes[:, DEVICE].max())) + 1
        like = questions.likeness[np.ix_(questions.model, others)].copy()
        like[questions.model[:, None] == others[None, :]] = -1.0
        return np.column_stack(
            [
                np.bincount(known.model, minlength=size)[questions.model],
                np.bincount(self._model_on_device[:, 0], minlength=size)[questions.model],
                np.bincount(known.attributes[:, DEVICE], minlength=devices)[questions.attributes[:, DEVICE]],
                like.max(axis=1),
            ]
        )

    def _per_operator(self, questions: Table, middle: Floats) -> tuple[Floats, Floats]:
        """How many operators are run, as told or as this runtime ran elsewhere, and what is expected for each."""
        places, counts = self._operators
        wanted = questions.item * _MANY + questions.attributes[:, RUNTIME]
        elsewhere = np.full(len(questions), np.nan)
        if len(places):
            place = np.minimum(np.searchsorted(places, wanted), len(places) - 1)
            elsewhere = np.where(places[place] == wanted, counts[place], np.nan)
        operators = np.where(np.isfinite(questions.operators), questions.operators, elsewhere)
        return operators, middle - operators

    def _profile(self, questions: Table, middle: Floats) -> Floats:
        """What each device took for the same work in the same way, over what is expected here."""
        devices = self._devices
        found = [
            [
                self._places.get((int(item), int(way), int(device)), np.nan) if device != own else np.nan
                for device in devices
            ]
            for item, way, own in zip(questions.item, questions.way, questions.attributes[:, DEVICE], strict=True)
        ]
        return np.asarray(found, dtype=np.float64).reshape(len(questions), len(devices)) - middle[:, None]

    @cached_property
    def _models(self) -> Ints:
        return np.unique(self._known.model)

    @cached_property
    def _pairs(self) -> set[tuple[int, int]]:
        return {(int(model), int(device)) for model, device in self._model_on_device}

    @cached_property
    def _model_on_device(self) -> Ints:
        return np.unique(np.column_stack([self._known.model, self._known.attributes[:, DEVICE]]), axis=0)

    @cached_property
    def _places(self) -> dict[tuple[int, int, int], float]:
        known = self._known
        places = zip(known.item.tolist(), known.way.tolist(), known.attributes[:, DEVICE].tolist(), strict=True)
        return dict(zip(places, known.value.tolist(), strict=True))

    @cached_property
    def _operators(self) -> tuple[Ints, Floats]:
        """Places of items and runtimes that tell how many operators they run, and how many."""
        known = self._known
        told = np.isfinite(known.operators)
        places, counts, _ = medians((known.item * _MANY + known.attributes[:, RUNTIME])[told], known.operators[told])
        return places, counts

    def _distances(self, questions: Table, counts: Floats) -> list[Distance]:
        families = np.isin(questions.family, self._known.family).tolist()
        pairs = zip(questions.model.tolist(), questions.attributes[:, DEVICE].tolist(), strict=True)
        together = [pair in self._pairs for pair in pairs]
        rows = zip(counts[:, 1].tolist(), counts[:, 2].tolist(), families, together, strict=True)
        return [distance_of(devices, cells, family, pair) for devices, cells, family, pair in rows]


def distance_of(devices_of_model: float, cells_of_device: float, family: bool = True, pair: bool = False) -> Distance:
    if cells_of_device < FEW_CELLS:
        return Distance.DEVICE
    if pair:
        return Distance.WAY
    if not devices_of_model:
        return Distance.MODEL if family else Distance.FAMILY
    return Distance.ONE if devices_of_model == 1 else Distance.PAIR


def _mixed(anchor: Floats, anchor_doubt: Floats, process: Floats, process_doubt: Floats) -> tuple[Floats, Floats]:
    """Each by its precision; either alone where the other is silent."""
    a = np.where(np.isfinite(anchor), 1 / (np.nan_to_num(anchor_doubt, nan=1.0) ** 2 + _LEAST_DOUBT**2), 0.0)
    b = np.where(np.isfinite(process), 1 / (process_doubt**2 + _LEAST_DOUBT**2), 0.0)
    with np.errstate(invalid="ignore"):
        middle = (a * np.nan_to_num(anchor) + b * np.nan_to_num(process)) / (a + b)
    return middle, 1 / np.sqrt(np.maximum(np.maximum(a, b), _LEAST_PRECISION))


def _rather(first: Floats, first_doubt: Floats, second: Floats, second_doubt: Floats) -> tuple[Floats, Floats]:
    """The second only where the first is silent."""
    told = np.isfinite(first)
    return np.where(told, first, second), np.where(told, np.nan_to_num(first_doubt, nan=1.0), second_doubt)


def profile_of(known: Table) -> Ints:
    """The devices that most is known of."""
    return np.argsort(-np.bincount(known.attributes[:, DEVICE]), kind="stable")[:PROFILE]


def learned(known: Table) -> Covariance | None:
    """Where work is counted."""
    if not known.described:
        return None
    expectation = expect(known, described=True)
    return learn(known, known.value - expectation.of(known), distances(known))
