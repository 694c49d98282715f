"""The energy counters of the processor packages and their memory (RAPL), summed and unwrapped."""

from __future__ import annotations

from pathlib import Path

from modeldyno.core.protocols import EnergyReading
from modeldyno.platforms._host_cpu import read_text

_POWERCAP = Path("sys/class/powercap")


class RaplCounter:
    """Joules of all packages and DRAM zones since the first reading.

    A counter that wraps twice between two readings loses a range: about 20 minutes at 200 W.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._zones: dict[Path, int] | None = None
        self._last: dict[Path, int] = {}
        self._total_uj = 0

    def read(self) -> EnergyReading | None:
        """None where no counter is there or may be read (most kernels allow only root)."""
        if self._zones is None:
            self._zones = _zones(self._root / _POWERCAP)
        now = {zone: value for zone in self._zones if (value := _number(zone / "energy_uj")) is not None}
        if not now or len(now) != len(self._zones):
            return None
        for zone, value in now.items():
            self._total_uj += self._used(zone, value)
        self._last = now
        return EnergyReading(joules=self._total_uj / 1e6, source="counter")

    def _used(self, zone: Path, value: int) -> int:
        assert self._zones is not None
        used = value - self._last.get(zone, value)
        return used if used >= 0 else used + self._zones[zone]


def _zones(folder: Path) -> dict[Path, int]:
    """Readable zones with the range at which each wraps.

    Sub-zones `core` and `uncore` lie inside their package, `psys` around it: only packages and `dram` add up.
    The same zones may appear again as intel-rapl-mmio."""
    zones = {}
    for zone in sorted(folder.glob("intel-rapl:*")):
        name = read_text(zone / "name") or ""
        if not (name.startswith("package") or name == "dram") or _number(zone / "energy_uj") is None:
            continue
        zones[zone] = _number(zone / "max_energy_range_uj") or 2**32
    return zones


def _number(path: Path) -> int | None:
    text = read_text(path)
    return int(text) if text is not None and text.isdigit() else None
