"""`dyno compare`, `dyno scaling` and `dyno compatibility` on a real store."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blank_store import blank_store
from conftest import Dyno
from modeldyno.core.identity import new_id
from modeldyno.core.types import Case, Device, Host, MetricValue, Passport, Provenance, Record, Run, Samples, Status
from modeldyno.store.store import Store

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
BATCHES = (1, 2, 4, 8)
OLD, NEW = "01aaaaaaaaaaaaaaaaaaaaaaaa", "01bbbbbbbbbbbbbbbbbbbbbbbb"


def measured(run: str, latency: float, platform: str = "cpu", **case: Any) -> Record:
    dice = np.random.default_rng(round(latency * 1e4))
    groups = [list(latency * factor * (1 + dice.gamma(1.5, 0.01, 20))) for factor in (0.999, 1.0, 1.001)]
    value = float(np.median([np.median(group) for group in groups]))
    made = Case.model_validate({"model": "m", "platform": platform, "runtime": "torch", "shape": {"seq": 8}} | case)
    return Record(
        run_id=run,
        case=made,
        status="ok",
        started_at=BEGIN + timedelta(days=run == NEW, minutes=made.batch),
        device=Device(platform=platform, index=0, name=f"Chip {platform}"),
        passport=Passport(verdict="valid"),
        metrics={
            "latency_ms": MetricValue(value=value, low=value * 0.99, high=value * 1.01, n=60),
            "throughput_per_s": MetricValue(value=made.batch * 1e3 / value),
        },
        samples=tuple(Samples(process=i, host_ms=g, stop="interval", steady=True) for i, g in enumerate(groups)),
    )


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Two runs on cpu, the newer one slower at batch 8; cuda ten times as fast; one case that failed."""
    runs = [
        Run(run_id=run, started_at=BEGIN + timedelta(days=day), host=Host(host_id="h"), command="dyno run", version="0")
        for day, run in enumerate((OLD, NEW))
    ]
    records = [measured(OLD, 6 + 2 * batch, batch=batch) for batch in BATCHES]
    records += [measured(NEW, (6 + 2 * batch) * (1.3 if batch == 8 else 1), batch=batch) for batch in BATCHES]
    records += [measured(NEW, (6 + 2 * batch) / 10, "cuda", batch=batch) for batch in BATCHES]
    failed = {"status": Status.FAILED, "reason": "out of | memory", "metrics": {}, "samples": ()}
    records.append(measured(NEW, 1.0, "mps").model_copy(update=failed))
    made_up = measured(NEW, 0.001, "qnn").model_copy(update={"provenance": Provenance.SIMULATED})
    path = tmp_path / "dyno.duckdb"
    blank_store(path).add([*runs, *records, made_up])
    return path


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(done: subprocess.CompletedProcess[str]) -> str:
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.usefixtures("store")
def test_speed_up_against_the_cpu(dyno_here: Dyno) -> None:
    document = answer(dyno_here("compare", "--by", "platform", "--json"))
    found = {one["compared"]["case"]["batch"]: one for one in document["comparisons"]}
    assert {one["compared"]["case"]["platform"] for one in found.values()} == {"cuda"}, "the made-up one takes no part"
    assert found[1]["times_better"] == pytest.approx(10, rel=0.05)
    assert found[8]["times_better"] == pytest.approx(13, rel=0.05), "held against the newest record of the cpu"
    assert found[1]["low"] < found[1]["ratio"] < found[1]["high"]
    assert {one["verdict"] for one in found.values()} == {"faster"}
    shown = dyno_here("compare", "--by", "platform", "--batch", "1")
    assert "10x faster" in shown.stdout or "9.9" in shown.stdout or "10.1x" in shown.stdout
    made_up = answer(dyno_here("compare", "--by", "platform", "--provenance", "measured,simulated", "--json"))
    refused = [one for one in made_up["comparisons"] if one["verdict"] == "refused"]
    assert [one["compared"]["case"]["platform"] for one in refused] == ["qnn"]
    assert "measured against simulated" in refused[0]["refused"][0]


@pytest.mark.usefixtures("store")
def test_two_runs(dyno: Dyno, dyno_here: Dyno) -> None:
    document = answer(dyno_here("compare", "latest~1", "latest", "--margin", "0.05", "--json"))
    verdicts = {one["compared"]["case"]["batch"]: one["verdict"] for one in document["comparisons"]}
    assert verdicts == {1: "same", 2: "same", 4: "same", 8: "slower"}
    assert {one["case"]["platform"] for one in document["alone"]} == {"cuda"}
    assert "slower" in dyno("compare", "01aa", "01bb", "--batch", "8").stdout


@pytest.mark.usefixtures("store")
def test_two_records_by_the_beginnings_of_their_ids(dyno_here: Dyno) -> None:
    document = answer(dyno_here("compare", "latest~1", "latest", "--batch", "8", "--json"))
    ids = [document["comparisons"][0][side]["record_id"] for side in ("baseline", "compared")]
    (one,) = answer(dyno_here("compare", ids[0], ids[1].upper()[:-1], "--json"))["comparisons"]
    assert [one[side]["record_id"] for side in ("baseline", "compared")] == ids
    assert "No run and no record begins with 'zz'" in refusal(dyno_here("compare", "zz", ids[0]))
    assert "Several records begin" in refusal(dyno_here("compare", ids[0][:4], ids[1]))


