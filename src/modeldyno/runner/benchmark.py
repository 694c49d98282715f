"""The public API for benchmarks of one's own: register a class, run it by name, keep the results in the store."""

from __future__ import annotations

import json
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from modeldyno import __version__
from modeldyno.core.errors import InputError, UnknownName, Unsupported
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, MetricValue, Record, Run, Samples, Status, Stop
from modeldyno.measure.host import describe_host
from modeldyno.measure.statistics import FEWEST_FOR_INTERVAL, median_interval
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.execute import execute
from modeldyno.runner.plan import make_plan
from modeldyno.runner.suite import benchmark_block, expand, parse_benchmarks
from modeldyno.store.store import Store

CASE_TIMEOUT_S = 900.0


class BenchmarkBase(ABC):
    """A benchmark of one's own. `setup`, `execute`, `process_results` and `cleanup` are called in this order."""

    def __init__(self, params: Mapping[str, Any]) -> None:
        self.params = dict(params)
        self.hardware = str(params["hardware"])
        """The platform or device to use; the runner always says which."""

    def setup(self) -> None:  # noqa: B027 - a hook, empty unless wanted
        """Prepare; not part of any number."""

    @abstractmethod
    def execute(self) -> Any:
        """Do the work and return what was measured."""

    def process_results(self, raw_results: Any) -> Mapping[str, Any]:
        """Metrics by name: a number, or a list of samples of which the median and its interval are taken."""
        return dict(raw_results)

    def cleanup(self) -> None:  # noqa: B027
        """Release what `setup` took; called whatever happened."""


Made = TypeVar("Made", bound=type[BenchmarkBase])


@dataclass(frozen=True)
class BenchmarkInfo:
    """A registered benchmark."""

    name: str
    category: str
    hardware: tuple[str, ...]
    implementation: type[BenchmarkBase]


class BenchmarkRegistry:
    """All registered benchmarks; a name stands for one class and cannot be taken over."""

    _known: ClassVar[dict[str, BenchmarkInfo]] = {}

    @classmethod
    def register(cls, name: str, category: str = "general", *, hardware: Iterable[str]) -> Callable[[Made], Made]:
        """Class decorator that makes a benchmark known under `name`."""
        platforms = tuple(hardware)
        for platform in platforms:
            PLATFORMS.get(platform)

        def add(implementation: Made) -> Made:
            present = cls._known.get(name)
            if present and _origin(present.implementation) != _origin(implementation):
                raise InputError(
                    f"The benchmark name '{name}' belongs to {present.implementation.__qualname__}; choose another."
                )
            cls._known[name] = BenchmarkInfo(name, category, platforms, implementation)
            return implementation

        return add

    @classmethod
    def get(cls, name: str) -> BenchmarkInfo:
        if name not in cls._known:
            raise UnknownName("benchmark", name, cls._known)
        return cls._known[name]

    @classmethod
    def list(cls, category: str | None = None, hardware: str | None = None) -> tuple[BenchmarkInfo, ...]:
        """Registered benchmarks, by category and hardware where given."""
        return tuple(
            info
            for info in cls._known.values()
            if category in (None, info.category) and (hardware is None or hardware in info.hardware)
        )


def _origin(implementation: type) -> tuple[str, str]:
    """Where a class was written; equal after a module was loaded anew."""
    return implementation.__module__, implementation.__qualname__


class BenchmarkRunner:
    """Runs registered benchmarks in this process and keeps their records."""

    def __init__(self, store: str | Path | None = None) -> None:
        self._store = Store.at(str(store) if store else None)
        host, name = describe_host(), type(self).__name__
        self._run = Run(host=host, name=name, command=name, version=__version__, effort="quick")
        self.results: list[Record] = []

    def execute(self, name: str, params: Mapping[str, Any] | None = None) -> Record:
        """Run one benchmark. A benchmark that fails gives a failed record; the caller goes on."""
        info = BenchmarkRegistry.get(name)
        record = _run_one(info, {"hardware": info.hardware[0], **(params or {})}, self._run.run_id)
        self.results.append(record)
        return record

    def execute_suite(self, suite: str | Path | Mapping[str, Any]) -> list[Record]:
        """Run `{name, description, benchmarks: [{name, params}]}`, in order; every entry gives its own records."""
        place, entries = parse_benchmarks(suite)
        known = {info.name for info in BenchmarkRegistry.list()}
        blocks = {i: benchmark_block(e, place) for i, e in enumerate(entries) if e.get("name") not in known}
        before = len(self.results)
        for position, entry in enumerate(entries):
            if position not in blocks:
                self.execute(str(entry["name"]), entry.get("params") or {})
                continue
            plan = make_plan(dict.fromkeys(expand(blocks[position])))
            execute(self._run.run_id, plan, policy("quick"), CASE_TIMEOUT_S, self.results.append, _Silent())
        return self.results[before:]

    def save_results(self) -> Path:
        """Put all results so far into the store; saving twice adds nothing."""
        self._store.add([self._run, *self.results])
        return self._store.path


