"""Which device a model goes to: probes decide, preference orders, every reason is kept."""

from __future__ import annotations

import pytest

from modeldyno.core.errors import InputError, UnknownName, Unsupported
from modeldyno.core.types import Probe
from modeldyno.models import FAMILIES
from modeldyno.platforms import PLATFORMS, baseline
from modeldyno.platforms.cuda import CudaPlatform
from modeldyno.pool import Pool
from modeldyno.pool.placing import preference


@pytest.fixture
def no_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = Probe(platform="cuda", reason="no NVIDIA GPU here", remedy="use a host with one")
    monkeypatch.setattr(CudaPlatform, "probe", lambda self: nothing)


def test_the_next_of_the_preference_takes_over_and_the_reason_is_kept(no_cuda: None) -> None:
    with Pool() as pool:
        placed = pool.place("tiny-bert", prefer=("cuda", "cpu"), batch=2)
        assert placed.case.target == "cpu:0"
        assert placed.passed_over == ("cuda:0: no NVIDIA GPU here; use a host with one",)
        assert (placed.case.runtime, placed.case.batch) == ("torch", 2)
        assert placed.case.shape, "all sizes are in the key, so that equal wishes are equal keys"
        with pool.borrow(placed.case) as loaded:
            loaded.step()
            assert loaded.placement().device == "cpu"


def test_measured_speed_comes_before_preference(no_cuda: None) -> None:
    with Pool() as pool:
        ranked = pool.place("tiny-bert", ("cuda", "cpu"), ranking={"openvino": 90.0, "cpu": 30.0})
        assert ranked.case.platform == "openvino"
        assert pool.place("tiny-bert", ("cuda", "cpu"), ranking={"openvino": 20.0, "cpu": 30.0}).case.platform == "cpu"


def test_what_a_runtime_cannot_do_there_is_a_reason_too() -> None:
    with Pool() as pool:
        placed = pool.place("tiny-bert", ("openvino", "cpu"), precision="int8")
        assert placed.case.platform == "cpu"
        assert "int8 only with a model that was quantized" in placed.passed_over[0]
        other = pool.place("tiny-bert", ("openvino", "cpu:0"), runtime="torch")
        assert other.passed_over == (
            "openvino:0: runtime torch cannot drive openvino; it runs with openvino, onnxruntime",
        )


def test_a_device_number_that_is_not_there_is_passed_over() -> None:
    with Pool() as pool:
        assert pool.place("tiny-bert", ("cpu:7", "cpu")).passed_over == ("cpu:7: cpu has 1 device(s)",)


def test_when_none_can_all_reasons_are_told(no_cuda: None) -> None:
    with Pool() as pool, pytest.raises(Unsupported, match=r"cuda:0: no NVIDIA GPU.*; cpu:3: cpu has 1.*dyno detect"):
        pool.place("tiny-bert", ("cuda", "cpu:3"))


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"prefer": ("gpu",)}, UnknownName, "Unknown platform 'gpu'"),
        ({"prefer": ("cpu:x",)}, InputError, "'cpu:x' is not a device; write"),
        ({"runtime": "tensorflow"}, UnknownName, "Unknown runtime"),
        ({"precision": "fp7"}, UnknownName, "Unknown precision 'fp7'"),
        ({"model": "tiny-bort"}, UnknownName, "did you mean 'tiny-bert'"),
    ],
)
def test_wrong_wishes_are_told(wrong: dict[str, object], error: type[Exception], text: str) -> None:
    wish = {"model": "tiny-bert", "prefer": ("cpu",), **wrong}
    with Pool() as pool, pytest.raises(error, match=text):
        pool.place(**wish)  # type: ignore[arg-type]


@pytest.mark.parametrize("family", [*FAMILIES, None])
def test_every_family_has_a_preference_that_ends_with_what_every_host_has(family: str | None) -> None:
    order = preference(family)
    assert order[-1] == baseline()
    assert len(order) > 1
    assert len(set(order)) == len(order)
    assert set(order) <= set(PLATFORMS.names())


def test_the_fittest_platform_is_asked_first() -> None:
    assert preference("vision").index("openvino") < preference("vision").index("rocm")
    assert preference("text_generation").index("rocm") < preference("text_generation").index("openvino")
    assert "openvino" not in preference("multimodal")


def test_the_fitness_of_platforms_names_real_families() -> None:
    declared = {family for platform in PLATFORMS.all() for family in getattr(platform, "fitness", {})}
    assert declared == set(FAMILIES)
