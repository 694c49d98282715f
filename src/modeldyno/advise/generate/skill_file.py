"""An inference script for one platform, with an input of the user's own where the model has a natural one."""

from __future__ import annotations

import re

from modeldyno.advise.generate.quote import fill, python_sizes, python_text, read_template
from modeldyno.advise.generate.wanted import Subject
from modeldyno.advise.serving_script import PIECES
from modeldyno.core.errors import InputError

_WORKLOAD = "inference"
_TEXT, _IMAGE, _SOUND = "text", "image", "sound"
_GIVEN = {
    "decoder-only": (_TEXT,),
    "encoder-decoder": (_TEXT,),
    "encoder-only": (_TEXT,),
    "mixture-of-experts": (_TEXT,),
    "multimodal": (_TEXT, _IMAGE),
    "rag": (_TEXT,),
    "speech": (_SOUND,),
    "state-space": (_TEXT,),
    "vision": (_IMAGE,),
    "vision-encoder-text-decoder": (_IMAGE,),
}
"""By architecture, what a user can give; others run with an example."""
_IMPORTS = {_TEXT: (), _IMAGE: ("json",), _SOUND: ("wave",)}
_HELP = {_TEXT: "a text", _IMAGE: "a picture", _SOUND: "a WAV file of 16-bit samples"}


def check(subject: Subject) -> None:
    if subject.case.workload != _WORKLOAD:
        raise InputError(f"A skill does one step of a model, not {subject.case.workload}; choose {_WORKLOAD}.")


def name(subject: Subject) -> str:
    return f"skill_{subject.slug}.py"


def notes(subject: Subject) -> tuple[str, ...]:
    if subject.spec.has_checkpoint:
        return ()
    return ("No checkpoint of this model is at hand: the weights are random, and so are the answers.",)


def render(subject: Subject) -> str:
    case, given = subject.case, _given(subject)
    parts = [_ready(case.runtime), *(read_template(f"skill_{kind}.py.txt") for kind in given)]
    text = read_template("skill.py.txt").replace("@PARTS@", "\n\n".join(part.strip("\n") + "\n" for part in parts))
    values = {
        "TITLE": subject.title,
        "USE": " ".join([name(subject), *(f"[--{kind} {kind.upper()}]" for kind in given)]),
        "IMPORTS": "\n".join(f"import {one}" for one in _imports(given)),
        "MODEL": python_text(case.model),
        "PLATFORM": python_text(case.platform),
        "INDEX": str(case.index),
        "PRECISION": python_text(str(case.precision)),
        "BATCH": str(case.batch),
        "SHAPE": python_sizes(case.shape),
        "START": str(_start(subject)),
        "COMPILE": str(case.runtime == "torch-compile"),
        "HINT": '"LATENCY"',
        "RUNTIME": python_text(case.runtime),
        "OPTIONS": "".join(f'\n    parser.add_argument("--{kind}", help="{_HELP[kind]}")' for kind in given),
        "PARSED": "options = " if given else "",
        "PUT": "".join(f"\n    if options.{kind}:\n        put_{kind}(arrays, options.{kind})" for kind in given),
    }
    return fill(text, values)


def _given(subject: Subject) -> tuple[str, ...]:
    """A model of sounds and texts is given a sound in place of a picture."""
    given = _GIVEN.get(subject.spec.architecture or "", ())
    sounds = subject.spec.family == "audio"
    return tuple(_SOUND if kind == _IMAGE and sounds else kind for kind in given)


def _imports(given: tuple[str, ...]) -> list[str]:
    return sorted({"argparse", "sys", *(one for kind in given for one in _IMPORTS[kind])})


def _ready(runtime: str) -> str:
    """The piece that makes a model ready is the one of the programs of `dyno configure`."""
    piece = read_template(f"serve_{PIECES[runtime]}.py.txt" if runtime in PIECES else "skill_no_runtime.py.txt")
    # In a project that uses modeldyno it is a package like the others, and linters want it among them.
    return re.sub(r"\n\n(?= +from modeldyno)", "\n", piece)


def _start(subject: Subject) -> int:
    """The token that a decoder begins with."""
    config = subject.spec.config
    inner = config.get("generator")
    known = (config, inner) if isinstance(inner, dict) else (config,)
    found = [one.get(key) for one in known for key in ("decoder_start_token_id", "bos_token_id")]
    return next((token for token in found if isinstance(token, int)), 0)
