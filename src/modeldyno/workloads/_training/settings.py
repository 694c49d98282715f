"""The options of a training case, checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from modeldyno.core.errors import InputError
from modeldyno.core.types import Frozen
from modeldyno.workloads._training.target import Target, read_target

USUAL_LR = {"adamw": 3e-4, "sgd": 1e-2}
USUAL_STEPS = 1000
"""Where training ends that was only given a target."""
MOST_STEPS = 10_000_000


def _folder(value: Any) -> Any:
    return Path(value).expanduser() if isinstance(value, str) else value


Folder = Annotated[Path, BeforeValidator(_folder)]
Count = Annotated[int, Field(ge=1, le=MOST_STEPS, strict=True)]


class Settings(Frozen):
    """How to train."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    preset: Literal["full", "head", "lora"] = "full"
    optimizer: Literal["adamw", "sgd"] = "adamw"
    lr: Annotated[float, Field(gt=0, le=1e3)] | None = None
    autocast: Literal["bf16", "fp16"] | None = None
    accumulate: Count = 1
    """Batches whose gradients make one step."""
    checkpointing: Annotated[bool, Field(strict=True)] = False
    """Keep less for the backward pass and compute it again there."""
    dataset: str | None = None
    seed: Annotated[int, Field(ge=0, lt=2**31, strict=True)] = 0
    target: Annotated[Target, BeforeValidator(read_target)] | None = None
    steps: Count | None = None
    """Where the part that trains for a result ends; without it and a target there is none."""
    checkpoint: Folder | None = None
    checkpoint_every: Count = 50
    tensorboard: Folder | None = None

    @property
    def rate(self) -> float:
        return self.lr if self.lr is not None else USUAL_LR[self.optimizer]

    @property
    def cap(self) -> int | None:
        """Steps of training for a result; None where only speed was asked for."""
        return self.steps or (USUAL_STEPS if self.target else None)

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.cap is None:
            for name in ("checkpoint", "tensorboard"):
                if getattr(self, name):
                    raise ValueError(f"{name} belongs to training for a result: give steps or target as well")
        if "checkpoint_every" in self.model_fields_set and self.checkpoint is None:
            raise ValueError("checkpoint_every needs a folder: give checkpoint as well")
        return self


OPTIONS = frozenset(Settings.model_fields)
_IRRELEVANT = frozenset({"target", "steps", "checkpoint", "checkpoint_every", "tensorboard"})


def read_settings(options: Mapping[str, object]) -> Settings:
    """The settings among the options of a case; an option of someone else is left alone."""
    own = {name: value for name, value in options.items() if name in OPTIONS}
    try:
        return Settings.model_validate(own)
    except ValidationError as error:
        raise InputError(_complaint(error.errors()[0])) from None


def what_decides(settings: Settings) -> dict[str, Any]:
    """The settings that decide what training leads to, as plain values."""
    return settings.model_dump(mode="json", exclude=set(_IRRELEVANT)) | {"lr": settings.rate}


def _complaint(error: Any) -> str:
    text = str(error["msg"]).removeprefix("Value error, ").replace("Input should be", "should be")
    if not error["loc"]:
        return f"Training: {text}."
    return f"Training: the option {error['loc'][0]} {text}, not {error['input']!r}; see docs/training.md."
