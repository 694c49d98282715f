"""A program that loads a model as a configuration says and answers with it; the pieces differ by runtime."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from pathlib import Path

from modeldyno.advise.configure import Configuration
from modeldyno.core.errors import InputError
from modeldyno.models import SourceKind, resolve

PIECES = {"torch": "torch", "torch-compile": "torch", "onnxruntime": "onnxruntime", "openvino": "openvino"}
"""By runtime, the piece that makes a model ready."""


def render(configuration: Configuration, script: str) -> str:
    """The text of the program that will have this name."""
    case = configuration.case
    if case.runtime not in PIECES:
        raise InputError(f"There is no program for the runtime {case.runtime}; choose one with --runtime.")
    piece = _read(f"serve_{PIECES[case.runtime]}.py.txt")
    values = _values(configuration, script)
    text = _read("serve.py.txt").replace("@READY@", piece)
    return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)


def _values(configuration: Configuration, script: str) -> dict[str, str]:
    case, by_name = configuration.case, {setting.name: setting for setting in configuration.settings}
    told = "\n".join(f"- {one.name} {one.value}: {one.evidence}" for one in configuration.settings)
    return {
        "TITLE": f"Answers with {case.model} on {case.target}, batch {case.batch}.",
        "SCRIPT": script,
        "EVIDENCE": told,
        "MODEL": json.dumps(_model(configuration.demand.model)),
        "PLATFORM": json.dumps(case.platform),
        "INDEX": str(configuration.demand.index),
        "PRECISION": json.dumps(case.precision),
        "BATCH": str(case.batch),
        "SHAPE": json.dumps(dict(case.shape)),
        "WEIGHTS": json.dumps(case.weights.value),
        "THREADS": str(by_name["threads"].value),
        "REQUESTS": str(by_name["requests"].value),
        "COMPILE": str(case.runtime == "torch-compile"),
        "HINT": json.dumps(str(case.options.get("hint", "latency")).upper()),
    }


def _model(name: str) -> str:
    """A path is made whole, for the program may be started elsewhere."""
    spec = resolve(name)
    return spec.name if spec.kind in (SourceKind.CATALOGUE, SourceKind.HUB) else str(Path(name).expanduser().resolve())


def _read(name: str) -> str:
    return files("modeldyno.advise").joinpath("templates", name).read_text("utf-8")
