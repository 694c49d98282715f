"""The store against the same results as one JSON file each: size, ingest, ten questions, growth.

    python benchmarks/store.py --results 100000            # against JSON files, read with orjson
    python benchmarks/store.py --growth 10000,100000,1000000

The results are made up (seeded, marked `simulated`) and live in a scratch folder that goes when the script ends. Every
question is answered from both sides and the answers are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson

from modeldyno.core.identity import digest, stable_id
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import (
    Case,
    Check,
    Device,
    Host,
    MetricValue,
    ModelInfo,
    Passport,
    Provenance,
    Record,
    Run,
    Samples,
    Status,
    Stop,
    Verdict,
)
from modeldyno.models import catalogue
from modeldyno.store.database import connect
from modeldyno.store.store import Store

BATCH = 100_000
SERIES_LENGTH = 50
SAMPLES = 100
BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = [name for name in METRICS if name not in ("latency_min_ms", "latency_max_ms", "latency_stddev_ms")][:20]
DEVICES = [
    Device(platform=platform, index=0, name=name, memory_mb=memory, capability=capability, driver="580.1")
    for platform, name, memory, capability in (
        ("cpu", "Xeon 8481C", 65536.0, "AVX-512"),
        ("cpu", "Ryzen 9 7950X", 131072.0, "AVX-512"),
        ("cuda", "NVIDIA H200", 143771.0, "sm_90"),
        ("cuda", "NVIDIA L4", 23034.0, "sm_89"),
        ("rocm", "MI300X", 196608.0, "gfx942"),
        ("mps", "M4 Max", 131072.0, None),
        ("openvino", "Xeon 8481C", 65536.0, "AMX"),
        ("qnn", "Snapdragon X Elite", 32768.0, "HTP"),
    )
]
RUN = Run(
    host=Host(host_id="scratch", hostname="scratch", system="none", cpu="none", logical_cores=2, memory_mb=1.0),
    started_at=BEGIN,
    command="benchmarks/store.py",
    version="0",
)


def made_up(results: int) -> Iterator[Record]:
    """Results of many series that interleave in time, as years of runs would leave them."""
    dice = random.Random(20261115)
    entries = catalogue()
    series = max(1, results // SERIES_LENGTH)
    levels = [10 ** random.Random(number).uniform(0, 2.5) for number in range(series)]
    for number in range(results):
        which = dice.randrange(series)
        yield _record(dice, number, which, entries[which % len(entries)], levels[which])


def _record(dice: random.Random, number: int, which: int, entry: Any, level: float) -> Record:
    generation = which // 400  # with more results come more models, not only longer series
    name = f"{entry.name}-g{generation}" if generation else entry.name
    device = DEVICES[which % len(DEVICES)]
    case = Case(
        model=name,
        platform=device.platform,
        runtime="torch",
        precision=("fp32", "bf16", "fp16")[which % 3],
        batch=2 ** (which // 3 % 5),
        shape={"seq": 128},
        options={"series": which},
    )
    samples = sorted(round(level * dice.lognormvariate(0, 0.02), 6) for _ in range(SAMPLES))
    middle = (samples[SAMPLES // 2 - 1] + samples[SAMPLES // 2]) / 2
    moment = BEGIN + timedelta(minutes=number)
    model = ModelInfo(
        name=name,
        architecture="none",
        family=entry.family,
        parameters=entry.parameters,
        size="base",
        weights="random",
        source="catalogue",
        fingerprint=digest(name),
    )
    dice.shuffle(samples)
    return Record(
        record_id=stable_id(moment, str(number)),
        run_id=RUN.run_id,
        case=case,
        status=Status.OK if number % 50 else Status.FAILED,
        reason=None if number % 50 else "made up to fail",
        provenance=Provenance.SIMULATED,
        evidence=("made up by benchmarks/store.py",),
        started_at=moment,
        duration_s=round(level / 10, 3),
        device=device,
        model=model,
        passport=_passport(dice),
        metrics=_metrics(dice, middle, samples, case.batch) if number % 50 else {},
        samples=(Samples(host_ms=samples, stop=Stop.INTERVAL, steady=True),) if number % 50 else (),
        software={"torch": "2.13.0", "python": "3.11.7"},
    )


def _metrics(dice: random.Random, middle: float, samples: list[float], batch: int) -> dict[str, MetricValue]:
    """Twenty metrics, of which latency and throughput have an interval."""
    ordered = sorted(samples)
    low, high = ordered[40], ordered[59]
    values = {name: MetricValue(value=round(middle * dice.uniform(0.5, 2), 4), n=1) for name in NAMES}
    values["latency_ms"] = MetricValue(value=middle, low=low, high=high, n=SAMPLES)
    values["throughput_per_s"] = MetricValue(
        value=batch * 1e3 / middle, low=batch * 1e3 / high, high=batch * 1e3 / low, n=SAMPLES
    )
    return values


def _passport(dice: random.Random) -> Passport:
    names = ("steal_share", "foreign_load_per_core", "involuntary_switches", "temperature_c", "clock_mhz", "spread")
    checks = tuple(Check(name=name, value=round(dice.random(), 3), limit=0.9, verdict=Verdict.VALID) for name in names)
    return Passport(verdict=Verdict.VALID, checks=checks)


@dataclass(frozen=True)
class Question:
    """One question in SQL, and the same over parsed JSON."""

    title: str
    sql: str
    values: Callable[[dict[str, Any]], list[Any]]
    from_json: Callable[[Iterator[dict[str, Any]], dict[str, Any]], Any]
    indexed: bool = False


def _ok(documents: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (document for document in documents if document["status"] == "ok")


def _latency(document: dict[str, Any]) -> float:
    return document["metrics"]["latency_ms"]["value"]


def _grouped(documents: Iterator[dict[str, Any]], key: Callable, value: Callable) -> dict[Any, list[Any]]:
    groups: dict[Any, list[Any]] = defaultdict(list)
    for document in documents:
        groups[key(document)].append(value(document))
    return groups


def _quantile(values: list[float], q: float) -> float:
    """As DuckDB's quantile_cont interpolates."""
    ordered = sorted(values)
    place = q * (len(ordered) - 1)
    low = math.floor(place)
    return ordered[low] + (ordered[min(low + 1, len(ordered) - 1)] - ordered[low]) * (place - low)


