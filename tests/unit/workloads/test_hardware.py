"""The probes do what they say they do, in the amount they say, and refuse what they cannot do."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench, Lap
from modeldyno.core.types import Case, Device, Outcome, Record, Status
from modeldyno.platforms import PLATFORMS
from modeldyno.platforms.openvino import OpenvinoSession
from modeldyno.runner.assemble import assemble
from modeldyno.runner.suite import Block, expand
from modeldyno.workloads import WORKLOADS
from modeldyno.workloads._hardware import compute, memory
from modeldyno.workloads._hardware.memory import last_level_cache_mb
from modeldyno.workloads._hardware.place import Place
from modeldyno.workloads._hardware.probes import PROBES

TINY = {"matmul": 16, "read": 1, "write": 1, "copy": 1, "launch": 3}
FEW = policy("quick").model_copy(update={"samples": 3, "warmup_max_s": 0.01})


def measure(probe: str, session: object | None = None, size: int | None = None, **changes: object) -> Outcome:
    shape = {PROBES[probe].axis: size or TINY.get(probe, 1)}
    fields = {"workload": "hardware", "model": probe, "platform": "cpu", "runtime": "torch", "shape": shape, **changes}
    opened = session or PLATFORMS.get("cpu").open(0)
    bench = Bench(Case.model_validate(fields), FEW, opened, 0, True, lambda text: None)  # type: ignore[arg-type]
    return WORKLOADS.get("hardware").run(bench)


def value(outcome: Outcome, name: str) -> float | None:
    return outcome.metrics[name].value if name in outcome.metrics else None


@pytest.mark.parametrize("probe", TINY)
@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_probe_gives_samples_a_checked_result_proof_and_a_passport(probe: str, precision: str) -> None:
    outcome = measure(probe, precision=precision)
    assert outcome.status is Status.OK
    assert outcome.samples and len(outcome.samples.host_ms) == 3
    assert all(sample > 0 for sample in outcome.samples.host_ms)
    assert outcome.check and outcome.check.passed and outcome.check.compared > 0
    assert outcome.placement and outcome.placement.device == "cpu"
    assert outcome.placement.compute_precision == {"fp32": "float32", "bf16": "bfloat16"}[precision]
    assert outcome.passport and outcome.device
    assert outcome.software["torch"]


def test_the_amounts_of_work_are_exact() -> None:
    product, half = measure("matmul", size=8), measure("matmul", size=8, precision="bf16")
    assert value(product, "compute_gflop") == value(half, "compute_gflop") == 2 * 8**3 / 1e9
    assert value(product, "moved_gb") == 3 * 8 * 8 * 4 / 1e9
    assert value(half, "moved_gb") == 3 * 8 * 8 * 2 / 1e9
    assert value(measure("copy", size=2), "moved_gb") == 2 * 2 * 2**20 / 1e9, "read once, written once"
    one_way = [value(measure(probe, size=2), "moved_gb") for probe in ("read", "write")]
    assert one_way == [2 * 2**20 / 1e9] * 2
    assert value(measure("launch", size=5), "launches") == 5


@pytest.mark.parametrize(("probe", "size"), [("copy", 3), ("read", 6), ("write", 6)])
def test_what_the_cache_may_hold_is_doubtful(probe: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    def doubted(cache_mb: float | None) -> list[str]:
        monkeypatch.setattr(memory, "last_level_cache_mb", lambda device, on_host: cache_mb)
        outcome = measure(probe, size=size)
        assert outcome.passport
        return [check.name for check in outcome.passport.concerns if check.name == "beyond_cache"]

    assert doubted(2.1) == ["beyond_cache"]
    assert doubted(1.9) == []
    assert doubted(None) == []


def test_the_cache_is_the_devices_own_or_the_hosts(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_cache(tmp_path, 0, 0, "1", "0", "48K")
    add_cache(tmp_path, 0, 1, "2", "0", "2048K")
    add_cache(tmp_path, 0, 2, "3", "0-1", "307200K")
    add_cache(tmp_path, 0, 3, "4", "0-1", "?")
    monkeypatch.setattr(memory, "_CPUS", tmp_path)
    monkeypatch.setattr(memory, "usable_cores", lambda: (0, 1))
    plain = Device(platform="p", index=0, name="n")
    assert last_level_cache_mb(plain, on_host=True) == 300
    assert last_level_cache_mb(plain, on_host=False) is None
    told = plain.model_copy(update={"details": {"l2_bytes": 50 * 2**20}})
    assert last_level_cache_mb(told, on_host=False) == 50
    monkeypatch.setattr(memory, "_CPUS", tmp_path / "none")
    assert last_level_cache_mb(plain, on_host=True) is None


def add_cache(root: Path, core: int, index: int, level: str, shared: str, size: str) -> None:
    folder = root / f"cpu{core}" / "cache" / f"index{index}"
    folder.mkdir(parents=True)
    for name, text in (("level", level), ("shared_cpu_list", shared), ("size", size)):
        (folder / name).write_text(text + "\n")


def test_a_processor_of_several_parts_has_the_caches_of_those_it_may_use(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for core in range(6):
        add_cache(tmp_path, core, 0, "2", str(core), "1024K")
        add_cache(tmp_path, core, 1, "3", f"{core // 2 * 2}-{core // 2 * 2 + 1}", "32768K")
    monkeypatch.setattr(memory, "_CPUS", tmp_path)
    monkeypatch.setattr(memory, "usable_cores", lambda: (0, 1, 2))
    assert last_level_cache_mb(Device(platform="p", index=0, name="n"), on_host=True) == 64


def test_reading_that_leaves_something_out_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    largest = torch.amax
    monkeypatch.setattr(torch, "amax", lambda rows, axis, out: largest(rows[:, :-1], axis, out=out))
    assert measure("read").status is Status.INVALID


def test_a_wrong_result_is_no_result(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    def wrong(left: object, right: object, out: torch.Tensor) -> torch.Tensor:
        return out.fill_(1.0)

    monkeypatch.setattr(torch, "mm", wrong)
    outcome = measure("matmul")
    assert (outcome.status, outcome.samples) == (Status.INVALID, None)
    assert "off by" in (outcome.reason or "")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"probe": "to-device"}, "no memory apart"),
        ({"probe": "from-device"}, "no memory apart"),
        ({"probe": "all-reduce"}, "no other device of cpu"),
        ({"probe": "matmul", "runtime": "torch-compile"}, "eager PyTorch"),
        ({"probe": "matmul", "precision": "int8"}, "no probes in int8"),
        ({"probe": "matmul", "session": OpenvinoSession(Device(platform="openvino", index=0, name="n"))}, "address"),
    ],
)
def test_what_cannot_be_measured_is_unsupported_with_its_reason(changes: dict[str, object], words: str) -> None:
    with pytest.raises(Unsupported, match=words):
        measure(**changes)  # type: ignore[arg-type]


def test_a_product_that_would_take_too_long_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute, "SLOW_STEP_S", 0.0)
    with pytest.raises(Unsupported, match="would take about"):
        measure("matmul", size=1024)


class _Laps:
    """A stopwatch that says what it is told, and counts."""

    def __init__(self, host_ns: int) -> None:
        self.host_ns, self.count = host_ns, 0

    def lap(self, step: object, count: int) -> Lap:
        self.count += count
        return Lap(self.host_ns)


def test_what_starting_takes_is_not_taken_for_computing() -> None:
    """5 ms for each size is what starting takes; 20 ms for the smallest is a slow device: no larger one is tried."""
    import torch

    for host_ns, laps, refused in ((5_000_000, 9, False), (20_000_000, 3, True)):
        session = _Laps(host_ns)
        place = Place(torch, session, "cpu", torch.float32)  # type: ignore[arg-type]
        with pytest.raises(Unsupported) if refused else nullcontext():
            compute._refuse_slow(place, 8192)
        assert session.count == laps


@pytest.mark.parametrize("megabytes", [1, 4])
def test_the_values_that_are_checked_are_different_ones(megabytes: int) -> None:
    import torch

    place = Place(torch, PLATFORMS.get("cpu").open(0), "cpu", torch.float32)
    checked = PROBES["copy"].make(place, megabytes).expected["copy"]
    assert len(set(checked.tolist())) > 200


class _TwoMemories(Place):
    """A place that takes the processor's memory for another's, so that copies both ways can be seen."""

    @property
    def on_host(self) -> bool:
        return False


@pytest.mark.parametrize("probe", ["to-device", "from-device"])
def test_copies_between_host_and_device_carry_the_values(probe: str) -> None:
    import torch

    place = _TwoMemories(torch, PLATFORMS.get("cpu").open(0), "cpu", torch.float32)
    ready = PROBES[probe].make(place, 1)
    assert not np.array_equal(ready.outputs()["copy"], ready.expected["copy"])
    ready.step()
    assert np.array_equal(ready.outputs()["copy"], ready.expected["copy"])
    assert ready.work == {"moved_gb": 2**20 / 1e9}
    assert ready.details == {"pinned": False}


def cases(**block: object) -> Iterator[Case]:
    return expand(Block.model_validate({"on": "cpu", **block}))


def test_the_workloads_name_stands_for_all_its_probes() -> None:
    found = list(cases(model="hardware", batch=[1, 8], weights="random"))
    assert {case.model for case in found} == set(PROBES)
    assert {(case.workload, case.runtime, case.batch, case.weights.value) for case in found} == {
        ("hardware", "torch", 1, "auto")
    }
    assert sorted(case.shape["size"] for case in found if case.model == "matmul") == [1024, 2048, 4096, 8192]
    mixed = list(cases(model=["tiny-vit", "hardware"], shape={"size": [64]}))
    assert [case.workload for case in mixed if case.model == "tiny-vit"] == ["inference"]
    assert [case.shape for case in mixed if case.model == "matmul"] == [{"size": 64}]


def test_one_probe_with_sizes_of_ones_own() -> None:
    found = list(cases(model="matmul", workload="hardware", shape={"size": [64, 128]}, precision=["fp32", "bf16"]))
    assert [(case.shape["size"], case.precision) for case in found] == [
        (64, "fp32"), (128, "fp32"), (64, "bf16"), (128, "bf16"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("block", "words"),
    [
        (
            {"model": "tiny-bert", "workload": "hardware"},
            "Unknown probe of hardware 'tiny-bert'; known: all-reduce",
        ),
        ({"model": "matmul"}, "Unknown model 'matmul'"),
        ({"model": "matmul", "workload": ["hardware", "inference"]}, "Unknown model 'matmul'"),
        ({"model": "hardware", "shape": {"sise": [64]}}, "did you mean 'size'"),
        ({"model": "tiny-bert", "shape": {"size": [64]}}, "Unknown axis 'size'"),
    ],
)
def test_probes_and_models_are_not_mistaken_for_each_other(block: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        list(cases(**block))
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("probe", "metric", "amount"),
    [
        ("matmul", "compute_rate_gflops", 2 * 16**3 / 1e9),
        ("copy", "bandwidth_gb_per_s", 2 * 2**20 / 1e9),
        ("read", "bandwidth_gb_per_s", 2**20 / 1e9),
    ],
)
def test_the_record_holds_the_rate_over_the_median_step(probe: str, metric: str, amount: float) -> None:
    record = as_record(measure(probe))
    seconds = statistics.median(record.samples[0].host_ms) / 1e3
    assert record.value(metric) == pytest.approx(amount / seconds)
    assert [name for name in ("compute_rate_gflops", "bandwidth_gb_per_s", "launch_us") if name in record.metrics] == [
        metric
    ]


def test_the_record_of_a_chain_holds_the_time_of_one_launch() -> None:
    record = as_record(measure("launch", size=5))
    assert record.value("launch_us") == pytest.approx(statistics.median(record.samples[0].host_ms) * 1e3 / 5)


def as_record(outcome: Outcome) -> Record:
    case = Case(workload="hardware", model="probe", platform="cpu", runtime="torch")
    return assemble("r", case, [outcome], datetime.now(UTC), 0.0)
