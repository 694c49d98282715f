"""What a file is to be about, and the one case that this means."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from modeldyno import models
from modeldyno.advise.generate.quote import plain, slug
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.protocols import Platform
from modeldyno.core.types import Case
from modeldyno.models import ModelSpec, SourceKind
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.suite import AUTO, Block, expand, probes_of
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads import WORKLOADS


@dataclass(frozen=True)
class Wanted:
    """The words of whoever asks."""

    model: str
    """Catalogue name, Hugging Face id, folder or file."""
    platform: str
    """Or a device of it: `cuda:1`."""
    workload: str = "inference"
    runtime: str | None = None
    """The platform's first, where none is named."""
    precision: str = "fp32"
    batch: int = 1
    shape: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Sizes beyond the batch; those of the model where none are named."""


@dataclass(frozen=True)
class Subject:
    """What was wanted, found: the case and all that is known of it without measuring."""

    spec: ModelSpec
    case: Case
    platform: Platform

    @property
    def names(self) -> tuple[str, ...]:
        """Under which results of the model may be stored."""
        return self.spec.entry.names if self.spec.entry else tuple(dict.fromkeys((self.spec.name, self.case.model)))

    @property
    def title(self) -> str:
        """One line of harmless letters."""
        case = self.case
        sizes = [f"{axis} {size}" for axis, size in case.shape.items()]
        words = [case.workload, f"of {Path(case.model).name} on {case.target} with {case.runtime}", case.precision]
        return plain(" ".join([*words, f"batch {case.batch}", *sizes]))[:110]

    @property
    def slug(self) -> str:
        case = self.case
        return slug(f"{Path(case.model).name[:30]} {case.platform} {case.workload} {case.runtime} {case.precision}")

    @property
    def command(self) -> str:
        """What measures the case."""
        case = self.case
        words = ["dyno", "run", case.model, "--on", case.target, "--workload", case.workload]
        words += ["--runtime", self.runtime_word, "--precision", case.precision, "--batch", str(case.batch)]
        words += [word for axis, size in case.shape.items() for word in ("--shape", f"{axis}={size}")]
        return shlex.join(words)

    @property
    def runtime_word(self) -> str:
        """For a suite or a command, which know no runtime that this version cannot run."""
        return self.case.runtime if self.case.runtime in RUNTIMES.names() else AUTO

    @property
    def obstacle(self) -> str | None:
        """Why this version cannot run it anywhere."""
        return self.platform.refuses(self.case)


def find_subject(wanted: Wanted) -> Subject:
    """Raises UnknownName or InputError for what cannot be meant."""
    platform = PLATFORMS.get(wanted.platform.partition(":")[0])
    WORKLOADS.get(wanted.workload)
    if probes_of(wanted.workload):
        raise InputError(f"The workload {wanted.workload} is about devices, not models; choose another.")
    if wanted.runtime is not None and wanted.runtime not in platform.runtimes:
        raise UnknownName(f"runtime of {platform.name}", wanted.runtime, platform.runtimes)
    spec = models.resolve(wanted.model)
    case = _case(wanted, platform)
    if unknown := [axis for axis in wanted.shape if axis not in case.shape]:
        raise UnknownName(f"size of {wanted.model}", unknown[0], case.shape)
    return Subject(spec, case.model_copy(update={"model": _whole_name(spec, wanted.model)}), platform)


def _case(wanted: Wanted, platform: Platform) -> Case:
    runtime = wanted.runtime if wanted.runtime != platform.runtimes[0] else None
    try:
        block = Block(
            model=[wanted.model],
            on=[wanted.platform],
            runtime=[runtime or AUTO],
            workload=[wanted.workload],
            precision=[wanted.precision],
            batch=[wanted.batch],
            shape={axis: [size] for axis, size in wanted.shape.items()},
        )
        cases = list(expand(block))
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(str(part) for part in wrong["loc"])
        raise InputError(f"{place} cannot be {wrong['input']!r}: {wrong['msg']}; give another.") from None
    if len(cases) != 1 or cases[0].workload != wanted.workload:
        raise InputError(f"'{wanted.model}' names more than one case; give one model.")
    return cases[0]


def _whole_name(spec: ModelSpec, given: str) -> str:
    """A path is made whole, for what is written may be started elsewhere."""
    named = spec.kind in (SourceKind.CATALOGUE, SourceKind.HUB)
    return spec.name if named else str(Path(given).expanduser().resolve())
