"""What cannot work is told before it is predicted."""

from __future__ import annotations

import pytest

from modeldyno.core.types import Case
from modeldyno.predict.cells import Cell
from modeldyno.predict.feasible import refused, too_large
from modeldyno.predict.specifications import specification


def cell(precision: str = "fp16", device: str = "NVIDIA L4", work: str = "inference", millions: float = 7e3) -> Cell:
    return Cell("llama-7b", work, "cuda", device, "torch", precision, parameters=millions)


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (cell(), None),
        (cell("fp32"), "does not fit: weights take 28 GB, the device has 24 GB"),
        (cell("int4"), None),
        (cell("w8a16", millions=1e6), None),
        (cell(device="a device nobody heard of", millions=1e6), None),
        (
            cell(work="training seq=128"),
            "does not fit: weights, gradients and the optimizer's state take 112 GB, the device has 24 GB",
        ),
    ],
)
def test_weights_against_the_published_memory(one: Cell, told: str | None) -> None:
    assert too_large(one) == told


def test_what_the_device_says_counts_more_than_what_its_maker_says() -> None:
    assert too_large(cell(), memory_mb=8192) == "does not fit: weights take 14 GB, the device has 8.59 GB"


def test_a_platform_may_refuse() -> None:
    case = Case(model="tiny-bert", platform="any", runtime="any")
    assert refused(case, Cell("tiny-bert", "inference", "cpu", "a cpu", "openvino", "fp32")) is None
    assert refused(case, Cell("tiny-bert", "inference", "ai-hub", "a phone", "tflite", "w8a8")) is None
    assert "no Metal kernels" in (
        refused(case, Cell("tiny-bert", "inference", "mps", "Apple M2", "torch", "int8")) or ""
    )


@pytest.mark.parametrize("name", ["NVIDIA RTX A1000", "NVIDIA T400", "NVIDIA L400"])
def test_a_like_name_is_another_device(name: str) -> None:
    assert specification(name) is None
