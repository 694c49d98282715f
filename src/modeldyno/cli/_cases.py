"""Options that say which cases to measure, for the commands that measure."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from modeldyno.cli._options import Command, bundle
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from modeldyno.runner.suite import Suite

Targets = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="MODEL... | SUITE.yaml", help="Models, or one suite file; `hardware` for the device's own peaks."
    ),
]
TimeoutOption = Annotated[float, typer.Option("--timeout", min=1, help="Seconds a case may take.")]

SUITE_ENDINGS = {".yaml", ".yml", ".toml"}


@dataclass(frozen=True)
class CaseWords:
    """What the options that name cases say, in the user's words."""

    on: str = "auto"
    runtime: str = "auto"
    workload: str = "inference"
    precision: str = "fp32"
    batch: str = "1"
    seq: str | None = None
    shape: list[str] | None = None
    option: list[str] | None = None
    weights: str = "auto"
    slo: str | None = None

    def block(self) -> dict[str, Any]:
        """As a block of a suite, but for its models."""
        plain = ("on", "runtime", "workload", "precision", "batch", "weights")
        named = _with_own_name("slo", self.slo, pairs_of(self.option, "--option"), "--option")
        options = {name: _scalars(value) for name, value in named.items()}
        return {name: getattr(self, name) for name in plain} | {
            "shape": _with_own_name("seq", self.seq, pairs_of(self.shape, "--shape"), "--shape"),
            "options": options,
        }


_HELP = {
    "on": "Platforms or devices: cpu,cuda:0; auto = all found here.",
    "runtime": "Runtimes; auto = the platform's first, all = each.",
    "workload": "Kinds of benchmark.",
    "precision": "fp32, bf16, fp16, int8.",
    "batch": "Batch sizes.",
    "seq": "Sequence lengths, for models that have one.",
    "shape": "Sizes of other axes: --shape decoder_seq=8,16.",
    "option": "Case options: --option threads=1,2.",
    "weights": "auto, random or pretrained.",
    "slo": "Latency bounds to serve under: p99=100ms.",
}


def naming_cases(command: Command) -> Command:
    """Gives a command the options that name cases, as its parameter `words`."""
    kinds = get_type_hints(CaseWords)
    usual = {field.name: field.default for field in fields(CaseWords)}
    options = {
        name: (Annotated[kinds[name], typer.Option(f"--{name}", help=text)], usual[name])
        for name, text in _HELP.items()
    }
    return bundle("words", options, CaseWords)(command)


def _with_own_name(name: str, value: str | None, pairs: dict[str, str], option: str) -> dict[str, str]:
    """The pairs with the one that has an option of its own name."""
    from modeldyno.core.errors import InputError

    if value and name in pairs:
        raise InputError(f"--{name} and {option} {name}=... say the same; give one of them.")
    return pairs | ({name: value} if value else {})


def pairs_of(given: list[str] | None, option: str) -> dict[str, str]:
    from modeldyno.core.errors import InputError

    pairs = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            raise InputError(f"{option} wants NAME=VALUE and got '{text}'; write for example {option} name=1.")
        pairs[name] = value
    return pairs


def one_shape(seq: int | None, shape: list[str] | None) -> dict[str, int]:
    """Sizes for commands that are about one shape."""
    from modeldyno.core.errors import InputError

    sizes = {} if seq is None else {"seq": seq}
    for name, value in pairs_of(shape, "--shape").items():
        if name in sizes:
            raise InputError(f"--seq and --shape {name}=... say the same; give one of them.")
        if not value.isdecimal() or int(value) == 0:
            raise InputError(f"--shape {name}={value} is no size; give one whole number, such as {name}=128.")
        sizes[name] = int(value)
    return sizes


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


def case_suite(targets: list[str] | None, words: CaseWords) -> Suite:
    """The suite of the file, or one made of the options."""
    from pydantic import ValidationError

    from modeldyno.core.errors import InputError
    from modeldyno.runner.suite import Block, Suite, read_suite

    if not targets:
        raise InputError("Name a model or a suite file; dyno models lists the models.")
    if len(targets) == 1 and _is_suite(Path(targets[0])):
        usual = CaseWords().block()
        if beside := [name for name, value in words.block().items() if value != usual[name]]:
            raise InputError(f"A suite says all about its cases; put {', '.join(beside)} into {targets[0]}.")
        return read_suite(Path(targets[0]))
    try:
        return Suite(name="", blocks=(Block.model_validate({**words.block(), "model": targets}),))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"Option --{place}: {first['msg']}; got {first['input']!r}.") from None


def _is_suite(path: Path) -> bool:
    """YAML and TOML are suites; JSON is one unless it is a model's configuration."""
    if path.suffix in SUITE_ENDINGS:
        return True
    return path.suffix == ".json" and path.is_file() and '"model_type"' not in path.read_text(errors="replace")
