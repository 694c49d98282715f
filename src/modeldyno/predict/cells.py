"""What is known and what is asked, as cells: a model at work on a device in a certain way, with or without its time."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from modeldyno.core.errors import UnknownName
from modeldyno.core.types import Case
from modeldyno.platforms import PLATFORMS

_YEAR_S = 365.25 * 86400
_VERSION = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Cell:
    """One place of the table that prediction fills."""

    model: str
    """With the name of its part, where a model has several."""
    work: str
    """What is done with one item: workload and shape. Equal models and works are equal work."""
    platform: str
    device: str
    runtime: str
    precision: str
    setting: str = ""
    """Further options that change the speed."""
    version: str = ""
    """Of the package that does most, without its last digits."""
    batch: int = 1
    year: float | None = None
    gflop: float | None = None
    """Billions of operations of one item."""
    activations: float | None = None
    """Millions of values that the layers of one item put out."""
    parameters: float | None = None
    """Millions."""
    size: float | None = None
    """Of the input of one item: pixels, tokens."""
    operators: float | None = None
    """Nodes of the graph that is run, where the runtime tells them."""
    value: float | None = None
    """Milliseconds per item, or what else is predicted; None is a question."""

    @property
    def family(self) -> str:
        """The first word of the name: `resnet` of `resnet50_gn`."""
        found = re.match(r"[a-z]+", self.model.lower())
        return found[0] if found else self.model

    @property
    def way(self) -> tuple[str, ...]:
        """All of how it is run but the device."""
        return (self.platform, self.runtime, self.precision, self.setting, self.version)

    @property
    def place(self) -> tuple[str, ...]:
        return (self.model, self.work, self.device, *self.way)

    def is_on(self, word: str) -> bool:
        """A platform by its name, a device by a part of its."""
        return word.lower() == self.platform.lower() or word.lower() in self.device.lower()

    def asked(self) -> Cell:
        """The same without its value."""
        return replace(self, value=None)


def cell_of(
    case: Case,
    device: str,
    *,
    gflop: float | None = None,
    activations: float | None = None,
    parameters: float | None = None,
    nodes: Mapping[str, int] | None = None,
    software: dict[str, str] | None = None,
    moment: datetime | None = None,
    value: float | None = None,
) -> Cell:
    """The cell of a case; counts of a step are told per step and kept per item."""
    options = dict(case.options)
    part = str(options.pop("component", ""))
    options.pop("compute_unit", None)  # where it came to run is found out by measuring, it cannot be asked for
    shape = " ".join(f"{axis}={size}" for axis, size in sorted(case.shape.items()))
    return Cell(
        model=f"{case.model} {part}".strip(),
        work=f"{case.workload} {shape}".strip(),
        platform=case.platform,
        device=device,
        runtime=case.runtime,
        precision=_same_precisions(case.platform).get(case.precision, case.precision),
        setting=" ".join(f"{name}={value}" for name, value in sorted(options.items())),
        version=_version(software or {}),
        batch=case.batch,
        year=moment.timestamp() / _YEAR_S + 1970 if moment else None,
        gflop=gflop / case.batch if gflop else None,
        activations=activations / case.batch if activations else None,
        parameters=parameters / 1e6 if parameters else None,
        size=float(math.prod(case.shape.values())) if case.shape else None,
        operators=float(sum(nodes.values())) if nodes else None,
        value=value,
    )


@cache
def _same_precisions(platform: str) -> Mapping[str, str]:
    """Stated by platforms with several names for one precision; results may be of one that is not installed."""
    if platform not in PLATFORMS.names():
        return {}
    names: Mapping[str, str] = getattr(PLATFORMS.get(platform), "same_precisions", {})
    return names


def _version(software: dict[str, str]) -> str:
    """Major and minor of torch, where it is the one that computes; others come with a date that tells as much."""
    found = _VERSION.match(software.get("torch", "")) if set(software) <= {"torch", "transformers"} else None
    return found[0] if found else ""


def check_places(cells: Iterable[Cell], words: Iterable[str]) -> None:
    """Raises UnknownName for a word that names neither platform nor device of any cell."""
    known = {(cell.platform, cell.device): cell for cell in cells}
    for word in words:
        if not any(cell.is_on(word) for cell in known.values()):
            raise UnknownName("device or platform", word, {name for place in known for name in place})


def newest(cells: Iterable[Cell]) -> list[Cell]:
    """One cell for each place and batch, the last given."""
    return list({(cell.place, cell.batch): cell for cell in cells}.values())
