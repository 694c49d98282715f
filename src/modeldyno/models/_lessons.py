"""What training teaches a model: the recipe that fits its class."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.models import _library
from modeldyno.models._inputs import full_shape
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._resolve import ModelSpec


def lesson(
    spec: ModelSpec, dataset: str | None = None, batch: int = 1, shape: Mapping[str, int] | None = None, seed: int = 0
) -> Lesson:
    """What training teaches this model. Raises Unsupported where there is no recipe for it."""
    if batch < 1:
        raise InputError(f"batch={batch} is not a batch size; give 1 or more.")
    if seed < 0:
        raise InputError(f"seed={seed} is not a seed; give 0 or more.")
    member = spec.member
    if member is None:
        raise Unsupported(f"'{spec.name}' is an ONNX file, which cannot be trained", "give the model it was made from")
    class_name = _library.model_class(spec.config, member).__name__
    config = _library.configuration(spec.config)
    order = Order(spec, dataset, batch, full_shape(spec, shape), seed, config, class_name)
    return _recipe(order)(order)


def _recipe(order: Order) -> Callable[[Order], Lesson]:
    for architectures, ending, recipe in _recipes():
        if (order.spec.architecture or "") in architectures.split() and order.class_name.endswith(ending):
            return recipe
    raise Unsupported(
        f"there is no recipe for what a {order.class_name} should learn",
        "name a class for a task in the 'architectures' of its config.json, such as BertForMaskedLM",
    )


def _recipes() -> Iterator[tuple[str, str, Callable[[Order], Lesson]]]:
    """Architectures, how the class's name ends, and the recipe; the first that fits is taken."""
    from modeldyno.models import (
        _lesson_captions,
        _lesson_images,
        _lesson_noise,
        _lesson_pairs,
        _lesson_sounds,
        _lesson_text,
        _lesson_views,
    )

    yield "vision-encoder-text-decoder", "", _lesson_captions.caption
    yield "multimodal", "", _lesson_pairs.matching
    yield "diffusion", "", _lesson_noise.noise
    yield "rag", "", _lesson_text.answer
    yield "speech", "ForConditionalGeneration", _lesson_sounds.transcript
    yield "speech", "ForCTC", _lesson_sounds.aligned_transcript
    yield "speech", "Classification", _lesson_sounds.note
    yield "encoder-decoder mixture-of-experts", "ForConditionalGeneration", _lesson_text.missing_words
    yield "encoder-only", "ForMaskedLM", _lesson_text.masked_words
    yield "decoder-only mixture-of-experts state-space", "ForCausalLM", _lesson_text.next_word
    yield "decoder-only mixture-of-experts state-space", "LMHeadModel", _lesson_text.next_word
    yield "vision", "Classification", _lesson_images.label
    yield "vision", "ForObjectDetection", _lesson_images.boxes
    yield "encoder-only vision speech", "Model", _lesson_views.views