def _none(_: dict[str, Any]) -> list[Any]:
    return []


QUESTIONS = [
    Question(
        "best platform per model",
        """SELECT c.model, arg_min(c.platform, r.latency_ms.value), min(r.latency_ms.value)
           FROM records r JOIN cases c USING (case_key) WHERE r.status = 'ok' GROUP BY c.model ORDER BY c.model""",
        _none,
        lambda documents, _: sorted(
            (model, min(found)[1], min(found)[0])
            for model, found in _grouped(
                _ok(documents), lambda d: d["case"]["model"], lambda d: (_latency(d), d["case"]["platform"])
            ).items()
        ),
    ),
    Question(
        "latest of every series",
        """SELECT case_key, device_id, max(record_id), arg_max(latency_ms.value, record_id)
           FROM records WHERE status = 'ok' GROUP BY case_key, device_id ORDER BY max(record_id)""",
        _none,
        lambda documents, _: sorted(
            max(found)
            for found in _grouped(
                _ok(documents), lambda d: str(d["case"]) + d["device"]["name"], lambda d: (d["record_id"], _latency(d))
            ).values()
        ),
    ),
    Question(
        "trend of one series",
        """WITH mine AS MATERIALIZED (SELECT started_at, status, latency_ms.value FROM records WHERE series_id = ?)
           SELECT started_at, value FROM mine WHERE status = 'ok' ORDER BY started_at""",
        lambda known: [known["series_id"]],
        lambda documents, known: sorted(
            (d["started_at"], _latency(d)) for d in _ok(documents) if d["case"] == known["case"]
        ),
        indexed=True,
    ),
    Question(
        "95th percentile over a family",
        """SELECT quantile_cont(r.latency_ms.value, 0.95) FROM records r JOIN models m USING (model_id)
           WHERE m.family = 'vision' AND r.status = 'ok'""",
        _none,
        lambda documents, _: [
            (_quantile([_latency(d) for d in _ok(documents) if d["model"]["family"] == "vision"], 0.95),)
        ],
    ),
    Question(
        "throughput by hardware and precision",
        """SELECT d.name, d.platform, c.precision, avg(r.throughput_per_s.value)
           FROM records r JOIN devices d USING (device_id) JOIN cases c USING (case_key)
           WHERE r.status = 'ok' GROUP BY ALL ORDER BY ALL""",
        _none,
        lambda documents, _: sorted(
            (*key, statistics.fmean(found))
            for key, found in _grouped(
                _ok(documents),
                lambda d: (d["device"]["name"], d["device"]["platform"], d["case"]["precision"]),
                lambda d: d["metrics"]["throughput_per_s"]["value"],
            ).items()
        ),
    ),
    Question(
        "outcomes by platform",
        """SELECT c.platform, r.status, count(*) FROM records r JOIN cases c USING (case_key)
           GROUP BY ALL ORDER BY ALL""",
        _none,
        lambda documents, _: sorted(
            (*key, len(found))
            for key, found in _grouped(documents, lambda d: (d["case"]["platform"], d["status"]), bool).items()
        ),
    ),
    Question(
        "ten slowest on one device",
        """SELECT r.record_id, r.latency_ms.value FROM records r JOIN devices d USING (device_id)
           WHERE d.name = 'NVIDIA L4' AND r.status = 'ok' ORDER BY r.latency_ms.value DESC LIMIT 10""",
        _none,
        lambda documents, _: sorted(
            ((d["record_id"], _latency(d)) for d in _ok(documents) if d["device"]["name"] == "NVIDIA L4"),
            key=lambda row: -row[1],
        )[:10],
    ),
    Question(
        "scaling of one model",
        """WITH mine AS MATERIALIZED (SELECT case_key, status, throughput_per_s.value FROM records WHERE model = ?)
           SELECT c.batch, median(r.value) FROM mine r JOIN cases c USING (case_key)
           WHERE r.status = 'ok' GROUP BY c.batch ORDER BY c.batch""",
        lambda known: [known["model"]],
        lambda documents, known: sorted(
            (batch, statistics.median(found))
            for batch, found in _grouped(
                (d for d in _ok(documents) if d["case"]["model"] == known["model"]),
                lambda d: d["case"]["batch"],
                lambda d: d["metrics"]["throughput_per_s"]["value"],
            ).items()
        ),
        indexed=True,
    ),
    Question(
        "newest ten results",
        "SELECT record_id, latency_ms.value FROM records WHERE status = 'ok' ORDER BY record_id DESC LIMIT 10",
        _none,
        lambda documents, _: sorted(((d["record_id"], _latency(d)) for d in _ok(documents)), reverse=True)[:10],
        indexed=True,
    ),
    Question(
        "raw samples of one record",
        "SELECT samples[1].host_ms FROM records WHERE record_id = ?",
        lambda known: [known["record_id"]],
        lambda documents, known: [
            (d["samples"][0]["host_ms"],) for d in documents if d["record_id"] == known["record_id"]
        ],
        indexed=True,
    ),
]


