"""Token inputs: valid ids, masks and the limits a model puts on their length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.models._architecture import words

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

# These number positions from the padding id on, so that many of the table's rows are never used.
_OFFSET_BY_PADDING = words(
    """camembert data2vec-text esm ibert longformer luke mpnet roberta roberta-prelayernorm xlm-roberta
    xlm-roberta-xl xmod clap_text_model chinese_roberta"""
)


def text_config(config: Any) -> Any:
    """The part of a configuration that describes the text model."""
    return getattr(config, "text_config", None) or config


def position_limit(config: Any) -> int | None:
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit <= 0:
        return None
    if getattr(config, "model_type", None) in _OFFSET_BY_PADDING:
        return limit - (getattr(config, "pad_token_id", None) or 0) - 1
    return limit


def check_length(config: Any, length: int, axis: str = "seq") -> None:
    check_limit(length, position_limit(config), axis)


def check_limit(length: int, limit: int | None, axis: str) -> None:
    if length < 1:
        raise Unsupported(f"{axis}={length} is not a length", f"ask for {axis} of 1 or more")
    if limit is not None and length > limit:
        raise Unsupported(
            f"{axis}={length} is longer than the {limit} positions of this model", f"ask for {axis} of at most {limit}"
        )


def token_ids(config: Any, batch: int, length: int, rng: Rng, specials: Iterable[int] = ()) -> Any:
    """Ids of ordinary tokens: a special one in the middle would end, pad or fill in something."""
    import numpy as np

    vocabulary = config.vocab_size
    avoid = {*special_ids(config), *specials}
    ordinary = next(i for i in range(vocabulary) if i not in avoid)
    ids = rng.integers(0, vocabulary, (batch, length), dtype=np.int64)
    ids[np.isin(ids, list(avoid))] = ordinary
    return ids


def special_ids(config: Any) -> set[int]:
    values = vars(config).items() if hasattr(config, "__dict__") else ()
    found = (value for key, value in values if key.endswith(("_token_id", "_token_index")))
    return {int(i) for value in found for i in (value if isinstance(value, list) else [value]) if i is not None}


def text_inputs(config: Any, batch: int, length: int, rng: Rng) -> Arrays:
    """What an encoder or decoder of text takes: ids, a mask of ones, segment ids where the model has segments."""
    import numpy as np

    check_length(config, length)
    ids = token_ids(config, batch, length, rng)
    arrays = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
    if (getattr(config, "type_vocab_size", 0) or 0) > 1:
        arrays["token_type_ids"] = np.zeros_like(ids)
    return arrays


def seq2seq_inputs(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    """What an encoder with a decoder behind it takes."""
    import numpy as np

    limit = getattr(config, "max_encoder_position_embeddings", None) or position_limit(config)
    check_limit(shape["seq"], limit, "seq")
    ids = token_ids(config, batch, shape["seq"], rng)
    decoder_ids = decoder_token_ids(config, batch, shape["decoder_seq"], rng)
    return {"input_ids": ids, "attention_mask": np.ones_like(ids), "decoder_input_ids": decoder_ids}


def decoder_token_ids(config: Any, batch: int, length: int, rng: Rng) -> Any:
    limit = getattr(config, "max_decoder_position_embeddings", None) or position_limit(config)
    check_limit(length, limit, "decoder_seq")
    return token_ids(config, batch, length, rng)
