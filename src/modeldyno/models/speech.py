"""Sound in: transcription and speech features, such as Whisper and Wav2Vec2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.models._architecture import Entry, words
from modeldyno.models._images import normal
from modeldyno.models._tokens import check_limit, token_ids

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_WAVEFORM = words("""data2vec-audio hubert sew sew-d unispeech unispeech-sat wav2vec2 wav2vec2-conformer wavlm""")
_OTHER = words(
    """bark canary clap_audio_model cohere_asr csm dac dia encodec fastspeech2_conformer granite_speech
    kyutai_speech_to_text lasr_ctc mimi moonshine moonshine_streaming musicgen musicgen_melody parakeet_ctc
    parakeet_rnnt parakeet_tdt pop2piano qwen2_audio qwen3_asr seamless_m4t seamless_m4t_v2
    speech-encoder-decoder speech_to_text speecht5 univnet vibevoice vits voxtral voxtral_realtime"""
)
_MIN_SAMPLES = 400  # the receptive field of wav2vec 2.0's feature encoder


def _whisper(d_model: int, layers: int, heads: int, **overrides: Any) -> dict[str, Any]:
    return {
        "model_type": "whisper",
        "architectures": ["WhisperForConditionalGeneration"],
        "vocab_size": 51865,
        "d_model": d_model,
        "encoder_layers": layers,
        "decoder_layers": layers,
        "encoder_attention_heads": heads,
        "decoder_attention_heads": heads,
        "encoder_ffn_dim": 4 * d_model,
        "decoder_ffn_dim": 4 * d_model,
        **overrides,
    }


_TINY_WHISPER = _whisper(
    64,
    2,
    4,
    vocab_size=1000,
    max_source_positions=100,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
    pad_token_id=0,
    bos_token_id=1,
    eos_token_id=2,
    decoder_start_token_id=3,
)


def _wav2vec2(class_name: str, **overrides: Any) -> dict[str, Any]:
    return {"model_type": "wav2vec2", "architectures": [class_name], **overrides}


_TINY_WAV2VEC2 = _wav2vec2(
    "Wav2Vec2ForCTC",
    hidden_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=128,
    conv_dim=[32] * 7,
    num_conv_pos_embeddings=16,
    num_conv_pos_embedding_groups=4,
)
_WAV2VEC2_LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}


def _entry(name: str, kind: str, config: dict[str, Any], parameters: int, hf_id: str | None, **more: Any) -> Entry:
    return Entry(name, config, "audio", parameters, hf_id=hf_id, model_class=kind, **more)


class Speech:
    """Sound in, text or features out."""

    name = "speech"
    family = "audio"
    auto_class = "AutoModel"
    axes: Mapping[str, int] = {"samples": 16000}
    model_types = _WAVEFORM | _OTHER | frozenset({"whisper", "audio-spectrogram-transformer", "wav2vec2-bert"})
    entries = (
        _entry("tiny-whisper", "whisper", _TINY_WHISPER, 294_144, None, tiny=True),
        _entry("tiny-wav2vec2", "wav2vec2", _TINY_WAV2VEC2, 104_624, None, tiny=True),
        _entry("whisper-tiny", "whisper", _whisper(384, 4, 6), 37_760_640, "openai/whisper-tiny", aliases=("whisper",)),
        _entry("whisper-base", "whisper", _whisper(512, 6, 8), 72_593_920, "openai/whisper-base"),
        _entry("whisper-small", "whisper", _whisper(768, 12, 12), 241_734_912, "openai/whisper-small"),
        _entry("whisper-medium", "whisper", _whisper(1024, 24, 16), 763_857_920, "openai/whisper-medium"),
        _entry(
            "whisper-large-v3",
            "whisper",
            _whisper(1280, 32, 20, vocab_size=51866, num_mel_bins=128),
            1_543_490_560,
            "openai/whisper-large-v3",
            aliases=("whisper-large",),
        ),
        _entry(
            "wav2vec2-base",
            "wav2vec2",
            _wav2vec2("Wav2Vec2Model"),
            94_371_712,
            "facebook/wav2vec2-base",
            aliases=("wav2vec2",),
        ),
        _entry(
            "wav2vec2-base-960h", "wav2vec2", _wav2vec2("Wav2Vec2ForCTC"), 94_396_320, "facebook/wav2vec2-base-960h"
        ),
        _entry(
            "wav2vec2-large",
            "wav2vec2",
            _wav2vec2("Wav2Vec2Model", **_WAV2VEC2_LARGE),
            315_428_992,
            "facebook/wav2vec2-large",
        ),
        _entry(
            "wav2vec2-large-960h",
            "wav2vec2",
            _wav2vec2("Wav2Vec2ForCTC", **_WAV2VEC2_LARGE),
            315_461_792,
            "facebook/wav2vec2-large-960h",
        ),
    )

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        kind = config.get("model_type")
        if kind == "whisper":
            return {"decoder_seq": 8}
        if kind == "wav2vec2-bert":
            return {"frames": 100}
        return {"samples": 16000} if kind in _WAVEFORM else {}

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        if config.model_type in _WAVEFORM:
            return {"input_values": _waveform(batch, shape["samples"], rng)}
        if config.model_type == "whisper":
            return _whisper_inputs(config, batch, shape["decoder_seq"], rng)
        if config.model_type == "wav2vec2-bert":
            size = (batch, shape["frames"], config.feature_projection_input_dim)
            return {"input_features": normal(size, rng)}
        if config.model_type == "audio-spectrogram-transformer":
            return {"input_values": normal((batch, config.max_length, config.num_mel_bins), rng)}
        raise Unsupported(
            f"there is no recipe for the inputs of the speech model type '{config.model_type}'",
            "export it to ONNX and give the .onnx file",
        )


def _waveform(batch: int, samples: int, rng: Rng) -> Any:
    if samples < _MIN_SAMPLES:
        raise Unsupported(
            f"samples={samples} is shorter than the {_MIN_SAMPLES} samples one frame needs",
            f"ask for samples of at least {_MIN_SAMPLES}",
        )
    return normal((batch, samples), rng)


def _whisper_inputs(config: Any, batch: int, length: int, rng: Rng) -> Arrays:
    # The encoder halves the frames once, and takes no other length than its whole window.
    check_limit(length, config.max_target_positions, "decoder_seq")
    frames = 2 * config.max_source_positions
    return {
        "input_features": normal((batch, config.num_mel_bins, frames), rng),
        "decoder_input_ids": token_ids(config, batch, length, rng),
    }


MEMBER = Speech()
