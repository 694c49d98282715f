"""The devices and what they reached themselves."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import SPEED, a_record, a_run, peaks, probe

from modeldyno.analysis.peaks import peaks_by_device
from modeldyno.core.types import Device, Passport, Provenance, Record, Status, Verdict
from modeldyno.reports.document import Note, Section, Tone


def notes(made: Section) -> str:
    return " ".join(block.text for block in made.blocks if isinstance(block, Note))


def test_nothing_has_no_section(tmp_path: Path) -> None:
    assert section(tmp_path, "hardware") is None


def test_one_record_names_its_device_and_how_to_measure_it(tmp_path: Path) -> None:
    made = section(tmp_path, "hardware", a_run(), a_record(a_run()))
    assert made
    table = tables(made)["devices"]
    assert column(table, "device") == ["A cpu device"]
    assert column(table, "memory_mb") == ["16 GiB"]
    assert column(table, "driver") == ["1.0"]
    assert notes(made) == "No peaks of these devices were measured; dyno run hardware --on cpu measures them."
    assert not charts(made) and not made.findings


def test_peaks_are_told_with_precision_size_and_conditions(tmp_path: Path) -> None:
    made = section(tmp_path, "hardware", a_run(), a_record(a_run(), platform="cuda"), *peaks())
    assert made
    table = tables(made)["peaks"]
    assert column(table, "peak") == ["matrix rate", "memory bandwidth", "launch", "copy to the device"]
    assert column(table, "value") == ["10000 GFLOP/s", "1000 GB/s", "5 us", "20 GB/s"]
    assert set(column(table, "size")) == {"size 4096"}
    assert set(column(table, "trust")) == {"valid"}
    assert column(tables(made)["devices"], "records") == ["5"]
    assert rows(charts(made)["peaks"])[0]["value"] == 10.0
    told = "The highest matrix rate is 10 TFLOP/s, A cuda device in fp32; the highest memory bandwidth is 1000 GB/s"
    assert findings(made).startswith(told)


def test_doubtful_peaks_say_so(tmp_path: Path) -> None:
    doubt = Passport(verdict=Verdict.AMBIGUOUS)
    found = probe("matmul", compute_rate_gflops=100.0).model_copy(update={"passport": doubt})
    made = section(tmp_path, "hardware", a_run(), found)
    assert made
    assert column(tables(made)["peaks"], "trust") == ["ambiguous"]
    assert made.findings[0].tone is Tone.DOUBT


def test_the_best_size_counts_and_nothing_that_was_not_measured() -> None:
    faster = probe("matmul", compute_rate_gflops=200.0)
    bigger = faster.case.model_copy(update={"shape": {"size": 8192}})
    slower = probe("matmul", compute_rate_gflops=100.0).model_copy(update={"case": bigger, "record_id": "other"})
    simulated = {"provenance": Provenance.SIMULATED}
    made_up = [probe(name, bandwidth_gb_per_s=9.0).model_copy(update=simulated) for name in ("copy", "to-device")]
    failed = probe("launch", launch_us=9.0).model_copy(update={"status": Status.FAILED})
    (one,) = peaks_by_device([slower, faster, *made_up, failed]).values()
    assert [(precision, peak.value) for precision, peak in one.rates] == [("fp32", 200.0)]
    assert one.memory is None and one.launch is None and one.moves == ()


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "hardware", *many(), *(one for place in SPEED for one in peaks(place)))
    assert made
    assert len(tables(made)["devices"].rows) == 8
    assert len(rows(charts(made)["peaks"])) == 8


def test_all_failed_still_names_the_device(tmp_path: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "x", "metrics": {}, "samples": ()}
    made = section(tmp_path, "hardware", a_run(), a_record(a_run(), **failed))
    assert made
    assert column(tables(made)["devices"], "device") == ["A cpu device"]


def test_without_any_device_there_is_nothing_to_say(tmp_path: Path) -> None:
    absent = {"status": Status.SKIPPED, "reason": "no device", "metrics": {}, "samples": (), "device": None}
    assert section(tmp_path, "hardware", a_run(), a_record(a_run(), **absent)) is None


def test_a_device_that_tells_little(tmp_path: Path) -> None:
    bare = Device(platform="cpu", index=0, name="Chip")
    made = section(tmp_path, "hardware", a_run(), a_record(a_run(), device=bare))
    assert made
    assert [column(tables(made)["devices"], key) for key in ("memory_mb", "driver", "capability")] == [["-"]] * 3


def test_simulated_and_emulated_devices_are_marked(tmp_path: Path) -> None:
    made_up = a_record(a_run(), platform="cuda", provenance=Provenance.SIMULATED)
    soft = a_record(a_run(), platform="qnn", device=Device(platform="qnn", index=0, name="Soft", emulated=True))
    made = section(tmp_path, "hardware", a_run(), made_up, soft, provenance="measured,simulated")
    assert made
    assert [row.mark for row in tables(made)["devices"].rows] == ["simulated", "emulated"]


def test_hostile_names(tmp_path: Path) -> None:
    items = []
    for name in HOSTILE:
        device = Device(platform="cuda", index=0, name=name, driver=name, capability=name)
        update = {"device": device, "record_id": f"probe-{len(items)}"}
        items.append(probe("matmul", compute_rate_gflops=100.0).model_copy(update=update))
    made = section(tmp_path, "hardware", a_run(), *items)
    assert made
    assert sorted(column(tables(made)["devices"], "device")) == sorted(HOSTILE)


def doubtful(record: Record) -> Record:
    return record.model_copy(update={"passport": Passport(verdict=Verdict.AMBIGUOUS)})


def on(name: str, gflops: float, **told: object) -> Record:
    """A matrix rate of such a device."""
    device = Device.model_validate({"platform": "cuda", "index": 0, "name": name, **told})
    update = {"device": device, "record_id": f"probe-{name}-{gflops}"}
    return probe("matmul", compute_rate_gflops=gflops).model_copy(update=update)


def test_an_emulator_has_no_peaks(tmp_path: Path) -> None:
    soft = on("Soft", 999.0, emulated=True)
    assert peaks_by_device([soft]) == {}
    made = section(tmp_path, "hardware", a_run(), soft)
    assert made
    assert "peaks" not in tables(made)
    assert not made.findings


def test_devices_of_one_name_have_bars_of_their_own(tmp_path: Path) -> None:
    alike = [on("Chip", 100.0 * n, memory_mb=1024 * n) for n in (1, 2)]
    alike += [on("Core", 100.0 * n, driver=f"{n}.0", capability=f"c{n}") for n in (1, 2)]
    alike += [on("Twin", 100.0 * n, capability=f"c{n}") for n in (1, 2)]
    made = section(tmp_path, "hardware", a_run(), *alike)
    assert made
    chart = charts(made)["peaks"]
    names = sorted(row["device"].removeprefix("cuda · ") for row in rows(chart))
    assert names == ["Chip, 1 GiB", "Chip, 2 GiB", "Core, 1.0", "Core, 2.0", "Twin", "Twin (2)"]
    assert chart.spec["layer"][0]["encoding"]["x"]["stack"] is None


def test_each_caveat_stands_behind_its_own_number(tmp_path: Path) -> None:
    rate, band, *_ = peaks()
    made = section(tmp_path, "hardware", a_run(), rate, doubtful(band))
    assert made
    assert "in fp32; the highest" in findings(made)
    assert findings(made).endswith("1000 GB/s, A cuda device (measured under doubtful conditions).")
    assert made.findings[0].tone is Tone.DOUBT


def test_a_peak_without_a_passport_says_so(tmp_path: Path) -> None:
    bare = probe("matmul", compute_rate_gflops=100.0).model_copy(update={"passport": None})
    made = section(tmp_path, "hardware", a_run(), bare)
    assert made
    assert findings(made).endswith("in fp32 (no passport is known).")


def test_an_invalid_peak_has_the_tone_of_one(tmp_path: Path) -> None:
    bad = probe("matmul", compute_rate_gflops=100.0).model_copy(update={"passport": Passport(verdict=Verdict.INVALID)})
    made = section(tmp_path, "hardware", a_run(), bad)
    assert made
    assert tables(made)["peaks"].rows[0].cells[-1].tone is Tone.BAD
