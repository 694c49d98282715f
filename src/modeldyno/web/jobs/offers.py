"""What can be ordered here: platforms with their devices, and for a model which combinations a platform refuses."""

from __future__ import annotations

from functools import lru_cache

from modeldyno import models
from modeldyno.core.types import Case, Device, Frozen, Precision
from modeldyno.platforms import PLATFORMS
from modeldyno.web.jobs.devices import probe
from modeldyno.web.jobs.order import check_model


class Combination(Frozen):
    """A way to run a model on a platform."""

    runtime: str
    precision: str
    refused: str | None
    """Why the platform cannot do it; None when it may."""


class Offer(Frozen):
    """One platform."""

    platform: str
    devices: tuple[Device, ...]
    reason: str | None
    """Why there is no device, and then the remedy."""
    remedy: str | None
    runtimes: tuple[str, ...]
    """The default first."""
    precisions: tuple[str, ...]
    """Those that are not refused with every runtime, for the model that was asked for."""
    combinations: tuple[Combination, ...] = ()
    """Only for a model."""


@lru_cache(maxsize=256)
def offers(model: str | None = None, workload: str = "inference") -> tuple[Offer, ...]:
    """Every platform, those with devices first; InputError for a model that is not known or not for the web."""
    if model:
        check_model(model)
    spec = models.resolve(model) if model else None
    found = [_offer(name, spec, workload) for name in PLATFORMS.names()]
    return tuple(sorted(found, key=lambda offer: not offer.devices))


def _offer(name: str, spec: models.ModelSpec | None, workload: str) -> Offer:
    platform, seen = PLATFORMS.get(name), probe(name)
    combinations = tuple(
        Combination(runtime=runtime, precision=precision.value, refused=platform.refuses(case))
        for runtime in platform.runtimes
        for precision in Precision
        if (case := _case(name, runtime, precision, spec, workload))
    )
    possible = {combination.precision for combination in combinations if not combination.refused}
    return Offer(
        platform=name,
        devices=seen.devices,
        reason=seen.reason,
        remedy=seen.remedy,
        runtimes=platform.runtimes,
        precisions=tuple(p.value for p in Precision if not spec or p.value in possible),
        combinations=combinations,
    )


def _case(
    platform: str, runtime: str, precision: Precision, spec: models.ModelSpec | None, workload: str
) -> Case | None:
    if spec is None:
        return None
    return Case(
        workload=workload,
        model=spec.name,
        platform=platform,
        runtime=runtime,
        precision=precision.value,
        shape=dict(spec.axes),
    )
