"""The lesson of image generators: which noise was laid over a picture."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.datasets import Draw, GivesImages
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._lesson_images import fit

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

# What is left of the picture after each step of the schedule that DDPM (Ho et al. 2020) introduced.
_KEPT = np.cumprod(1 - np.linspace(1e-4, 0.02, 1000))
_NOISE = 1
"""The purpose of chance that makes the noise."""
_CLASSES = 10
_HEADS = ("conv_out", "conv_norm_out", "proj_out")


def noise(order: Order) -> Lesson:
    base, source = order.inputs(), order.examples("images", GivesImages, "images")
    name = "sample" if "sample" in base else "hidden_states"
    shape = base[name].shape

    def make(draw: Draw) -> Arrays:
        clean = fit(source.images(draw, order.batch, shape[-2:], _CLASSES).pixels, shape)
        rng = draw.rng(_NOISE)
        laid_over = rng.standard_normal(shape, dtype=np.float32)
        moments = rng.integers(0, len(_KEPT), order.batch)
        kept = _KEPT[moments].astype(np.float32).reshape(-1, 1, 1, 1)
        noisy = np.sqrt(kept) * clean + np.sqrt(1 - kept) * laid_over
        return {**base, name: noisy, "timestep": moments, "noise": laid_over}

    return Lesson(source.name, "noise", order.seed, make, _denoise, heads=_HEADS)


def _denoise(model: Any, tensors: Any) -> Any:
    from torch.nn.functional import mse_loss

    inputs = dict(tensors)
    laid_over = inputs.pop("noise")
    # Some also say how sure they are, in as many channels more.
    said = model(**inputs).sample[:, : laid_over.shape[1]]
    return SimpleNamespace(loss=mse_loss(said, laid_over))
