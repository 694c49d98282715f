"""Whether a device learns the right thing: loss and gradient of a small batch against fp32 on the host."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from modeldyno.core.protocols import Reference
from modeldyno.core.types import Check, OutputCheck, Verdict
from modeldyno.models import relative_distance
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.trainer import Site, Trainer

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

GRADIENT_OFF = 0.5
"""Unrelated ones are about 1.4 apart. A choice that tips over, as of an expert, moves them far: hence only a doubt."""
_MADE_BY = "torch fp32 on cpu"
_VALUES = 4096
"""Of the gradient of each parameter, at most."""


def check_learning(setup: Setup, trainer: Trainer) -> tuple[OutputCheck, Check] | None:
    """The loss decides, the gradient may raise a doubt; None where the trainer is what others are held against."""
    host = _on_host(setup, trainer)
    if trainer.site == host.site and not trainer.compiled and not setup.settings.autocast:
        return None
    arrays = setup.small_lesson().batch(0)
    expected, found = _learned(host, arrays), _learned(trainer, arrays)
    losses = Reference(_MADE_BY, {"loss": expected["loss"]}, {"loss": 1})
    gradients = Reference(_MADE_BY, {"gradient": expected["gradient"]}, {"gradient": 1})
    judged = check_outputs(found, losses, setup.settings.autocast or setup.case.precision, {})
    return judged, _doubt(relative_distance(found["gradient"], gradients, "gradient"))


def _on_host(setup: Setup, trainer: Trainer) -> Trainer:
    """The same weights in fp32 where torch works unless told otherwise; gradients are dropped to make room for them."""
    import torch

    site = Site(str(torch.empty(0).device), torch.float32)
    trainer.clear()
    model = copy.deepcopy(trainer.model).to(device=site.address, dtype=site.dtype)
    return Trainer(model, model, trainer.lesson, setup.settings.model_copy(update={"autocast": None}), site)


def _learned(trainer: Trainer, arrays: Arrays) -> Arrays:
    """In evaluation mode, for what chance draws differs from device to device."""
    import numpy as np

    trainer.model.eval()
    trainer.clear()
    loss = trainer.forward(trainer.site.tensors(arrays))
    loss.backward()
    gradient = np.concatenate([_some(value) for value in trainer.trained.values()])
    trainer.clear()
    trainer.model.train()
    return {"loss": loss.detach().float().cpu().numpy().reshape(1), "gradient": gradient}


def _some(parameter: Any) -> Any:
    import torch

    gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
    return gradient.flatten()[:: -(-gradient.numel() // _VALUES)].float().cpu().numpy()


def _doubt(distance: float | None) -> Check:
    good = distance is not None and distance <= GRADIENT_OFF
    return Check(
        name="gradient",
        value=None if distance is None else round(distance, 4),
        limit=GRADIENT_OFF,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else f"the gradient is far from that of {_MADE_BY}: use another precision or runtime",
    )
