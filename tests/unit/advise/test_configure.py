"""Configurations from constructed records: the batch, the way, the evidence; and the search that fills gaps."""

from __future__ import annotations

from typing import Any

import pytest
from advise_world import H100, L4, XEON, device, record

from modeldyno.advise.configure import Configuration, Demand, configure
from modeldyno.advise.search import LARGEST, cases_to_search, search
from modeldyno.advise.serving_script import render
from modeldyno.advise.told import why_no_configuration
from modeldyno.advise.wishes import read_wishes
from modeldyno.core.errors import InputError
from modeldyno.core.types import Placement, Record


def made(records: list[Record], slo: str | None = None, max_memory: str | None = None, **asked: Any) -> Configuration:
    here = asked.pop("here", [XEON])
    wishes = read_wishes("throughput", slo, max_memory, None)
    return configure(Demand("tiny-bert", "cpu", wishes=wishes, **asked), records, here, {"seq": 128})


def batch(size: int, latency: float, **changes: Any) -> Record:
    numbers = {"latency_p95_ms": 1.2 * latency, "memory_peak_mb": 100.0 * size, **changes.pop("numbers", {})}
    return record(XEON, latency, batch=size, numbers=numbers, **changes)


GROWING = [batch(1, 10.0), batch(2, 12.0), batch(4, 16.0), batch(8, 31.0), batch(16, 62.0)]
"""Doubling pays up to batch 4; from there on the time doubles as well."""


def value_of(configuration: Configuration, name: str) -> object:
    return next(one.value for one in configuration.settings if one.name == name)


def evidence_of(configuration: Configuration, name: str) -> str:
    return next(one.evidence for one in configuration.settings if one.name == name)


def test_without_a_bound_the_batch_is_as_large_as_it_pays() -> None:
    found = made(GROWING)
    assert value_of(found, "batch") == 4
    assert "batch 8 does" in evidence_of(found, "batch")


def test_with_an_slo_it_is_the_largest_that_keeps_it() -> None:
    found = made(GROWING, slo="p95=40ms")
    assert value_of(found, "batch") == 8
    assert "keeps p95=40ms with 37.2 ms; batch 16: misses p95=40ms with 74.4 ms" in evidence_of(found, "batch")
    assert value_of(made(GROWING, slo="p95=40ms", max_memory="300MB"), "batch") == 2


def test_a_larger_batch_that_does_less_per_second_is_not_taken() -> None:
    assert value_of(made([batch(1, 1.0), batch(4, 11.0)], slo="p95=40ms"), "batch") == 1


def test_of_runtimes_and_precisions_the_one_that_does_most_with_its_rival_named() -> None:
    faster = [batch(4, 8.0, runtime="onnxruntime"), batch(4, 9.0, precision="bf16")]
    found = made([*GROWING, *faster])
    assert (value_of(found, "runtime"), value_of(found, "precision")) == ("onnxruntime", "fp32")
    assert "torch 444.4 items/s at batch 4" in evidence_of(found, "runtime")
    assert value_of(made([*GROWING, *faster], runtimes=("torch",), precisions=("fp32",)), "runtime") == "torch"


def test_threads_and_options_are_as_in_the_record() -> None:
    own = batch(1, 10.0, options={"threads": 3, "io_binding": True})
    assert (value_of(made([own]), "threads"), value_of(made([own]), "io_binding")) == (3, True)
    chosen = batch(1, 10.0, placement=Placement(device="cpu", compute_precision="float32", threads=8))
    assert value_of(made([chosen]), "threads") == 8
    assert value_of(made([batch(1, 10.0)]), "threads") is None


@pytest.mark.parametrize(("gain", "requests"), [(1.6, 4), (1.01, 1)])
def test_requests_are_what_the_pool_found_worth_it(gain: float, requests: int) -> None:
    pool = batch(1, 10.0, workload="pool", options={"users": 4}, numbers={"concurrency_gain": gain})
    found = made([batch(1, 10.0), pool])
    assert value_of(found, "requests") == requests
    assert pool.record_id in evidence_of(found, "requests")
    assert "was not measured" in evidence_of(made([batch(1, 10.0)]), "requests")


def test_only_the_device_that_is_here_counts() -> None:
    other = device("cpu", "Other")
    elsewhere = record(other, 0.1, batch=64)
    assert value_of(made([*GROWING, elsewhere]), "batch") == 4
    assert made([*GROWING, elsewhere], here=[other]).case.batch == 64
    assert made(GROWING, here=[]).device == XEON.name
    assert made([record(L4, 1.0), record(H100, 1.0)]).chosen is None


def test_nothing_measured_and_nothing_that_keeps_the_bound() -> None:
    nothing, never, unknown = made([]), made(GROWING, slo="p95=1ms"), made([record(XEON, 1.0)], slo="p95=5ms")
    assert "Run: dyno configure tiny-bert --on cpu --search" in why_no_configuration(nothing)
    assert "nearest is cpu torch fp32 batch 1" in why_no_configuration(never)[0]
    assert "not known" in why_no_configuration(unknown)[0]


def search_in(latency_of: dict[int, float], slo: str | None = None) -> list[int]:
    """Batch sizes that a search asks for; those that are not in the table fail."""
    asked: list[int] = []

    def measure(size: int) -> Record:
        asked.append(size)
        known = size in latency_of
        return batch(
            size, latency_of.get(size, 1.0), status="ok" if known else "failed", reason=None if known else "oom"
        )

    search(Demand("tiny-bert", "cpu", wishes=read_wishes("throughput", slo, None, None)), measure)
    return asked


def test_a_search_doubles_until_a_bound_is_missed_and_closes_in() -> None:
    linear = {size: float(size) for size in range(1, 200)}
    assert search_in(linear, slo="p95=27ms") == [1, 2, 4, 8, 16, 32, 24, 20], "22 items take 26.4 ms"
    assert search_in(linear, slo="p95=1ms") == [1]


def test_a_search_without_a_bound_ends_where_doubling_does_not_pay_or_memory_ends() -> None:
    assert search_in({1: 10.0, 2: 11.0, 4: 21.9}) == [1, 2, 4]
    assert search_in({1: 10.0, 2: 10.0, 3: 10.0}) == [1, 2, 4, 3], "what does not fit is closed in on as well"
    flat = {2**power: 1.0 for power in range(20)}
    assert max(search_in(flat)) == LARGEST


def test_a_search_tries_what_is_known_and_the_usual() -> None:
    cases = cases_to_search(made([batch(1, 10.0, runtime="onnxruntime", precision="int8")]))
    assert {(case.runtime, case.precision) for case in cases} == {
        (runtime, precision) for runtime in ("torch", "onnxruntime") for precision in ("fp32", "int8")
    }
    asked = cases_to_search(made([], runtimes=("torch-compile",), precisions=("bf16",)))
    assert [(case.runtime, case.precision, case.shape) for case in asked] == [("torch-compile", "bf16", {"seq": 128})]


@pytest.mark.parametrize("runtime", ["torch", "torch-compile", "onnxruntime", "openvino"])
def test_the_program_is_one(runtime: str) -> None:
    text = render(made([batch(2, 10.0, runtime=runtime)]), "serve.py")
    compile(text, "serve.py", "exec")
    assert "BATCH = 2" in text
    assert "@" not in text


def test_there_is_no_program_for_a_runtime_from_elsewhere() -> None:
    with pytest.raises(InputError, match="tflite"):
        render(made([batch(1, 10.0, runtime="tflite")]), "serve.py")
