"""Lessons in text: words left out, the next word, a missing stretch."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets import Draw, GivesText
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._tokens import special_ids, text_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

NO_LABEL = -100
"""The label that the loss leaves out."""
_MASKED_SHARE = 0.15
_PLACES = 1
"""The purpose of chance that says where words are hidden."""


def ordinary_ids(config: Any, specials: Iterable[int] = ()) -> Any:
    """The ids of a vocabulary that mean nothing to the model itself; word number N gets the Nth of them."""
    return np.setdiff1d(np.arange(config.vocab_size), [*special_ids(config), *specials])


def hidden_places(draw: Draw, batch: int, length: int) -> Any:
    """Where words are hidden: as many in every row of every batch."""
    hidden = max(1, round(_MASKED_SHARE * length))
    return draw.rng(_PLACES).random((batch, length)).argsort(axis=1)[:, :hidden]


def masked_words(order: Order) -> Lesson:
    """Some words are hidden behind the last of the vocabulary, which stands for nothing else."""
    base, source = order.inputs(), order.examples("text", GivesText, "text")
    ids, length = ordinary_ids(text_config(order.config)), order.shape["seq"]

    def make(draw: Draw) -> Arrays:
        words = ids[source.text(draw, order.batch, length, len(ids) - 1)]
        places = hidden_places(draw, order.batch, length)
        labels = np.full_like(words, NO_LABEL)
        np.put_along_axis(labels, places, np.take_along_axis(words, places, 1), 1)
        np.put_along_axis(words, places, ids[-1], 1)
        return {**base, "input_ids": words, "labels": labels}

    return Lesson(source.name, "masked words", order.seed, make, mark=in_place, tokens=order.batch * length)


def next_word(order: Order) -> Lesson:
    base, source = order.inputs(), order.examples("text", GivesText, "text")
    ids, length = ordinary_ids(text_config(order.config)), order.shape["seq"]
    if length < 2:
        raise Unsupported(f"seq={length} leaves no next word to learn", "ask for seq of 2 or more")

    def make(draw: Draw) -> Arrays:
        words = ids[source.text(draw, order.batch, length, len(ids))]
        return {**base, "input_ids": words, "labels": words}

    return Lesson(source.name, "next word", order.seed, make, mark=one_later, tokens=order.batch * length)


def missing_words(order: Order) -> Lesson:
    """A stretch of the text is hidden behind one word; the decoder has to write it."""
    base, source = order.inputs(), order.examples("text", GivesText, "text")
    base.pop("decoder_input_ids")  # the library makes them from the labels
    ids = ordinary_ids(order.config)
    length, missing = order.shape["seq"], order.shape["decoder_seq"]

    def make(draw: Draw) -> Arrays:
        words = ids[source.text(draw, order.batch, length + missing - 1, len(ids) - 1)]
        begins = draw.rng(_PLACES).integers(0, length, order.batch)
        labels = np.stack([row[begin : begin + missing] for row, begin in zip(words, begins, strict=True)])
        rest = [[*row[:begin], ids[-1], *row[begin + missing :]] for row, begin in zip(words, begins, strict=True)]
        return {**base, "input_ids": np.array(rest, dtype=np.int64), "labels": labels}

    tokens = order.batch * (length + missing)
    return Lesson(source.name, "missing words", order.seed, make, mark=in_place, tokens=tokens)


def answer(order: Order) -> Lesson:
    """Retrieved passages, one of which has the words to answer with."""
    base, source = order.inputs(), order.examples("text", GivesText, "text")
    tokens = base["input_ids"].size + base["context_input_ids"].size + base.pop("decoder_input_ids").size
    question, passages = ordinary_ids(order.config.question_encoder), ordinary_ids(order.config.generator)
    rows, width = base["context_input_ids"].shape
    if order.shape["decoder_seq"] > width:
        raise Unsupported(
            f"decoder_seq={order.shape['decoder_seq']} is longer than a passage of {width} words",
            f"ask for decoder_seq of at most {width}",
        )

    def make(draw: Draw) -> Arrays:
        found = source.text(draw, rows, width, min(len(question), len(passages)))
        first = found[:: order.config.n_docs]
        asked = np.resize(first, (order.batch, order.shape["seq"]))
        labels = passages[first[:, : order.shape["decoder_seq"]]]
        return {**base, "input_ids": question[asked], "context_input_ids": passages[found], "labels": labels}

    return Lesson(source.name, "answer", order.seed, make, _weigh_passages, tokens=tokens)


def _weigh_passages(model: Any, tensors: Any) -> Any:
    inputs = dict(tensors)
    question = {"input_ids": inputs.pop("input_ids"), "attention_mask": inputs.pop("attention_mask")}
    vectors = model.rag.question_encoder(**question, return_dict=True)[0]
    scores = (vectors.unsqueeze(1) @ inputs.pop("retrieved_doc_embeds").transpose(1, 2)).squeeze(1)
    return model(**inputs, doc_scores=scores, reduce_loss=True)


def count_right(scores: Any, labels: Any) -> tuple[int, int]:
    asked = labels != NO_LABEL
    return int(((scores.argmax(-1) == labels) & asked).sum()), int(asked.sum())


def in_place(outputs: Any, tensors: Any) -> tuple[int, int]:
    return count_right(outputs.logits, tensors["labels"])


def one_later(outputs: Any, tensors: Any) -> tuple[int, int]:
    """The scores at one place are about the word at the next."""
    return count_right(outputs.logits[:, :-1], tensors["labels"][:, 1:])
