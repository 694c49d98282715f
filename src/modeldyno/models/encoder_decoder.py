"""Encoders with a text decoder behind them, such as T5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._tokens import seq2seq_inputs

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng


def _t5(d_model: int, d_kv: int, d_ff: int, layers: int, heads: int, vocabulary: int = 32128) -> dict[str, Any]:
    return {
        "model_type": "t5",
        "architectures": ["T5ForConditionalGeneration"],
        "vocab_size": vocabulary,
        "d_model": d_model,
        "d_kv": d_kv,
        "d_ff": d_ff,
        "num_layers": layers,
        "num_heads": heads,
        "decoder_start_token_id": 0,
    }


_BART_BASE = {
    "model_type": "bart",
    "architectures": ["BartForConditionalGeneration"],
    "vocab_size": 50265,
    "d_model": 768,
    "encoder_layers": 6,
    "decoder_layers": 6,
    "encoder_attention_heads": 12,
    "decoder_attention_heads": 12,
    "encoder_ffn_dim": 3072,
    "decoder_ffn_dim": 3072,
}


def _t5_entry(name: str, config: dict[str, Any], parameters: int, hf_id: str | None = None, **more: Any) -> Entry:
    return Entry(name, config, "text_generation", parameters, hf_id=hf_id, model_class="t5", **more)


class EncoderDecoder:
    """Text in, text out, with the source read as a whole."""

    name = "encoder-decoder"
    family = "text_generation"
    auto_class = "AutoModelForSeq2SeqLM"
    axes: Mapping[str, int] = {"seq": 128, "decoder_seq": 8}
    model_types = words(
        """bart bigbird_pegasus blenderbot blenderbot-small encoder-decoder fsmt led longt5 m2m_100 marian mbart
        mt5 mvp pegasus pegasus_x plbart prophetnet t5 t5gemma umt5 xlm-prophetnet"""
    )
    entries = (
        _t5_entry("tiny-t5", _t5(64, 16, 128, 2, 4, vocabulary=1000), 228_864, tiny=True),
        _t5_entry("t5-efficient-tiny", _t5(256, 64, 1024, 4, 4), 15_570_688, "google/t5-efficient-tiny"),
        _t5_entry("t5-small", _t5(512, 64, 2048, 6, 8), 60_506_624, "google-t5/t5-small", aliases=("t5",)),
        _t5_entry("t5-base", _t5(768, 64, 3072, 12, 12), 222_903_552, "google-t5/t5-base"),
        _t5_entry("t5-large", _t5(1024, 64, 4096, 24, 16), 737_668_096, "google-t5/t5-large"),
        Entry("bart-base", _BART_BASE, "text_generation", 139_420_416, hf_id="facebook/bart-base"),
    )

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        return seq2seq_inputs(config, batch, shape, rng)


MEMBER = EncoderDecoder()
