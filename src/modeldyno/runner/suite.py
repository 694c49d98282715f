"""Reads suites: files whose lists multiply into cases."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationError

from modeldyno import models
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.protocols import ChecksCases, ShapesCases
from modeldyno.core.settings_file import read_settings
from modeldyno.core.types import Case, Frozen, Precision, Weights
from modeldyno.platforms import PLATFORMS
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads import WORKLOADS

AUTO = "auto"
ALL = "all"


def _listed(value: Any) -> Any:
    """One value, a comma-separated string or a list: all mean a list."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value if isinstance(value, list | tuple) else [value]


Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]
Sizes = Annotated[list[Annotated[int, Field(ge=1)]], BeforeValidator(_listed), Field(min_length=1)]
Option = str | int | float | bool


class Block(Frozen):
    """Lists that multiply into cases."""

    name: str | None = None
    model: Names
    on: Names = [AUTO]
    runtime: Names = [AUTO]
    workload: Names = ["inference"]
    precision: Names = ["fp32"]
    batch: Sizes = [1]
    shape: dict[str, Sizes] = {}
    """Sizes beyond the batch by axis; axes that a model does not have are left out for it."""
    weights: Weights = Weights.AUTO
    options: dict[str, Option | list[Option]] = {}


class Suite(Frozen):
    """A named list of blocks."""

    name: str
    description: str = ""
    blocks: tuple[Block, ...] = Field(min_length=1)

    def cases(self) -> tuple[Case, ...]:
        """All cases in order, each once."""
        return tuple(dict.fromkeys(case for block in self.blocks for case in expand(block)))


def read_suite(path: Path) -> Suite:
    """A suite from a YAML, JSON or TOML file; errors name the file and the line or key."""
    data = read_settings(path, "suite")
    if not isinstance(data, dict):
        raise InputError(f"{path}: a suite is a mapping with the key 'model'; see docs/suites.md.")
    try:
        return _suite(data, path)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(str(part) for part in first["loc"])
        raise InputError(f"{path}: key '{key}': {_complaint(first)}; see docs/suites.md.") from None