class _Silent:
    def note(self, process: int, case: Case, text: str) -> None:
        """Nobody watches."""


def _run_one(info: BenchmarkInfo, params: dict[str, Any], run_id: str) -> Record:
    case = _case(info, params)
    started_at, begin = datetime.now(UTC), time.perf_counter()
    fields = _skipped(info, case) or _measured(info, params)
    duration = round(time.perf_counter() - begin, 3)
    return Record(run_id=run_id, case=case, started_at=started_at, duration_s=duration, **fields)


def _case(info: BenchmarkInfo, params: dict[str, Any]) -> Case:
    """The benchmark's name is the workload; parameters without a place of their own are options."""
    rest = dict(params)
    platform, _, index = str(rest.pop("hardware")).partition(":")
    if index and not index.isdecimal():
        raise InputError(f"hardware '{platform}:{index}' is not a device; write for example {platform}:0.")
    return Case(
        workload=info.name,
        model=str(rest.pop("model", info.name)),
        platform=platform,
        index=int(index or 0),
        runtime="python",
        precision=rest.pop("precision", "fp32"),
        batch=int(rest.pop("batch_size", 1)),
        options={
            key: value if isinstance(value, str | int | float) else json.dumps(value) for key, value in rest.items()
        },
    )


def _skipped(info: BenchmarkInfo, case: Case) -> dict[str, Any] | None:
    if case.platform not in info.hardware:
        reason = f"benchmark {info.name} is not written for {case.platform}"
        return {"status": Status.SKIPPED, "reason": reason, "remedy": f"use one of {', '.join(info.hardware)}"}
    probe = PLATFORMS.get(case.platform).probe()
    if not probe.present:
        return {"status": Status.SKIPPED, "reason": probe.reason, "remedy": probe.remedy}
    return None


def _measured(info: BenchmarkInfo, params: dict[str, Any]) -> dict[str, Any]:
    try:
        benchmark = info.implementation(params)
        try:
            benchmark.setup()
            results = benchmark.process_results(benchmark.execute())
        finally:
            benchmark.cleanup()
        return {"status": Status.OK, **_fields(results)}
    except Unsupported as error:
        return {"status": Status.SKIPPED, "reason": error.reason, "remedy": error.remedy}
    except Exception as error:  # noqa: BLE001 - whatever a user's benchmark throws ends that benchmark only
        return {
            "status": Status.FAILED,
            "reason": f"{type(error).__name__}: {error}",
            "log": "".join(traceback.format_exception(error)),
        }


def _fields(results: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and lists of numbers become metrics; what is neither is kept as text in the log."""
    metrics: dict[str, MetricValue] = {}
    samples: tuple[Samples, ...] = ()
    rest: dict[str, Any] = {}
    for name, value in _flat(results):
        if _is_number(value):
            metrics[name] = MetricValue(value=float(value))
        elif isinstance(value, list | tuple) and value and all(map(_is_number, value)):
            metrics[name] = _median([float(v) for v in value])
            if name == "latency_ms":
                samples = (Samples(host_ms=list(value), stop=Stop.SAMPLE_COUNT, steady=None),)
        else:
            rest[name] = value
    return {"metrics": metrics, "samples": samples, "log": json.dumps(rest, default=str) if rest else None}


def _median(samples: list[float]) -> MetricValue:
    interval, n = median_interval(samples), len(samples)
    if n < FEWEST_FOR_INTERVAL:
        return MetricValue(value=interval.value, n=n, note=f"no interval from {n} samples")
    return MetricValue(value=interval.value, low=interval.low, high=interval.high, n=n)


def _flat(results: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, Any]]:
    for name, value in results.items():
        if isinstance(value, Mapping):
            inner = prefix if name == "metrics" else f"{prefix}{name}."
            yield from _flat(value, inner)
        else:
            yield f"{prefix}{name}", value


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
