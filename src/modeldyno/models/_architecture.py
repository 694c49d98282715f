"""What an architecture offers, what a catalogue entry says, and how sizes are named."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    from modeldyno.core.protocols import Arrays

    Rng = np.random.Generator

FAMILIES = ("embedding", "text_generation", "vision", "audio", "multimodal")

_SIZE_LIMITS = (
    ("tiny", 40_000_000),
    ("small", 80_000_000),
    ("base", 300_000_000),
    ("large", 1_000_000_000),
    ("xl", 5_000_000_000),
)
SIZES = (*(name for name, _ in _SIZE_LIMITS), "xxl")
"""From small to large."""


def words(text: str) -> frozenset[str]:
    """The words of a text, for tables that are only names."""
    return frozenset(text.split())


def size_class(parameters: int) -> str:
    """The name of a size: tiny, small, base, large, xl or xxl."""
    return next((name for name, limit in _SIZE_LIMITS if parameters < limit), SIZES[-1])


@dataclass(frozen=True)
class Entry:
    """A model of the catalogue: its name and the configuration it is built from."""

    name: str
    config: Mapping[str, Any] = field(hash=False)
    """What its config.json would say: `model_type`, `architectures`, and what differs from the defaults."""
    family: str
    parameters: int
    """Of the model class named in the configuration; tied weights count once."""
    hf_id: str | None = None
    """The published checkpoint; absent for a shape without one."""
    aliases: tuple[str, ...] = ()
    model_class: str | None = None
    """The key class it belongs to, e.g. `bert`."""
    axes: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Default sizes that differ from the architecture's."""
    tiny: bool = False
    """True for the small sibling that stands in for its class in tests."""

    @property
    def names(self) -> tuple[str, ...]:
        """Everything it answers to."""
        return (self.name, *([self.hf_id] if self.hf_id else []), *self.aliases)

    @property
    def size(self) -> str:
        return size_class(self.parameters)


@dataclass(frozen=True)
class ExportHints:
    """What an ONNX export of this model needs beyond the ordinary."""

    constants: frozenset[str] = frozenset()
    """Inputs the graph depends on in its structure; they are baked in and vanish from the graph's inputs."""
    legacy: bool = False
    """True where only the tracing exporter can follow the model."""
    any_batch: bool = True
    """False where the graph depends on the batch size, so that each needs an export of its own."""


class Architecture(Protocol):
    """One of the eleven architectures."""

    name: str
    family: str
    """The family of its models where neither entry nor model type says otherwise."""
    entries: tuple[Entry, ...]
    model_types: frozenset[str]
    auto_class: str
    """Class to build where the configuration names none."""
    axes: Mapping[str, int]
    """Sizes beyond the batch, with defaults."""

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        """Valid inputs for one step, equal for equal generators. Raises Unsupported beyond the model's limits."""
        ...


@runtime_checkable
class HasOwnAxes(Protocol):
    """An architecture whose sizes differ from model to model."""

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]: ...


@runtime_checkable
class NamesFamily(Protocol):
    """An architecture whose models belong to several families."""

    def family_of(self, model_type: str) -> str: ...


@runtime_checkable
class HintsExport(Protocol):
    """An architecture with models that do not export in the ordinary way."""

    def export_hints(self, model_type: str) -> ExportHints: ...


@runtime_checkable
class Adapts(Protocol):
    """An architecture whose step is more than one call of the library's own class."""

    def adapt(self, model: Any) -> Any:
        """A module that computes one step with `model`."""
        ...


@runtime_checkable
class CountsByParts(Protocol):
    """An architecture whose whole forward pass cannot be traced without values."""

    def parts(self, model: Any, inputs: Mapping[str, Any]) -> Sequence[Callable[[], Any]] | None:
        """Calls that together make one step; None where the whole pass can be traced."""
        ...


@runtime_checkable
class RunsTokenByToken(Protocol):
    """An architecture with models that walk along the sequence."""

    def is_linear(self, model_type: str) -> bool:
        """True where the work is a constant plus a fixed amount per token."""
        ...


def config_axes(architecture: Architecture, config: Mapping[str, Any]) -> dict[str, int]:
    if isinstance(architecture, HasOwnAxes):
        return architecture.axes_of(config)
    return dict(architecture.axes)


def config_family(architecture: Architecture, model_type: str) -> str:
    if isinstance(architecture, NamesFamily):
        return architecture.family_of(model_type)
    return architecture.family


def hints_of(architecture: Architecture, model_type: str) -> ExportHints:
    if isinstance(architecture, HintsExport):
        return architecture.export_hints(model_type)
    return ExportHints()


def is_linear(architecture: object, model_type: str) -> bool:
    return isinstance(architecture, RunsTokenByToken) and architecture.is_linear(model_type)


def parts_of(architecture: object, model: Any, inputs: Mapping[str, Any]) -> Sequence[Callable[[], Any]] | None:
    return architecture.parts(model, inputs) if isinstance(architecture, CountsByParts) else None
