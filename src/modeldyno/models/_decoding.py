"""A model with prompts and a number of tokens to make: what every runtime that decodes starts from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from modeldyno.core.decoding import DecodingGraphs, DecodingSource
from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.types import ModelInfo, Weights
from modeldyno.models import _library
from modeldyno.models._architecture import Adapts, ExportHints, hints_of
from modeldyno.models._count import count_parameters
from modeldyno.models._inputs import full_shape, model_inputs
from modeldyno.models._kept import Shelf
from modeldyno.models._prepared import OfLibrary, Order
from modeldyno.models._resolve import ModelSpec, SourceKind
from modeldyno.models._source import ANY_BATCH, NO_ANY_BATCH
from modeldyno.models._tokens import position_limit, special_ids, token_ids

if TYPE_CHECKING:
    import numpy as np

    from modeldyno.core.protocols import Arrays

NEW_TOKENS = "new_tokens"
USUAL_NEW_TOKENS = 32
CHECKED_TOKENS = 32
"""Scores are kept of so many tokens: one is as large as the vocabulary."""
ANY_NUMBER = 0
"""Stands for the number of tokens to make of what serves them all."""
_DECODER_SEQ = "decoder_seq"
_PATH = "path"
_GROWING = {"attention_mask": 1, "token_type_ids": 0, "mm_token_type_ids": 0, "cross_attention_mask": 1}
"""Inputs of a model without an encoder that have a place for each token, and what stands there for a new one."""


def decoding_axes(of_model: Mapping[str, int]) -> dict[str, int]:
    """The sizes of a generation: the decoder of an encoder-decoder always begins with one token."""
    return {axis: size for axis, size in of_model.items() if axis != _DECODER_SEQ} | {NEW_TOKENS: USUAL_NEW_TOKENS}


def prepare_decoding(
    spec: ModelSpec,
    batch: int = 1,
    shape: Mapping[str, int] | None = None,
    weights: Weights = Weights.AUTO,
    seed: int = 0,
) -> DecodingSource:
    """Make a model ready to write. Raises Unsupported where it makes no tokens, or not that many."""
    if spec.kind is SourceKind.ONNX:
        raise _makes_no_tokens(f"'{spec.name}' is an ONNX file and")
    asked = dict(shape or {})
    new_tokens = asked.pop(NEW_TOKENS, USUAL_NEW_TOKENS)
    if new_tokens < 1:
        raise InputError(f"{NEW_TOKENS}={new_tokens} is not a number of tokens; give 1 or more.")
    begin = {_DECODER_SEQ: 1} if _DECODER_SEQ in spec.axes else {}
    sizes = full_shape(spec, asked | begin) | {NEW_TOKENS: new_tokens}
    return Decoding(Order.of(spec, batch, sizes, weights, seed))


class Decoding(OfLibrary):
    """A model of transformers that writes."""

    def __init__(self, order: Order) -> None:
        self.new_tokens = order.shape[NEW_TOKENS]
        super().__init__(order)

    def prompt(self) -> Arrays:
        return {name: array for name, array in self.inputs().items() if name != _PATH}

    def path(self) -> np.ndarray[Any, Any]:
        return self.inputs()[_PATH]

    def torch_model(self) -> Any:
        return self._step().module

    def graphs(self) -> DecodingGraphs:
        spec = self._order.spec
        assert spec.member is not None
        hints = hints_of(spec.member, spec.model_type or "")
        return (self._of_any_batch(hints) if hints.any_batch else None) or self._exported(self._order.batch, hints)

    def _of_any_batch(self, hints: ExportHints) -> DecodingGraphs | None:
        """Graphs for this batch beside those all batch sizes share; None where there are no such graphs."""
        from modeldyno.models._decoding_export import fix_batch

        if self._graph_shelf(ANY_BATCH).text(NO_ANY_BATCH) is not None:
            return None
        try:
            shared = self._exported(ANY_BATCH, hints)
        except Unsupported:  # an export for one batch size may still do; if not, it will tell the reason
            return None
        batch = self._order.batch
        prefill, decode = (path.with_stem(f"{path.stem}-batch{batch}") for path in (shared.prefill, shared.decode))
        for path, target in ((shared.prefill, prefill), (shared.decode, decode)):
            if not target.is_file():
                Shelf(target.parent).put(target.name, partial(fix_batch, path, batch))
        return DecodingGraphs(prefill, decode)

    def _graph_shelf(self, batch: int) -> Shelf:
        """Graphs serve any number of tokens."""
        return replace(self._order, batch=batch, shape={**self._order.shape, NEW_TOKENS: ANY_NUMBER}).shelf()

    def _exported(self, batch: int, hints: ExportHints) -> DecodingGraphs:
        from modeldyno.models._decoding_export import export_decoding

        shelf = self._graph_shelf(batch)
        folder = shelf.folder / "decoding"
        if not folder.is_dir():
            model, prompt, free = self.torch_model(), self.prompt(), batch == ANY_BATCH
            try:
                with self._timed():
                    shelf.put_folder(folder.name, lambda draft: export_decoding(model, prompt, draft, hints, free))
            except Unsupported as error:
                if free:
                    shelf.put_text(NO_ANY_BATCH, str(error))
                raise
        return DecodingGraphs.of(folder)

    def _draw(self) -> Arrays:
        import numpy as np

        order = self._order
        sizes = {axis: size for axis, size in order.shape.items() if axis != NEW_TOKENS}
        prompt = model_inputs(order.spec, order.batch, sizes, order.seed)
        config = _library.configuration(order.spec.config)
        if "decoder_input_ids" in prompt:
            prompt["decoder_input_ids"] = _beginning(config, prompt["decoder_input_ids"])
        text = config.get_text_config(decoder=True)
        _check_room(text, _written(prompt).shape[1], self.new_tokens)
        rng = np.random.default_rng([order.seed, 1])
        length = min(self.new_tokens, CHECKED_TOKENS)
        return {**prompt, _PATH: token_ids(text, order.batch, length, rng, special_ids(config))}

    def _outputs(self, step: Any, tensors: Mapping[str, Any]) -> Mapping[str, Any]:
        path = tensors[_PATH]
        whole = _with_path({name: tensor for name, tensor in tensors.items() if name != _PATH}, path)
        options = {"logits_to_keep": path.shape[1]} if _library.takes(step.module, "logits_to_keep") else {}
        scores = step.module(**whole, use_cache=False, **options).logits
        return named_scores(scores[:, -path.shape[1] :])

    def _describe(self) -> ModelInfo:
        spec = self._order.spec
        _check_writes(spec)
        self.inputs()  # what does not fit is told before anything is measured
        return self._info(count_parameters(spec), None, self._weights())


def named_scores(scores: Any) -> dict[str, Any]:
    """Scores (batch x tokens x vocabulary) as outputs that are compared: only the later ones need what was kept."""
    first, later = scores[:, :1], scores[:, 1:]
    return {"first_token": first, "next_tokens": later} if later.shape[1] else {"first_token": first}


def _check_writes(spec: ModelSpec) -> None:
    assert spec.member is not None
    if isinstance(spec.member, Adapts):
        raise Unsupported(f"'{spec.name}' writes with more than one model", "use --workload inference")
    cls = _library.model_class(spec.config, spec.member)
    if _library.is_diffusers(spec.config) or not cls.can_generate():
        raise _makes_no_tokens(cls.__name__)


def _makes_no_tokens(what: str) -> Unsupported:
    return Unsupported(f"{what} makes no tokens", "use --workload inference")


def _beginning(config: Any, drawn: Any) -> Any:
    """What a decoder behind an encoder begins with; the token drawn where the configuration names none."""
    import numpy as np

    named = (getattr(config, name, None) for name in ("decoder_start_token_id", "bos_token_id"))
    token = next((token for token in named if token is not None), None)
    return drawn if token is None else np.full_like(drawn, token)


def _written(arrays: Mapping[str, Any]) -> Any:
    """The tokens that new ones are put behind."""
    return arrays["decoder_input_ids"] if "decoder_input_ids" in arrays else arrays["input_ids"]


def _check_room(text: Any, length: int, new_tokens: int) -> None:
    own = (getattr(text, name, None) for name in ("max_target_positions", "max_decoder_position_embeddings"))
    limit = next((limit for limit in own if limit), None) or position_limit(text)
    if limit is not None and length + new_tokens > limit:
        room = limit - length
        fewer = f"{NEW_TOKENS} of at most {room}" if room > 0 else "a shorter seq"
        raise Unsupported(
            f"{length} tokens of prompt and {new_tokens} new ones are more than the {limit} positions of this model",
            f"ask for {fewer}",
        )


def _with_path(prompt: Mapping[str, Any], path: Any) -> dict[str, Any]:
    """The prompt and the path behind it; the last token of the path is never read."""
    import torch

    behind = path[:, :-1]
    if "decoder_input_ids" in prompt:
        return {**prompt, "decoder_input_ids": torch.cat([prompt["decoder_input_ids"], behind], dim=1)}

    def grown(name: str, tensor: Any) -> Any:
        more = tensor.new_full((len(tensor), behind.shape[1], *tensor.shape[2:]), _GROWING[name])
        return torch.cat([tensor, more], dim=1)

    longer = {name: grown(name, tensor) for name, tensor in prompt.items() if name in _GROWING}
    return {**prompt, **longer, "input_ids": torch.cat([prompt["input_ids"], behind], dim=1)}
