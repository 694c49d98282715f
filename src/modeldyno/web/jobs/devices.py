"""Which devices cases need for themselves, told apart by what they are and not by the platform that drives them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from modeldyno.core.types import Case, Device, Probe
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.plan import make_plan


@cache
def probe(platform: str) -> Probe:
    """Looked at once: hardware does not come and go while a server runs, and looking takes time from measurements."""
    return PLATFORMS.get(platform).probe()


def needed(cases: Iterable[Case]) -> tuple[str, ...]:
    """The devices of the cases that can run here."""
    runnable = (case for group in make_plan(cases).groups for case in group)
    return tuple(sorted({_key(probe(case.platform), case.index) for case in runnable}))


def _key(found: Probe, index: int) -> str:
    """Two platforms that drive one processor name it alike; equal cards of one platform are counted."""
    if index >= len(found.devices):  # it came after the first look
        return f"{found.platform}:{index}"
    device: Device = found.devices[index]
    fellows = [other for other in found.devices[:index] if other.name == device.name]
    return f"{device.name} #{len(fellows)}"