def test_a_case_that_fails_now_and_another_host_are_told(dyno_here: Dyno, store: Path) -> None:
    run = Run(run_id="01c" + "0" * 23, host=Host(host_id="i"), command="dyno run", version="0")
    failed = {"run_id": run.run_id, "status": Status.FAILED, "reason": "out of memory", "metrics": {}, "samples": ()}
    again = measured(NEW, 8.0, batch=2).model_copy(update={"run_id": run.run_id})
    Store(store).add([run, measured(NEW, 8.0).model_copy(update=failed), again])
    document = answer(dyno_here("compare", "01bb", "latest", "--json"))
    broken, other = sorted(document["comparisons"], key=lambda one: one["compared"]["case"]["batch"])
    assert (broken["verdict"], broken["compared"]["status"]) == ("refused", "failed")
    assert "on different hosts: h against i" in other["labels"]
    assert "out of memory" in dyno_here("compare", "01bb", "latest").stdout


def test_the_newest_of_each_series_is_looked_at_whatever_the_limit(dyno_here: Dyno, store: Path) -> None:
    """Many new records of one platform do not push the other out of sight."""
    many = [measured(NEW, 0.8, "cuda").model_copy(update={"started_at": BEGIN + timedelta(days=9)}) for _ in range(9)]
    Store(store).add([record.model_copy(update={"record_id": new_id()}) for record in many])
    found = answer(dyno_here("compare", "--by", "platform", "--limit", "8", "--json"))["comparisons"]
    assert len(found) == 4
    runs = answer(dyno_here("compare", "--by", "run", "--on", "cpu", "--json"))["comparisons"]
    assert {one["baseline"]["run_id"] for one in runs} == {OLD}
    limited = dyno_here("compare", "--by", "platform", "--limit", "3")
    assert "Only the newest 3 series are looked at" in limited.stderr


@pytest.mark.usefixtures("store")
def test_wrong_questions_are_refused(dyno_here: Dyno) -> None:
    assert "Say what to compare" in refusal(dyno_here("compare"))
    assert "Two runs or two records" in refusal(dyno_here("compare", "latest"))
    assert "Unknown question for --by 'platforms', did you mean" in refusal(dyno_here("compare", "--by", "platforms"))
    assert "There is no latest~7" in refusal(dyno_here("compare", "latest~7", "latest"))
    assert "known: cpu, cuda" in refusal(dyno_here("compare", "--by", "platform", "--baseline", "tpu"))
    assert "is no share" in refusal(dyno_here("compare", "--by", "platform", "--margin", "nan"))
    unused = refusal(dyno_here("compare", "--by", "platform", "--margin", "memory_peak_mb=0.1"))
    assert "add --metric memory_peak_mb" in unused
    assert "did you mean 'latency_ms'" in refusal(dyno_here("compare", "--by", "platform", "--metric", "latency"))
    assert "There is no store" in refusal(dyno_here("compare", "--by", "platform", "--store", "none.duckdb"))
    nothing = dyno_here("compare", "--by", "precision")
    assert (nothing.returncode, "Nothing to compare" in nothing.stdout) == (0, True)


@pytest.mark.usefixtures("store")
def test_scaling(dyno: Dyno, dyno_here: Dyno) -> None:
    (curve,) = answer(dyno_here("scaling", "m", "--on", "cuda", "--json"))["curves"]
    assert [point["size"] for point in curve["points"]] == list(BATCHES)
    assert curve["line"]["half_performance"] == pytest.approx(3, rel=0.2)
    shown = dyno("scaling", "--on", "cuda").stdout
    assert "latency = 0.6" in shown
    assert "Doubling adds at least 10%" in shown
    assert "Nothing to scale" in dyno_here("scaling", "--over", "seq").stdout
    assert "Unknown axis 'sequence'" in refusal(dyno_here("scaling", "--over", "sequence"))


@pytest.mark.usefixtures("store")
def test_compatibility(dyno: Dyno, dyno_here: Dyno) -> None:
    document = answer(dyno_here("compatibility", "--json"))
    assert document["platforms"] == ["cpu", "cuda", "mps"]
    cells = {cell["platform"]: cell for cell in document["cells"]}
    assert {platform: cell["status"] for platform, cell in cells.items()} == {
        "cpu": "ok",
        "cuda": "ok",
        "mps": "failed",
    }
    assert [(one["platform"], one["batch"]) for one in cells["mps"]["instead"]] == [("cuda", 1), ("cpu", 1)]
    markdown = dyno_here("compatibility", "--on", "mps", "--markdown").stdout.splitlines()
    assert markdown[:3] == ["| model | `mps` |", "|---|---|", "| `m` | failed |"]
    reason, advice = "<code>out of &#124; memory</code>", "`cuda torch fp32, cpu torch fp32`"
    assert markdown[-1] == f"| `m` | `mps torch fp32` | failed | {reason} | {advice} |"
    assert "What does not work" in dyno("compatibility").stdout
    assert "No outcome matches" in dyno_here("compatibility", "--model", "none").stdout


def test_a_batch_that_is_too_large_makes_it_partly(dyno_here: Dyno, store: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "out of memory", "metrics": {}, "samples": ()}
    large = measured(NEW, 1.0, "cuda", batch=512).model_copy(update=failed)
    training = measured(NEW, 1.0, "cuda", workload="training").model_copy(update=failed)
    Store(store).add([large, training, measured(NEW, 1.0, "cuda", workload="hardware", model="matmul")])
    document = answer(dyno_here("compatibility", "--on", "cuda", "--json"))
    assert [(cell["model"], cell["status"]) for cell in document["cells"]] == [("m", "ok")]
    ways = {way["workload"]: way for way in document["cells"][0]["ways"]}
    assert [one["batch"] for one in ways["inference"]["partly"]] == [512]
    assert (ways["training"]["status"], ways["training"]["instead"]) == ("failed", [])
    shown = " ".join(dyno_here("compatibility", "--on", "cuda").stdout.split())
    assert "torch fp32 batch 512 seq 8 partly failed out of memory batch 8 seq 8, which worked" in shown
    assert "training torch fp32" in shown
