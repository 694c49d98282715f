"""What one GPU has of a model, and what one micro-batch of it takes: found with a blank model cut to that share."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from modeldyno import models
from modeldyno.advise._anatomy import Anatomy, dissect, divided_layers, stacks
from modeldyno.advise._kernels import AsOnAGpu
from modeldyno.advise._layout import Cut
from modeldyno.advise._rehearsal import Rehearsal, rehearse
from modeldyno.core.errors import DynoError, JobError
from modeldyno.models import Lesson, ModelSpec

_FEW = 2
"""Blocks that stand for all: with one more it is known what each takes."""


@dataclass(frozen=True)
class Share:
    """Numbers of parameters, before they are spread over the data dimension."""

    outside: int
    """Of what is in no block: embeddings, head."""
    blocks: int
    largest: int
    """Of the largest block."""
    rehearsal: Rehearsal

    @property
    def parameters(self) -> int:
        return self.outside + self.blocks


class Workshop:
    """Cuts one model in many ways. Where all blocks are alike, few of them tell what many take."""

    def __init__(self, spec: ModelSpec, shape: Mapping[str, int], dtype: str) -> None:
        """`dtype` is of matrix products, by PyTorch's name."""
        self.shape = {**spec.axes, **shape}
        self.least = models.lesson(spec, None, 2, shape, 0).least
        whole = models.blank(spec).train()
        self.anatomy: Anatomy = dissect(whole)
        self._stacks = [stack.name for stack in stacks(whole)]
        if self.anatomy.layers:
            _keep_layers(whole, self._stacks[0], _FEW + 1)
        self._spec, self._dtype, self._sample = spec, getattr(torch, dtype), whole
        self._made: dict[tuple[Cut, int | None, int], Share] = {}
        self._lessons: dict[int, tuple[Lesson, dict[str, Any]]] = {}

    def share(self, cut: Cut, stages: int, batch: int) -> Share:
        """Raises JobError where the model looks at values, which a blank one does not have."""
        try:
            return self._of_stage(cut, stages, batch)
        except (DynoError, MemoryError):
            raise
        except Exception as error:
            told = (str(error).strip().splitlines() or [type(error).__name__])[0]
            raise JobError(
                f"The memory of a step of '{self._spec.name}' cannot be told without running it ({told[:200]}); "
                f"measure one: dyno run {self._spec.name} --workload training."
            ) from error

    def _of_stage(self, cut: Cut, stages: int, batch: int) -> Share:
        if not self.anatomy.layers:
            return self._of(cut, None, batch)
        layers = self.anatomy.layers // stages
        if layers <= _FEW + 1:
            return self._of(cut, layers, batch)
        few, one_more = (self._of(cut, number, batch) for number in (_FEW, _FEW + 1))
        rehearsal = few.rehearsal.with_more(one_more.rehearsal, layers - _FEW)
        return replace(few, blocks=few.largest * layers, rehearsal=rehearsal)

    def _of(self, cut: Cut, layers: int | None, batch: int) -> Share:
        key = (cut, layers, batch)
        if key not in self._made:
            self._made[key] = self._make(cut, layers, batch)
        return self._made[key]

    def _make(self, cut: Cut, layers: int | None, batch: int) -> Share:
        model, autocast = copy.deepcopy(self._sample), self._dtype if cut.autocast else None
        if layers is not None:
            _keep_layers(model, self._stacks[0], layers)
        _keep_stage(model, cut)
        _divide(model, self.anatomy.divided, cut.tensor)
        if not cut.autocast:
            model.to(self._dtype)
        if cut.checkpointing:
            _keep_less(model, autocast)
        blocks = [block for name in self._stacks for block in model.get_submodule(name)]
        sizes = [_size(block) for block in blocks]
        lesson, inputs = self._lesson(batch, cut.autocast)

        def forward(tensors: Mapping[str, Any]) -> Any:
            return lesson.forward(model, tensors).loss if cut.whole else _stage(model, cut, tensors["input_ids"])

        rehearsal = rehearse(model, forward, inputs, blocks, autocast)
        return Share(_size(model) - sum(sizes), sum(sizes), max(sizes, default=0), rehearsal)

    def _lesson(self, batch: int, autocast: bool) -> tuple[Lesson, dict[str, Any]]:
        if batch not in self._lessons:
            lesson = models.lesson(self._spec, None, batch, self.shape, 0)
            self._lessons[batch] = lesson, models.blank_tensors(self._spec, lesson.batch(0))
        lesson, made = self._lessons[batch]
        floats = {name: value.to(self._dtype) for name, value in made.items() if value.is_floating_point()}
        return lesson, made if autocast else made | floats


def _stage(model: Any, cut: Cut, words: Any) -> Any:
    """What one stage of a pipeline computes; what it gets from the stage before is memory of its own."""
    body = model.model
    sizes = (*words.shape, model.config.hidden_size)
    if cut.first:
        hidden = body(input_ids=words, use_cache=False).last_hidden_state
    else:
        received = torch.empty(sizes, dtype=next(model.parameters()).dtype, device="meta", requires_grad=True)
        hidden = body(inputs_embeds=received, use_cache=False).last_hidden_state
    if not cut.last:
        return hidden
    return model.loss_function(logits=model.lm_head(hidden), labels=words, vocab_size=model.config.vocab_size)


def _keep_layers(model: Any, name: str, number: int) -> None:
    place, _, last = name.rpartition(".")
    setattr(model.get_submodule(place), last, model.get_submodule(name)[:number])


def _keep_stage(model: Any, cut: Cut) -> None:
    if cut.whole:
        return
    body = model.model
    if not cut.first:
        body.embed_tokens = None
    if not cut.last:
        body.norm, model.lm_head = nn.Identity(), None


def _divide(model: Any, plan: Mapping[str, str], degree: int) -> None:
    """Each GPU of the tensor dimension has some columns of one matrix and the same rows of the next."""
    if degree == 1:
        return
    for layer, style in divided_layers(model, plan):
        rows, columns = layer.weight.shape
        sizes = (rows // degree, columns) if style == "colwise" else (rows, columns // degree)
        layer.weight = nn.Parameter(layer.weight.new_empty(sizes))
        if layer.bias is not None and style == "colwise":
            layer.bias = nn.Parameter(layer.bias.new_empty(sizes[0]))


def _keep_less(model: Any, autocast: Any) -> None:
    """Gradient checkpointing; chance has no state on the meta device."""
    model.gradient_checkpointing_enable(
        gradient_checkpointing_kwargs={
            "use_reentrant": False,
            "preserve_rng_state": False,
            "context_fn": lambda: (nullcontext(), AsOnAGpu(autocast)),
        }
    )


def _size(module: Any) -> int:
    return sum(value.numel() for value in module.parameters())
