"""Makes tokens one after the other with the library's own model: a loop by hand around its forward pass."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Placement
from modeldyno.runtimes._torch_placement import Details, placement_of

if TYPE_CHECKING:
    import numpy as np

DYNAMIC, STATIC = "dynamic", "static"
_CACHES = ("past_key_values", "cache_params")
"""What the library's models call the keys, values and states they keep."""
_DECODER_IDS, _IDS = "decoder_input_ids", "input_ids"
_POSITION, _IMAGE_TOKENS = "position_ids", "mm_token_type_ids"
_MB = 2**20


@dataclass(frozen=True)
class Writing:
    """What a decoder is made of."""

    model: Any
    prompt: Mapping[str, Any]
    """Inputs on the device."""
    new_tokens: int
    cache: str
    precision: str
    address: str
    load_ms: float


class TorchDecoder:
    """Prompts are of one length, so there is nothing to mask once they are read."""

    def __init__(self, writing: Writing, next_step: Callable[..., Any]) -> None:
        """`next_step` takes one token more: the model, or what a compiler made of it."""
        self._writing = writing
        self._next_step = next_step
        self.load_ms = writing.load_ms
        self._ids = _DECODER_IDS if _DECODER_IDS in writing.prompt else _IDS
        self._static = _static_cache(writing) if writing.cache == STATIC else None
        self._taken = inspect.signature(writing.model.forward).parameters
        self._first_options = self._options()
        self._kept: dict[str, Any] = {}
        self._position: dict[str, Any] = {}
        self._scores: Any = None
        self._token: Any = None

    def prefill(self) -> Sequence[int]:
        import torch

        self._kept = {}
        with torch.inference_mode():
            if self._static is not None:
                self._static.reset()
            encoded, inputs = self._encoded()
            outputs = self._writing.model(**inputs, **encoded, **self._first_options, use_cache=True)
            self._kept = {**encoded, **self._cache_of(outputs)}
            self._position = self._first_position()
            return self._choose(outputs)

    def decode(self) -> Sequence[int]:
        import torch

        with torch.inference_mode():
            outputs = self._next_step(**{self._ids: self._token}, **self._kept, **self._position, use_cache=True)
            for position in self._position.values():
                position.add_(1)
            return self._choose(outputs)

    def force(self, tokens: Sequence[int]) -> None:
        import torch

        with torch.inference_mode():  # a tensor of another kind than the chosen ones would need a graph of its own
            self._token = torch.tensor(list(tokens), device=self._token.device).unsqueeze(1)

    def scores(self) -> np.ndarray[Any, Any]:
        array: np.ndarray[Any, Any] = self._scores.float().cpu().numpy()
        return array

    def cache_mb(self) -> float | None:
        kept = next((value for name, value in self._kept.items() if name in _CACHES), None)
        storages = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in _tensors(kept)}
        return float(sum(storages.values())) / _MB

    def placement(self) -> Placement:
        writing = self._writing
        return placement_of(writing.model, self._scores, writing.address, writing.precision, self.details())

    def details(self) -> Details:
        """What else the record should know; runtimes that build on this one add to it."""
        return {"cache": self._writing.cache}

    def _encoded(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """The encoder's output, where there is an encoder, and the inputs that are left."""
        prompt = dict(self._writing.prompt)
        if self._ids != _DECODER_IDS:
            return {}, prompt
        begin = {self._ids: prompt.pop(self._ids)}
        return {"encoder_outputs": self._writing.model.get_encoder()(**prompt)}, begin

    def _options(self) -> dict[str, Any]:
        """Of the first call: scores of the last position are enough, and the model makes its cache unless given one."""
        options: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in self._taken else {}
        return options if self._static is None else options | {_CACHES[0]: self._static}

    def _first_position(self) -> dict[str, Any]:
        """Where the first new token stands: a model that works it out from a static cache must ask the device.

        Models that count an image's tokens in more than one direction know better."""
        import torch

        if _POSITION not in self._taken or _IMAGE_TOKENS in self._writing.prompt:
            return {}
        ids = self._writing.prompt[self._ids]
        return {_POSITION: torch.full((ids.shape[0], 1), ids.shape[1], device=ids.device)}

    def _cache_of(self, outputs: Any) -> dict[str, Any]:
        found = {name: outputs[name] for name in _CACHES if outputs.get(name) is not None}
        model = type(self._writing.model).__name__
        if not found:
            raise Unsupported(f"{model} keeps nothing between two calls", "use --workload inference")
        if self._static is not None and found.get(_CACHES[0]) is not self._static:
            raise Unsupported(f"{model} has no static cache", f"use --option cache={DYNAMIC}")
        return found

    def _choose(self, outputs: Any) -> Sequence[int]:
        """The likeliest token of each sequence; only the choice travels to the host."""
        self._scores = outputs.logits[:, -1]
        self._token = self._scores.argmax(dim=-1, keepdim=True)
        tokens: list[int] = self._token.flatten().tolist()
        return tokens


def _static_cache(writing: Writing) -> Any:
    """Room for all tokens from the start; what an encoder said has its length anyway."""
    from transformers import DynamicCache, EncoderDecoderCache, StaticCache

    config = writing.model.config.get_text_config(decoder=True)
    behind_encoder = _DECODER_IDS in writing.prompt
    begin = writing.prompt[_DECODER_IDS if behind_encoder else _IDS].shape[1]
    own = StaticCache(config=config, max_cache_len=begin + writing.new_tokens - 1)  # the last one is never read
    return EncoderDecoderCache(own, DynamicCache()) if behind_encoder else own


def _tensors(value: Any) -> Iterator[Any]:
    """All floating-point tensors in a cache, however its layers keep them."""
    from torch import Tensor

    if isinstance(value, Tensor):
        if value.is_floating_point():
            yield value
        return
    if isinstance(value, Mapping):
        inner: Sequence[Any] = list(value.values())
    elif isinstance(value, list | tuple):
        inner = value
    else:
        inner = list(vars(value).values()) if type(value).__module__.startswith("transformers") else []
    for item in inner:
        yield from _tensors(item)
