"""Makes tokens with the two graphs of a model; the runtimes only say how one graph runs."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from modeldyno.core.types import Placement

if TYPE_CHECKING:
    import numpy as np

    from modeldyno.core.protocols import Arrays

_MB = 2**20
_PAST, _PRESENT = "past.", "present."


def is_kept(name: str) -> bool:
    """Whether an input or output of a graph carries what is kept from token to token."""
    return name.startswith((_PAST, _PRESENT))


class Names:
    """The names that count among those a runtime knows an input or output by."""

    def __init__(self, prompt: Container[str]) -> None:
        self._prompt = prompt

    def __contains__(self, name: object) -> bool:
        return name in self._prompt or name in ("input_ids", "token", "logits") or is_kept(str(name))


class Graph(Protocol):
    """One graph in a runtime's hands. Its values are the runtime's own and stay where it keeps them."""

    inputs: tuple[str, ...]

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The outputs by name; they stay as they are until the run after the next."""
        ...

    def value(self, array: np.ndarray[Any, Any]) -> Any: ...

    def array(self, value: Any) -> np.ndarray[Any, Any]:
        """On the host."""
        ...

    def size(self, value: Any) -> int:
        """In bytes."""
        ...

    def placement(self, given: Mapping[str, Any]) -> Placement: ...


class GraphDecoder:
    """What one step gives as `present.X` the next takes as `past.X`, untouched."""

    def __init__(self, prefill: Graph, decode: Graph, prompt: Arrays, load_ms: float) -> None:
        self.load_ms = load_ms
        self._prefill, self._decode = prefill, decode
        self._prompt = {name: prefill.value(array) for name, array in prompt.items()}
        self._kept: dict[str, Any] = {}
        self._last: dict[str, Any] = {}

    def prefill(self) -> Sequence[int]:
        self._kept = {}
        return self._go(self._prefill, self._prompt)

    def decode(self) -> Sequence[int]:
        return self._go(self._decode, self._step())

    def force(self, tokens: Sequence[int]) -> None:
        import numpy as np

        self._last["token"] = self._decode.value(np.array(tokens, dtype=np.int64)[:, None])

    def scores(self) -> np.ndarray[Any, Any]:
        import numpy as np

        return self._decode.array(self._last["logits"])[:, -1].astype(np.float32)

    def cache_mb(self) -> float:
        return sum(self._decode.size(value) for name, value in self._kept.items() if name not in self._prompt) / _MB

    def placement(self) -> Placement:
        """Of a step that takes one token more."""
        self.prefill()
        return self._decode.placement(self._step())

    def _step(self) -> dict[str, Any]:
        """What the second graph takes now: of the prompt only what no step has replaced, such as a mask."""
        kept = {**self._prompt, **self._kept}
        past = {name: kept[name.removeprefix(_PAST)] for name in self._decode.inputs if name.startswith(_PAST)}
        return {"input_ids": self._last["token"], **past}

    def _go(self, graph: Graph, given: Mapping[str, Any]) -> list[int]:
        self._last = graph.run({name: given[name] for name in graph.inputs})
        for name in [name for name in self._last if name.startswith(_PRESENT)]:
            self._kept[name.removeprefix(_PRESENT)] = self._last.pop(name)
        tokens: list[int] = self._decode.array(self._last["token"])[:, -1].tolist()
        return tokens
