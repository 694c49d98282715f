"""Where an importer writes what it finds: it gives ids, checks each row, and keeps what is rejected with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

from pydantic import ValidationError

from modeldyno.core.identity import digest, stable_id
from modeldyno.core.types import (
    Assertion,
    Case,
    Device,
    Host,
    Import,
    MetricValue,
    ModelInfo,
    Placement,
    ProfileRow,
    Provenance,
    Record,
    Rejection,
    Run,
    Samples,
    Status,
    Stop,
    TestResult,
)
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import check_constants, check_rates
from modeldyno.importers._words import number_of, platform_of, precision_of
from modeldyno.models import Entry, architecture_of, find
from modeldyno.store.spool import Item

UNSTATED = "unstated"
"""What a file does not say, where a word is needed."""
_NO_MODEL = {"", "unknown", "none", "null", "n/a", "model"}
MAX_REJECTIONS = 1000
LONGEST_MS = 1e9
"""Eleven days: no step takes longer, a typing error does."""


class Sheet:
    """All that one document yields."""

    def __init__(
        self,
        document: Document,
        format_name: str,
        given: Mapping[str, str] | None = None,
        mapping: Mapping[str, str] | None = None,
        constants: frozenset[float] = frozenset(),
    ) -> None:
        self._document = document
        self._format = format_name
        self.given = dict(given or {})
        """What the user says about the file, for what it does not say itself."""
        self.mapping = dict(mapping or {})
        """Which column holds what, where a table does not use our words."""
        self._constants = constants
        """Round times that stand in several unrelated places."""
        self._items: list[Item] = []
        self._rejected: list[Rejection] = list(document.broken)
        self._rejected += document.table.broken if document.table else ()
        self._runs: dict[str, Run] = {}
        self._moments: dict[str, datetime] = {}
        """When each run began, by its id."""

    @property
    def items(self) -> list[Item]:
        """The import first, then runs, then what belongs to them."""
        kept = self._rejected[:MAX_REJECTIONS]
        if len(self._rejected) > MAX_REJECTIONS:
            more = len(self._rejected) - MAX_REJECTIONS
            kept.append(Rejection(place="after these", reason=f"{more} more rejections of this file"))
        imported = Import(
            import_id=self._document.digest,
            file=self._document.file,
            format=self._format,
            size=self._document.size,
            rejected=tuple(kept),
        )
        return [imported, *self._runs.values(), *self._items]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found, not even something to reject."""
        return not self._items and not self._rejected

    @property
    def rejected(self) -> tuple[Rejection, ...]:
        return tuple(self._rejected)

    def keep(self, item: Item) -> None:
        """Take an item as it is: for modeldyno's own files."""
        self._items.append(item)

    def reject(self, place: str, reason: str) -> None:
        self._rejected.append(Rejection(place=place, reason=reason))

    def run(
        self,
        key: str = "",
        started_at: datetime | None = None,
        host: Mapping[str, Any] | None = None,
        name: str | None = None,
        command: str | None = None,
        version: str | None = None,
        commit: str | None = None,
    ) -> str:
        """The id of the run with this key inside the document, made on first use."""
        if key not in self._runs:
            facts = {name: value for name, value in (host or {}).items() if value is not None}
            moment = started_at or self._document.modified
            self._runs[key] = Run(
                run_id=stable_id(moment, self._document.digest, "run", key),
                started_at=moment,
                host=_host(facts),
                name=name,
                command=command or f"import of {self._format}",
                version=version or UNSTATED,
                commit=commit,
                effort="imported",
                import_id=self._document.digest,
            )
            self._moments[self._runs[key].run_id] = moment
        return self._runs[key].run_id

    def record(
        self,
        place: str,
        *,
        run: str,
        model: Any,
        platform: Any,
        metrics: Mapping[str, Any] | None = None,
        workload: str = "inference",
        runtime: str | None = None,
        precision: str | None = None,
        batch: Any = None,
        shape: Mapping[str, int] | None = None,
        options: Mapping[str, str | int | float | bool] | None = None,
        samples_ms: Sequence[float] = (),
        status: Status = Status.OK,
        reason: str | None = None,
        evidence: Sequence[str] = (),
        started_at: datetime | None = None,
        duration_s: float = 0.0,
        device: str | None = None,
        device_memory_mb: float | None = None,
        capability: str | None = None,
        parameters: int | None = None,
        family: str | None = None,
        gflop: float | None = None,
        placement: Placement | None = None,
        profile: Sequence[ProfileRow] = (),
        software: Mapping[str, str] | None = None,
        log: str | None = None,
        in_flight: float | None = 1,
    ) -> None:
        """One result. A value that is None was not in the file and is left out; `latency_ms` is per step (batch).

        `metrics` maps names of the metric table to numbers (also as text) or to `MetricValue`s. Rejects the row if the
        model or the platform is not named, if a number is not finite, or if an `ok` row has no metric at all.
        `in_flight` is how many steps ran at once, None where nobody knows."""
        model, platform = model or self.given.get("model"), platform or self.given.get("platform")
        problem, values = self._checked_values(metrics or {}, status)
        known_platform = platform_of(str(platform)) if platform else None
        problem = self._identity_problem(model, platform, known_platform) or problem
        if problem or known_platform is None:
            self.reject(place, problem or "names no platform")
            return
        if bad := [sample for sample in samples_ms if not _is_duration(sample)]:
            self.reject(place, f"has a sample of {bad[0]!r} ms")
            return
        try:
            case = _case(
                workload,
                _model_name(str(model)),
                known_platform,
                runtime or self.given.get("runtime") or UNSTATED,
                precision_of(precision or self.given.get("precision") or UNSTATED),
                int(batch or self.given.get("batch") or 1),
                tuple(sorted((shape or {}).items())),
                tuple(sorted((options or {}).items())),
            )
            claims = (*evidence, *check_rates(values, case.batch, in_flight), *check_constants(values, self._constants))
            moment = started_at or self._started(run)
            self._items.append(
                Record(
                    record_id=stable_id(moment, self._document.digest, place),
                    run_id=run,
                    case=case,
                    status=status,
                    reason=reason,
                    provenance=Provenance.SIMULATED if claims else Provenance.IMPORTED,
                    evidence=claims,
                    started_at=moment,
                    duration_s=duration_s,
                    device=self._device(known_platform, device, device_memory_mb, capability),
                    model=_model(str(model), self._format, parameters, family, gflop),
                    placement=placement,
                    metrics=values,
                    samples=(_samples(samples_ms),) if samples_ms else (),
                    profile=tuple(profile),
                    software=dict(software or {}),
                    log=log,
                )
            )
        except (ValidationError, ValueError, TypeError, OverflowError) as error:
            self.reject(place, _first_problem(error))

    def test(
        self,
        place: str,
        *,
        run: str,
        name: str,
        status: Status,
        model: Any = None,
        platform: Any = None,
        reason: str | None = None,
        evidence: Sequence[str] = (),
        started_at: datetime | None = None,
        duration_s: Any = None,
        assertions: Sequence[Assertion] = (),
        log: str | None = None,
    ) -> None:
        """One test: whether something worked, without a measurement."""
        model, platform = model or self.given.get("model"), platform or self.given.get("platform")
        known_platform = platform_of(str(platform)) if platform else None
        if problem := self._identity_problem(model, platform, known_platform):
            self.reject(place, problem)
            return
        moment = started_at or self._started(run)
        try:
            self._items.append(
                TestResult(
                    test_id=stable_id(moment, self._document.digest, place),
                    run_id=run,
                    name=name,
                    model=_model_name(str(model)),
                    platform=known_platform,
                    status=status,
                    reason=reason,
                    provenance=Provenance.SIMULATED if evidence else Provenance.IMPORTED,
                    evidence=tuple(evidence),
                    started_at=moment,
                    duration_s=number_of(duration_s),
                    assertions=tuple(assertions),
                    log=log,
                )
            )
        except ValidationError as error:
            self.reject(place, _first_problem(error))

    def _device(
        self, platform: str, name: str | None, memory_mb: float | None, capability: str | None
    ) -> Device | None:
        known = name or self.given.get("device")
        return _device(platform, known, memory_mb, capability) if known else None

    def _started(self, run: str) -> datetime:
        return self._moments[run]

    def _identity_problem(self, model: Any, platform: Any, known_platform: str | None) -> str | None:
        if str(model or "").strip().lower() in _NO_MODEL:
            return "names no model"
        if not platform:
            return "names no platform"
        return None if known_platform else f"names '{platform}', which is none of the platforms"

    def _checked_values(self, metrics: Mapping[str, Any], status: Status) -> tuple[str | None, dict[str, MetricValue]]:
        values: dict[str, MetricValue] = {}
        for name, given in metrics.items():
            if given is None:
                continue
            plain = given.value if isinstance(given, MetricValue) else given
            number = number_of(plain)
            if number is None or number < 0 or (name.endswith("_ms") and number > LONGEST_MS):
                return f"has {name} {plain!r}, which is no such number", {}
            values[name] = given if isinstance(given, MetricValue) else MetricValue(value=number)
        if status is Status.OK and not values:
            return "has no number", {}
        return None, values


