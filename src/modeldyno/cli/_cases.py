"""Options that say which cases to measure, for the commands that measure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import comma_list

if TYPE_CHECKING:
    from modeldyno.runner.suite import Suite

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL... | SUITE.yaml", help="Models, or one suite file; `hardware` for the device's own peaks."
    ),
]
OnCases = Annotated[str, typer.Option("--on", help="Platforms or devices: cpu,cuda:0; auto = all found here.")]
RuntimeCases = Annotated[str, typer.Option("--runtime", help="Runtimes; auto = the platform's first, all = each.")]
WorkloadCases = Annotated[str, typer.Option("--workload", help="Kinds of benchmark.")]
PrecisionCases = Annotated[str, typer.Option("--precision", help="fp32, bf16, fp16, int8.")]
BatchCases = Annotated[str, typer.Option("--batch", help="Batch sizes.")]
SeqCases = Annotated[str | None, typer.Option("--seq", help="Sequence lengths, for models that have one.")]
ShapeCases = Annotated[list[str] | None, typer.Option("--shape", help="Sizes of other axes: --shape decoder_seq=8,16.")]
OptionCases = Annotated[list[str] | None, typer.Option("--option", help="Case options: --option threads=1,2.")]
WeightsCases = Annotated[str, typer.Option("--weights", help="auto, random or pretrained.")]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=1, help="Seconds a case may take.")]

SUITE_ENDINGS = {".yaml", ".yml", ".toml"}
_UNSET = {
    "on": "auto",
    "runtime": "auto",
    "workload": "inference",
    "precision": "fp32",
    "batch": "1",
    "shape": {},
    "weights": "auto",
    "options": {},
}
"""The options that say which cases to run, as they are when nobody gave them."""


def case_block(
    on: str,
    runtime: str,
    workload: str,
    precision: str,
    batch: str,
    seq: str | None,
    shape: list[str] | None,
    option: list[str] | None,
    weights: str,
) -> dict[str, Any]:
    """The options as a block of a suite, but for its models."""
    return {
        "on": on,
        "runtime": runtime,
        "workload": workload,
        "precision": precision,
        "batch": batch,
        "shape": _axes(seq, shape),
        "weights": weights,
        "options": {name: _scalars(value) for name, value in _pairs(option, "--option").items()},
    }


def _axes(seq: str | None, shape: list[str] | None) -> dict[str, str]:
    from modeldyno.core.errors import InputError

    axes = _pairs(shape, "--shape")
    if seq and "seq" in axes:
        raise InputError("--seq and --shape seq=... say the same; give one of them.")
    return axes | ({"seq": seq} if seq else {})


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    from modeldyno.core.errors import InputError

    pairs = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} wants NAME=VALUE and got '{text}'; write for example {option} name=1.")
        pairs[name] = value
    return pairs


def _scalars(text: str) -> list[str | int | float | bool]:
    """`1,2` as numbers, `true` as a truth value, anything else as text."""
    return [_scalar(part) for part in comma_list(text)]


def _scalar(text: str) -> str | int | float | bool:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def case_suite(targets: list[str] | None, block: dict[str, Any]) -> Suite:
    """The suite of the file, or one made of the options."""
    from pydantic import ValidationError

    from modeldyno.core.errors import InputError
    from modeldyno.runner.suite import Block, Suite, read_suite

    if not targets:
        raise InputError("Name a model or a suite file; dyno models lists the models.")
    if len(targets) == 1 and _is_suite(Path(targets[0])):
        if beside := [name for name, value in block.items() if value != _UNSET[name]]:
            raise InputError(f"A suite says all about its cases; put {', '.join(beside)} into {targets[0]}.")
        return read_suite(Path(targets[0]))
    try:
        return Suite(name="", blocks=(Block.model_validate({**block, "model": targets}),))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"Option --{place}: {first['msg']}; got {first['input']!r}.") from None


def _is_suite(path: Path) -> bool:
    """YAML and TOML are suites; JSON is one unless it is a model's configuration."""
    if path.suffix in SUITE_ENDINGS:
        return True
    return path.suffix == ".json" and path.is_file() and '"model_type"' not in path.read_text(errors="replace")
