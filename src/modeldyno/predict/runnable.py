"""The command that measures a cell on this machine, where that is possible."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from functools import cache

from modeldyno import models
from modeldyno.core.errors import InputError
from modeldyno.core.types import Device, Precision
from modeldyno.platforms import PLATFORMS
from modeldyno.predict.cells import Cell
from modeldyno.runtimes import RUNTIMES

_USUAL = "inference"


def devices_here() -> tuple[Device, ...]:
    """As `dyno detect` finds them, without emulators."""
    found = (device for platform in PLATFORMS.all() for device in platform.probe().devices)
    return tuple(device for device in found if not device.emulated)


def run_command(cell: Cell, here: Iterable[Device]) -> str | None:
    """None where the device is not here, or where model, runtime or precision come from elsewhere."""
    device = next((one for one in here if (one.platform, one.name) == (cell.platform, cell.device)), None)
    if device is None or cell.runtime not in RUNTIMES.names() or cell.precision not in list(Precision):
        return None
    if not _can_be_built(cell.model):
        return None
    workload, *sizes = cell.work.split()
    words = ["dyno", "run", cell.model, "--on", device.address, "--runtime", cell.runtime]
    words += ["--precision", cell.precision, "--batch", str(cell.batch)]
    words += ["--workload", workload] if workload != _USUAL else []
    words += [word for size in sizes for word in ("--shape", size)]
    words += [word for option in cell.setting.split() for word in ("--option", option)]
    return shlex.join(words)


@cache
def _can_be_built(model: str) -> bool:
    try:
        models.resolve(model)
    except InputError:
        return False
    return True


def first_commands(known: Iterable[str], here: Sequence[Device], most: int = 3) -> list[str]:
    """What to run where too little is known: a model of each of a few families that was never measured."""
    seen = set(known)
    fresh: dict[str, models.Entry] = {}
    for entry in models.catalogue():
        if not entry.tiny and seen.isdisjoint(entry.names):
            best = fresh.setdefault(entry.family, entry)
            fresh[entry.family] = min(best, entry, key=lambda one: one.parameters)
    platforms = ",".join(dict.fromkeys(device.platform for device in here)) or "auto"
    chosen = sorted(fresh.values(), key=lambda entry: entry.parameters)[:most]
    return [f"dyno run {entry.name} --on {platforms} --runtime all" for entry in chosen]
