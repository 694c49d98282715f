"""Generation writes what the library writes, times what it says it times, and finds a cache that lies."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from modeldyno import models
from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench, Lap
from modeldyno.core.types import Case, Outcome, Samples, Status, Stop, Verdict
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.assemble import assemble
from modeldyno.runner.suite import Block, expand
from modeldyno.runtimes import RUNTIMES
from modeldyno.runtimes._torch_decoder import TorchDecoder
from modeldyno.workloads._generation_step import BETWEEN, FIRST, GAPS, Generation, parts_add_up
from modeldyno.workloads.generation import MEMBER

FEW = policy("quick").model_copy(update={"samples": 3, "warmup_max_s": 0.01, "memory_steps": 1})
WRITERS = [
    "tiny-opt", "tiny-qwen3", "tiny-t5", "tiny-whisper", "tiny-llava", "tiny-llava-next", "tiny-llava-onevision",
    "tiny-qwen2-vl", "tiny-mixtral", "tiny-switch", "tiny-mamba",
]  # fmt: skip
ONE_CORE = {"threads": 1}


def case(model: str, new_tokens: int = 4, **changes: Any) -> Case:
    shape = dict(MEMBER.axes(models.resolve(model).axes)) | {"new_tokens": new_tokens}
    shape |= {"seq": 8} if "seq" in shape else {}
    fields = {"workload": "generation", "platform": "cpu", "runtime": "torch", "options": ONE_CORE}
    return Case.model_validate({**fields, "model": model, "shape": shape, **changes})


def measure(asked: Case, **changes: Any) -> Outcome:
    fields = {"policy": FEW, "session": PLATFORMS.get("cpu").open(0), "process": 0, "fresh": True, **changes}
    return MEMBER.run(Bench(case=asked, note=lambda text: None, **fields))


def decoder(asked: Case) -> TorchDecoder:
    source = models.prepare_decoding(models.resolve(asked.model), asked.batch, asked.shape)
    return RUNTIMES.get("torch").load_decoder(source, PLATFORMS.get("cpu").open(0), asked)


@pytest.mark.parametrize("model", WRITERS)
def test_a_model_writes_and_every_token_is_timed(model: str) -> None:
    outcome = measure(case(model, batch=2))
    assert outcome.status is Status.OK, outcome.reason
    samples = outcome.samples
    assert samples and len(samples.host_ms) == 3
    assert len(samples.parts[FIRST]) == 3 * samples.steps_per_sample
    assert len(samples.parts[GAPS]) == 3 * len(samples.parts[FIRST]), "three gaps between four tokens"
    for number, whole in enumerate(samples.host_ms):
        gaps = samples.parts[GAPS][3 * number : 3 * number + 3]
        assert 0 < samples.parts[FIRST][number] + sum(gaps) <= whole
    assert outcome.check and outcome.check.passed and outcome.check.rel_l2 < 1e-5
    assert outcome.placement and outcome.placement.details["cache"] == "dynamic"
    assert outcome.metrics["tokens"].value == 8
    assert outcome.metrics["first_ms"].value > outcome.metrics["cold_first_token_ms"].value > 0
    assert outcome.metrics["kv_cache_mb"].value > 0
    assert outcome.model and outcome.model.parameters


@pytest.mark.parametrize("model", [name for name in WRITERS if name != "tiny-mamba"])
def test_a_static_cache_gives_the_same_scores_time_after_time(model: str) -> None:
    outcome = measure(case(model, batch=2, options={**ONE_CORE, "cache": "static"}))
    assert (outcome.status, outcome.placement.details["cache"]) == (Status.OK, "static")
    assert outcome.check.rel_l2 < 1e-5, "checked after a first generation, so the cache was really emptied"


@pytest.mark.parametrize(
    ("model", "cache"),
    [
        ("tiny-mamba", "dynamic"),
        *itertools.product(["tiny-opt", "tiny-t5", "tiny-whisper", "tiny-qwen2-vl"], ["dynamic", "static"]),
    ],
)
def test_the_tokens_are_those_of_the_librarys_own_generate(model: str, cache: str) -> None:
    import torch
    from transformers import GenerationConfig, GenerationMixin

    asked = case(model, new_tokens=6, batch=2, options={**ONE_CORE, "cache": cache})
    ours = decoder(asked)
    written = [ours.prefill(), *(ours.decode() for _ in range(5))]
    source = models.prepare_decoding(models.resolve(model), 2, asked.shape)
    prompt = {name: torch.from_numpy(array) for name, array in source.prompt().items()}
    rules = GenerationConfig(max_new_tokens=6, do_sample=False, pad_token_id=0, decoder_start_token_id=0)
    theirs = GenerationMixin.generate(source.torch_model(), **prompt, generation_config=rules)
    assert [list(sequence) for sequence in zip(*written, strict=True)] == theirs[:, -6:].tolist()


@pytest.mark.filterwarnings("ignore:dynamo_pgo force disabled")
def test_a_compiled_next_token_is_one_graph_for_all_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the compiler's front end alone, which finds the graphs: making kernels of them takes minutes."""
    import torch

    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    asked = case("tiny-qwen2", new_tokens=6, batch=2, runtime="torch-compile")
    outcome = measure(asked)
    assert outcome.status is Status.OK, outcome.reason
    assert outcome.placement and outcome.placement.details == {"cache": "static", "graphs": 1, "graph_breaks": 0}
    assert outcome.check and outcome.check.rel_l2 < 1e-5


