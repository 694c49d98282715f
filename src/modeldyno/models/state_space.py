"""Models that carry a state along the sequence instead of attending to all of it, such as Mamba."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._tokens import text_inputs

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng


def _mamba(vocabulary: int, hidden: int, layers: int) -> dict[str, Any]:
    return {
        "model_type": "mamba",
        "architectures": ["MambaForCausalLM"],
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "num_hidden_layers": layers,
        "state_size": 16,
        "time_step_rank": -(-hidden // 16),
    }


class StateSpace:
    """Text in, the next token's scores out, at a cost that grows linearly with the length."""

    name = "state-space"
    family = "text_generation"
    auto_class = "AutoModelForCausalLM"
    axes: Mapping[str, int] = {"seq": 128}
    model_types = words(
        """bamba falcon_h1 falcon_mamba granitemoehybrid jamba mamba mamba2 nemotron_h olmo_hybrid
        recurrent_gemma rwkv xlstm zamba zamba2"""
    )
    entries = (
        Entry("tiny-mamba", _mamba(1000, 64, 2), "text_generation", 129_472, tiny=True),
        Entry(
            "mamba-130m-hf",
            _mamba(50280, 768, 24),
            "text_generation",
            129_135_360,
            hf_id="state-spaces/mamba-130m-hf",
            aliases=("mamba", "mamba-130m"),
        ),
        Entry(
            "mamba-370m-hf",
            _mamba(50280, 1024, 48),
            "text_generation",
            371_516_416,
            hf_id="state-spaces/mamba-370m-hf",
            aliases=("mamba-370m",),
        ),
    )

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        return text_inputs(config, batch, shape["seq"], rng)

    def is_linear(self, model_type: str) -> bool:
        return model_type in ("mamba", "falcon_mamba")


MEMBER = StateSpace()