def fill(store: Store, results: int, folder: Path | None) -> float:
    """Seconds to make all results durable and put them into the database; the JSON files are written on the side."""
    seconds = 0.0
    batch: list[Record] = []
    store.add([RUN])
    for number, record in enumerate(made_up(results), 1):
        batch.append(record)
        if folder:
            (folder / record.record_id).write_bytes(record.model_dump_json().encode())
        if len(batch) == BATCH or number == results:
            begin = time.perf_counter()
            store.add(batch)
            seconds += time.perf_counter() - begin
            batch = []
    return seconds


def a_known_one(results: int) -> dict[str, Any]:
    """A series, a model and a record that the questions ask for."""
    record = next(record for record in made_up(results) if record.metrics and record.case.platform == "cuda")
    return {
        "series_id": record.series_id,
        "model": record.case.model,
        "record_id": record.record_id,
        "case": record.model_dump(mode="json")["case"],
    }


def ask(connection: Any, question: Question, known: dict[str, Any], times: int = 15) -> float:
    """Median milliseconds of one question."""
    seconds = []
    for _ in range(times):
        begin = time.perf_counter()
        connection.execute(question.sql, question.values(known)).fetchall()
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds) * 1e3


def documents(folder: Path) -> Iterator[dict[str, Any]]:
    for entry in os.scandir(folder):
        with open(entry.path, "rb") as file:  # noqa: PTH123 - the fastest way to read many small files
            yield orjson.loads(file.read())


