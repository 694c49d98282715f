"""One step of a model as a module: named tensors in, a plain dict of the compared outputs out."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Adapts, words

if TYPE_CHECKING:
    from modeldyno.models._architecture import Architecture

# Intermediate values, caches and training's extras: not what a user asks the model for.
_LEFT_OUT = words(
    """past_key_values hidden_states attentions cross_attentions cache_params state loss aux_loss
    encoder_last_hidden_state encoder_hidden_states encoder_attentions decoder_hidden_states
    decoder_attentions image_hidden_states rope_deltas generator_enc_last_hidden_state
    question_encoder_last_hidden_state generator_dec_hidden_states router_logits extract_features
    auxiliary_outputs"""
)
_SETTINGS = {"use_cache": False, "return_dict": True}


def as_step(model: Any, architecture: Architecture | None) -> Any:
    """Wrap a model so that every runtime sees the same inputs and outputs."""
    inner = architecture.adapt(model) if isinstance(architecture, Adapts) else model
    return _step_class()(inner, model)


def named_outputs(result: Any) -> dict[str, Any]:
    """The floating-point outputs that are compared, in the model's order, by dotted name."""
    found = dict(_tensors("", result, nested=False))
    return found or dict(_tensors("", result, nested=True))


def _tensors(prefix: str, value: Any, nested: bool) -> Iterator[tuple[str, Any]]:
    from torch import Tensor

    if isinstance(value, Tensor):
        if value.is_floating_point():
            yield prefix or "output", value
        return
    if prefix and not nested:
        return
    if isinstance(value, Mapping):
        pairs = list(value.items())
    elif isinstance(value, tuple | list):
        pairs = [(str(index), item) for index, item in enumerate(value)]
    else:
        return
    for name, item in pairs:
        if name not in _LEFT_OUT:
            yield from _tensors(f"{prefix}.{name}" if prefix else name, item, nested)


@cache
def _step_class() -> Any:
    from torch import nn

    class Step(nn.Module):  # type: ignore[misc]
        """Takes the inputs by name; `module` is the library's own model."""

        def __init__(self, inner: Any, model: Any) -> None:
            super().__init__()
            self.inner = inner
            self._adapted = inner is not model
            taken = inspect.signature(inner.forward).parameters
            self._settings = {name: value for name, value in _SETTINGS.items() if name in taken}

        @property
        def module(self) -> Any:
            return self.inner.model if self._adapted else self.inner

        def forward(self, **inputs: Any) -> dict[str, Any]:
            outputs = named_outputs(self.inner(**inputs, **self._settings))
            # A graph cannot give an output the name of an input.
            return {f"{name}_out" if name in inputs else name: value for name, value in outputs.items()}

    return Step
