"""New results against the intervals of what was learned before."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from predict_world import RATES, models, result, store_of, whole

from modeldyno.predict.drift import drift, drift_of
from modeldyno.predict.predictor import Predictor
from modeldyno.predict.stored import cells_of, train
from modeldyno.store.store import Store

if TYPE_CHECKING:
    from conftest import Dyno


@pytest.fixture(scope="module")
def learned(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, Predictor]:
    """Without the fastest device of most models."""
    known = [
        one for one in whole(counted=False) if one.device and (one.device.name != "Delta 400" or one.case.model < "b")
    ]
    store = store_of(tmp_path_factory.mktemp("learned"), known)
    return store, Predictor.fit(cells_of(store))


def test_results_as_expected_do_not_drift_and_slower_ones_do(learned: tuple[Store, Predictor], tmp_path: Path) -> None:
    store, predictor = learned
    known = cells_of(store)
    assert drift_of(predictor, known) is None
    elms = [model for model in models() if model.startswith("elm")]
    usual = store_of(tmp_path / "usual", [result(model, "Delta 400", counted=False) for model in elms])
    slow = store_of(tmp_path / "slow", [result(model, "Delta 400", factor=5.0, counted=False) for model in elms])
    as_before, slower = (drift_of(predictor, [*known, *cells_of(more)]) for more in (usual, slow))
    assert as_before and slower
    assert as_before.new == as_before.looked_at == slower.new == len(elms)
    assert not as_before.beyond_chance
    assert slower.outside == len(elms) and slower.beyond_chance
    assert f"{len(elms)} of {len(elms)} new results lie outside" in slower.sentence
    assert "no longer holds" in slower.sentence


def test_a_result_measured_long_ago_is_new_when_it_comes_late(learned: tuple[Store, Predictor], tmp_path: Path) -> None:
    store, predictor = learned
    old = result("elm0", "Delta 400", counted=False, started_at=store.runs()[0].started_at.replace(year=2001))
    found = drift_of(predictor, [*cells_of(store_of(tmp_path, [old])), *cells_of(store)])
    assert found and found.new == 1


def test_training_shows_it(dyno_here: Dyno, tmp_path: Path) -> None:
    store = store_of(
        tmp_path, [result(model, device, counted=False) for model in models() for device in list(RATES)[:3]]
    )
    assert drift(store) is None
    train(store)
    assert json.loads(dyno_here("predict", "train", "--if-stale", "--json").stdout)["trained"] is False
    store_of(tmp_path, [result(model, "Gamma 300", batch=4, factor=9.0, counted=False) for model in models()])
    done = dyno_here("predict", "train", "--if-stale", "--json")
    told = json.loads(done.stdout)
    assert told["trained"] and told["drift"]["new"] == 12 and told["drift"]["beyond_chance"]
    assert "new results lie outside their 90 % interval (expected 1)" in done.stderr
