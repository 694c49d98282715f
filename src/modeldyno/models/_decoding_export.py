"""From a model that makes tokens to two ONNX graphs: one reads the prompt, the other takes one token more.

What is kept from token to token leaves a graph as `present.X` and enters the next as `past.X`: keys and values of each
layer, and the mask. What stays as it is, such as keys and values of what an encoder has read, leaves only the first."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.decoding import DecodingGraphs
from modeldyno.core.errors import Unsupported
from modeldyno.models import _library
from modeldyno.models._architecture import ExportHints
from modeldyno.models._export import constants, exporting, positional

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

    Tensors = dict[str, Any]

_MASK = "attention_mask"
_OWN, _CROSS = ("key", "value"), ("cross_key", "cross_value")
"""What a layer keeps of the tokens, and of what an encoder has read."""
_BATCH = "batch"
_WEIGHTS = "weights"
_EMBEDDED_BYTES = 1024
"""Smaller values stay inside a graph; the others lie in one file that both share."""


def export_decoding(
    model: Any, prompt: Arrays, folder: Path, hints: ExportHints | None = None, any_batch: bool = False
) -> DecodingGraphs:
    """Write both graphs for the sizes of this prompt, but any length of the past and, if asked, any batch size.

    Raises Unsupported with the reason."""
    torch = _library.load_torch()
    fixed = constants(prompt, hints or ExportHints())
    tensors = {name: torch.from_numpy(array) for name, array in prompt.items() if name not in fixed}
    # The exporter takes a size of 1 for a constant: hence two sequences here, and a past of two tokens below.
    read = {name: tensor[:1].repeat_interleave(2, 0) for name, tensor in tensors.items()} if any_batch else tensors
    batch = {0: torch.export.Dim(_BATCH)} if any_batch else {}
    with exporting():
        prefill, decode = (step(model).eval() for step in _steps())
        given = prefill(**read, **fixed)
        past = {"input_ids": given["token"], **_as_past({**_mask(read), **given})}
        grown = decode(**past)
        past |= _as_past(grown)
        first = _program(positional(prefill, list(read), fixed), read, given, dict.fromkeys(read, batch))
        free = {name: {**batch, **_free_length(name, value, grown)} for name, value in past.items()}
        second = _program(positional(decode, list(past), {}), past, grown, free)
        return _save(first.model, second.model, folder)


def fix_batch(path: Path, batch: int, target: Path) -> None:
    """A copy for one batch size of a graph that serves all, beside it so that both share the weights."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    for item in (*model.graph.input, *model.graph.output):
        for dim in item.type.tensor_type.shape.dim:
            if dim.dim_param == _BATCH:
                dim.dim_value = batch
    del model.graph.value_info[:]  # inferred for the free batch, no longer true
    onnx.save_model(model, target)


def _mask(read: Tensors) -> Tensors:
    return {f"present.{_MASK}": read[_MASK]} if _MASK in read else {}


def _as_past(given: Tensors) -> Tensors:
    present = "present."
    return {f"past.{name.removeprefix(present)}": given[name] for name in given if name.startswith(present)}


def _free_length(name: str, value: Any, grown: Tensors) -> dict[int, Any]:
    """The axis along which what is kept gets longer, if it does."""
    torch = _library.load_torch()
    if name.replace("past.", "present.") not in grown:
        return {}
    return {1 if value.dim() == 2 else value.dim() - 2: torch.export.Dim("past")}


def _program(module: Any, tensors: Tensors, outputs: Tensors, free: dict[str, dict[int, Any]]) -> Any:
    torch = _library.load_torch()
    return torch.onnx.export(
        module,
        tuple(tensors.values()),
        input_names=list(tensors),
        output_names=list(outputs),
        dynamic_shapes={"tensors": tuple(free[name] for name in tensors)},
        dynamo=True,
        verbose=False,
    )


def _save(prefill: Any, decode: Any, folder: Path) -> DecodingGraphs:
    """Both graphs beside one file of weights."""
    import onnx_ir as ir

    contents = {name: _content(value) for name, value in prefill.graph.initializers.items()}
    ir.external_data.unload_from_model(prefill, folder, _WEIGHTS, size_threshold_bytes=_EMBEDDED_BYTES)
    written = {contents[name]: value.const_value for name, value in prefill.graph.initializers.items()}
    for value in decode.graph.initializers.values():
        value.const_value = written.get(_content(value), value.const_value)
    graphs = DecodingGraphs.of(folder)
    ir.save(prefill, graphs.prefill)
    ir.save(decode, graphs.decode)
    return graphs


