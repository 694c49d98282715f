"""What making tokens one after the other needs of a model and of a runtime."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from modeldyno.core.protocols import Reference, Session
from modeldyno.core.types import Case, ModelInfo, Placement

if TYPE_CHECKING:
    import numpy as np

    from modeldyno.core.protocols import Arrays


class DecodingSource(Protocol):
    """A model with prompts of one length and the number of tokens to make, ready for any runtime."""

    info: ModelInfo
    build_ms: float
    new_tokens: int

    def prompt(self) -> Arrays:
        """The inputs of the model up to the first new token; equal for equal cases."""
        ...

    def path(self) -> np.ndarray[Any, Any]:
        """Tokens to go along in place of the chosen ones when outputs are checked: batch x the tokens checked."""
        ...

    def torch_model(self) -> Any:
        """The library's own model in fp32 on the CPU in evaluation mode."""
        ...

    def graphs(self) -> DecodingGraphs:
        """The model as ONNX graphs with the kept keys and values as inputs and outputs. Raises Unsupported."""
        ...

    def reference(self) -> Reference:
        """Scores of the first token and of those along the path, computed in one pass without kept keys and values."""
        ...

    def rounding(self, precision: str) -> dict[str, float]:
        """Per output, how far PyTorch on the CPU in this precision is from the reference; empty where unknown."""
        ...


@dataclass(frozen=True)
class DecodingGraphs:
    """Two ONNX graphs: one reads the prompt, the other takes one token more.

    Both give `logits` (batch x 1 x vocabulary), the likeliest `token` (batch x 1) and what is kept as `present.X`; the
    second takes `input_ids` (batch x 1) and each `past.X`: the last `present.X`, or X of the prompt where no graph has
    given one yet. Lengths of the past are free."""

    prefill: Path
    decode: Path

    @classmethod
    def of(cls, folder: Path) -> DecodingGraphs:
        """Where they lie in the folder that was made for them."""
        return cls(folder / "prefill.onnx", folder / "decode.onnx")


class Decoder(Protocol):
    """A model on a device that makes tokens one after the other and keeps keys and values of those before."""

    load_ms: float

    def prefill(self) -> Sequence[int]:
        """Forget what was, read the prompts, choose the first token of each sequence (the likeliest) and hand it to
        the host."""
        ...

    def decode(self) -> Sequence[int]:
        """The next token of each sequence, on the host."""
        ...

    def force(self, tokens: Sequence[int]) -> None:
        """Go on with these instead of the tokens chosen last."""
        ...

    def scores(self) -> np.ndarray[Any, Any]:
        """Of the last position, batch x vocabulary, as fp32 on the host."""
        ...

    def cache_mb(self) -> float | None:
        """Memory of the keys and values that are kept now; None where the runtime hides them."""
        ...

    def placement(self) -> Placement: ...


@runtime_checkable
class Decodes(Protocol):
    """A runtime that can make tokens one after the other."""

    def prepare_decoder(self, source: DecodingSource, precision: str) -> None:
        """Make and cache what loading needs, in a process of its own."""
        ...

    def load_decoder(self, source: DecodingSource, session: Session, case: Case) -> Decoder: ...


@runtime_checkable
class OffersCaches(Protocol):
    """A runtime that can keep keys and values in more ways than letting them grow."""

    caches: tuple[str, ...]
    """Values of the option `cache` that it understands, its own choice first."""
