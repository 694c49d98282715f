"""What someone wants measured, as it comes over the web: names only, no paths and no commands, and not too much."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from modeldyno import models
from modeldyno.core.errors import InputError
from modeldyno.core.types import Case, Frozen
from modeldyno.runner.attempt import changes_of_policy
from modeldyno.runner.suite import Block, expand

MOST_CASES = 500
MOST_BLOCKS = 100
LONGEST = 200
"""Characters of a name, a title or the value of an option."""
LARGEST_BATCH = 65_536
LARGEST_SIZE = 1_048_576
LARGEST_NUMBER = 1e12
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)?")
_FILES = (".onnx", ".json", ".yaml", ".yml", ".toml")
_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9_:.-]*")
_VALUE = re.compile(r"[A-Za-z0-9_.,:=<>%+ -]*")
FOLDERS = frozenset({"checkpoint", "tensorboard"})
"""Options that make a worker write where they say."""

Text = Annotated[str, Field(max_length=LONGEST, pattern=r"^[^\x00-\x1f\x7f]*$")]


class Order(Frozen):
    """Blocks in the words of a suite, and how much effort to put into them."""

    title: Text = ""
    blocks: Annotated[tuple[Block, ...], Field(min_length=1, max_length=MOST_BLOCKS)]
    effort: Literal["quick", "default", "publish"] = "default"
    processes: Annotated[int, Field(ge=1, le=20)] | None = None
    samples: Annotated[int, Field(ge=3, le=100_000)] | None = None
    energy: bool | None = None
    timeout_s: Annotated[float, Field(ge=1, le=86_400)] = 900.0
    """Seconds a case may take."""

    @property
    def settings(self) -> dict[str, Any]:
        """What it changes of the effort's policy."""
        return changes_of_policy(self.processes, self.samples, self.energy)

    @property
    def name(self) -> str:
        """The title, else what it is about."""
        if self.title:
            return self.title
        names = list(dict.fromkeys(name for block in self.blocks for name in block.model))
        places = list(dict.fromkeys(place for block in self.blocks for place in block.on))
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        return f"{', '.join(names[:3])}{more} on {', '.join(places)}"[:LONGEST]


def read_order(document: Any) -> Order:
    """The order of a document from outside; what is wrong with it is one sentence."""
    try:
        return Order.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "order"
        raise InputError(f"The order's {place[:LONGEST]} is wrong: {first['msg']}; see docs/server.md.") from None


def cases_of(order: Order) -> tuple[Case, ...]:
    """All cases, each once; every name that is unknown or not for the web, and every excess, is an error."""
    for block in order.blocks:
        _check_names(block)
        _check_sizes(block)
        _check_options(block)
    expanded = itertools.chain.from_iterable(map(expand, order.blocks))
    try:
        cases = list(itertools.islice(expanded, MOST_CASES + 1))
    except ValidationError as error:  # such as a device number that no case can have
        raise InputError(f"The order makes no case: {error.errors()[0]['msg']}; see docs/server.md.") from None
    if len(cases) > MOST_CASES:
        raise InputError(f"The order has more than {MOST_CASES} cases; split it into several.")
    return tuple(dict.fromkeys(cases))


def _check_names(block: Block) -> None:
    for name in block.model:
        check_model(name)
    words = itertools.chain(block.on, block.runtime, block.workload, block.precision, block.shape, block.options)
    for word in words:
        if len(word) > LONGEST or not _WORD.fullmatch(word):
            raise InputError(f"'{word[:LONGEST]}' is no name; see docs/server.md for what an order may hold.")


def check_model(name: str) -> None:
    """A name of the catalogue or of the local Hugging Face cache; what lies in folders is not for the web."""
    wrong = len(name) > LONGEST or not _MODEL.fullmatch(name) or name.lower().endswith(_FILES)
    if wrong or (not models.find(name) and Path(name).exists()):
        raise InputError(
            f"'{name[:LONGEST]}' is not a model's name; over the web only names of the catalogue and Hugging Face ids "
            "can be measured, use dyno run for files and folders."
        )


def _check_sizes(block: Block) -> None:
    many = (block.batch, *block.shape.values())
    lengths = (len(block.model), len(block.on), len(block.runtime), len(block.workload), len(block.precision))
    choices = math.prod(map(len, many))
    if max(*lengths, choices) > MOST_CASES:
        raise InputError(f"The order has more than {MOST_CASES} cases; split it into several.")
    for sizes, largest in zip(many, (LARGEST_BATCH, *[LARGEST_SIZE] * len(block.shape)), strict=True):
        if max(sizes) > largest:
            raise InputError(f"The size {max(sizes):.6g} is too large; give at most {largest}.")


def _check_options(block: Block) -> None:
    listed = {name: value if isinstance(value, list) else [value] for name, value in block.options.items()}
    if math.prod(map(len, listed.values())) > MOST_CASES:
        raise InputError(f"The order has more than {MOST_CASES} cases; split it into several.")
    if forbidden := FOLDERS.intersection(listed):
        raise InputError(f"The option {min(forbidden)} names a folder, which an order cannot; use dyno run for it.")
    for name, values in listed.items():
        for value in values:
            if not _is_harmless(value):
                raise InputError(
                    f"The option {name} cannot be {str(value)[:LONGEST]!r} over the web; "
                    "give a number, a truth value or a plain word."
                )


def _is_harmless(value: str | int | float | bool) -> bool:
    """Neither endless nor a path: an option such as `dataset` takes a folder where one has that name."""
    if isinstance(value, str):
        plain = len(value) <= LONGEST and _VALUE.fullmatch(value) is not None and not value.startswith(".")
        return plain and not Path(value).exists()
    return math.isfinite(value) and abs(value) <= LARGEST_NUMBER
