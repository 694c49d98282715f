"""Where a probe works, what a probe is, and what one gives when it is ready."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldyno.core.protocols import Session, Step
from modeldyno.core.types import Check

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

MB = 2**20
_BLOCK = 2**16


@dataclass(frozen=True)
class Place:
    """Where and in which number format a probe works."""

    torch: Any
    session: Session
    address: str
    dtype: Any

    @property
    def on_host(self) -> bool:
        return bool(self.torch.device(self.address).type == self.torch.get_default_device().type)

    def values(self, *shape: int) -> Any:
        return self.torch.randn(*shape, device=self.address).to(self.dtype)

    def filled(self, megabytes: int, address: str | None) -> Any:
        """So much memory full of values; a block of them repeated, since drawing them all would take seconds."""
        count = megabytes * MB // self.dtype.itemsize
        return self.torch.randn(_BLOCK, device=address).to(self.dtype).repeat(count // _BLOCK)


@dataclass(frozen=True)
class Ready:
    """A probe on its device."""

    step: Step
    work: Mapping[str, float]
    """What one step does, by the metric that says it."""
    result: Any
    """A tensor that shows where a step works and in which number format."""
    outputs: Callable[[], Arrays]
    expected: Arrays
    checks: tuple[Check, ...] = ()
    details: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True)
class HardwareProbe:
    """One thing that a device can do."""

    axis: str
    sizes: tuple[int, ...]
    """The sizes to measure unless others are asked for; several, so that it shows whether the rate has levelled off."""
    make: Callable[[Place, int], Ready]


def few(values: Any) -> Any:
    """Some hundred values from all over a large tensor; the odd stride meets another place of each repeated block."""
    return on_host(values[:: values.numel() // 256 | 1])


def on_host(values: Any) -> Any:
    return values.float().cpu().numpy().ravel().copy()