def _host(facts: dict[str, Any]) -> Host:
    """The host of these facts; one that tells nonsense stays nameless."""
    try:
        return Host(host_id=digest(["imported", facts], 12), **facts)
    except ValidationError:
        return Host(host_id=digest(["imported", {}], 12))


def _is_duration(value: Any) -> bool:
    number = number_of(value)
    return number is not None and number >= 0


def _first_problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)


def _samples(values: Sequence[float]) -> Samples:
    return Samples(host_ms=[float(value) for value in values], stop=Stop.SAMPLE_COUNT, steady=None)


@lru_cache(maxsize=65536)
def _case(
    workload: str,
    model: str,
    platform: str,
    runtime: str,
    precision: str,
    batch: int,
    shape: tuple[tuple[str, int], ...],
    options: tuple[tuple[str, Any], ...],
) -> Case:
    return Case(
        workload=workload,
        model=model,
        platform=platform,
        runtime=runtime,
        precision=precision,
        batch=batch,
        shape=dict(shape),
        options=dict(options),
    )


@lru_cache(maxsize=4096)
def _device(platform: str, name: str, memory_mb: float | None, capability: str | None) -> Device:
    return Device(platform=platform, index=0, name=name, memory_mb=memory_mb, capability=capability)


@lru_cache(maxsize=65536)
def _model(name: str, source: str, parameters: int | None, family: str | None, gflop: float | None) -> ModelInfo:
    entry = _entry(name)
    return ModelInfo(
        name=_model_name(name),
        architecture=architecture_of(entry.config) if entry else None,
        family=entry.family if entry else family,
        parameters=parameters,
        weights=UNSTATED,
        source=source,
        fingerprint=digest(["imported", source, name, parameters]),
        gflop=gflop,
    )


@lru_cache(maxsize=65536)
def _model_name(name: str) -> str:
    """The catalogue's name for it, so that results from elsewhere stand beside our own."""
    entry = _entry(name)
    return entry.name if entry else name


def _entry(name: str) -> Entry | None:
    """The catalogue's entry of a full name; a short one such as `bert` may mean any model of its class."""
    entry = find(name)
    full = {entry.name, entry.hf_id, (entry.hf_id or "").split("/")[-1]} if entry else set()
    return entry if name.lower() in {known.lower() for known in full if known} else None