def _complaint(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        known = [*Block.model_fields, "description", "blocks", "benchmarks"]
        return str(UnknownName("key", str(error["loc"][-1]), known)).rstrip(".")
    return str(error["msg"]).replace("Input should be", "should be")


def _suite(data: dict[str, Any], path: Path) -> Suite:
    """Keys at the top are defaults for every block; without blocks they are the one block."""
    data = dict(data)
    name, description = str(data.pop("name", path.stem)), str(data.pop("description", ""))
    if "benchmarks" in data:
        blocks = [benchmark_block(entry, str(path)) for entry in _entries(data, "benchmarks", str(path))]
    else:
        entries = _entries(data, "blocks", str(path)) if "blocks" in data else [{}]
        defaults = {key: value for key, value in data.items() if key != "blocks"}
        blocks = [Block.model_validate(_gather_axes({**defaults, **entry})) for entry in entries]
    return Suite(name=name, description=description, blocks=tuple(blocks))


def parse_benchmarks(suite: str | Path | Mapping[str, Any]) -> tuple[str, list[dict[str, Any]]]:
    """The entries of a `{name, benchmarks: [{name, params}]}` suite, and how to call it in errors."""
    place = "the suite" if isinstance(suite, Mapping) else str(suite)
    data = dict(suite) if isinstance(suite, Mapping) else read_settings(Path(suite), "suite")
    if not isinstance(data, dict) or "benchmarks" not in data:
        raise InputError(f"{place}: has no key 'benchmarks'; see docs/benchmarks-of-your-own.md.")
    return place, _entries(data, "benchmarks", place)


def _entries(data: dict[str, Any], key: str, place: str) -> list[dict[str, Any]]:
    entries = data[key]
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError(f"{place}: key '{key}' must be a list of mappings; see docs/suites.md.")
    return entries


@functools.cache
def _known_axes() -> frozenset[str]:
    specs = (models.resolve(entry.name) for entry in models.catalogue())
    of_workloads = (axis for name in WORKLOADS.names() for axis in _axes(name, {}))
    return frozenset((*(axis for spec in specs for axis in spec.axes), *of_workloads))


def _gather_axes(data: dict[str, Any]) -> dict[str, Any]:
    """Axes of any architecture may stand at the top level of a block: `seq: [64, 128]`."""
    axes = _known_axes()
    if not isinstance(data.get("shape", {}), dict):
        return data  # the model of a block will complain
    shape = {key: value for key, value in data.items() if key in axes}
    rest = {key: value for key, value in data.items() if key not in axes}
    return {**rest, "shape": {**rest.get("shape", {}), **shape}} if shape else rest


_BENCHMARK_KEYS = {
    "model_name": "model",
    "model_id": "model",
    "models": "model",
    "hardware": "on",
    "device": "on",
    "platform": "on",
    "batch_size": "batch",
    "batch_sizes": "batch",
    "sequence_length": "seq",
    "sequence_lengths": "seq",
    "precision_modes": "precision",
}
"""The parameter names of `{name, benchmarks: [{name, params}]}` files and what they are called here."""


def benchmark_block(entry: dict[str, Any], place: str) -> Block:
    """An entry of such a file that names a model, as a block."""
    params = entry.get("params") or {}
    if not isinstance(params, dict):
        raise InputError(f"{place}: key 'params' must be a mapping; see docs/suites.md.")
    data: dict[str, Any] = {_BENCHMARK_KEYS.get(str(key), str(key)): value for key, value in params.items()}
    if "model" not in data:
        raise InputError(
            f"{place}: benchmark '{entry.get('name', '?')}' is not registered and names no model; "
            "add params.model, or register it and use BenchmarkRunner.execute_suite."
        )
    return Block.model_validate({"name": entry.get("name"), **_gather_axes(data)})


@dataclass(frozen=True)
class _Subject:
    """What a case is about: a model, or what a workload brings in place of one."""

    workload: str
    name: str
    axes: Mapping[str, Sequence[int]]
    """Sizes beyond the batch, with those to take when none are asked for."""
    is_model: bool = True


def expand(block: Block) -> Iterator[Case]:
    """The cases of a block; every unknown name is an error before anything runs."""
    workloads = [_checked(WORKLOADS, name) for name in block.workload]
    subjects = [subject for name in block.model for subject in _subjects(name, workloads)]
    targets = list(_targets(block.on))
    precisions = [_precision(name) for name in block.precision]
    _check_names("axis", block.shape, {*_known_axes(), *(axis for subject in subjects for axis in subject.axes)})
    for workload in dict.fromkeys(subject.workload for subject in subjects):
        _check_names(f"option of {workload}", block.options, _known_options(workload))
    for subject, (platform, index) in itertools.product(subjects, targets):
        for runtime, precision, batch, shape, options in itertools.product(
            _runtimes(block.runtime, platform),
            precisions,
            block.batch if subject.is_model else [1],
            _shapes(subject.axes, block.shape),
            _options(block.options),
        ):
            yield _sound(
                Case(
                    workload=subject.workload,
                    model=subject.name,
                    platform=platform,
                    index=index,
                    runtime=runtime,
                    precision=precision,
                    batch=batch,
                    shape=shape,
                    weights=block.weights if subject.is_model else Weights.AUTO,
                    options=options,
                )
            )


def _sound(case: Case) -> Case:
    workload = WORKLOADS.get(case.workload)
    if isinstance(workload, ChecksCases):
        workload.check(case)
    return case


def _subjects(name: str, workloads: Iterable[str]) -> Iterator[_Subject]:
    """The model in each workload; the name of a workload with probes of its own stands for all of them."""
    if name in WORKLOADS.names() and (own := probes_of(name)):
        yield from (_Subject(name, probe, axes, is_model=False) for probe, axes in own.items())
        return
    for workload in workloads:
        if own := probes_of(workload):
            _check_names(f"probe of {workload}", [name], own)
            yield _Subject(workload, name, own[name], is_model=False)
        else:
            spec = models.resolve(name)
            yield _Subject(workload, spec.name, {axis: (size,) for axis, size in _axes(workload, spec.axes).items()})


def _axes(workload: str, of_model: Mapping[str, int]) -> Mapping[str, int]:
    kind = WORKLOADS.get(workload)
    return kind.axes(of_model) if isinstance(kind, ShapesCases) else of_model


def probes_of(workload: str) -> Mapping[str, Mapping[str, Sequence[int]]]:
    """What a workload measures in place of models, by name, with axes and usual sizes; none for most."""
    declared: Mapping[str, Mapping[str, Sequence[int]]] = getattr(WORKLOADS.get(workload), "probes", {})
    return declared


def _check_names(kind: str, given: Iterable[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise UnknownName(kind, name, known)


def _known_options(workload: str) -> frozenset[str]:
    """What the workload declares for itself, and what any runtime understands."""
    declared: frozenset[str] = getattr(WORKLOADS.get(workload), "options", frozenset())
    return declared.union(*(runtime.options for runtime in RUNTIMES.all()))


def _targets(names: Iterable[str]) -> Iterator[tuple[str, int]]:
    """`cuda:1` is the second device of cuda; `auto` every platform found here; `all` every platform."""
    for name in names:
        if name in (AUTO, ALL):
            for platform in PLATFORMS.names():
                if name == ALL or PLATFORMS.get(platform).probe().present:
                    yield platform, 0
            continue
        platform, _, index = name.partition(":")
        PLATFORMS.get(platform)
        if index and not index.isdecimal():
            raise InputError(f"'{name}' is not a device; write the platform and a number, such as {platform}:0.")
        yield platform, int(index or 0)


def _runtimes(names: Iterable[str], platform: str) -> Iterator[str]:
    own = PLATFORMS.get(platform).runtimes
    for name in names:
        if name == AUTO:
            yield own[0]
        elif name == ALL:
            yield from own
        else:
            yield _checked(RUNTIMES, name)


def _checked(registry: Any, name: str) -> str:
    registry.get(name)
    return name


def _precision(name: str) -> Precision:
    try:
        return Precision(name)
    except ValueError:
        raise UnknownName("precision", name, [p.value for p in Precision]) from None


def _shapes(axes: Mapping[str, Sequence[int]], wanted: dict[str, list[int]]) -> Iterator[dict[str, int]]:
    """One shape per combination of the sizes asked for, over the axes this subject has."""
    choices = [[(axis, size) for size in wanted.get(axis, usual)] for axis, usual in axes.items()]
    return (dict(combination) for combination in itertools.product(*choices))


def _options(options: dict[str, Option | list[Option]]) -> Iterator[dict[str, Option]]:
    choices = [
        [(name, value) for value in (values if isinstance(values, list) else [values])]
        for name, values in options.items()
    ]
    return (dict(combination) for combination in itertools.product(*choices))
