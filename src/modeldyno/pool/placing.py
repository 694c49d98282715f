"""Which device a model goes to: the first of a preference that can carry it, with the reasons of those before."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from modeldyno import models
from modeldyno.core.errors import InputError, UnknownName, Unsupported
from modeldyno.core.protocols import Platform, Session
from modeldyno.core.types import Case, Precision, Weights
from modeldyno.platforms import PLATFORMS, baseline
from modeldyno.runtimes import RUNTIMES


@dataclass(frozen=True)
class Placed:
    """Where a model goes, as the case to borrow it by."""

    case: Case
    passed_over: tuple[str, ...]
    """The devices that were preferred and cannot, each with its reason."""


def place(
    session_of: Callable[[Case], Session],
    model: str,
    prefer: Sequence[str] | None = None,
    *,
    ranking: Mapping[str, float] | None = None,
    runtime: str | None = None,
    precision: str = Precision.FP32.value,
    batch: int = 1,
    shape: Mapping[str, int] | None = None,
    weights: Weights = Weights.AUTO,
    options: Mapping[str, str | int | float | bool] | None = None,
) -> Placed:
    """The first device that can carry the model.

    `prefer` are platforms or devices (`cuda:1`), by default what the platforms say of the model's family. A `ranking`
    gives the measured speed of some of them, more is faster; those come first. Raises Unsupported when none can."""
    spec = models.resolve(model)
    if runtime:
        RUNTIMES.get(runtime)
    if precision not in list(Precision):
        raise UnknownName("precision", precision, Precision)
    passed_over: list[str] = []
    for address in _order(spec.family, prefer, ranking or {}):
        platform, index = _device(address)
        case = Case(
            model=spec.name,
            platform=platform.name,
            index=index,
            runtime=runtime or platform.runtimes[0],
            precision=precision,
            batch=batch,
            shape={**spec.axes, **(shape or {})},
            weights=weights,
            options=dict(options or {}),
        )
        obstacle = _obstacle(platform, case, session_of)
        if obstacle is None:
            return Placed(case, tuple(passed_over))
        passed_over.append(f"{case.target}: {obstacle}")
    raise Unsupported(f"no device can run {spec.name} ({'; '.join(passed_over)})", "see dyno detect")


def preference(family: str | None) -> tuple[str, ...]:
    """The platforms that call themselves fit for a family, the fittest first, and the one every host has last.

    A model whose family is not known goes where most do."""
    last = baseline()
    fit = {platform.name: _fitness(platform, family) for platform in PLATFORMS.all() if platform.name != last}
    return (*sorted((name for name in fit if fit[name]), key=lambda name: -fit[name]), last)


def _fitness(platform: Platform, family: str | None) -> int:
    declared: Mapping[str, int] = getattr(platform, "fitness", {})
    return declared.get(family, 0) if family else max(declared.values(), default=0)


def _order(family: str | None, prefer: Sequence[str] | None, ranking: Mapping[str, float]) -> Iterator[str]:
    measured = sorted(ranking, key=lambda address: -ranking[address])
    yield from dict.fromkeys((*measured, *(preference(family) if prefer is None else prefer)))


def _device(address: str) -> tuple[Platform, int]:
    name, _, index = address.partition(":")
    platform = PLATFORMS.get(name)
    if index and not index.isdecimal():
        raise InputError(f"'{address}' is not a device; write the platform and a number, such as {name}:0.")
    return platform, int(index or 0)


def _obstacle(platform: Platform, case: Case, session_of: Callable[[Case], Session]) -> str | None:
    """Why the case cannot run there, as far as that is known without loading the model."""
    probe = platform.probe()
    if not probe.present:
        return "; ".join(filter(None, [probe.reason or "no device found", probe.remedy]))
    if case.index >= len(probe.devices):
        return f"{platform.name} has {len(probe.devices)} device(s)"
    if reason := platform.refuses(case):
        return reason
    try:
        RUNTIMES.get(case.runtime).check(session_of(case), case.precision)
    except Unsupported as error:
        return str(error)
    except ModuleNotFoundError as error:
        return f"the package {error.name} is not installed"
    return None
