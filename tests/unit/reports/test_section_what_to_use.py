"""What to use for each model, and why that may be doubted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from section_checks import column, findings, section, tables
from world import a_record, a_run

from modeldyno.core.types import MetricValue, Passport, Provenance, Record, Verdict
from modeldyno.reports.document import Tone

DOUBT = Passport(verdict=Verdict.AMBIGUOUS)


def single(platform: str, latency: float, **changes: Any) -> Record:
    """A number without samples and interval."""
    metrics = {"latency_ms": MetricValue(value=latency)}
    return a_record(a_run(), platform=platform, samples=(), metrics=metrics, **changes)


def test_single_numbers_are_no_tie(tmp_path: Path) -> None:
    made = section(tmp_path, "what-to-use", a_run(), single("cpu", 10.0), single("cuda", 1.0))
    assert made
    assert "within error" not in findings(made)
    assert findings(made).endswith("1 ms; no interval is known to tell cpu, torch, fp32, batch 1 from it.")
    assert made.findings[0].tone is Tone.DOUBT
    assert column(tables(made)["what-to-use"], "lowest_latency") == [
        "cuda, torch, fp32, batch 1 (no interval is known)"
    ]


def test_a_winner_in_doubt_says_what_its_passport_says(tmp_path: Path) -> None:
    made = section(
        tmp_path, "what-to-use", a_run(), a_record(a_run(), platform="cuda", passport=DOUBT), a_record(a_run())
    )
    assert made
    assert findings(made).endswith(", measured under conditions that its passport does not call valid.")
    assert made.findings[0].tone is Tone.DOUBT
    assert column(tables(made)["what-to-use"], "trust") == ["doubtful"]


def test_a_loser_in_doubt_does_not_matter(tmp_path: Path) -> None:
    made = section(
        tmp_path, "what-to-use", a_run(), a_record(a_run(), platform="cuda"), a_record(a_run(), passport=DOUBT)
    )
    assert made
    assert "passport" not in findings(made)
    assert made.findings[0].tone is Tone.GOOD
    assert column(tables(made)["what-to-use"], "trust") == ["valid"]


def test_ties_in_doubt_say_so(tmp_path: Path) -> None:
    ties = [
        a_record(a_run(), platform="openvino", scale=1.4 * 1.005, passport=DOUBT),
        a_record(a_run(), platform="mps", scale=4.0 * 1.006),
    ]
    made = section(tmp_path, "what-to-use", a_run(), a_record(a_run()), *ties)
    assert made
    told = "openvino, torch, fp32, batch 1 and 1 more are within error, some measured under conditions that their "
    assert f"{told}passports do not call valid." in findings(made)


def test_an_import_has_no_passport(tmp_path: Path) -> None:
    imports = [
        a_record(a_run(), platform=name, passport=None, provenance=Provenance.IMPORTED) for name in ("cpu", "cuda")
    ]
    made = section(tmp_path, "what-to-use", a_run(), *imports)
    assert made
    assert findings(made).endswith(", no passport is known.")
    assert column(tables(made)["what-to-use"], "trust") == ["no passport"]


def test_what_cannot_be_a_time_wins_nothing(tmp_path: Path) -> None:
    made = section(tmp_path, "what-to-use", a_run(), single("cuda", -5.0), single("mps", 0.0), a_record(a_run()))
    assert made
    assert column(tables(made)["what-to-use"], "lowest_latency") == ["cpu, torch, fp32, batch 1"]
