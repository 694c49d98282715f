"""Which PyTorch is installed and what it was built for, read without importing it."""

from __future__ import annotations

import ast
import importlib.util
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class TorchBuild:
    version: str
    cuda: str | None
    """Version of the NVIDIA toolkit it was built with."""
    hip: str | None
    """Version of AMD's HIP it was built with; such a build answers under the other vendor's names."""


def find() -> TorchBuild | None:
    """None where PyTorch is not installed. Importing it costs 2 CPU seconds, its version file nothing."""
    try:
        spec = importlib.util.find_spec("torch")
    except (ImportError, ValueError):
        return None
    if spec is None or spec.origin is None:
        return None
    try:
        return parse((Path(spec.origin).parent / "version.py").read_text())
    except (OSError, SyntaxError, UnicodeDecodeError):
        return TorchBuild(version="unknown", cuda=None, hip=None)


def parse(source: str) -> TorchBuild:
    """The constants of torch/version.py, plain or annotated."""
    found: dict[str, str | None] = {}
    for node in ast.parse(source).body:
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign):
            targets = [node.target]
        value = getattr(node, "value", None)
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, str)):
            found |= {target.id: value.value for target in targets if isinstance(target, ast.Name)}
    return TorchBuild(found.get("__version__") or "unknown", found.get("cuda"), found.get("hip"))
