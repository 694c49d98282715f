"""A question about one model, answered by a predictor that is at hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from predict_world import store_of, whole

from modeldyno.predict import asking
from modeldyno.predict.asking import Wanted, answer_model, predictions
from modeldyno.predict.predictor import Predictor
from modeldyno.predict.stored import cells_of


def test_with_a_predictor_nothing_is_learned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = store_of(tmp_path, whole())
    at_hand = Predictor.fit(cells_of(store))
    monkeypatch.setattr(asking, "predictor_of", lambda *_, **__: pytest.fail("it was learned anew"))
    wanted = Wanted("tiny-bert", on=("Alpha 100",), batch=2)
    document = predictions(wanted, answer_model(store, wanted, predictor=at_hand))
    assert (document["model"], document["batch"], document["metric"]) == ("tiny-bert", 2, "latency_ms")
    assert [row["device"] for row in document["predictions"]] == ["Alpha 100"]
