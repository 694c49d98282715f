"""A training script for a plan: a common frame, and the pieces that its way to divide needs."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

from modeldyno.advise._memory import GB
from modeldyno.advise.plan import DTYPES, Plan
from modeldyno.models import SourceKind

_OPTIMIZERS = {"adamw": ("AdamW", 3e-4), "sgd": ("SGD", 1e-2)}


def command(plan: Plan, script: str) -> str:
    """How to start it, on every node."""
    cluster = plan.request.cluster
    if cluster.nodes == 1:
        return f"torchrun --nproc-per-node {cluster.gpus} {script}"
    meet = "--rdzv-backend c10d --rdzv-endpoint $FIRST_NODE:29500"
    return f"torchrun --nnodes {cluster.nodes} --nproc-per-node {cluster.gpus} {meet} {script}"


def render(plan: Plan, script: str) -> str:
    """The text of the script that will have this name."""
    pieces = [_read(f"{name}.py.txt") for name in _pieces(plan)]
    imports = sorted(line for piece in pieces for line in piece.splitlines() if line.startswith("from "))
    bodies = [re.sub(r"\A(from .*\n)+\n", "", piece) for piece in pieces]
    values = _values(plan, script) | {"IMPORTS": "\n".join(imports), "PIECES": "\n\n".join(bodies)}
    return re.sub(r"@([A-Z_]+)@", lambda found: values[found[1]], _read("train.py.txt"))


def _pieces(plan: Plan) -> tuple[str, ...]:
    layout = plan.chosen.layout
    assert layout is not None
    if not layout.sharded:
        return "learner", "replicated"
    return ("sharded", "staged") if layout.pipeline > 1 else ("learner", "sharded", "whole")


def _values(plan: Plan, script: str) -> dict[str, str]:
    layout, memory, request = plan.chosen.layout, plan.chosen.memory, plan.request
    assert layout is not None
    assert memory is not None
    optimizer, rate = _OPTIMIZERS[request.optimizer]
    needs = f"{memory.total / GB:.1f} GB of each GPU by estimate"
    return {
        "TITLE": f"Trains {plan.spec.name} on {request.cluster.world} GPU(s): {plan.chosen.name}; {needs}.",
        "COMMAND": command(plan, script),
        "MODEL": json.dumps(_model(plan)),
        "SHAPE": json.dumps(dict(plan.shape)),
        "DEGREES": f"{layout.pipeline}, {layout.data}, {layout.tensor}",
        "MICRO_BATCH": str(plan.chosen.micro_batch),
        "ACCUMULATE": str(plan.chosen.accumulate),
        "CHECKPOINTING": str(layout.checkpointing),
        "DTYPE": DTYPES[request.precision],
        "OPTIMIZER": optimizer,
        "RATE": str(rate),
        "CONSTANTS": "\n".join(_constants(plan)),
    }


def _constants(plan: Plan) -> list[str]:
    layout, anatomy = plan.chosen.layout, plan.anatomy
    assert layout is not None
    if not layout.sharded:
        return [f"UNUSED = {not plan.all_learn}  # whether some parameters get no gradient"]
    rows = [f"    {json.dumps(name)}: {json.dumps(style)}," for name, style in anatomy.divided.items()]
    divided = "\n".join(["{", *rows, "}"]) if layout.tensor > 1 else "{}"
    return [
        f"BLOCKS = {json.dumps(anatomy.block_classes)}",
        f"DIVIDED = {divided}",
        f"OFFLOAD = {layout.offload}  # keep weights and the optimizer's state in the host's memory",
    ]


def _model(plan: Plan) -> str:
    """A path is made whole, for the script may be started elsewhere."""
    named = plan.spec.kind in (SourceKind.CATALOGUE, SourceKind.HUB)
    return plan.spec.name if named else str(Path(plan.request.model).expanduser().resolve())


def _read(name: str) -> str:
    return files("modeldyno.advise").joinpath("templates", name).read_text("utf-8")
