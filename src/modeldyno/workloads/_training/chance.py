"""Chance from the seed: what a step draws follows from the seed and the number of the step alone."""

from __future__ import annotations

import random
import warnings
from collections.abc import Iterator
from contextlib import contextmanager


def seed_all(seed: int, step: int) -> None:
    """Dropout draws from torch, layers that are skipped and masks over sound from numpy and Python."""
    import numpy as np
    import torch

    drawn = int(np.random.SeedSequence([seed, step]).generate_state(1)[0])
    random.seed(drawn)
    np.random.seed(drawn)
    torch.manual_seed(drawn)


@contextmanager
def repeatable() -> Iterator[None]:
    """Algorithms that give the same bits every time, where PyTorch has them for this device."""
    import torch

    before, filling = torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # for programs that read what they never wrote
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*deterministic.*")
            yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.utils.deterministic.fill_uninitialized_memory = filling
