"""What may be compared: differences that are not the question refuse, or are said."""

from __future__ import annotations

from typing import Any

import pytest

from modeldyno.analysis.comparable import By, obstacles
from modeldyno.core.types import Record

BASE: dict[str, Any] = {
    "run_id": "r",
    "status": "ok",
    "case": {"model": "m", "platform": "cpu", "runtime": "torch", "shape": {"seq": 8}},
    "device": {"platform": "cpu", "index": 0, "name": "Chip"},
    "model": {"name": "m", "weights": "random", "source": "s", "fingerprint": "f", "parameters": 10},
    "placement": {"device": "cpu", "compute_precision": "float32"},
    "passport": {"verdict": "valid"},
    "software": {"torch": "2.8", "numpy": "2.0"},
}
DOUBT = {"name": "spread", "value": 0.3, "verdict": "ambiguous"}


def record(**changes: Any) -> Record:
    """The usual record with some fields changed, inner ones too."""
    fields = BASE | changes
    for name, inner in BASE.items():
        if isinstance(inner, dict) and changes.get(name):
            fields[name] = inner | changes[name]
    return Record.model_validate(fields)


def found(by: By, **changes: Any) -> tuple[list[str], list[str]]:
    """What refuses and what is said."""
    between = obstacles(record(), record(**changes), by)
    return [o.text for o in between if o.refuses], [o.text for o in between if not o.refuses]


def test_equal_records_have_nothing_between_them() -> None:
    assert found(By.RUN) == ([], [])


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"status": "failed", "reason": "out of memory"}, "is failed: out of memory"),
        ({"provenance": "simulated"}, "measured against simulated"),
        ({"case": {"workload": "training"}}, "inference against training"),
        ({"case": {"model": "n"}}, "m against n; use --by model"),
        ({"model": {"fingerprint": "g", "parameters": 20}}, "10 parameters against 20 parameters"),
        ({"model": {"fingerprint": "g"}}, "fingerprints are not equal"),
        ({"case": {"batch": 8}}, "1 against 8; use --by batch"),
        ({"case": {"shape": {"seq": 16}}}, "seq 8 against seq 16"),
        ({"case": {"precision": "bf16"}}, "fp32 against bf16; use --by precision"),
        ({"placement": {"compute_precision": "bfloat16"}}, "computed in differs: fp32 against bf16"),
        ({"device": {"emulated": True}}, "is emulated"),
        ({"passport": {"verdict": "invalid"}}, "passport is invalid"),
    ],
)
def test_what_would_be_a_wrong_comparison_is_refused(changes: dict[str, Any], text: str) -> None:
    refused, _ = found(By.RUN, **changes)
    assert any(text in reason for reason in refused), refused


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"provenance": "imported"}, "measured against imported"),
        ({"model": {"fingerprint": "g", "weights": "pretrained"}}, "random against pretrained"),
        ({"model": {"fingerprint": "g", "weights": "unstated", "parameters": None}}, "weights are not stated"),
        ({"case": {"options": {"hint": "latency"}}}, "options differ: hint"),
        ({"case": {"runtime": "onnxruntime"}}, "torch against onnxruntime"),
        ({"device": {"name": "Other"}}, "Chip against Other"),
        ({"device": None}, "device is not known"),
        ({"case": {"index": 1}}, "two devices of one kind: cpu:0 against cpu:1"),
        ({"software": {"torch": "2.9"}}, "torch 2.8 against 2.9"),
        ({"passport": {"verdict": "ambiguous", "checks": [DOUBT]}}, "compared record's passport is ambiguous (spread)"),
        ({"passport": None}, "no passport"),
    ],
)
def test_what_has_to_be_said_is_said(changes: dict[str, Any], text: str) -> None:
    refused, labels = found(By.RUN, **changes)
    assert refused == []
    assert any(text in label for label in labels), labels


@pytest.mark.parametrize(
    ("by", "changes"),
    [
        (By.PLATFORM, {"device": {"platform": "cuda", "name": "GPU"}, "case": {"platform": "cuda"}}),
        (By.RUNTIME, {"case": {"runtime": "onnxruntime"}}),
        (By.PRECISION, {"case": {"precision": "bf16"}, "placement": {"compute_precision": "bfloat16"}}),
        (By.BATCH, {"case": {"batch": 8}}),
        (By.MODEL, {"case": {"model": "n"}, "model": {"fingerprint": "g", "parameters": 20}}),
    ],
)
def test_the_question_is_no_obstacle(by: By, changes: dict[str, Any]) -> None:
    assert found(by, **changes) == ([], [])


def test_models_with_other_axes_are_compared_but_not_the_same_axis_at_another_size() -> None:
    assert found(By.MODEL, case={"model": "n", "shape": {}}) == ([], ["the inputs differ: seq 8 against no sizes"])
    assert found(By.MODEL, case={"model": "n", "shape": {"seq": 16}})[0]


def test_probes_of_the_hardware_are_no_models() -> None:
    matmul, copy = (record(case={"workload": "hardware", "model": name}) for name in ("matmul", "copy"))
    (obstacle,) = obstacles(matmul, copy, By.MODEL)
    assert (obstacle.refuses, obstacle.text) == (True, "the probes do different things: matmul against copy")
    assert obstacles(matmul, matmul, By.MODEL) == ()


def test_runtimes_call_the_same_format_by_other_names() -> None:
    assert found(By.RUN, placement={"compute_precision": "f32"}) == ([], [])
    assert found(By.RUN, placement={"compute_precision": "no matrix arithmetic"}) == ([], [])


def test_simulated_records_among_themselves_are_labelled() -> None:
    made_up = record(provenance="simulated")
    (obstacle,) = obstacles(made_up, made_up, By.RUN)
    assert (obstacle.refuses, obstacle.text) == (False, "not measured here: simulated")
