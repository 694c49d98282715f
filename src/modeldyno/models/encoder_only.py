"""Encoders of text, such as BERT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._tokens import text_inputs

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_TINY = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 1000,
}


def _bert(**overrides: Any) -> dict[str, Any]:
    return {"model_type": "bert", "architectures": ["BertForMaskedLM"], **overrides}


class EncoderOnly:
    """Text in, one vector or one score per token out."""

    name = "encoder-only"
    family = "embedding"
    auto_class = "AutoModel"
    axes: Mapping[str, int] = {"seq": 128}
    model_types = words(
        """albert bert big_bird bros camembert canine convbert data2vec-text deberta deberta-v2 distilbert dpr
        electra ernie esm esmc eurobert flaubert fnet funnel gte ibert jina_embeddings_v3 layoutlm lilt
        longformer luke markuplm megatron-bert mobilebert modernbert mpnet mra nezha nomic_bert nystromformer
        qdqbert rembert roberta roberta-prelayernorm roc_bert roformer splinter squeezebert tapas xlm
        xlm-roberta xlm-roberta-xl xmod yoso clip_text_model siglip_text_model"""
    )
    entries = (
        Entry("tiny-bert", _bert(**_TINY), "embedding", 169_256, model_class="bert", tiny=True),
        Entry(
            "bert-tiny",
            _bert(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512),
            "embedding",
            4_416_698,
            hf_id="prajjwal1/bert-tiny",
            model_class="bert",
        ),
        Entry(
            "bert-base-uncased",
            _bert(),
            "embedding",
            109_514_298,
            hf_id="google-bert/bert-base-uncased",
            aliases=("bert", "bert-base"),
            model_class="bert",
        ),
        Entry(
            "bert-large-uncased",
            _bert(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096),
            "embedding",
            335_174_458,
            hf_id="google-bert/bert-large-uncased",
            aliases=("bert-large",),
            model_class="bert",
        ),
        Entry(
            "distilbert-base-uncased",
            {"model_type": "distilbert", "architectures": ["DistilBertForMaskedLM"]},
            "embedding",
            66_985_530,
            hf_id="distilbert/distilbert-base-uncased",
            aliases=("distilbert",),
        ),
        Entry(
            "roberta-base",
            {
                "model_type": "roberta",
                "architectures": ["RobertaForMaskedLM"],
                "vocab_size": 50265,
                "max_position_embeddings": 514,
                "type_vocab_size": 1,
            },
            "embedding",
            124_697_433,
            hf_id="FacebookAI/roberta-base",
            aliases=("roberta",),
        ),
        Entry(
            "all-MiniLM-L6-v2",
            {
                "model_type": "bert",
                "architectures": ["BertModel"],
                "hidden_size": 384,
                "num_hidden_layers": 6,
                "intermediate_size": 1536,
            },
            "embedding",
            22_713_216,
            hf_id="sentence-transformers/all-MiniLM-L6-v2",
        ),
    )

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        return text_inputs(config, batch, shape["seq"], rng)


MEMBER = EncoderOnly()
