"""Operations counted without values are those of a real step."""

from __future__ import annotations

from typing import Any

import pytest

from modeldyno import models
from modeldyno.models import _count, _library, _weights
from modeldyno.models._inputs import model_inputs
from modeldyno.models._step import as_step

TINY = [entry.name for entry in models.catalogue() if entry.tiny]
UNCOUNTED = {"tiny-switch": "nonzero"}
KNOWN = {"vit-base-patch16-224": 35.128, "clip-vit-base-patch32": 14.777, "detr-resnet-50": 162.334}


def real_gflop(spec: models.ModelSpec, shape: dict[str, int]) -> float:
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    assert spec.member is not None
    cls = _library.model_class(spec.config, spec.member)
    options: dict[str, Any] = {} if _library.is_diffusers(spec.config) else {"attn_implementation": "eager"}
    model = _library.construct(cls, spec.config, **options).eval().requires_grad_(False)
    _weights.fill(model, 0)
    inputs = {name: torch.from_numpy(array) for name, array in model_inputs(spec, 2, shape).items()}
    counter = FlopCounterMode(display=False)
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), counter:  # fused kernels are not counted
        as_step(_count._with_traceable_experts(model), spec.member)(**inputs)
    return counter.get_total_flops() / 1e9


@pytest.mark.parametrize("name", [name for name in TINY if name not in UNCOUNTED])
def test_a_count_without_values_equals_the_real_one(name: str) -> None:
    spec = models.resolve(name)
    shape = {axis: 24 if axis == "seq" else size for axis, size in spec.axes.items()}
    counts = models.count(spec, 2, shape)
    assert counts.gflop == pytest.approx(real_gflop(spec, shape), rel=1e-6), counts.gflop_reason


@pytest.mark.parametrize(("name", "reason"), UNCOUNTED.items())
def test_what_cannot_be_counted_says_why(name: str, reason: str) -> None:
    counts = models.count(models.resolve(name))
    assert counts.gflop is None
    assert reason in (counts.gflop_reason or "")


@pytest.mark.parametrize(("name", "gflop"), KNOWN.items())
def test_known_counts(name: str, gflop: float) -> None:
    assert models.count(models.resolve(name)).gflop == pytest.approx(gflop, abs=1e-3)


@pytest.mark.parametrize("name", ["Llama-2-7b-hf", "llava-v1.6-mistral-7b-hf", "Llama-3.2-11B-Vision"])
def test_the_largest_are_counted_too(name: str) -> None:
    counts = models.count(models.resolve(name))
    assert counts.gflop is not None
    assert counts.gflop > 1000
