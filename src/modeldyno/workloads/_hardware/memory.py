"""Probes of the device's own memory: reading, writing, and both at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from modeldyno.core.types import Check, Device, Verdict
from modeldyno.platforms._host_cpu import read_text, usable_cores
from modeldyno.workloads._hardware.place import MB, Place, Ready, few, on_host

BEYOND_CACHE = 3.0
"""So many times the last-level cache must be moved, or the cache answers for the memory."""
_ROWS = 256
_WRITTEN = 7
_CPUS = Path("/sys/devices/system/cpu")


def read(place: Place, megabytes: int) -> Ready:
    """The largest number of each row, which lies at its very end. Whole numbers: floats would be searched for NaN."""
    torch = place.torch
    source = place.filled(megabytes, place.address)
    rows = source.view(torch.int32).view(_ROWS, -1)
    low = torch.iinfo(torch.int32).max - _ROWS
    rows[:, -1] = torch.arange(low, low + _ROWS, dtype=torch.int32, device=place.address)
    largest = torch.empty(_ROWS, dtype=torch.int32, device=place.address)
    checks, details = _beyond_cache(place, source.nbytes)
    return Ready(
        step=lambda: torch.amax(rows, 1, out=largest),
        work={"moved_gb": source.nbytes / 1e9},
        result=source,
        outputs=lambda: {"largest": on_host(largest - low)},
        expected={"largest": on_host(torch.arange(_ROWS))},
        checks=checks,
        details=details,
    )


def write(place: Place, megabytes: int) -> Ready:
    """Four bytes at a time in every number format: the shorter ones are filled more slowly than memory takes them."""
    count = megabytes * MB // place.dtype.itemsize
    target = place.torch.zeros(count, dtype=place.dtype, device=place.address)
    whole = target.view(place.torch.int32)
    checks, details = _beyond_cache(place, target.nbytes)
    return Ready(
        step=lambda: whole.fill_(_WRITTEN),
        work={"moved_gb": target.nbytes / 1e9},
        result=target,
        outputs=lambda: {"written": few(whole)},
        expected={"written": few(whole) + _WRITTEN},  # zeros now
        checks=checks,
        details=details,
    )


def copy(place: Place, megabytes: int) -> Ready:
    source = place.filled(megabytes, place.address)
    target = place.torch.zeros_like(source)
    moved = 2 * source.nbytes
    checks, details = _beyond_cache(place, moved)
    return Ready(
        step=lambda: target.copy_(source),
        work={"moved_gb": moved / 1e9},
        result=target,
        outputs=lambda: {"copy": few(target)},
        expected={"copy": few(source)},
        checks=checks,
        details=details,
    )


def _beyond_cache(place: Place, moved: int) -> tuple[tuple[Check, ...], Mapping[str, float]]:
    """Whether the memory answered, and the size of the cache; nothing where nobody tells that."""
    cache_mb = last_level_cache_mb(place.session.device, place.on_host)
    if cache_mb is None:
        return (), {}
    times = moved / MB / cache_mb
    good = times >= BEYOND_CACHE
    check = Check(
        name="beyond_cache",
        value=round(times, 2),
        limit=BEYOND_CACHE,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else "the last-level cache holds much of it: this is no rate of the memory, move more",
    )
    return (check,), {"last_level_cache_mb": cache_mb}


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
