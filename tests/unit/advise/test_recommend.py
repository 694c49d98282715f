"""Recommendations from constructed records in a real store; predictions come from a double."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from advise_world import H100, L4, XEON, device, later, record, store_of

from modeldyno.advise import ask
from modeldyno.advise.candidates import Evidence
from modeldyno.advise.prices import Prices, read_prices
from modeldyno.advise.recommend import Advice, Knowledge, Question, advise
from modeldyno.advise.told import command, sentences
from modeldyno.advise.wishes import read_wishes
from modeldyno.analysis.best import best_per_model
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Device, Record, Status, Verdict
from modeldyno.predict.cells import Cell, cell_of
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.stored import LATENCY

OF_KNOWLEDGE = ("cells", "predictors", "prices", "parameters")


def advised(records: Sequence[Record], here: Sequence[Device] = (), **asked: Any) -> Advice:
    words = {"goal": "latency", "slo": None, "max_memory": None, "budget_per_hour": None}
    wishes = read_wishes(**{name: asked.pop(name, usual) for name, usual in words.items()})
    of_knowledge = {name: asked.pop(name) for name in OF_KNOWLEDGE if name in asked}
    knowledge = {"records": records, "here": here, "prices": read_prices(), "axes": {"seq": 128}, **of_knowledge}
    return advise(Question("tiny-bert", wishes, **asked), Knowledge(**knowledge))


def told(advice: Advice) -> str:
    return " ".join(sentences(advice))


def test_the_first_choice_is_the_best_of_the_measured(tmp_path: Path) -> None:
    store = store_of(tmp_path, [record(L4, 5.0), record(H100, 2.0), record(XEON, 40.0), record(L4, 6.0, batch=8)])
    for goal, metric in (("latency", "latency_ms"), ("throughput", "throughput_per_s")):
        question = Question("TINY-BERT", read_wishes(goal, None, None, None))
        advice = ask.answer(store, question, read_prices(), predict=False)
        (best,) = best_per_model(advice_records(advice), metric, any_precision=True)
        assert advice.choice
        assert advice.choice.record == best.record


def advice_records(advice: Advice) -> list[Record]:
    return [one.record for one in advice.candidates if one.record]


def test_an_empty_store_says_what_to_run(tmp_path: Path) -> None:
    for store in (store_of(tmp_path, []), type(store_of(tmp_path, []))(tmp_path / "none.duckdb")):
        advice = ask.answer(store, Question("tiny-bert"), read_prices())
        assert advice.choice is None
        assert "Not enough data" in told(advice)
        assert "dyno run tiny-bert --quick" in told(advice)


def test_a_model_that_only_results_from_elsewhere_know(tmp_path: Path) -> None:
    foreign = record(L4, 3.0, model="resnet50_gn", provenance="imported", passport=None)
    advice = ask.answer(store_of(tmp_path, [foreign]), Question("resnet50_gn"), read_prices(), predict=False)
    assert advice.choice
    assert (advice.choice.evidence, advice.choice.trusted) == (Evidence.IMPORTED, True)
    with pytest.raises(UnknownName, match="nobody-has-this"):
        ask.answer(store_of(tmp_path, []), Question("nobody-has-this"), read_prices(), predict=False)


@pytest.mark.parametrize("words", [{"goal": "speed"}, {"slo": "p95=20"}, {"slo": "p97=20ms"}, {"max_memory": "8"}])
def test_words_that_say_nothing(words: dict[str, str]) -> None:
    usual = {"goal": "latency", "slo": None, "max_memory": None, "budget_per_hour": None}
    with pytest.raises(InputError, match=r"known|write|use one of"):
        read_wishes(**{**usual, **words})


@pytest.mark.parametrize("budget", [0.0, -1.0, float("nan"), float("inf")])
def test_a_budget_is_an_amount(budget: float) -> None:
    with pytest.raises(InputError, match="budget"):
        read_wishes("cost", None, None, budget)


def test_gigabytes_are_not_gibibytes() -> None:
    (decimal,), (binary,) = (read_wishes("latency", None, size, None).limits for size in ("8GB", "8 GiB"))
    assert (round(decimal.most), binary.most) == (7629, 8192)


@pytest.mark.parametrize("changes", [{"provenance": "simulated"}, {"provenance": "predicted"}, {"status": "invalid"}])
def test_what_no_hardware_gave_is_no_choice(changes: dict[str, str]) -> None:
    advice = advised([record(L4, 5.0), record(H100, 0.1, **changes)])
    assert advice.choice
    assert advice.choice.way.device == L4.name


def test_an_emulator_is_left_out_and_told_of() -> None:
    emulator = device("webgpu", "SwiftShader", emulated=True)
    advice = advised([record(L4, 5.0), record(emulator, 0.1)], here=[emulator])
    assert [one.way.device for one in advice.candidates] == [L4.name]
    assert "emulated" in " ".join(advice.notes)
    assert advised([record(emulator, 0.1)], here=[emulator]).choice is None


def test_the_risk_grows_as_the_intervals_come_together() -> None:
    risks = [advised([record(L4, 5.0), record(H100, other)]).risk for other in (5.05, 5.5, 8.0)]
    assert all(risk is not None for risk in risks)
    near, middle, far = risks
    assert 0.3 < near < 0.5
    assert near > middle > far
    assert far < 0.01


def test_more_rivals_are_more_risk_and_blind_ones_no_answer() -> None:
    rivals = [record(L4, 5.0), record(H100, 5.2), record(XEON, 5.2)]
    two, three = advised(rivals[:2]), advised(rivals)
    assert two.risk is not None
    assert three.risk is not None
    assert two.risk < three.risk < 1
    blind = advised([rivals[0], record(H100, 5.2, half=0.0)])
    assert blind.risk is None
    assert "not known" in told(blind)


def test_a_choice_that_is_not_here_has_one_that_is() -> None:
    advice = advised([record(H100, 2.0), record(L4, 5.0), record(XEON, 40.0)], here=[XEON])
    assert [one.way.device for one in advice.fallbacks] == [L4.name, XEON.name]
    assert f"here use cpu torch fp32 batch 1 on {XEON.name}" in told(advice)
    only = advised([record(H100, 2.0), record(XEON, 40.0)], here=[XEON], available=True)
    assert {one.way.device for one in only.candidates} == {XEON.name}
    assert only.choice
    assert only.choice.figure.value == 40.0


def test_what_this_machine_offers_but_nobody_measured_is_unknown() -> None:
    advice = advised([record(XEON, 40.0)], here=[XEON])
    unknown = {one.way.runtime for one in advice.candidates if one.evidence is Evidence.UNKNOWN}
    assert unknown == {"torch-compile", "onnxruntime"}
    learning = advised([], here=[XEON], workload="training")
    assert {one.way.runtime for one in learning.candidates} == {"torch", "torch-compile"}


def test_an_slo_is_held_against_the_percentile_and_never_the_median() -> None:
    known = record(L4, 5.0, numbers={"latency_p95_ms": 9.0})
    unknown = record(H100, 2.0)
    advice = advised([known, unknown], slo="p95=10ms")
    assert advice.choice
    assert advice.choice.way.device == L4.name
    assert [one.holds for one in advice.candidates] == [True, None]
    alone = advised([unknown], slo="p95=10ms")
    assert alone.choice is None
    assert "not known" in told(alone)
    assert command(alone).endswith("--samples 130")
    assert advised([unknown], slo="p95=1ms").candidates[0].holds is False, "a percentile is no less than the median"


def test_bounds_that_nothing_keeps_name_the_nearest() -> None:
    rivals = [record(L4, 5.0, numbers={"latency_p95_ms": 9.0}), record(H100, 2.0, numbers={"latency_p95_ms": 4.0})]
    advice = advised(rivals, slo="p95=2ms")
    assert advice.choice is None
    assert "Nothing keeps p95=2ms; nearest is cuda torch fp32 batch 1 on NVIDIA H100" in told(advice)
    assert "unit" not in told(advice)
    assert "is the unit right?" in told(advised(rivals, slo="p95=2us"))


def test_memory_and_price_are_bounds_too() -> None:
    small, large = (
        record(on, latency, numbers={"memory_peak_mb": mb}) for on, latency, mb in ((L4, 5, 900), (H100, 2, 9000))
    )
    assert advised([small, large], max_memory="1GB").rivals[0].record == small
    assert [one.record for one in advised([small, large], budget_per_hour=1.0).rivals] == [small]
    assert [one.record for one in advised([small, large], goal="memory").rivals] == [small, large]


def test_cost_is_price_over_rate_and_never_guessed() -> None:
    nameless = device("cpu", "No Name")
    advice = advised([record(L4, 5.0), record(H100, 2.0), record(nameless, 0.1), record(XEON, 40.0)], goal="cost")
    costs = {one.way.device: one.figure.value for one in advice.candidates}
    assert costs[L4.name] == pytest.approx(0.8048 / 3600 / 200 * 1e6)
    assert costs[XEON.name] == pytest.approx(4 * 0.04463 / 3600 / 25 * 1e6), "a processor is priced by the core"
    assert costs[nameless.name] is None
    assert "No Name" in str(advice.candidates[-1].figure.note)


def test_energy_is_that_of_an_item() -> None:
    one, eight = record(L4, 5.0, numbers={"energy_j": 1.0}), record(L4, 9.0, batch=8, numbers={"energy_j": 4.0})
    assert [each.figure.value for each in advised([one, eight], goal="energy").rivals] == [0.5, 1.0]
    assert command(advised([record(L4, 5.0)], goal="energy")) == "dyno run tiny-bert --quick --energy"


def test_the_newest_record_of_a_way_counts_and_a_failure_is_told() -> None:
    old = record(L4, 5.0)
    assert [one.figure.value for one in advised([later(old, metrics=record(L4, 7.0).metrics), old]).rivals] == [7.0]
    broken = later(record(H100, 1.0), status=Status.FAILED, reason="out of memory", metrics={})
    (candidate,) = [one for one in advised([old, broken]).candidates if one.way.device == H100.name]
    assert (candidate.evidence, candidate.rests_on) == (Evidence.UNKNOWN, "failed: out of memory")


def test_one_input_size_is_compared_and_another_can_be_asked_for() -> None:
    short = [record(L4, 1.0, shape={"seq": 8}), record(H100, 0.5, shape={"seq": 8})]
    records = [*short, record(L4, 9.0, shape={"seq": 512})]
    advice = advised(records)
    assert (dict(advice.work.shape), len(advice.rivals)) == ({"seq": 8}, 2)
    assert "--shape" in " ".join(advice.notes)
    assert [one.figure.value for one in advised(records, shape={"seq": 512}).rivals] == [9.0]


def test_doubtful_conditions_are_said() -> None:
    advice = advised([record(L4, 5.0, verdict=Verdict.AMBIGUOUS)])
    assert advice.choice
    assert not advice.choice.trusted
    assert "passport" in " ".join(advice.notes)


class Oracle:
    """Says the same of every cell."""

    def __init__(self, value: float, spread: float = 1.1, why_not: str | None = None) -> None:
        self.asked: list[Cell] = []
        self._answer = Prediction(value, value / spread, value * spread, Distance.PAIR, "two devices", why_not)

    def predict(self, cells: Sequence[Cell]) -> list[Prediction]:
        self.asked += cells
        return [self._answer for _ in cells]


def known_cells(*records: Record) -> list[Cell]:
    return [
        cell_of(one.case, one.device.name, gflop=1.0, value=one.value("latency_ms")) for one in records if one.device
    ]


def test_what_was_not_measured_is_predicted_from_what_other_models_did() -> None:
    others = known_cells(record(H100, 1.0, model="other"), record(L4, 4.0, model="other"))
    oracle = Oracle(2.0)
    advice = advised([record(L4, 5.0)], cells=others, predictors={LATENCY: oracle})
    assert [(cell.device, cell.model, cell.value) for cell in oracle.asked] == [(H100.name, "tiny-bert", None)]
    assert advice.choice
    assert (advice.choice.evidence, advice.choice.figure.value) == (Evidence.PREDICTED, 2.0)
    assert "dyno run tiny-bert --on cuda --runtime torch --precision fp32 --batch 1" in told(advice)
    assert advice.risk is not None
    assert advice.risk < 0.01


def test_only_batch_sizes_that_a_device_has_seen_are_asked_about() -> None:
    others = [record(H100, 1.0, model="other", batch=size) for size in (1, 8, 64)]
    others += [record(XEON, 1.0, model="other", batch=64)]
    oracle = Oracle(2.0)
    mine = [record(L4, 5.0, batch=size) for size in (1, 8, 32)]
    advised(mine, cells=known_cells(*others), predictors={LATENCY: oracle})
    assert [(cell.device, cell.batch) for cell in oracle.asked] == [(H100.name, 1), (H100.name, 8), (XEON.name, 64)]


def test_a_prediction_is_of_one_item() -> None:
    others = known_cells(record(H100, 1.0, model="other", batch=8))
    latency, rate = (
        advised([record(L4, 50.0, batch=8)], cells=others, predictors={LATENCY: Oracle(2.0)}, goal=goal)
        .rivals[0]
        .figure.value
        for goal in ("latency", "throughput")
    )
    assert (latency, rate) == (16.0, 500.0)


def test_memory_and_energy_are_predicted_by_predictors_of_their_own() -> None:
    others = known_cells(record(H100, 1.0, model="other", batch=8))
    predictors = {LATENCY: Oracle(2.0), "memory_peak_mb": Oracle(900.0), "energy_j": Oracle(16.0)}
    found = {
        goal: advised([], cells=others, predictors=predictors, goal=goal).rivals[0].figure.value
        for goal in ("latency", "memory", "energy")
    }
    assert found == {"latency": 16.0, "memory": 900.0, "energy": 2.0}
    held = advised([], cells=others, predictors=predictors, max_memory="800MiB").candidates[0].held
    assert [one.holds for one in held] == [False]


def test_what_does_not_fit_is_told_and_not_asked_about() -> None:
    others = known_cells(record(L4, 1.0, model="other"))
    oracle = Oracle(2.0)
    advice = advised([], cells=others, predictors={LATENCY: oracle}, parameters=7_000_000_000)
    assert oracle.asked == []
    assert advice.candidates[0].rests_on == "does not fit: weights take 28 GB, the device has 24 GB"


def test_predictions_know_neither_percentiles_nor_memory() -> None:
    others = known_cells(record(H100, 1.0, model="other"))
    advice = advised([], cells=others, predictors={LATENCY: Oracle(2.0)}, slo="p95=9ms", max_memory="8GB")
    assert advice.choice is None
    assert [held.holds for held in advice.candidates[0].held] == [None, None]


def test_a_prediction_that_abstains_is_unknown_and_a_failed_way_is_not_asked_about() -> None:
    others = known_cells(record(H100, 1.0, model="other"))
    silent = advised(
        [record(L4, 5.0)], cells=others, predictors={LATENCY: Oracle(2.0, why_not="too far from all that is known")}
    )
    assert silent.candidates[-1].rests_on == "too far from all that is known"
    assert silent.candidates[-1].evidence is Evidence.UNKNOWN
    oracle = Oracle(2.0)
    advised([record(H100, 1.0, status="failed", reason="no")], cells=others, predictors={LATENCY: oracle})
    assert oracle.asked == []


def test_no_prices_are_no_prices() -> None:
    advice = advised([record(L4, 5.0)], goal="cost", prices=Prices(prices=()))
    assert advice.choice is None
    assert "no price is known for NVIDIA L4" in told(advice)


@pytest.mark.slow
def test_the_real_predictor_fills_a_gap_of_a_regular_table(tmp_path: Path) -> None:
    """Twelve models whose times differ by a factor, on four devices that differ by a factor; one pair is missing."""
    factors = [(XEON, 20.0), (device("cuda", "Chip 1"), 4.0), (L4, 2.0), (H100, 1.0)]
    records = [
        record(on, work * factor, model=f"net{work}", verdict=Verdict.VALID)
        for work in range(1, 13)
        for on, factor in factors
        if (work, on) != (6, H100)
    ]
    advice = ask.answer(store_of(tmp_path, records), Question("net6"), read_prices())
    (gap,) = [one for one in advice.candidates if one.way.device == H100.name]
    assert gap.evidence is Evidence.PREDICTED
    assert gap.figure.value == pytest.approx(6.0, rel=0.25)
    assert advice.choice == gap
    assert len([one for one in advice.candidates if one.evidence is Evidence.MEASURED]) == 3
