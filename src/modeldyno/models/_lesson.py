"""One lesson: batches with something to learn in them, and the library's own loss on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.datasets import Draw, find
from modeldyno.models._inputs import model_inputs
from modeldyno.models._resolve import ModelSpec

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

    Tensors = Mapping[str, Any]

VALIDATION_BATCHES = 4


@dataclass(frozen=True)
class Graded:
    """The loss of one batch, and how many of its answers were right where that was asked and can be said."""

    loss: Any
    """A tensor of one value on the model's device."""
    right: int | None = None
    of: int | None = None


def library_loss(model: Any, tensors: Tensors) -> Any:
    """Models of transformers bring their loss along with their outputs when they get labels."""
    return model(**tensors)


@dataclass(frozen=True)
class Lesson:
    """One model with one data set at one batch size and shape."""

    dataset: str
    task: str
    seed: int
    make: Callable[[Draw], Arrays] = field(repr=False)
    """The arrays of one batch, labels included."""
    answer: Callable[[Any, Tensors], Any] = field(default=library_loss, repr=False)
    """Runs the model on a batch; what it gives back has the loss."""
    mark: Callable[[Any, Tensors], tuple[int, int]] | None = field(default=None, repr=False)
    """How many answers were right, of how many."""
    tokens: int | None = None
    """Tokens that one batch sends through the model, encoder and decoder together; None where there are none."""
    least: int = 1
    """Fewest items that a batch of it can have."""
    heads: tuple[str, ...] = ()
    """Parts of parameter names that belong to the head though they lie inside the model's body."""

    def batch(self, step: int) -> Arrays:
        """The batch of one step of training, a pure function of seed and step."""
        return self.make(Draw(self.seed, step))

    def validation(self) -> list[Arrays]:
        """Batches of held-out examples, always the same."""
        return [self.make(Draw(self.seed, number, held_out=True)) for number in range(VALIDATION_BATCHES)]

    def forward(self, model: Any, tensors: Tensors, grade: bool = False) -> Graded:
        """Run the library's own model, in training or evaluation mode as it is. Grading waits for the device."""
        outputs = self.answer(model, tensors)
        if not grade or self.mark is None:
            return Graded(outputs.loss)
        right, of = self.mark(outputs, tensors)
        return Graded(outputs.loss, right, of)

    def head(self, model: Any) -> frozenset[str]:
        """Names of the parameters that turn what the model's body knows into answers to this task."""
        body = f"{getattr(model, 'base_model_prefix', '')}."
        names = [name for name, _ in model.named_parameters()]
        in_body = any(name.startswith(body) for name in names)
        found = {name for name in names if in_body and not name.startswith(body)}
        found |= {name for name in names if any(part in name for part in self.heads)}
        found |= _word_scores(model)
        if not found:
            raise Unsupported("this model has no head apart from its body", "train the whole model")
        return frozenset(found)


def _word_scores(model: Any) -> set[str]:
    """The matrix that scores words; it often is the same as the one that reads them, under that name."""
    scores = model.get_output_embeddings() if hasattr(model, "get_output_embeddings") else None
    return {name for name, p in model.named_parameters() if p is getattr(scores, "weight", None)}


@dataclass(frozen=True)
class Order:
    """What a lesson is asked for."""

    spec: ModelSpec
    dataset: str | None
    batch: int
    shape: Mapping[str, int]
    seed: int
    config: Any
    class_name: str

    def inputs(self) -> Arrays:
        """Valid inputs of the right sizes with nothing to learn in them, which a lesson fills."""
        return model_inputs(self.spec, self.batch, self.shape, self.seed)

    def examples(self, default: str, ability: type[Any], wanted: str) -> Any:
        """The data set asked for. Raises InputError where it does not have what this model learns from."""
        name = self.dataset or default
        found = find(name)
        if not isinstance(found, ability):
            raise InputError(f"'{self.spec.name}' learns from {wanted}, which '{name}' does not have; use '{default}'.")
        return found
