"""The course of a training for TensorBoard."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

from modeldyno.workloads._training.target import Grade


class Log(Protocol):
    """Someone who is told how training goes."""

    def loss(self, step: int, value: float, milliseconds: float) -> None: ...

    def grade(self, step: int, grade: Grade) -> None: ...

    def close(self) -> None: ...


class NoLog:
    def loss(self, step: int, value: float, milliseconds: float) -> None: ...

    def grade(self, step: int, grade: Grade) -> None: ...

    def close(self) -> None: ...


def require_tensorboard() -> None:
    """Raises ModuleNotFoundError where it is not installed."""
    import torch.utils.tensorboard  # noqa: F401


class TensorBoardLog:
    """One folder per case; what comes after the step that training goes on from is written anew."""

    def __init__(self, folder: Path, first_step: int) -> None:
        from torch.utils.tensorboard import SummaryWriter

        self._writer: Any = SummaryWriter(str(folder), purge_step=first_step)

    def loss(self, step: int, value: float, milliseconds: float) -> None:
        self._writer.add_scalar("train/loss", value, step)
        self._writer.add_scalar("train/step_ms", milliseconds, step)

    def grade(self, step: int, grade: Grade) -> None:
        self._writer.add_scalar("validation/loss", grade.loss, step)
        if grade.accuracy is not None:
            self._writer.add_scalar("validation/accuracy", grade.accuracy, step)

    def close(self) -> None:
        self._writer.close()
