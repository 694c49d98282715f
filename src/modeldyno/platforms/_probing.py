"""What every platform file needs for probing and refusing: an absent answer, a probe that cannot raise."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case, Device, Probe

MB = 2**20
"""Bytes per MB throughout: Device.fingerprint divides by 1024 to get GB."""


def absent(platform: str, reason: str, remedy: str) -> Probe:
    return Probe(platform=platform, reason=reason, remedy=remedy)


def safely(platform: str, look: Callable[[], Probe]) -> Probe:
    """The answer of `look`; whatever it raises becomes the reason."""
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - probe() never raises, whatever a vendor's library throws
        return absent(
            platform,
            f"looking for {platform} devices failed: {one_line(error)}",
            f"mend what the message names, or leave {platform} out; if it is a fault of modeldyno, report it",
        )


def one_line(error: BaseException) -> str:
    """The error as one line; vendors' messages run over many."""
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:300]}" if text else type(error).__name__


def refuse_runtime(platform: str, runtimes: Sequence[str], case: Case) -> str | None:
    if case.runtime in runtimes:
        return None
    return f"runtime {case.runtime} cannot drive {platform}; it runs with {', '.join(runtimes)}"


def device_at(probe: Probe, index: int) -> Device:
    """Device `index` of a probe; Unsupported with the probe's own reason where there is none."""
    if not probe.present:
        raise Unsupported(probe.reason or f"{probe.platform} has no device here", probe.remedy)
    if not 0 <= index < len(probe.devices):
        raise no_such_index(probe.platform, index, len(probe.devices))
    return probe.devices[index]


def no_such_index(platform: str, index: int, count: int) -> Unsupported:
    known = ", ".join(f"{platform}:{i}" for i in range(count))
    return Unsupported(f"there is no device {platform}:{index} here", f"choose one of {known}")
