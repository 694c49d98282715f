"""A world with known rules: what is hidden is told again, and what cannot be known is not claimed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from made_cells import cells

from modeldyno.core.errors import InputError
from modeldyno.predict.cells import Cell
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.predictor import Predictor, learnable


def is_hidden(cell: Cell) -> bool:
    """Two pairs, and a model as a whole."""
    return (cell.model, cell.device) in {("alpha_4", "rtx4090"), ("beta_5", "rtx5090")} or cell.model == "gamma_6"


@cache
def fitted(counted: bool) -> Predictor:
    return Predictor.fit([cell for cell in cells(counted=counted) if not is_hidden(cell)])


@cache
def told(counted: bool) -> list[tuple[Cell, Prediction]]:
    asked = [cell for cell in cells(counted=counted) if is_hidden(cell)]
    return list(zip(asked, fitted(counted).predict([cell.asked() for cell in asked]), strict=True))


def errors(counted: bool, distance: Distance) -> list[float]:
    pairs = [(one.value, cell.value) for cell, one in told(counted) if one.distance is distance]
    return [abs(said / true - 1) for said, true in pairs if said and true]


@pytest.mark.parametrize("counted", [True, False])
def test_an_unseen_pair_is_told_from_the_same_model_elsewhere(counted: bool) -> None:
    found = errors(counted, Distance.PAIR)
    assert len(found) == 4
    assert max(found) < 0.10


def test_an_unseen_model_is_told_from_its_operations_and_its_family() -> None:
    found = errors(True, Distance.MODEL)
    assert len(found) == 8
    assert np.median(found) < 0.20


def test_without_counted_operations_an_unseen_model_is_not_guessed() -> None:
    unseen = [one for cell, one in told(False) if cell.model == "gamma_6"]
    assert unseen
    assert all(one.abstained and one.value is None and one.why_not for one in unseen)


def test_the_truth_lies_in_the_interval_of_most_answers() -> None:
    held = [one.low <= cell.value <= one.high for cell, one in told(True) if one.low and one.high and cell.value]
    assert np.mean(held) >= 0.75


def test_few_measurements_of_a_new_device_lift_the_accuracy_at_once() -> None:
    like = [cell for cell in cells() if cell.device == "rtx4090"]
    new = [replace(cell, device="unheard of", value=(cell.value or 0.0) / 7) for cell in like]
    asked, given = new[10:], new[:10]
    questions = [cell.asked() for cell in asked]
    true = np.asarray([cell.value for cell in asked])
    before, after = (fitted(True).predict(questions, calibration) for calibration in ((), given))
    off = [np.median(np.abs(np.log([one.value or 1e9 for one in some] / true))) for some in (before, after)]
    assert {one.distance for one in after} == {Distance.DEVICE}
    assert off[1] < 0.15 < off[0]


def test_an_interval_wider_than_a_factor_of_two_is_no_answer() -> None:
    stranger = Cell("omega", "inference", "cuda", "unheard of", "other", "int8", gflop=1e5, value=None)
    (one,) = fitted(True).predict([stranger])
    assert one.abstained
    assert one.why_not


def test_too_few_results_are_told_with_what_to_do() -> None:
    with pytest.raises(InputError, match="too few to predict from; measure at least"):
        Predictor.fit(cells()[:3])


def test_contradictory_results_of_one_cell_do_no_harm() -> None:
    known = cells(12)
    twice = [*known, *(replace(cell, batch=cell.batch + 1, value=(cell.value or 0.0) * 3) for cell in known[:20])]
    assert Predictor.fit(twice).predict([known[-1].asked()])[0].value


def test_another_batch_of_a_known_pair_is_told_by_what_batches_did_elsewhere() -> None:
    known = cells(counted=False)
    large = [replace(cell, batch=64, value=(cell.value or 0.0) / 8) for cell in known]
    asked = [cell for cell in large if cell.model in ("alpha_0", "beta_1")]
    told = Predictor.fit([*known, *(cell for cell in large if cell not in asked)]).predict([c.asked() for c in asked])
    assert {one.distance for one in told} == {Distance.WAY}
    assert max(abs((one.value or 9e9) / (cell.value or 0.0) - 1) for cell, one in zip(asked, told, strict=True)) < 0.15


def test_a_batch_size_nobody_tried_is_not_told_as_if_it_were_known() -> None:
    known = cells(counted=False)
    (one,) = Predictor.fit(known).predict([replace(known[0], batch=512, value=None)])
    assert one.abstained


def test_intervals_of_a_device_that_was_never_seen_hold() -> None:
    """Devices are quicker or slower by family: the errors that models of one family share there are not known."""
    random = np.random.default_rng(3)
    names = [f"device {number}" for number in range(8)]
    manner = {(name, cell.family): random.normal(0.0, 0.15) for name in names for cell in cells()}
    like = [cell for cell in cells(32, counted=False) if cell.device == "rtx4090"]
    world = [
        replace(cell, device=name, value=(cell.value or 0.0) * float(np.exp(manner[name, cell.family])))
        for name in names
        for cell in like
    ]
    held = []
    for name in names[:4]:
        new = [cell for cell in world if cell.device == name]
        known, (given, asked) = [cell for cell in world if cell.device != name], (new[::6], [*new[1::6], *new[3::6]])
        told = Predictor.fit(known).predict([cell.asked() for cell in asked], given)
        pairs = [(cell.value, one.low, one.high) for cell, one in zip(asked, told, strict=True)]
        held += [low <= true <= high for true, low, high in pairs if true and low and high]
    assert np.mean(held) > 0.75


def test_one_case_many_times_or_few_of_each_kind_is_too_little() -> None:
    assert not learnable([replace(cells()[0], value=1.0 + n) for n in range(20)])
    assert not learnable([*cells(1)[:4], *cells(1, counted=False)[:4]])
    assert not learnable([replace(cell, value=float("inf")) for cell in cells()])


def test_names_without_letters_are_names() -> None:
    assert Predictor.fit([replace(cell, model="模型") for cell in cells(1)])


def test_quality_is_told_by_distance() -> None:
    quality = fitted(True).quality()
    assert {Distance.PAIR.value, Distance.MODEL.value, Distance.DEVICE.value} <= set(quality)
    assert all(0 <= found["within_15_percent"] <= 1 for found in quality.values())
