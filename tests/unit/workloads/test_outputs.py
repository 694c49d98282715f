"""Outputs are held against the reference, each with the limit that its precision and conditioning allow."""

from __future__ import annotations

import numpy as np
import pytest

from modeldyno.core.protocols import Reference
from modeldyno.core.types import Precision
from modeldyno.workloads._outputs import check_outputs

VALUES = np.linspace(1, 2, 1000, dtype=np.float32)
REFERENCE = Reference("test", {"a": VALUES[::2], "b": VALUES}, {"a": 2, "b": 1})


def outputs(a: float = 1.0, b: float = 1.0) -> dict[str, np.ndarray]:
    return {"a": VALUES * a, "b": VALUES * b}


def test_equal_outputs_pass() -> None:
    check = check_outputs(outputs(), REFERENCE, Precision.FP32, {})
    assert check.passed
    assert check.rel_l2 == 0.0
    assert check.compared == 1500


def test_the_worst_output_decides() -> None:
    check = check_outputs(outputs(b=1.01), REFERENCE, Precision.FP32, {})
    assert not check.passed
    assert check.worst_output == "b"
    assert check.rel_l2 == pytest.approx(0.01, rel=1e-3)
    assert check_outputs(outputs(b=1.01), REFERENCE, Precision.BF16, {}).passed


@pytest.mark.parametrize(
    "broken",
    [{"a": VALUES}, outputs(b=float("nan")), {"a": VALUES, "b": VALUES[:10]}],
    ids=["missing", "not finite", "of another size"],
)
def test_what_cannot_be_compared_fails(broken: dict[str, np.ndarray]) -> None:
    check = check_outputs(broken, REFERENCE, Precision.FP16, {"b": 0.2})
    assert not check.passed
    assert check.rel_l2 is None
    assert check.worst_output == "b"


def test_an_ill_conditioned_output_may_be_as_far_off_as_its_own_rounding_allows() -> None:
    off = outputs(b=1.2)
    assert not check_outputs(off, REFERENCE, Precision.BF16, {}).passed
    assert check_outputs(off, REFERENCE, Precision.BF16, {"b": 0.1}).passed
    assert not check_outputs(outputs(b=1.9), REFERENCE, Precision.BF16, {"b": 5.0}).passed
