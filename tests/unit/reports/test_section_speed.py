"""The bars of each model and platform, and who wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from section_checks import charts, findings, section
from world import a_record, a_run

from modeldyno.core.types import Device, MetricValue, Provenance, Record

SOFT = Device(platform="qnn", index=0, name="Soft", emulated=True)
ALL = {"provenance": "measured,simulated"}


def single(model: str, platform: str, latency: float) -> Record:
    """A number without samples and interval."""
    return a_record(a_run(), model, platform, samples=(), metrics={"latency_ms": MetricValue(value=latency)})


def test_what_no_hardware_gave_wins_no_race(tmp_path: Path) -> None:
    real = [a_record(a_run(), platform=name) for name in ("cpu", "mps")]
    dreamt = a_record(a_run(), platform="cuda", provenance=Provenance.SIMULATED)
    soft = a_record(a_run(), platform="qnn", device=SOFT, scale=0.01)
    made = section(tmp_path, "speed", a_run(), *real, dreamt, soft, **ALL)
    assert made
    assert findings(made) == "Of 1 model measured on several platforms, the best latency is on mps for 1."


def test_a_race_needs_two_platforms_that_are_real(tmp_path: Path) -> None:
    dreamt = a_record(a_run(), platform="cuda", provenance=Provenance.SIMULATED)
    made = section(tmp_path, "speed", a_run(), a_record(a_run()), dreamt, **ALL)
    assert made
    assert not made.findings


def test_without_any_clear_race_it_is_said_so(tmp_path: Path) -> None:
    close = [a_record(a_run(), "beta"), a_record(a_run(), "beta", "openvino", scale=1.4)]
    blind = [single("alpha", "cpu", 10.0), single("alpha", "cuda", 1.0)]
    made = section(tmp_path, "speed", a_run(), *close, *blind)
    assert made
    told = "none has a clear best latency; for 1 it is too close to call; for 1 no interval is known."
    assert findings(made) == f"Of 2 models measured on several platforms, {told}"


@pytest.mark.parametrize(
    ("metric", "told"),
    [
        ("latency_ms", "runtime and precision at the batch size most platforms have;"),
        ("throughput_per_s", "runtime, precision and batch size;"),
    ],
)
def test_the_note_says_what_the_choice_was(tmp_path: Path, metric: str, told: str) -> None:
    made = section(tmp_path, "speed", a_run(), a_record(a_run()), metric=metric)
    assert made
    assert f"its best {told}" in (charts(made)[f"speed-{metric}"].note or "")
    assert "of 1 model on cpu" in charts(made)[f"speed-{metric}"].alt
