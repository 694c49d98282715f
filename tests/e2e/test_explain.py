"""`dyno run hardware` and `dyno explain` from the command line: real workers, a real store."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from modeldyno.cli.explain import explain
from modeldyno.core.types import Case, Device, Host, MetricValue, ModelInfo, Provenance, Record, Run, Status
from modeldyno.platforms import PLATFORMS
from modeldyno.store.store import Store
from modeldyno.workloads._hardware.memory import last_level_cache_mb

ATTEMPTS = 3
"""Other programs may take half of the machine from one size and not from the other; sizes of about the same length
suffer alike. Of the two only the faster one then says that its peak, which is the other, must be measured again."""


@pytest.mark.slow
def test_three_constructed_workloads_are_named_by_their_bound(dyno) -> None:
    """A matrix product, a large copy and a chain of tiny operations, each held against another size than its own."""
    cache = last_level_cache_mb(PLATFORMS.get("cpu").probe().devices[0], on_host=True) or 64
    megabytes = math.ceil(2 * cache)
    sizes = ("size=512,576", f"mb={megabytes},{megabytes + 64}", "launches=100,300")
    shapes = [part for size in sizes for part in ("--shape", size)]
    command = ("run", "matmul", "copy", "launch", "--workload", "hardware", "--on", "cpu", *shapes)
    wanted = {("matmul", "compute"), ("copy", "memory"), ("launch", "launch")}
    found: set[tuple[str, str]] = set()
    for _ in range(ATTEMPTS):
        done = dyno(*command, "--quick", "--samples", "5")
        assert done.returncode == 0, done.stderr
        for words in ("GFLOP/s", "GB/s", "us"):
            assert words in done.stdout
        assert "What to use" not in done.stdout, "probes are no models to choose from"
        explanations = json.loads(dyno("explain", "latest", "--json").stdout)["explanations"]
        assert len(explanations) == 6
        named = [each for each in explanations if "measure the peaks again" not in each["because"]]
        found = {(each["case"]["model"], each["bound"]) for each in named}
        if found == wanted:
            break
    assert found == wanted
    for each in named:
        (judge,) = [ceiling for ceiling in each["ceilings"] if ceiling["bound"] == each["bound"]]
        assert judge["peak_record_id"] != each["record_id"]


@pytest.mark.slow
def test_wrong_models_for_the_workload_are_a_sentence(dyno) -> None:
    wrong = dyno("run", "tiny-bert", "--workload", "hardware", "--on", "cpu")
    known = "known: all-reduce, copy, from-device, launch, matmul, read, to-device, write"
    assert (wrong.returncode, known in wrong.stderr) == (2, True)


CHIP = Device(platform="cpu", index=0, name="Chip")
RUN = Run(host=Host(host_id="h"), command="c", version="v")


def add(store: Path, **changes: object) -> Record:
    case = {"model": "bert", "platform": "cpu", "runtime": "torch", **(changes.pop("case", None) or {})}  # type: ignore[dict-item]
    values = changes.pop("metrics", {})
    assert isinstance(values, dict)
    record = Record.model_validate(
        {
            "run_id": RUN.run_id,
            "case": Case.model_validate(case),
            "status": Status.OK,
            "device": CHIP,
            "model": ModelInfo(name="bert", parameters=10**8, weights="random", source="s", fingerprint="f"),
            "metrics": {name: MetricValue(value=value) for name, value in values.items()},
            **changes,
        }
    )
    Store(store).add([RUN, record])
    return record


def add_peaks(store: Path) -> None:
    for probe, metric, value in (
        ("matmul", "compute_rate_gflops", 100.0),
        ("copy", "bandwidth_gb_per_s", 10.0),
        ("launch", "launch_us", 2.0),
    ):
        add(store, case={"workload": "hardware", "model": probe}, metrics={metric: value}, model=None)


WORK = {"latency_ms": 100.0, "compute_gflop": 8.0}


def test_a_record_is_explained_for_people(dyno, tmp_path: Path) -> None:
    path = tmp_path / "dyno.duckdb"
    add_peaks(path)
    rows = [{"name": "aten::addmm", "kind": "operator", "calls": 7, "time_ms": 80.0, "share": 0.8}]
    record = add(path, metrics=WORK, profile=rows)
    for target in ((), (record.record_id[:-2],), (RUN.run_id, "--model", "bert")):
        done = dyno("explain", *target)
        assert done.returncode == 0, done.stderr
        for words in ("bert · cpu:0", "On Chip", record.record_id, "compute-bound", "80% of the roofline", "Williams",
                      "aten::addmm", "What usually helps", "no passport"):  # fmt: skip
            assert words in done.stdout
        assert "dyno run hardware" not in done.stdout, "all peaks are there"


def test_missing_peaks_name_the_command_that_measures_them(dyno, tmp_path: Path) -> None:
    path = tmp_path / "dyno.duckdb"
    add(path, metrics=WORK, case={"precision": "bf16"})
    done = dyno("explain")
    assert "Bound: not known; no matrix rate in bf16 measured; no memory bandwidth measured." in done.stdout
    assert "dyno run hardware --on cpu:0 --precision bf16" in done.stdout
    add(path, metrics=WORK, case={"platform": "openvino", "runtime": "openvino"})
    assert "The peaks of openvino cannot be measured" in dyno("explain").stdout
    add(path, metrics=WORK, case={"precision": "int8"})
    assert "no probe for the matrix rate in int8; measure the other peaks" in (text := dyno("explain").stdout)
    assert "dyno run copy launch --workload hardware --on cpu:0" in text
    add_peaks(path)
    assert "dyno run" not in dyno("explain", "--precision", "int8").stdout, "what can be measured is there"


def test_peaks_that_cannot_be_right_name_the_command_as_well(dyno, tmp_path: Path) -> None:
    path = tmp_path / "dyno.duckdb"
    add_peaks(path)
    add(path, metrics={**WORK, "compute_gflop": 13.0})
    text = dyno("explain", "--model", "bert").stdout
    assert "Bound: not known; it computes at 130% of the matrix rate: measure the peaks again" in text
    assert "dyno run hardware --on cpu:0 --precision fp32" in text


def test_the_peaks_are_read_once_and_the_newest_of_each_series_count(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """However many records are explained, and whatever other chips of the platform were measured since."""
    path = tmp_path / "dyno.duckdb"
    add_peaks(path)
    add(path, case={"workload": "hardware", "model": "matmul"}, metrics={"compute_rate_gflops": 200.0}, model=None)
    other = Device(platform="cpu", index=0, name="Another chip")
    for size in range(1, 4):
        case = {"workload": "hardware", "model": "matmul", "shape": {"size": size}}
        add(path, case=case, metrics={"compute_rate_gflops": 1.0}, model=None, device=other)
    for batch in (1, 2, 4):
        add(path, metrics=WORK, case={"batch": batch})
    asked: list[object] = []
    read = Store.newest_records
    monkeypatch.setattr(Store, "newest_records", lambda *given: asked.append(given[1:]) or read(*given))
    explain(what="latest", model="bert", json=True, store=str(path))
    explanations = json.loads(capsys.readouterr().out)["explanations"]
    assert [each["ceilings"][0]["share"] for each in explanations] == [pytest.approx(0.4)] * 3
    assert len(asked) == 1


def test_what_was_not_measured_or_is_made_up_says_so(dyno, tmp_path: Path) -> None:
    path = tmp_path / "dyno.duckdb"
    skipped = add(path, status=Status.SKIPPED, reason="no such device", remedy="buy one", device=None)
    done = dyno("explain", skipped.record_id)
    assert "Not measured: skipped: no such device; buy one" in done.stdout
    refused = dyno("explain")
    assert (refused.returncode, "no ok record that matches" in refused.stderr) == (2, True)
    simulated = add(path, metrics=WORK, provenance=Provenance.SIMULATED)
    assert dyno("explain").returncode == 2
    assert "These numbers are simulated." in dyno("explain", simulated.record_id).stdout
    document = json.loads(dyno("explain", "--provenance", "simulated", "--json").stdout)
    assert [(each["provenance"], each["bound"]) for each in document["explanations"]] == [("simulated", "unknown")]


def test_names_that_lead_nowhere_are_a_sentence(dyno, tmp_path: Path) -> None:
    assert "There is no store" in dyno("explain").stderr
    first = add(tmp_path / "dyno.duckdb", metrics=WORK)
    add(tmp_path / "dyno.duckdb", metrics=WORK)
    nowhere, several = dyno("explain", "zzz"), dyno("explain", first.record_id[:3])
    assert (nowhere.returncode, several.returncode) == (2, 2)
    assert "No run begins with 'zzz'" in nowhere.stderr
    assert "write more of the id" in several.stderr
