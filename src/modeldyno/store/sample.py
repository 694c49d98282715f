"""Sample data to try the store with: made up, always the same, and it says so."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from modeldyno.core.identity import digest, stable_id
from modeldyno.core.types import Case, Device, Host, MetricValue, ModelInfo, Provenance, Record, Run, Status
from modeldyno.store.spool import Item

EVIDENCE = "sample data made by dyno db init"
_SEED = 20260101
_BEGIN = datetime(2026, 1, 5, 9, tzinfo=UTC)
_RUNS = 3
_MODELS = {"bert-base-uncased": ("encoder-only", "embedding", 9.0), "vit-base-patch16-224": ("vision", "vision", 14.0)}
"""Architecture, family, and milliseconds of a step on the sample CPU."""
_SPEEDS = {"cpu": 1.0, "cuda": 12.0, "openvino": 2.0, "qnn": 0.0}
"""How much faster than the sample CPU; 0 for a device that is not there."""
_BATCHES = (1, 4)


def sample_items() -> Iterator[Item]:
    """Three runs of the same cases, a week apart."""
    dice = random.Random(_SEED)
    for week in range(_RUNS):
        moment = _BEGIN + timedelta(weeks=week)
        cases = [
            Case(model=model, platform=platform, runtime="sample", batch=batch)
            for model in _MODELS
            for platform in _SPEEDS
            for batch in _BATCHES
        ]
        run = Run(
            run_id=stable_id(moment, EVIDENCE),
            started_at=moment,
            host=Host(host_id="sample", hostname="sample-host"),
            command="dyno db init --sample-data",
            version="sample",
            plan=tuple(cases),
        )
        yield run
        for number, case in enumerate(cases, 1):
            yield _record(run, case, moment + timedelta(minutes=number), dice)


def _record(run: Run, case: Case, moment: datetime, dice: random.Random) -> Record:
    architecture, family, base_ms = _MODELS[case.model]
    speed = _SPEEDS[case.platform]
    absent = Record(
        record_id=stable_id(moment, EVIDENCE, case.key),
        run_id=run.run_id,
        case=case,
        status=Status.SKIPPED,
        reason="the sample host has no such device",
        provenance=Provenance.SIMULATED,
        evidence=(EVIDENCE,),
        started_at=moment,
        model=ModelInfo(
            name=case.model,
            architecture=architecture,
            family=family,
            weights="random",
            source="sample",
            fingerprint=digest([EVIDENCE, case.model]),
        ),
    )
    if not speed:
        return absent
    latency = base_ms / speed * case.batch**0.8 * dice.uniform(0.97, 1.03)
    return absent.model_copy(
        update={
            "status": Status.OK,
            "reason": None,
            "duration_s": round(latency / 10, 3),
            "device": Device(platform=case.platform, index=0, name=f"Sample {case.platform.upper()}"),
            "metrics": {
                "latency_ms": MetricValue(value=latency, low=latency * 0.98, high=latency * 1.02, n=100),
                "throughput_per_s": MetricValue(value=case.batch * 1000 / latency),
                "memory_peak_mb": MetricValue(value=round(400 + 50 * case.batch + dice.uniform(0, 20), 1)),
            },
        }
    )
