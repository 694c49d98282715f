"""Never another device's number under a name, never another precision's."""

from __future__ import annotations

import pytest

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case, Placement, Precision, Verdict
from modeldyno.workloads._placement import fallback_check, proven


def placement(**changes: object) -> Placement:
    fields = {"asked": "CUDAExecutionProvider", "device": "CUDAExecutionProvider", "compute_precision": "float32"}
    return Placement.model_validate({**fields, **changes})


def test_what_was_asked_for_is_proven() -> None:
    assert proven(placement(), Precision.FP32) == placement()
    assert proven(placement(), Case(model="m", platform="cpu", runtime="torch").precision) == placement()
    assert proven(placement(compute_precision="no matrix arithmetic"), Precision.FP16)


def test_another_device_is_no_result() -> None:
    with pytest.raises(Unsupported, match="ran on CPUExecutionProvider instead of CUDAExecutionProvider"):
        proven(placement(device="CPUExecutionProvider"), Precision.FP32)


@pytest.mark.parametrize("computed", ["f32", "float32", "F32"])
def test_another_precision_is_no_result(computed: str) -> None:
    with pytest.raises(Unsupported, match="asked for bf16"):
        proven(placement(compute_precision=computed), Precision.BF16)


def test_partial_fallback_is_a_doubt() -> None:
    check = fallback_check(placement(fallback=("Gather",)))
    assert check.verdict is Verdict.AMBIGUOUS
    assert "Gather" in (check.advice or "")
    assert fallback_check(placement()).verdict is Verdict.VALID