def _content(value: Any) -> tuple[Any, ...]:
    """Equal for equal tensors: the exporter lays some out anew, in both graphs in the same way."""
    tensor = value.const_value
    return (tensor.dtype, tuple(tensor.shape), hashlib.blake2b(tensor.tobytes()).digest())


def _kept(layers: Any, names: tuple[str, str]) -> Tensors:
    if not layers:
        raise Unsupported("this model keeps something else than keys and values", "use the torch runtime")
    pairs = ((layer.keys, layer.values) for layer in layers)
    return {
        f"present.{index}.{name}": value
        for index, pair in enumerate(pairs)
        for name, value in zip(names, pair, strict=True)
    }


def _cache_of(past: Tensors, names: tuple[str, str]) -> Any:
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    kept = DynamicCache()
    while (place := f"past.{len(kept.layers)}.{names[0]}") in past:
        layer = DynamicLayer()
        keys, values = past[place], past[f"past.{len(kept.layers)}.{names[1]}"]
        layer.lazy_initialization(keys, values)
        layer.keys, layer.values = keys, values  # update() would put a concatenation into the graph
        kept.layers.append(layer)
    return kept


def _scores(logits: Any) -> Tensors:
    last = logits[:, -1:]
    return {"token": last.argmax(-1), "logits": last}


@cache
def _steps() -> tuple[Any, Any]:
    import torch
    from transformers import DynamicCache, EncoderDecoderCache

    class Prefill(torch.nn.Module):  # type: ignore[misc]
        """Reads the prompt."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model
            self._last_only = {"logits_to_keep": 1} if _library.takes(model, "logits_to_keep") else {}

        def forward(self, **prompt: Any) -> Tensors:
            encoder = self.model.config.is_encoder_decoder
            # Layers of one kind, also where the library would keep only a window: the mask says what counts.
            kept = EncoderDecoderCache(DynamicCache(), DynamicCache()) if encoder else DynamicCache()
            result = self.model(**prompt, past_key_values=kept, use_cache=True, **self._last_only)
            scores = _scores(result.logits)
            if not encoder:
                return {**scores, **_kept(kept.layers, _OWN)}
            own, cross = kept.self_attention_cache.layers, kept.cross_attention_cache.layers
            return {**scores, **_kept(own, _OWN), **_kept(cross, _CROSS)}

    class Decode(torch.nn.Module):  # type: ignore[misc]
        """Takes one token more."""

        def __init__(self, model: Any) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, **past: Any) -> Tensors:
            take = self._behind_encoder if self.model.config.is_encoder_decoder else self._alone
            return take(input_ids, past, _cache_of(past, _OWN))

        def _alone(self, token: Any, past: Tensors, kept: Any) -> Tensors:
            mask = torch.cat([past[f"past.{_MASK}"], torch.ones_like(token)], 1)
            # Said aloud: some models count them in a way that the exporter cannot follow.
            place = (
                {"position_ids": mask.sum(1, keepdim=True) - 1} if _library.takes(self.model, "position_ids") else {}
            )
            result = self.model(input_ids=token, attention_mask=mask, past_key_values=kept, use_cache=True, **place)
            return {**_scores(result.logits), **_kept(kept.layers, _OWN), f"present.{_MASK}": mask}

        def _behind_encoder(self, token: Any, past: Tensors, kept: Any) -> Tensors:
            cross = _cache_of(past, _CROSS)
            mask = {_MASK: past[f"past.{_MASK}"]} if f"past.{_MASK}" in past else {}
            # Only its size is asked for: what the encoder gave is in the keys and values.
            size = (token.shape[0], cross.get_seq_length(), self.model.config.hidden_size)
            encoded = (token.new_zeros(size, dtype=torch.float32),)
            both = EncoderDecoderCache(kept, cross)
            result = self.model(
                decoder_input_ids=token, encoder_outputs=encoded, past_key_values=both, use_cache=True, **mask
            )
            return {**_scores(result.logits), **_kept(kept.layers, _OWN)}

    return Prefill, Decode
