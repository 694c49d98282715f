"""The section about trade-offs."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import a_record, a_run, records

from modeldyno.core.types import MetricValue, Provenance, Record


def option(batch: int, model: str = "alpha", platform: str = "cpu", **values: float) -> Record:
    told = {name: MetricValue(value=value) for name, value in values.items()}
    return a_record(a_run(), model, platform, case={"batch": batch}, metrics=told)


def best(made_rows: list[dict[str, object]]) -> list[tuple[object, object]]:
    return [(row["x"], row["y"]) for row in made_rows if row["best"]]


def test_nothing_and_one_record_leave_no_choice(tmp_path: Path) -> None:
    assert section(tmp_path / "a", "trade-offs") is None
    assert section(tmp_path / "b", "trade-offs", a_run(), a_record(a_run())) is None


def test_the_frontier_is_what_no_other_beats(tmp_path: Path) -> None:
    items = [
        option(1, latency_ms=4.0, throughput_per_s=250.0),
        option(32, latency_ms=6.0, throughput_per_s=5000.0),
        option(1, platform="webnn", latency_ms=5.0, throughput_per_s=200.0),
        option(32, platform="webnn", latency_ms=23.0, throughput_per_s=1400.0),
    ]
    made = section(tmp_path, "trade-offs", a_run(), *items)
    assert made
    assert best(rows(charts(made)["trade-offs-throughput"])) == [(4.0, 250.0), (6.0, 5000.0)]
    assert column(tables(made)["trade-offs"], "batch") == ["1", "32"]
    assert "batch 32 has 20 times the throughput of cpu torch fp32 batch 1" in findings(made)
    assert "at 1.5 times that latency" in findings(made)


def test_at_one_batch_size_throughput_says_nothing_new(tmp_path: Path) -> None:
    made = section(tmp_path, "trade-offs", a_run(), *records(a_run(), ["alpha"], batches=[4]))
    assert made
    assert list(charts(made)) == ["trade-offs-memory"]


def test_energy_is_held_per_item_and_only_where_it_is_there(tmp_path: Path) -> None:
    items = [
        option(1, latency_ms=4.0, energy_j=1.0),
        option(8, latency_ms=6.0, energy_j=4.0),
        option(1, platform="webnn", latency_ms=1.0),
    ]
    made = section(tmp_path, "trade-offs", a_run(), *items)
    assert made
    assert list(charts(made)) == ["trade-offs-energy"]
    assert best(rows(charts(made)["trade-offs-energy"])) == [(4.0, 1.0), (6.0, 0.5)]
    assert column(tables(made)["trade-offs"], "energy_per_item_j") == ["1 J", "0.5 J"]


def test_fifty_models_show_six_and_say_so(tmp_path: Path) -> None:
    made = section(tmp_path, "trade-offs", *many())
    assert made
    for chart in charts(made).values():
        assert len({row["panel"] for row in rows(chart)}) == 6
        assert "The 6 of 50 models with most candidates; the table has more." in (chart.note or "")
    assert len(set(column(tables(made)["trade-offs"], "model"))) > 6


def test_beaten_ones_are_sampled(tmp_path: Path) -> None:
    items = [option(n, latency_ms=float(n), throughput_per_s=1000.0 / n) for n in range(1, 301)]
    made = section(tmp_path, "trade-offs", a_run(), *items)
    assert made
    chart = charts(made)["trade-offs-throughput"]
    assert len(rows(chart)) == 151
    assert best(rows(chart)) == [(1.0, 1000.0)]
    assert "At most 150 points off the line" in (chart.note or "")


def test_simulated_ones_are_marked_and_beat_nothing_that_was_measured(tmp_path: Path) -> None:
    slow = [option(n, latency_ms=10.0 * n, throughput_per_s=100.0 + n) for n in (1, 2)]
    quick = [option(n, platform="webgpu", latency_ms=1.0 * n, throughput_per_s=9000.0 + n) for n in (1, 2)]
    made_up = [record.model_copy(update={"provenance": Provenance.SIMULATED}) for record in quick]
    made = section(tmp_path / "a", "trade-offs", a_run(), *slow, *made_up, provenance="measured,simulated")
    assert made
    drawn = rows(charts(made)["trade-offs-throughput"])
    assert {row["platform"] for row in drawn if not row["best"]} == {"webgpu (simulated)"}
    assert {row["platform"] for row in drawn if row["best"]} == {"cpu"}
    alone = section(tmp_path / "b", "trade-offs", a_run(), *made_up, provenance="simulated")
    assert alone
    assert {row.mark for row in tables(alone)["trade-offs"].rows} == {"simulated"}
    assert not alone.findings


def test_names_stay_what_they_are(tmp_path: Path) -> None:
    made = section(tmp_path, "trade-offs", a_run(), *records(a_run(), HOSTILE))
    assert made
    assert {row["panel"] for row in rows(charts(made)["trade-offs-memory"])} == {f"{name} seq 128" for name in HOSTILE}
