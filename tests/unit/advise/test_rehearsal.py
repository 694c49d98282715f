"""Memory worked out without values is the memory that was measured, and that the literature has formulas for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modeldyno import models
from modeldyno.advise import _share
from modeldyno.advise._layout import Cut, Layout
from modeldyno.advise._memory import CONTEXT, SLACK, Books
from modeldyno.advise._rehearsal import Rehearsal, rehearse
from modeldyno.advise._share import Workshop

RECORDS = Path(__file__).parents[3] / "docs" / "results" / "h200-training.ndjson"
MB = 2**20
FORMATS = {"fp32": ("float32", 4), "bf16": ("bfloat16", 2)}


def measured() -> list[Any]:
    """Training on an H200: model and precision, the case, and the megabytes of each part."""
    lines = [json.loads(line) for line in RECORDS.read_text().splitlines()]
    found = [line["data"] for line in lines if "case_key" in line]
    names = [f"{record['case']['model']}-{record['case']['precision']}" for record in found]
    return [pytest.param(record["case"], record["metrics"], id=name) for name, record in zip(names, found, strict=True)]


@pytest.mark.parametrize(("case", "metrics"), measured())
def test_memory_is_what_was_measured(case: dict[str, Any], metrics: dict[str, Any]) -> None:
    """The weights of these records are in the lower format themselves, so their state is counted here."""
    dtype, each = FORMATS[case["precision"]]
    workshop = Workshop(models.resolve(case["model"]), case["shape"], dtype)
    share = workshop.share(Cut(), 1, case["batch"])
    # That record has one hidden state more of each block of the encoder.
    own = 0.06 if (case["model"], case["precision"]) == ("whisper-tiny", "bf16") else 0.001
    assert share.rehearsal.kept / MB == pytest.approx(metrics["memory_activations_mb"]["value"], rel=own)
    assert share.parameters * each / MB == pytest.approx(metrics["memory_parameters_mb"]["value"], rel=0.001)
    state = 4 * each * share.parameters  # weights, gradients and two moments
    allocated = state + share.rehearsal.peak
    assert allocated / MB == pytest.approx(metrics["memory_peak_mb"]["value"], rel=0.15)
    process = allocated + CONTEXT + SLACK * share.rehearsal.peak
    assert process / MB == pytest.approx(metrics["memory_process_mb"]["value"], rel=0.15)


def test_the_books_add_up_to_the_same() -> None:
    workshop = Workshop(models.resolve("opt-125m"), {"seq": 128}, "float32")
    memory = Books(workshop, "fp32", "adamw").memory(Layout(1, sharded=False), 16, 1)
    share = workshop.share(Cut(), 1, 16)
    assert memory.parameters + memory.gradients + memory.optimizer == 16 * share.parameters
    assert memory.activations == share.rehearsal.peak
    assert memory.total == memory.passing + memory.overhead + 16 * share.parameters


HIDDEN, HEADS, LENGTH, BATCH = 256, 8, 64, 2


def test_activations_of_a_block_are_those_of_the_formula(tmp_path: Path) -> None:
    """Korthikanti et al., "Reducing Activation Recomputation in Large Transformer Models", 2022, equation 1."""
    kept = [_with_scores_kept(tmp_path, layers).kept for layers in (2, 3)]
    tokens = LENGTH * BATCH * HIDDEN
    formula = tokens * (34 + 5 * HEADS * LENGTH / HIDDEN)
    assert kept[1] - kept[0] == pytest.approx(formula, rel=0.02)


def _with_scores_kept(folder: Path, layers: int) -> Rehearsal:
    """The formula is of attention that is spelled out."""
    sizes = {"n_embd": HIDDEN, "n_head": HEADS, "n_layer": layers, "vocab_size": 500, "n_positions": LENGTH}
    config = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "activation_function": "gelu", **sizes}
    path = folder / "config.json"
    path.write_text(json.dumps(config))
    spec = models.resolve(str(path))
    import torch

    model = models.blank(spec, attn_implementation="eager").to(torch.bfloat16).train()
    lesson = models.lesson(spec, None, BATCH, {"seq": LENGTH}, 0)
    tensors = models.blank_tensors(spec, lesson.batch(0))
    return rehearse(model, lambda given: lesson.forward(model, given).loss, tensors)


CUTS = [
    Cut(),
    Cut(checkpointing=True),
    Cut(autocast=True),
    Cut(tensor=4),
    Cut(last=False),
    Cut(first=False, checkpointing=True),
]


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_few_blocks_tell_what_all_take(cut: Cut, monkeypatch: pytest.MonkeyPatch) -> None:
    def share() -> _share.Share:
        return Workshop(models.resolve("Qwen2-7B"), {"seq": 64}, "bfloat16").share(cut, 1 if cut.whole else 4, 2)

    few = share()
    monkeypatch.setattr(_share, "_FEW", 100)
    assert share() == few


def test_autocast_keeps_a_copy_of_weights_and_some_results_in_fp32() -> None:
    workshop = Workshop(models.resolve("opt-125m"), {"seq": 128}, "bfloat16")
    lower, mixed = (workshop.share(Cut(autocast=autocast), 1, 4) for autocast in (False, True))
    full = Workshop(models.resolve("opt-125m"), {"seq": 128}, "float32").share(Cut(), 1, 4)
    in_blocks, all_of_them = 2 * lower.blocks, 2 * lower.parameters
    assert lower.rehearsal.kept + in_blocks < mixed.rehearsal.kept < full.rehearsal.kept + all_of_them


def test_checkpointing_keeps_little_and_tensors_are_divided() -> None:
    workshop = Workshop(models.resolve("llama-7b"), {"seq": 2048}, "bfloat16")
    whole, less, divided = (workshop.share(cut, 1, 1) for cut in (Cut(), Cut(checkpointing=True), Cut(tensor=8)))
    assert less.rehearsal.peak < whole.rehearsal.peak / 5
    assert whole.rehearsal.kept / 8 < divided.rehearsal.kept < whole.rehearsal.kept / 2
    norms = 32 * 2 * 4096
    assert divided.blocks == (whole.blocks - norms) / 8 + norms
    assert divided.outside == whole.outside


def test_nothing_is_left_in_the_model() -> None:
    spec = models.resolve("tiny-bert")
    model = models.blank(spec).train()
    lesson = models.lesson(spec, None, 2, {"seq": 8}, 0)
    tensors = models.blank_tensors(spec, lesson.batch(0))
    first, second = (rehearse(model, lambda given: lesson.forward(model, given).loss, tensors) for _ in range(2))
    assert first == second
    assert first.all_learn
    assert 0 < first.kept <= first.full <= first.peak
