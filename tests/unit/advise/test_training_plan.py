"""A plan is the simplest way that fits, and says so in numbers that add up."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from modeldyno import models
from modeldyno.advise._layout import Layout
from modeldyno.advise._memory import Books
from modeldyno.advise._share import Workshop
from modeldyno.advise.plan import Candidate, Plan, Request, make_plan
from modeldyno.advise.script import command, render
from modeldyno.core.errors import InputError, JobError

PARAMETERS = 6_738_415_616


@pytest.fixture(scope="module")
def llama() -> Plan:
    return make_plan(Request("llama-7b", 24, gpus=8))


def named(plan: Plan, name: str) -> Candidate:
    return next(one for one in plan.candidates if one.name == name)


def test_ddp_divides_nothing(llama: Plan) -> None:
    ddp = named(llama, "DDP 8")
    assert ddp.memory is not None
    assert ddp.memory.parameters + ddp.memory.gradients + ddp.memory.optimizer == pytest.approx(16 * PARAMETERS)
    assert not ddp.fits(llama.request.room)


def test_fsdp_divides_all_three_and_is_chosen(llama: Plan) -> None:
    fsdp = llama.chosen
    assert (fsdp.name, fsdp.memory is not None) == ("FSDP 8", True)
    assert fsdp.memory is not None
    state = fsdp.memory.parameters + fsdp.memory.gradients + fsdp.memory.optimizer
    assert state == pytest.approx(2 * PARAMETERS, rel=1e-6)
    assert fsdp.memory.total <= 24e9
    assert "what is simpler needs" in llama.why


def test_every_way_spreads_the_same_batch(llama: Plan) -> None:
    spread = [one for one in llama.candidates if one.layout]
    assert len(spread) > 8
    for one in spread:
        assert one.layout is not None
        assert one.layout.data * (one.micro_batch or 0) * (one.accumulate or 0) == 64
        assert one.layout.data * one.layout.tensor * one.layout.pipeline == 8
        assert (one.accumulate or 0) >= one.layout.pipeline


def test_the_largest_micro_batch_that_fits_is_taken(llama: Plan) -> None:
    size = llama.chosen.micro_batch
    assert size is not None
    assert size > 1
    larger = make_plan(Request("llama-7b", 1000, gpus=8, micro_batch=2 * size))
    assert not named(larger, "FSDP 8").fits(llama.request.room)


def test_offload_leaves_the_state_to_the_host(llama: Plan) -> None:
    least = llama.candidates[-1].memory
    assert least is not None
    assert least.gradients == least.optimizer == 0
    assert least.host == pytest.approx(2 * PARAMETERS, rel=1e-6)


@pytest.mark.parametrize(
    ("memory", "options", "chosen"),
    [
        (80, {"gpus": 1}, "one GPU"),
        (16, {"gpus": 4, "optimizer": "sgd"}, "DDP 4"),
        (3.2, {"gpus": 4, "tensor": 2}, "tensor 2 x FSDP 2"),
        (3.2, {"gpus": 4, "pipeline": 2}, "pipeline 2 x FSDP 2"),
        (10, {"gpus": 2, "nodes": 2, "pipeline": 2, "tensor": 2}, "pipeline 2 x tensor 2"),
    ],
)
def test_what_is_asked_for_is_chosen(memory: float, options: dict[str, Any], chosen: str) -> None:
    assert make_plan(Request("tiny-llama", memory, **options)).chosen.name == chosen


def test_a_model_that_cannot_be_divided_says_why() -> None:
    plan = make_plan(Request("tiny-bert", 8, gpus=2))
    reasons = {one.name: one.reason for one in plan.candidates if one.reason}
    assert reasons.keys() == {"tensor", "pipeline"}
    assert "no tensor-parallel plan" in (reasons["tensor"] or "")


@pytest.mark.parametrize(
    ("model", "options", "told"),
    [
        ("llama-7b", {"gpus": 0}, "--gpus 0 cannot be"),
        ("llama-7b", {"max_memory_gb": 0.0}, "no memory of a GPU"),
        ("llama-7b", {"max_memory_gb": float("nan")}, "no memory of a GPU"),
        ("llama-7b", {"precision": "int4"}, "Unknown precision"),
        ("llama-7b", {"optimizer": "lion"}, "Unknown optimizer"),
        ("llama-8b", {}, "Unknown model"),
        ("tiny-llama", {"gpus": 8, "tensor": 3}, "use one of 1, 2"),
        ("tiny-llama", {"gpus": 8, "pipeline": 5}, "use one of 1, 2"),
        ("tiny-bert", {"gpus": 8, "tensor": 2}, "leave --tensor out"),
        ("tiny-llama", {"gpus": 2, "tensor": 2, "pipeline": 2}, "does not divide 2 GPUs"),
        ("tiny-llama", {"gpus": 6, "tensor": 2, "pipeline": 2}, "is 4, which does not divide 6 GPUs"),
        ("tiny-llama", {"shape": {"seq": 10**6}}, "ask for seq of at most"),
        ("tiny-llama", {"shape": {"image": 8}}, "has no size 'image'"),
        ("tiny-bert", {"gpus": 4, "global_batch": 3}, "change --global-batch"),
    ],
)
def test_wrong_input_is_a_sentence(model: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(InputError) as caught:
        make_plan(Request(**{"model": model, "max_memory_gb": 24.0, "gpus": 1} | options))
    assert told in str(caught.value)


def test_what_fits_nowhere_says_what_would() -> None:
    with pytest.raises(JobError) as caught:
        make_plan(Request("llama-70b", 40, gpus=8, tensor=8))
    assert "needs at least 48 GPUs of this size, or 8 of" in str(caught.value)
    books = Books(Workshop(models.resolve("llama-70b"), {}, "bfloat16"), "bf16", "adamw")
    totals = [books.memory(Layout(gpus, checkpointing=True), 1, 1).total for gpus in (48, 40)]
    assert totals[0] <= 40e9 < totals[1]
    assert caught.value.exit_code == 1
    with pytest.raises(JobError, match="it needs GPUs of"):
        make_plan(Request("tiny-llama", 0.5, gpus=1))


def test_a_model_that_looks_at_values_is_told_apart() -> None:
    with pytest.raises(JobError, match="measure one: dyno run tiny-detr --workload training"):
        make_plan(Request("tiny-detr", 24, gpus=2))


@pytest.mark.parametrize("options", [{}, {"tensor": 2}, {"pipeline": 2}, {"precision": "fp16"}], ids=str)
def test_the_script_is_python_and_says_how_to_start_it(options: dict[str, Any]) -> None:
    plan = make_plan(Request("tiny-llama", 8, gpus=2, nodes=2, **options))
    text = render(plan, "train.py")
    ast.parse(text)
    assert command(plan, "train.py") in text
    assert "--nnodes 2 --nproc-per-node 2" in text
    assert "@" not in text


def test_names_of_layouts() -> None:
    assert Layout(4, tensor=2, pipeline=2).name == "pipeline 2 x tensor 2 x FSDP 4"
    assert Layout(1, sharded=False, checkpointing=True).name == "one GPU, checkpointing"
