"""What the hardware workload measures in place of models: each probe does one thing only, in a known amount."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Session, Step
from modeldyno.core.types import Check, Device, Verdict
from modeldyno.platforms._host_cpu import read_text, usable_cores

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

MB = 2**20
BEYOND_CACHE = 3.0
"""So many times the last-level cache a copy must be, or the cache answers for the memory."""
SLOW_STEP_S = 1.0
"""A product that would take longer is left out; the rate levels off long before."""
_TRIAL_SIZE = 512
_TELLING_S = 0.01
"""A product that takes so long does not show what starting it takes."""
_CORNER = 8
"""Rows and columns of a product that are checked."""
_CHAIN_VALUES = 64
_BLOCK = 2**16
_CPUS = Path("/sys/devices/system/cpu")


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
    """The tensor that a step leaves behind."""
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


def _matmul(place: Place, size: int) -> Ready:
    _refuse_slow(place, size)
    torch = place.torch
    left, right = place.values(size, size), place.values(size, size)
    product = torch.empty(size, size, dtype=place.dtype, device=place.address)
    corner = left[:_CORNER].cpu().double() @ right[:, :_CORNER].cpu().double()
    return Ready(
        step=lambda: torch.mm(left, right, out=product),
        work={"compute_gflop": 2 * size**3 / 1e9, "moved_gb": 3 * size**2 * place.dtype.itemsize / 1e9},
        result=product,
        outputs=lambda: {"product": _on_host(product[:_CORNER, :_CORNER])},
        expected={"product": corner.numpy().ravel()},
    )


def _refuse_slow(place: Place, size: int) -> None:
    """From smaller products, what this one would take; they grow until one tells more than what starting it takes."""
    trial, took, seconds = _TRIAL_SIZE, 0.0, 0.0
    while trial < size and took < _TELLING_S:
        took = _product_s(place, trial)
        seconds = took * (size / trial) ** 3
        if seconds <= SLOW_STEP_S:
            return
        trial *= 2
    if seconds > SLOW_STEP_S:
        raise Unsupported(
            f"one product of this size would take about {seconds:.1f} s here", "the smaller sizes are enough"
        )


def _product_s(place: Place, size: int) -> float:
    left = place.values(size, size)
    product = place.torch.empty_like(left)
    return min(place.session.lap(lambda: place.torch.mm(left, left, out=product), 1).host_ns for _ in range(3)) / 1e9


def _copy(place: Place, megabytes: int) -> Ready:
    source = place.filled(megabytes, place.address)
    target = place.torch.zeros_like(source)
    moved = 2 * source.nbytes
    cache_mb = last_level_cache_mb(place.session.device, place.on_host)
    return Ready(
        step=lambda: target.copy_(source),
        work={"moved_gb": moved / 1e9},
        result=target,
        outputs=lambda: {"copy": _few(target)},
        expected={"copy": _few(source)},
        checks=() if cache_mb is None else (_beyond_cache(moved / MB / cache_mb),),
        details={} if cache_mb is None else {"last_level_cache_mb": cache_mb},
    )


def _beyond_cache(times: float) -> Check:
    good = times >= BEYOND_CACHE
    return Check(
        name="beyond_cache",
        value=round(times, 2),
        limit=BEYOND_CACHE,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else "the last-level cache holds much of it: this is no rate of the memory, copy more",
    )


def last_level_cache_mb(device: Device, on_host: bool) -> float | None:
    """As the device tells it, or the kernel for the host's own processor; None where nobody does."""
    told = device.details.get("l2_bytes")
    if isinstance(told, int | float) and told > 0:
        return float(told) / MB
    return _host_cache_mb() if on_host else None


def _host_cache_mb() -> float | None:
    """The caches of the last level that the allowed cores have between them, each counted once."""
    caches: dict[tuple[str, str], int] = {}
    for core in usable_cores():
        for folder in (_CPUS / f"cpu{core}" / "cache").glob("index*"):
            level, shared, size = (read_text(folder / name) or "" for name in ("level", "shared_cpu_list", "size"))
            if size.endswith("K") and size[:-1].isdecimal():
                caches[level, shared] = int(size[:-1])
    last = max((level for level, _ in caches), default="")
    return sum(size for (level, _), size in caches.items() if level == last) / 1024 or None


def _launch(place: Place, count: int) -> Ready:
    values = place.values(_CHAIN_VALUES)
    start = values.clone()

    def step() -> None:
        for _ in range(count):
            values.neg_()

    def once() -> Arrays:
        values.copy_(start)
        step()
        return {"chain": _on_host(values)}

    expected = {"chain": _on_host(start if count % 2 == 0 else -start)}
    return Ready(step=step, work={"launches": float(count)}, result=values, outputs=once, expected=expected)


def _to_device(place: Place, megabytes: int) -> Ready:
    host, pinned = _host_values(place, megabytes)
    target = place.torch.zeros_like(host, device=place.address)
    return _transfer(host, target, target, pinned)


def _from_device(place: Place, megabytes: int) -> Ready:
    host, pinned = _host_values(place, megabytes)
    source = place.filled(megabytes, place.address)
    return _transfer(source, host, source, pinned)


def _transfer(source: Any, target: Any, on_device: Any, pinned: bool) -> Ready:
    return Ready(
        step=lambda: target.copy_(source, non_blocking=True),
        work={"moved_gb": source.nbytes / 1e9},
        result=on_device,
        outputs=lambda: {"copy": _few(target)},
        expected={"copy": _few(source)},
        details={"pinned": pinned},
    )


def _host_values(place: Place, megabytes: int) -> tuple[Any, bool]:
    """Values in the host's memory, in pages that the device can read by itself where there is such a thing."""
    if place.on_host:
        raise Unsupported("the processor has no memory apart from the host's", "use a device with its own memory")
    values = place.filled(megabytes, None)  # the host is where torch works unless told otherwise
    try:
        return values.pin_memory(), True
    except (RuntimeError, NotImplementedError):
        return values, False


def _few(values: Any) -> Any:
    """Some hundred values from all over a large tensor; the odd stride meets another place of each repeated block."""
    return _on_host(values[:: values.numel() // 256 | 1])


def _on_host(values: Any) -> Any:
    return values.float().cpu().numpy().ravel().copy()


PROBES: dict[str, HardwareProbe] = {
    "matmul": HardwareProbe("size", (1024, 2048, 4096, 8192), _matmul),
    "copy": HardwareProbe("mb", (512, 1024), _copy),
    "launch": HardwareProbe("launches", (100, 400), _launch),
    "to-device": HardwareProbe("mb", (64, 256), _to_device),
    "from-device": HardwareProbe("mb", (64, 256), _from_device),
}
