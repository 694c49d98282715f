"""The section about batch sizes."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import SPEED, a_record, a_run, records

from modeldyno.core.types import MetricValue, Provenance, Record


def flat(batch: int, latency: float, platform: str = "cpu") -> Record:
    """A record with this latency."""
    record = a_record(a_run(), "flat", platform, case={"batch": batch})
    told = {"latency_ms": MetricValue(value=latency, low=latency * 0.99, high=latency * 1.01, n=30)}
    return record.model_copy(update={"metrics": told})


def test_nothing_and_one_record_have_no_batch_sizes(tmp_path: Path) -> None:
    assert section(tmp_path / "a", "batch-size") is None
    assert section(tmp_path / "b", "batch-size", a_run(), a_record(a_run())) is None


def test_the_knee_is_said_ringed_and_in_the_table(tmp_path: Path) -> None:
    # Throughput doubles up to batch 8; from there on time grows as fast as the batch.
    items = [flat(batch, max(8, batch)) for batch in (1, 2, 4, 8, 16, 32)]
    made = section(tmp_path, "batch-size", a_run(), *items)
    assert made
    assert "flat seq 128 on cpu (torch fp32) gains nothing beyond batch 8." in findings(made)
    assert [row["size"] for row in rows(charts(made)["batch-latency"]) if row["knee"]] == [8]
    assert column(tables(made)["batch-size"], "knee_batch") == ["8"]
    assert "8 times the throughput of batch 1 at 1 times the latency" in findings(made)


def test_overhead_and_marginal_cost_come_from_the_line(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", a_run(), *[flat(batch, 10 + 2 * batch) for batch in (1, 2, 4, 8, 16)])
    assert made
    table = tables(made)["batch-size"]
    assert column(table, "overhead_ms") == ["10 ms"]
    assert column(table, "marginal_ms") == ["2 ms per item"]


def test_two_sizes_give_no_line_and_a_caveat(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", a_run(), flat(1, 10), flat(8, 12))
    assert made
    assert column(tables(made)["batch-size"], "overhead_ms") == ["-"]
    assert "2 sizes only" in findings(made)


def test_fifty_models_show_six_and_say_so(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", *many())
    assert made
    chart = charts(made)["batch-throughput"]
    assert len({row["panel"] for row in rows(chart)}) == 6
    assert "The 6 of 50 models with most batch sizes" in (chart.note or "")
    assert len(tables(made)["batch-size"].rows) == 400


def test_a_long_curve_keeps_both_ends(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", a_run(), *[flat(batch, 5 + batch) for batch in range(1, 41)])
    assert made
    sizes = [row["size"] for row in rows(charts(made)["batch-latency"])]
    assert (sizes[0], sizes[-1], len(sizes)) == (1, 40, 12)
    assert "At most 12 points" in (charts(made)["batch-latency"].note or "")


def test_records_without_latency_take_no_part(tmp_path: Path) -> None:
    bare = [flat(batch, 5).model_copy(update={"metrics": {}}) for batch in (1, 2)]
    assert section(tmp_path, "batch-size", a_run(), *bare) is None


def test_simulated_ones_are_marked_and_make_no_finding(tmp_path: Path) -> None:
    items = [flat(b, b).model_copy(update={"provenance": Provenance.SIMULATED}) for b in (1, 2, 4)]
    assert section(tmp_path / "a", "batch-size", a_run(), *items) is None
    made = section(tmp_path / "b", "batch-size", a_run(), *items, provenance="simulated")
    assert made
    assert {row["platform"] for row in rows(charts(made)["batch-latency"])} == {"cpu (simulated)"}
    assert [row.mark for row in tables(made)["batch-size"].rows] == ["simulated"]
    assert not made.findings


def test_names_stay_what_they_are(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", a_run(), *records(a_run(), HOSTILE))
    assert made
    assert {row["panel"] for row in rows(charts(made)["batch-latency"])} == {f"{name} seq 128" for name in HOSTILE}


def test_of_many_lines_each_platform_keeps_its_fastest(tmp_path: Path) -> None:
    items = [
        a_record(a_run(), "alpha", platform, case={"batch": batch, "precision": precision})
        for platform in SPEED
        for precision in ("fp32", "fp16")
        for batch in (1, 8)
    ]
    made = section(tmp_path, "batch-size", a_run(), *items)
    assert made
    chart = charts(made)["batch-latency"]
    lines = {(row["platform"], row["precision"]) for row in rows(chart)}
    assert len(lines) == 12
    assert {platform for platform, _ in lines} == set(SPEED)
    assert "At most 12 lines" in (chart.note or "")
    assert chart.title == "Latency over batch size: alpha seq 128"


def test_a_long_curve_keeps_its_knee(tmp_path: Path) -> None:
    """Time stays the same up to batch 6 and grows with the batch from there on."""
    made = section(tmp_path, "batch-size", a_run(), *[flat(batch, max(6, batch)) for batch in range(1, 41)])
    assert made
    drawn = rows(charts(made)["batch-latency"])
    (knee,) = column(tables(made)["batch-size"], "knee_batch")
    assert [str(row["size"]) for row in drawn if row["knee"]] == [knee]
    assert (len(drawn), drawn[0]["size"], drawn[-1]["size"]) == (12, 1, 40)


def test_the_note_does_not_promise_what_a_cut_table_lacks(tmp_path: Path) -> None:
    made = section(tmp_path, "batch-size", *many())
    assert made
    note = charts(made)["batch-throughput"].note or ""
    assert "the table has more." in note and "the others" not in note
