"""The matrix of architecture and size."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables, texts
from world import a_record, a_run, records

from modeldyno.core.types import MetricValue, ModelInfo, Provenance, Record, Status
from modeldyno.reports.document import Tone
from modeldyno.reports.sections.recommendation import SIZES

NAME = "recommendation-latency_ms"


def alike(record: Record, info: ModelInfo) -> Record:
    return record.model_copy(update={"model": info})


def test_nothing_has_no_section(tmp_path: Path) -> None:
    assert section(tmp_path, "recommendation") is None


def test_one_record_has_no_rival(tmp_path: Path) -> None:
    made = section(tmp_path, "recommendation", a_run(), a_record(a_run()))
    assert made
    assert list(texts(made, NAME).values()) == ["cpu (only)"]
    assert column(tables(made)[NAME], "sureness") == ["no rival measured"]
    told = "No model of known architecture and size was measured on two platforms at one shape."
    assert findings(made) == told


def test_the_fastest_is_recommended_with_what_it_rests_on(tmp_path: Path) -> None:
    made = section(tmp_path, "recommendation", a_run(), *records(a_run(), ["alpha"], ("cpu", "cuda"), (1,)))
    assert made
    assert list(texts(made, NAME).values()) == ["cuda"]
    assert column(tables(made)[NAME], "models") == ["1"]
    assert column(tables(made)[NAME], "sureness") == ["clear"]
    assert made.findings[0].tone is Tone.GOOD


def test_as_many_on_both_sides_name_both(tmp_path: Path) -> None:
    same = ModelInfo(name="x", architecture="vision", size="base", weights="random", source="made up", fingerprint="x")
    times = {("alpha", "cpu"): 1.0, ("alpha", "cuda"): 99.0, ("beta", "cpu"): 1.0, ("beta", "cuda"): 1.0}
    items = [alike(a_record(a_run(), *key, scale=scale), same) for key, scale in times.items()]
    made = section(tmp_path, "recommendation", a_run(), *items)
    assert made
    assert texts(made, NAME) == {("vision", "base"): "cpu or cuda"}
    assert rows(charts(made)[NAME])[0]["fill"] == "undecided"
    assert "No platform is best" in findings(made)
    assert "light grey with several names: undecided; empty: nothing was measured" in (charts(made)[NAME].note or "")


def test_sizes_stand_from_small_to_large_and_what_was_not_measured_is_empty(tmp_path: Path) -> None:
    made = section(tmp_path, "recommendation", a_run(), *records(a_run(), ["alpha", "beta", "gamma"], batches=(1,)))
    assert made
    cells = texts(made, NAME)
    assert charts(made)[NAME].spec["layer"][0]["encoding"]["x"]["scale"]["domain"] == ["small", "base"]
    told = len(tables(made)[NAME].rows)
    assert sum(text != "" for text in cells.values()) == told


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "recommendation", *many())
    assert made
    assert set(column(tables(made)[NAME], "use")) == {"cuda"}
    assert sum(int(text) for text in column(tables(made)[NAME], "models")) == 50


def test_all_failed_or_without_the_metric(tmp_path: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "out of memory", "metrics": {}, "samples": ()}
    untold = {"metrics": {"latency_ms": MetricValue(value=None, note="too few")}}
    items = [a_record(a_run(), "alpha", **failed), a_record(a_run(), "beta", **untold)]
    assert section(tmp_path, "recommendation", a_run(), *items) is None


def test_simulated_numbers_recommend_nothing_even_when_asked_for(tmp_path: Path) -> None:
    made_up = a_record(a_run(), "alpha", "cuda", provenance=Provenance.SIMULATED)
    made = section(tmp_path, "recommendation", a_run(), a_record(a_run()), made_up, provenance="measured,simulated")
    assert made
    assert column(tables(made)[NAME], "use") == ["cpu"]
    (tmp_path / "alone").mkdir()
    assert section(tmp_path / "alone", "recommendation", a_run(), made_up, provenance="simulated") is None


def test_hostile_names(tmp_path: Path) -> None:
    infos = [
        ModelInfo(name=name, architecture=name, size=name, weights="random", source="made up", fingerprint="x")
        for name in HOSTILE
    ]
    items = [alike(a_record(a_run(), info.name, place), info) for info in infos for place in ("cpu", "cuda")]
    made = section(tmp_path, "recommendation", a_run(), *items)
    assert made
    assert sorted(column(tables(made)[NAME], "architecture")) == sorted(HOSTILE)


def test_the_order_of_sizes_is_that_of_the_models() -> None:
    assert SIZES == ("tiny", "small", "base", "large", "xl", "xxl")
