"""A model that learns: one step is forward, backward and optimizer, over as many batches as are accumulated."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.types import MetricValue
from modeldyno.models import Lesson
from modeldyno.workloads._training.settings import Settings
from modeldyno.workloads._training.target import Grade

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

Tensors = Mapping[str, Any]


@dataclass(frozen=True)
class Site:
    """Where and in which number format a model learns."""

    address: str
    """As a tensor says it."""
    dtype: Any

    def tensors(self, arrays: Arrays) -> dict[str, Any]:
        import torch

        made = {name: torch.from_numpy(array) for name, array in arrays.items()}
        return {
            name: tensor.to(device=self.address, dtype=self.dtype if tensor.is_floating_point() else None)
            for name, tensor in made.items()
        }


class Trainer:
    """A step leaves its gradients behind, so that they can be looked at; the next one drops them."""

    def __init__(self, model: Any, callee: Any, lesson: Lesson, settings: Settings, site: Site) -> None:
        import torch

        self.model, self.lesson, self.site = model, lesson, site
        self.trained = {name: value for name, value in model.named_parameters() if value.requires_grad}
        kind = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD}[settings.optimizer]
        self.optimizer = kind(self.trained.values(), lr=settings.rate)
        device = torch.device(site.address).type
        self.scaler = torch.amp.GradScaler(device, enabled=settings.autocast == "fp16")
        lower = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(settings.autocast or "")
        self._autocast = {"device_type": device, "dtype": lower, "enabled": lower is not None}
        self.callee = callee
        """The model, or what a compiler made of it."""
        self.accumulate = settings.accumulate

    @property
    def compiled(self) -> bool:
        return self.callee is not self.model

    def batches(self, step: int) -> list[dict[str, Any]]:
        """What one step learns from, on the device."""
        return self._made(range(step * self.accumulate, (step + 1) * self.accumulate))

    def first_batches(self, count: int) -> list[dict[str, Any]]:
        return self._made(range(count))

    def _made(self, numbers: Iterable[int]) -> list[dict[str, Any]]:
        return [self.site.tensors(self.lesson.batch(number)) for number in numbers]

    def step(self, batches: Sequence[Tensors]) -> Any:
        """The loss before the step, as a tensor on the device: asking for its value would wait for the device."""
        self.clear()
        total: Any = 0.0
        for tensors in batches:
            loss = self.forward(tensors)
            self.backward(loss)
            total = total + loss.detach() if self.accumulate > 1 else loss.detach()
        self.update()
        return total

    def clear(self) -> None:
        self.optimizer.zero_grad()

    def forward(self, tensors: Tensors, plain: bool = False) -> Any:
        """The loss to go back from; `plain` past what a compiler made of the model."""
        loss = self._loss(self.model if plain else self.callee, tensors).loss
        return loss / self.accumulate if self.accumulate > 1 else loss

    def backward(self, loss: Any) -> None:
        self.scaler.scale(loss).backward()

    def update(self) -> None:
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def grade(self, batches: Iterable[Tensors]) -> Grade:
        """How well the model does now, without learning from it; uncompiled, for it is a graph of its own."""
        import torch

        self.model.eval()
        with torch.no_grad():
            graded = [self._loss(self.model, tensors, grade=True) for tensors in batches]
        self.model.train()
        asked = sum(one.of or 0 for one in graded)
        return Grade(
            loss=sum(float(one.loss) for one in graded) / len(graded),
            accuracy=sum(one.right or 0 for one in graded) / asked if asked else None,
        )

    def is_finite(self) -> bool:
        """Whether every trained parameter is a number still; waits for the device."""
        return all(bool(value.isfinite().all()) for value in self.trained.values())

    def gradient_norm(self) -> MetricValue:
        """Of the gradients that the last step left behind."""
        import torch

        norms = [value.grad.float().norm() for value in self.trained.values() if value.grad is not None]
        length = float(torch.stack(norms).norm())
        if math.isfinite(length):
            return MetricValue(value=length)
        return MetricValue(value=None, note="too large for the number format: the last step changed nothing")

    def _loss(self, callee: Any, tensors: Tensors, grade: bool = False) -> Any:
        import torch

        with torch.autocast(**self._autocast):
            return self.lesson.forward(callee, tensors, grade=grade)
