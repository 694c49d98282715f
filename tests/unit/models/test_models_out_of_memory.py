"""A host without room for a model says so: it is neither a broken checkpoint nor a step that cannot be traced."""

from __future__ import annotations

from typing import Any

import pytest

from modeldyno import models
from modeldyno.core.errors import is_out_of_memory
from modeldyno.core.types import Weights
from modeldyno.models import _build, _count, _library

SPEC = models.resolve("tiny-bert")


def too_much(*_: object, **__: object) -> Any:
    """More than any host has."""
    import torch

    return torch.empty(2**50)


def test_building_without_room_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_library, "construct", too_much)
    with pytest.raises(RuntimeError, match="can't allocate memory") as caught:
        _build.learner(SPEC, Weights.RANDOM, 0)
    assert is_out_of_memory(caught.value)


def test_reading_a_checkpoint_without_room_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    cls = _library.model_class(SPEC.config, SPEC.member)  # type: ignore[arg-type]
    monkeypatch.setattr(cls, "from_pretrained", too_much)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        _build._pretrained(cls, SPEC)


def test_counting_without_room_is_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_count, "_all_operations", too_much)
    with pytest.raises(RuntimeError, match="can't allocate memory"):
        models.count(SPEC)
