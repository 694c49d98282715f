"""Files made for a model on a platform: a pytest file, a suite, an inference script ("skill")."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from modeldyno.advise.generate import pytest_file, skill_file, suite_file
from modeldyno.advise.generate.budgets import Budget, budgets_of
from modeldyno.advise.generate.wanted import Subject, Wanted, find_subject
from modeldyno.core.errors import UnknownName
from modeldyno.store.store import Store

__all__ = ["KINDS", "Budget", "Generated", "Wanted", "generate"]

KINDS = ("test", "suite", "skill")


@dataclass(frozen=True)
class Generated:
    """A file that was made, not yet written anywhere."""

    kind: str
    name: str
    """A name for the file, of plain letters."""
    text: str
    notes: tuple[str, ...] = ()
    """What whoever asked should know, as sentences."""
    budgets: tuple[Budget, ...] = ()


def generate(kind: str, wanted: Wanted, store: Store | None = None) -> Generated:
    """Measures nothing. Raises UnknownName or InputError for what cannot be meant."""
    if kind not in KINDS:
        raise UnknownName("kind of file", kind, KINDS)
    return _MAKERS[kind](find_subject(wanted), store)


def _test(subject: Subject, store: Store | None) -> Generated:
    budgets = budgets_of(subject, store)
    notes = (*_obstacles(subject), *pytest_file.notes(subject, budgets))
    return Generated("test", pytest_file.name(subject), pytest_file.render(subject, budgets), notes, budgets)


def _suite(subject: Subject, store: Store | None) -> Generated:
    sizes = suite_file.batches(subject, store)
    notes = (*_obstacles(subject), *suite_file.notes(sizes))
    return Generated("suite", suite_file.name(subject), suite_file.render(subject, sizes), notes)


def _skill(subject: Subject, _: Store | None) -> Generated:
    skill_file.check(subject)
    notes = (*_obstacles(subject), *skill_file.notes(subject))
    return Generated("skill", skill_file.name(subject), skill_file.render(subject), notes)


def _obstacles(subject: Subject) -> tuple[str, ...]:
    """What keeps it from running: this version, or this machine."""
    probe = subject.platform.probe()
    if subject.obstacle:
        return (f"It cannot run yet: {subject.obstacle}.",)
    if not probe.present:
        return (f"It cannot run here: {probe.reason}.",)
    return ()


_MAKERS: dict[str, Callable[[Subject, Store | None], Generated]] = {
    "test": _test,
    "suite": _suite,
    "skill": _skill,
}