def same(ours: list[Any], theirs: list[Any]) -> bool:
    """Equal answers, but for the last digits of sums and how moments are written."""
    return len(ours) == len(theirs) and all(
        _alike(a, b) for one, two in zip(ours, theirs, strict=True) for a, b in zip(one[-len(two) :], two, strict=True)
    )


def _alike(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-9)
    if isinstance(a, datetime):
        return a.isoformat() == str(b).removesuffix("Z")
    return bool(a == b)


def against_json(results: int, scratch: Path) -> None:
    store, folder = Store(scratch / "dyno.duckdb"), scratch / "json"
    folder.mkdir()
    ingest = fill(store, results, folder)
    plain = sum(entry.stat().st_size for entry in os.scandir(folder))
    blocks = sum(entry.stat().st_blocks * 512 for entry in os.scandir(folder))
    size = store.path.stat().st_size
    metrics = len(NAMES)
    print(f"{results} results, {metrics} metrics, {SAMPLES} samples each (2 % failed, without numbers)")
    print(f"size: JSON {plain / 1e6:.1f} MB ({blocks / 1e6:.1f} MB on disk), store {size / 1e6:.1f} MB")
    print(
        f"      {1 - size / plain:.1%} smaller than the JSON text, {1 - size / blocks:.1%} than what it takes on disk"
    )
    print(f"ingest: {ingest:.1f} s, {results / ingest:.0f} results/s (encode, fsync, fold)\n")
    known = a_known_one(results)
    print(f"{'question':<38}{'store ms':>10}{'JSON ms':>12}{'ratio':>9}")
    ours = theirs = 0.0
    with connect(store.path, write=False) as connection:
        for question in QUESTIONS:
            begin = time.perf_counter()
            expected = question.from_json(documents(folder), known)
            json_ms = (time.perf_counter() - begin) * 1e3
            answer = connection.execute(question.sql, question.values(known)).fetchall()
            if not same(answer, expected):
                raise SystemExit(f"{question.title}: the answers differ: {answer[:2]} and {expected[:2]}")
            ms = ask(connection, question, known)
            ours, theirs = ours + ms, theirs + json_ms
            print(f"{question.title:<38}{ms:>10.2f}{json_ms:>12.0f}{json_ms / ms:>9.0f}", flush=True)
    print(f"{'all ten':<38}{ours:>10.2f}{theirs:>12.0f}{theirs / ours:>9.0f}")


def growth(sizes: list[int], scratch: Path) -> None:
    columns: list[dict[str, float]] = []
    for results in sizes:
        store = Store(scratch / f"{results}.duckdb")
        row = {"ingest s": fill(store, results, None), "size MB": store.path.stat().st_size / 1e6}
        known = a_known_one(results)
        with connect(store.path, write=False) as connection:
            for question in QUESTIONS:
                row[question.title + (" (indexed)" if question.indexed else "")] = ask(connection, question, known)
        columns.append(row)
        print(f"{results} done", flush=True)
    print(f"\n{'':<42}" + "".join(f"{results:>12}" for results in sizes) + f"{'last / one before':>20}")
    for name in columns[0]:
        values = [column[name] for column in columns]
        ratio = f"{values[-1] / values[-2]:>20.2f}" if len(values) > 1 else ""
        print(f"{name:<42}" + "".join(f"{value:>12.2f}" for value in values) + ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=int, default=0)
    parser.add_argument("--growth", default="", help="sizes, comma-separated")
    parser.add_argument("--scratch", type=Path, default=None, help="where to put the scratch folder")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dyno-store-", dir=options.scratch) as scratch:
        if options.growth:
            growth([int(size) for size in options.growth.split(",")], Path(scratch))
        if options.results or not options.growth:
            against_json(options.results or 100_000, Path(scratch))


if __name__ == "__main__":
    main()
