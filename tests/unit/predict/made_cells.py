"""Cells of a world whose rules are known: time follows operations, the device's speed and a manner of the model."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from modeldyno.predict.cells import Cell

SPEED = {"rtx3090": 1.0, "rtx4090": 2.1, "rtx5090": 2.9, "h100": 5.0}
FAMILIES = ("alpha", "beta", "gamma", "delta")


def cells(models: int = 24, counted: bool = True, seed: int = 0) -> list[Cell]:
    return list(_cells(models, counted, np.random.default_rng(seed)))


def _cells(models: int, counted: bool, random: np.random.Generator) -> Iterator[Cell]:
    for number in range(models):
        family = FAMILIES[number % len(FAMILIES)]
        gflop = math.exp(random.uniform(0.0, 5.0))
        manner = 0.3 * (number % len(FAMILIES)) + random.normal(0.0, 0.05)
        for device, speed in SPEED.items():
            for runtime, faster in (("torch", 1.0), ("torch-compile", 0.7)):
                noise = random.normal(0.0, 0.01)
                yield Cell(
                    model=f"{family}_{number}",
                    work="inference seq=128",
                    platform="cuda",
                    device=device,
                    runtime=runtime,
                    precision="fp16",
                    batch=8,
                    year=2025.0,
                    gflop=gflop if counted else None,
                    activations=3 * gflop if counted else None,
                    parameters=20.0 if counted else None,
                    value=gflop / speed * faster * math.exp(manner + noise) * 0.05,
                )
