"""Published figures of devices, with their sources, for what nobody has measured yet."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from modeldyno.core.names import occurs


@dataclass(frozen=True)
class Specification:
    """What the maker says of a device."""

    device: str
    names: tuple[str, ...]
    """How results call it, in lower case; the longest that occurs in a device's name counts."""
    kind: str
    compute_tflops: float
    """Single precision, without tensor cores."""
    compute16_tflops: float
    """Half precision, dense, summed in single precision."""
    bandwidth_gb_per_s: float
    cache_mb: float
    memory_gb: float | None
    source: str

    def peak_tflops(self, precision: str) -> float:
        return self.compute_tflops if precision in ("fp32", "unstated") else self.compute16_tflops


@cache
def specifications() -> tuple[Specification, ...]:
    with (Path(__file__).parent / "specifications.csv").open(newline="") as file:
        return tuple(map(_read, csv.DictReader(file)))


@cache
def specification(device: str) -> Specification | None:
    """The one whose name occurs in that of the device."""
    found = [(len(name), one) for one in specifications() for name in one.names if occurs(name, device)]
    return max(found, key=lambda pair: pair[0])[1] if found else None


def _read(row: dict[str, str]) -> Specification:
    return Specification(
        device=row["device"],
        names=tuple(row["names"].split(";")),
        kind=row["kind"],
        compute_tflops=float(row["compute_tflops"]),
        compute16_tflops=float(row["compute16_tflops"]),
        bandwidth_gb_per_s=float(row["bandwidth_gb_per_s"]),
        cache_mb=float(row["cache_mb"]),
        memory_gb=float(row["memory_gb"]) if row["memory_gb"] else None,
        source=row["source"],
    )
