"""Hiding results and asking for them: what a table of errors and a report say of a store."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from predict_world import RATES, models, result, store_of, whole

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.predict import validation
from modeldyno.predict.cells import Cell
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.stored import cells_of
from modeldyno.predict.validation import Answered, score, validate
from modeldyno.reports.document import Chart, Table
from modeldyno.reports.validation import validation_document

if TYPE_CHECKING:
    from conftest import Dyno

CELL = Cell("oak0", "inference", "cpu", "Alpha 100", "torch", "fp32", value=2.0)


def silent(*_: object) -> None:
    """Nobody watches."""


def answered(value: float | None, low: float, high: float, **changes: str) -> Answered:
    why = "too far" if value is None or high / low > 4 else None
    told = Prediction(value, low, high, Distance.PAIR, "", why)
    return Answered(changes.pop("split", "pair"), replace(CELL, **changes), told)


def test_a_score_counts_errors_intervals_and_silence() -> None:
    told = score("pair", [answered(2.2, 1.8, 2.6), answered(3.0, 2.5, 3.6), answered(2.0, 0.5, 8.0)])
    assert (told.cells, told.median_error, told.within_15_percent) == (3, 0.1, 0.6667)
    assert (told.coverage, told.abstained) == (0.6667, 0.3333)
    assert told.half_width == pytest.approx(1.2, abs=0.01)


def test_few_intervals_may_all_hold_by_chance_but_many_may_not() -> None:
    assert score("pair", [answered(2.0, 1.8, 2.2)] * 10).as_promised
    assert not score("pair", [answered(2.0, 1.8, 2.2)] * 200).as_promised


def test_groups_are_held_against_their_split_and_the_worst_comes_first() -> None:
    hard = [answered(2.0 + 0.8 * n / 10, 1.0, 4.0, split="family", model="elm0") for n in range(5, 11)]
    easy = [answered(2.02, 1.9, 2.1, model="oak0")] * 6 + [answered(2.1, 1.9, 2.2, model="ash0")] * 5
    groups = validation._groups([*hard, *easy], lambda cell: cell.family)
    assert [group.score.name for group in groups] == ["ash", "elm", "oak"]
    assert groups[1].to_split == pytest.approx(1.0)


def test_a_split_hides_the_same_whichever_others_are_asked_for(tmp_path: Path) -> None:
    cells = cells_of(store_of(tmp_path, whole()))
    random = validation.np.random.default_rng

    def hidden(*splits: str) -> list[list[bool]]:
        return [
            trial.hidden.tolist() for name, trial in validation._trials(cells, splits, random(3)) if name == "model"
        ]

    assert hidden("model") == hidden("pair", "model", "family") != []
    [gone] = hidden("model")
    whole_models = {cell.model for cell, away in zip(cells, gone, strict=True) if away}
    assert not any(cell.model in whole_models for cell, away in zip(cells, gone, strict=True) if not away)


def test_what_is_left_of_a_new_device_is_given_and_not_learned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cells = cells_of(store_of(tmp_path, whole((1, 8, 64))))
    learned: list[set[str]] = []
    given: list[int] = []

    class Silent:
        def predict(self, asked: list[Cell], calibration: list[Cell]) -> list[Prediction]:
            given.append(len(calibration))
            return [Prediction(None, None, None, Distance.DEVICE, "", "silent") for _ in asked]

    def fit(cells: list[Cell], seed: int) -> Silent:
        learned.append({cell.device for cell in cells})
        return Silent()

    monkeypatch.setattr(validation.Predictor, "fit", fit)
    found = validate(cells, "latency_ms", ("device",), 0, silent)
    assert given == [10] * 3
    assert all(len(devices) == len(RATES) - 1 for devices in learned)
    assert found.scores[0].abstained == 1.0 and found.scores[0].median_error is None
    assert found.groups["device"] == ()


def test_a_real_store_as_table_report_and_json(dyno_here: Dyno, tmp_path: Path) -> None:
    store_of(tmp_path, whole())
    done = dyno_here("predict", "validate", "--split", "pair,family,device", "--json", "--output", "report.md")
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert list(told["splits"]) == ["pair", "family"]
    assert told["splits"]["pair"]["median_error"] < told["splits"]["family"]["median_error"]
    assert "30 results" in told["left_out"]["device"]
    assert "1 of 2: pair" in done.stderr
    text = (tmp_path / "report.md").read_text()
    assert "The split device was left out" in text and "--split pair,family,device --seed 0" in text
    assert len(list((tmp_path / "report-charts").glob("*.svg"))) == 2


def test_the_document_tells_of_each_split_and_whose_records_it_rests_on(tmp_path: Path) -> None:
    store = store_of(tmp_path, whole(counted=False))
    found = validate(cells_of(store), "latency_ms", ("pair", "one"), 0, silent)
    made = validation_document(found, store, "c", store.runs()[0].started_at)
    assert {type(block) for block in made.sections[0].blocks} == {Table, Chart}
    assert [row.cells[0].text for row in made.tables[0].rows] == ["pair", "one"]
    assert len(made.findings) == 2
    assert made.scope.records == len(whole())


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--split", "pear"), "did you mean 'pair'?"),
        (("--metric", "speed"), "Unknown metric"),
        (("--output", "report.doc"), ".html"),
        ((), "too few"),
    ],
)
def test_wrong_input_is_told_at_once(dyno_here: Dyno, tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    store_of(
        tmp_path, [result(model, "Alpha 100") for model in models(12 if words else 3)] + whole()[: 20 * bool(words)]
    )
    done = dyno_here("predict", "validate", *words)
    assert done.returncode == 2
    assert told in done.stderr


def test_errors_are_typed() -> None:
    with pytest.raises(InputError, match="too few"):
        validate([CELL], "latency_ms", (), 0, silent)
    with pytest.raises(UnknownName):
        validation._chosen(["nothing"])
