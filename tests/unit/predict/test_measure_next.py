"""Which measurements are worth most: wide predictions, and those that tell of many others."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from predict_world import RATES, models, result, store_of, whole

from modeldyno.core.types import Case, Device, MetricValue, Record
from modeldyno.predict.cells import Cell
from modeldyno.predict.measure_next import empty_cells, suggest
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.runnable import devices_here, first_commands, run_command
from modeldyno.predict.stored import train

if TYPE_CHECKING:
    from conftest import Dyno

USUAL = {Distance.PAIR: 0.1, Distance.ONE: 0.3, Distance.DEVICE: 0.8}


class Wide:
    """Says how wide its predictions are, cell by cell; those of one distance were usually so far off."""

    errors = {distance: np.full(50, width) for distance, width in USUAL.items()}

    def __init__(self, **factors: float) -> None:
        self._factors = factors

    def predict(self, cells: Sequence[Cell]) -> list[Prediction]:
        factors = [self._factors.get(cell.model, self._factors.get(cell.device, 1.2)) for cell in cells]
        return [Prediction(1.0, 1 / factor, factor, Distance.PAIR, "") for factor in factors]


def cell(model: str, device: str, batch: int = 1, **changes: object) -> Cell:
    return Cell(model, "inference", "cuda", device, "torch", "fp16", batch=batch, value=1.0, **changes)  # type: ignore[arg-type]


def table(*absent: tuple[str, str], batches: int = 40) -> list[Cell]:
    """Four models on three devices, often enough that none is new."""
    places = [(model, device) for model in "abcd" for device in "xyz" if (model, device) not in absent]
    return [cell(model, device, batch) for model, device in places for batch in range(1, batches + 1)]


def chosen(predictor: object, known: Sequence[Cell], budget: int = 10) -> list[tuple[str, str]]:
    return [(one.cell.model, one.cell.device) for one in suggest(predictor, known, budget)]  # type: ignore[arg-type]


def test_only_empty_pairs_are_candidates_in_the_way_most_used_there() -> None:
    known = [*table(("a", "x")), cell("b", "x", 99, setting="threads=1")]
    (empty,) = empty_cells(known)
    assert (empty.model, empty.device, empty.setting, empty.value) == ("a", "x", "", None)


def test_a_batch_that_a_device_never_had_is_not_asked_of_it() -> None:
    found = {(one.model, one.device): one.batch for one in empty_cells([cell("a", "x", 1024), cell("b", "y", 1)])}
    assert found == {("a", "y"): 1, ("b", "x"): 1024}


def test_work_that_is_counted_and_work_that_is_not_do_not_mix() -> None:
    assert not list(empty_cells([cell("a", "x", gflop=1.0), cell("b", "y")]))


def test_the_widest_comes_first() -> None:
    known = table(("a", "x"), ("b", "y"), ("c", "z"))
    assert chosen(Wide(a=1.1, b=1.9, c=1.4), known) == [("b", "y"), ("c", "z"), ("a", "x")]
    assert chosen(Wide(a=1.1, b=1.9, c=1.4), known, budget=1) == [("b", "y")]


def test_a_model_known_on_one_device_tells_of_its_others_and_then_no_more() -> None:
    known = table(("a", "x"), ("a", "y"), ("b", "z"))
    found = suggest(Wide(a=1.30, b=1.40), known, 3)  # type: ignore[arg-type]
    assert [one.cell.model for one in found] == ["a", "b", "a"]
    assert "a is known on one device, 1 other predictions" in found[0].why
    assert found[0].gain > found[1].gain > found[2].gain


def test_a_device_with_few_results_is_worth_more() -> None:
    few = [one for one in table(("a", "x"), ("b", "y"), ("c", "x"), ("d", "x")) if one.device != "x" or one.batch < 6]
    found = suggest(Wide(), few, 1)  # type: ignore[arg-type]
    assert found[0].cell.device == "x"
    assert "x has 5 results, 2 other predictions" in found[0].why


def test_a_command_for_what_can_run_here_and_none_for_what_cannot() -> None:
    here = [Device(platform="cpu", index=0, name="Alpha 100")]
    known = Cell(
        "bert-base-uncased", "generation seq=128", "cpu", "Alpha 100", "torch", "fp32", setting="threads=2", batch=8
    )
    command = run_command(known, here)
    assert command == (
        "dyno run bert-base-uncased --on cpu:0 --runtime torch --precision fp32 --batch 8 "
        "--workload generation --shape seq=128 --option threads=2"
    )
    for other in ({"device": "Beta"}, {"model": "oak0"}, {"runtime": "unstated"}, {"precision": "w8a8"}):
        assert run_command(Cell(**{n: getattr(known, n) for n in Cell.__slots__} | other), here) is None


def test_on_a_real_store(dyno_here: Dyno, tmp_path: Path) -> None:
    gone = {("oak1", "Beta 200"), ("elm2", "Gamma 300"), ("ash3", "Alpha 100")}
    known = [one for one in whole((1, 8), counted=False) if (one.case.model, one.device.name) not in gone]  # type: ignore[union-attr]
    store = store_of(tmp_path, known)
    told = json.loads(dyno_here("predict", "next", "--budget", "2", "--json").stdout)
    assert not told["here"] and len(told["next"]) == 2
    assert all((one["model"], one["device"]) in gone and one["command"] is None for one in told["next"])
    done = dyno_here("predict", "next", "--on", "beta")
    assert "oak1" in done.stdout and "elm2" not in done.stdout
    assert "None of them can be measured" in done.stderr
    full = dyno_here("predict", "next", "--on", "Delta 400")
    assert "are measured" in full.stdout and "dyno run " in full.stdout
    wrong = dyno_here("predict", "next", "--on", "epsilon")
    assert wrong.returncode == 2 and "Delta 400" in wrong.stderr
    report = dyno_here("report", "prediction", "--format", "json", "--output", "p.json")
    assert report.returncode == 0, report.stderr
    assert "measure-next" in (tmp_path / "p.json").read_text()
    dyno_here("report", "summary", "--format", "md", "--output", "s.md")
    assert "What to measure next: " in (tmp_path / "s.md").read_text()
    assert store.path.exists()


def test_on_this_machine_only_what_can_run_here(dyno_here: Dyno, tmp_path: Path) -> None:
    here = next(device for device in devices_here() if device.platform == "cpu")
    mine = [_on(here, one) for one in whole(counted=False) if one.device and one.device.name == "Alpha 100"]
    others = [_called("bert-base-uncased" if n < 4 else "gpt2", one) for n, one in enumerate(whole(counted=False)[:8])]
    store = store_of(tmp_path, [*whole(counted=False), *mine, *others])
    train(store)
    told = json.loads(dyno_here("predict", "next", "--json").stdout)
    assert told["here"] and sorted(one["model"] for one in told["next"]) == ["bert-base-uncased", "gpt2"]
    assert all(one["command"].startswith(f"dyno run {one['model']} --on cpu:0 --runtime torch") for one in told["next"])


def _on(device: Device, record: Record) -> Record:
    case = record.case.model_copy(update={"platform": device.platform, "precision": "fp32"})
    return record.model_copy(update={"device": device, "case": Case(**case.model_dump())})


def _called(name: str, record: Record) -> Record:
    case = Case(**record.case.model_dump() | {"model": name})
    return record.model_copy(update={"case": case, "metrics": {"latency_ms": MetricValue(value=1.5)}})


@pytest.mark.parametrize("count", [0, 3])
def test_a_small_store_says_what_to_run(dyno_here: Dyno, tmp_path: Path, count: int) -> None:
    if count:
        store_of(tmp_path, [result(model, next(iter(RATES))) for model in models(count)])
    done = dyno_here("predict", "next")
    assert done.returncode == 2
    assert f"{count} results are too few" in done.stderr and "dyno run " in done.stderr


def test_what_to_run_instead_is_not_known_yet() -> None:
    first = first_commands((), ())
    assert len(first) == 3
    known = first[0].split()[2]
    assert known not in " ".join(first_commands([known], ()))
