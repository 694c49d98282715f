"""Retrieval-augmented generation: encode the question, weigh the retrieved passages, generate from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry
from modeldyno.models._images import normal
from modeldyno.models._shapes import BART_LARGE
from modeldyno.models._tokens import check_length, decoder_token_ids, token_ids

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_RAG_TOKEN_NQ = {
    "model_type": "rag",
    "architectures": ["RagTokenForGeneration"],
    "question_encoder": {"model_type": "dpr"},
    "generator": BART_LARGE,
    "n_docs": 5,
    "max_combined_length": 300,
}
_TINY_RAG = {
    "model_type": "rag",
    "architectures": ["RagTokenForGeneration"],
    "question_encoder": {
        "model_type": "dpr",
        "vocab_size": 1000,
        "hidden_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 128,
    },
    "generator": {
        "model_type": "bart",
        "vocab_size": 1000,
        "d_model": 64,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "encoder_attention_heads": 2,
        "decoder_attention_heads": 2,
        "encoder_ffn_dim": 128,
        "decoder_ffn_dim": 128,
        "max_position_embeddings": 128,
    },
    "n_docs": 2,
    "max_combined_length": 48,
}


class Rag:
    """A question and its retrieved passages in, text out. The search in the index itself is not part of a step."""

    name = "rag"
    family = "text_generation"
    auto_class = "RagTokenForGeneration"
    axes: Mapping[str, int] = {"seq": 32, "decoder_seq": 8}
    model_types = frozenset({"rag"})
    entries = (
        Entry("tiny-rag", _TINY_RAG, "text_generation", 412_288, tiny=True),
        Entry(
            "rag-token-nq",
            _RAG_TOKEN_NQ,
            "text_generation",
            515_183_104,
            hf_id="facebook/rag-token-nq",
            aliases=("rag",),
        ),
    )

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        import numpy as np

        question, generator = config.question_encoder, config.generator
        check_length(question, shape["seq"])
        check_length(generator, config.max_combined_length, "max_combined_length")
        ids = token_ids(question, batch, shape["seq"], rng)
        passages = token_ids(generator, batch * config.n_docs, config.max_combined_length, rng)
        width = getattr(question, "projection_dim", 0) or question.hidden_size
        return {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "retrieved_doc_embeds": normal((batch, config.n_docs, width), rng),
            "context_input_ids": passages,
            "context_attention_mask": np.ones_like(passages),
            "decoder_input_ids": decoder_token_ids(generator, batch, shape["decoder_seq"], rng),
        }

    def adapt(self, model: Any) -> Any:
        """With passages at hand the library's class skips the question encoder; a step must not."""
        from torch import nn

        class Step(nn.Module):  # type: ignore[misc]
            def __init__(self) -> None:
                super().__init__()
                self.model = model

            def forward(
                self,
                input_ids: Any,
                attention_mask: Any,
                retrieved_doc_embeds: Any,
                context_input_ids: Any,
                context_attention_mask: Any,
                decoder_input_ids: Any,
                use_cache: bool = False,
            ) -> Any:
                encoder = self.model.rag.question_encoder if hasattr(self.model, "rag") else self.model.question_encoder
                question = encoder(input_ids, attention_mask=attention_mask, return_dict=True)[0]
                scores = (question.unsqueeze(1) @ retrieved_doc_embeds.transpose(1, 2)).squeeze(1)
                return self.model(
                    context_input_ids=context_input_ids,
                    context_attention_mask=context_attention_mask,
                    doc_scores=scores,
                    decoder_input_ids=decoder_input_ids,
                    use_cache=use_cache,
                )

        return Step()


MEMBER = Rag()