def test_the_cache_is_as_large_as_its_keys_and_values() -> None:
    outcome = measure(case("tiny-opt", new_tokens=5, batch=3))
    tokens = 8 + 5 - 1  # nothing is kept of the last one
    assert outcome.metrics["kv_cache_mb"].value == 2 * 2 * 3 * tokens * 64 * 4 / 2**20
    half = measure(case("tiny-opt", new_tokens=5, batch=3, precision="bf16"))
    assert half.metrics["kv_cache_mb"].value == outcome.metrics["kv_cache_mb"].value / 2


@pytest.mark.parametrize("model", ["tiny-opt", "tiny-t5"])
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_cache_that_loses_a_token_is_invalid(model: str, precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    decode = TorchDecoder.decode

    def forgetful(self: TorchDecoder) -> Sequence[int]:
        self._kept["past_key_values"].crop(-1)
        return decode(self)

    monkeypatch.setattr(TorchDecoder, "decode", forgetful)
    outcome = measure(case(model, precision=precision))
    assert outcome.status is Status.INVALID
    assert "output 'next_tokens' is off by" in (outcome.reason or "")
    assert outcome.samples is None and not outcome.metrics


class Watched(TorchDecoder):
    calls: list[str]

    def prefill(self) -> Sequence[int]:
        self.calls.append("prefill")
        return super().prefill()

    def decode(self) -> Sequence[int]:
        self.calls.append("decode")
        return super().decode()

    def scores(self) -> Any:
        self.calls.append("scores")
        return super().scores()


def test_the_first_generation_comes_before_anything_else(monkeypatch: pytest.MonkeyPatch) -> None:
    Watched.calls = []
    monkeypatch.setattr(RUNTIMES.get("torch"), "bind_decoder", lambda writing: Watched(writing, writing.model))
    outcome = measure(case("tiny-opt"))
    assert Watched.calls[:5] == ["prefill", "decode", "decode", "decode", "prefill"]
    assert Watched.calls.index("scores") == 5
    assert outcome.metrics["first_ms"].note is None
    again = measure(case("tiny-opt"), fresh=False)
    assert "had run other shapes before" in again.metrics["cold_first_token_ms"].note


def test_one_token_has_no_gap() -> None:
    outcome = measure(case("tiny-opt", new_tokens=1))
    assert outcome.status is Status.OK
    assert outcome.samples.parts[GAPS] == []
    assert "decode_tokens_per_s" not in outcome.metrics
    assert outcome.metrics["prefill_tokens_per_s"].value > 0
    record = assemble("r", case("tiny-opt", 1), [outcome], datetime.now(UTC), 1.0)
    assert BETWEEN not in record.metrics and record.metrics[FIRST].value


def test_the_record_has_rates_that_agree_with_its_samples() -> None:
    asked = case("tiny-opt", batch=2)
    outcome = measure(asked)
    record = assemble("r", asked, [outcome], datetime.now(UTC), 1.0)
    assert record.value("tokens_per_s") == pytest.approx(8e3 / record.value("latency_ms"))
    assert record.value("prefill_tokens_per_s") == pytest.approx(16e3 / record.value(FIRST))
    gaps = outcome.samples.parts[GAPS]
    decoding = sorted(sum(gaps[begin : begin + 3]) for begin in (0, 3, 6))[1]
    assert record.value("decode_tokens_per_s") == pytest.approx(6e3 / decoding)
    assert record.metrics["token_gap_p99_ms"].note == "needs 662 samples, has 9"
    assert "prefill_tokens_per_s" not in measure(case("tiny-whisper")).metrics, "sound is no token"


class TwoTurns:
    def __iter__(self) -> Iterator[float]:
        yield from (0.0, 0.0)

    def taken(self, samples_ms: Sequence[float]) -> None:
        assert len(samples_ms) == 3


def test_the_parts_of_a_turn_are_those_of_its_samples() -> None:
    """The first sample of a turn is thrown away, and so are its parts."""
    samples = measure(case("tiny-opt"), turns=TwoTurns()).samples
    assert (len(samples.host_ms), len(samples.parts[FIRST]), len(samples.parts[GAPS])) == (6, 6, 18)


class Behind:
    """A session whose device can be timed alone; nobody may try that with a generation."""

    def __init__(self) -> None:
        self.device = PLATFORMS.get("cpu").open(0).device

    def torch_device(self) -> str:
        return "cpu"

    def lap(self, step: Any, count: int) -> Lap:
        return PLATFORMS.get("cpu").open(0).lap(step, count)

    def device_lap(self, step: Any, cold: bool) -> Lap:
        raise AssertionError("a generation waits for the device after each token")

    def close(self) -> None: ...


def test_a_generation_is_not_timed_behind_a_guard() -> None:
    outcome = measure(case("tiny-opt"), session=Behind())
    assert outcome.status is Status.OK
    assert outcome.samples.device_ms == []


@pytest.mark.parametrize(("between", "verdict"), [(10.0, Verdict.VALID), (9.0, Verdict.AMBIGUOUS)])
def test_parts_that_do_not_make_up_the_whole_are_doubtful(between: float, verdict: Verdict) -> None:
    parts = {FIRST: [30.0], BETWEEN: [between]}
    check = parts_add_up(Samples(host_ms=[121.0], parts=parts, stop=Stop.SAMPLE_COUNT, steady=True), 10)
    assert (check.name, check.verdict) == ("parts_add_up", verdict)


def test_a_step_is_read_once() -> None:
    step = Generation(PLATFORMS.get("cpu").open(0), decoder(case("tiny-opt")), 4)
    step()
    assert [len(values) for values in step.read().values()] == [1, 1, 3]
    assert step.read() == {FIRST: [], BETWEEN: [], GAPS: []}


def test_a_cache_that_nobody_knows_is_an_error_before_anything_runs() -> None:
    block = {"model": "tiny-opt", "workload": "generation", "on": "cpu", "options": {"cache": "paged"}}
    with pytest.raises(InputError, match="The option cache is not 'paged'; write dynamic or static"):
        list(expand(Block.model_validate(block)))


@pytest.mark.parametrize("workload", ["inference", "inference,generation"])
def test_other_workloads_know_no_cache(workload: str) -> None:
    block = {"model": "tiny-opt", "workload": workload, "on": "cpu", "options": {"cache": "static"}}
    with pytest.raises(InputError, match="Unknown option of inference 'cache'"):
        list(expand(Block.model_validate(block)))


def test_what_has_no_static_cache_says_so() -> None:
    with pytest.raises(Unsupported, match="MambaForCausalLM has no static cache") as told:
        measure(case("tiny-mamba", options={**ONE_CORE, "cache": "static"}))
    assert told.value.remedy == "use --option cache=dynamic"
    with pytest.raises(Unsupported, match="onnxruntime offers no static cache"):
        MEMBER.prepare(case("tiny-opt", runtime="onnxruntime", options={"cache": "static"}), lambda text: None)
