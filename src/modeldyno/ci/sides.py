"""The two sides of a gate: which installation, at which commit, runs which cases."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from modeldyno.core.errors import InputError, JobError, UnknownName
from modeldyno.core.types import Case
from modeldyno.runner.processes import Side
from modeldyno.runner.suite import Suite, read_suite

KINDS = ("commit", "python", "suite")
_READY = "takes turns"
_PROBE = f"import modeldyno.runner.turns; print({_READY!r})"
_PATIENCE_S = 120.0


class Undecided(JobError):
    """The gate could not do its work, which must not be taken for a regression."""

    exit_code = 3


@dataclass(frozen=True)
class Contender:
    """One side with its cases."""

    side: Side
    cases: tuple[Case, ...]
    commit: str | None = None
    own_suite: bool = False
    """Whether it was given a suite of its own; then cases pair up by their place."""


@contextmanager
def contender(letter: str, words: Sequence[str], usual: Callable[[], Suite]) -> Iterator[Contender]:
    """A side from words like `commit=main`, `python=venv/bin/python`, `suite=new.yaml`; `usual` gives its cases else.

    The working tree of a commit lies in a folder of its own and goes at the end."""
    given = _parts(letter, words)
    python = _interpreter(given["python"]) if "python" in given else sys.executable
    commit = _commit(given["commit"]) if "commit" in given else None
    suite = Path(given["suite"]).absolute() if "suite" in given else None
    name = ", ".join(f"{kind} {value}" for kind, value in given.items()) or "as it is here"
    with _tree(commit) if commit else nullcontext() as folder:
        side = Side(name, python, _environment(folder), folder / commit[:12] if folder and commit else None)
        _check(side)
        with chdir(side.folder) if side.folder else nullcontext():
            cases = (read_suite(suite) if suite else usual()).cases()
        yield Contender(side, cases, commit, suite is not None)


def pairs(old: Contender, new: Contender) -> list[tuple[Case, Case]]:
    """The cases that are held against each other: equal ones; by place where a side has a suite of its own."""
    if not (old.own_suite or new.own_suite):
        theirs = {case.key: case for case in new.cases}
        equal = [(case, theirs[case.key]) for case in old.cases if case.key in theirs]
        if not equal:
            raise InputError("The two sides have no case in common; name the suite of each with suite=FILE.")
        return equal
    if len(old.cases) != len(new.cases):
        raise InputError(
            f"Side a has {len(old.cases)} cases and side b has {len(new.cases)}; give suites whose cases pair up."
        )
    return list(zip(old.cases, new.cases, strict=True))


def _parts(letter: str, words: Sequence[str]) -> dict[str, str]:
    given: dict[str, str] = {}
    for word in (part for text in words for part in text.split(",")):
        kind, equals, value = word.strip().partition("=")
        if kind not in KINDS:
            raise UnknownName(f"part of --{letter}", kind, KINDS)
        if not equals or not value or kind in given:
            raise InputError(f"--{letter} {word} is not one {kind}; write for example --{letter} {kind}=VALUE.")
        given[kind] = value
    return given


def _interpreter(text: str) -> str:
    path = Path(text).absolute()  # not resolved: the link in a virtual environment is what makes it one
    if not os.access(path, os.X_OK) or path.is_dir():
        raise InputError(f"{text} is no Python; give the path of an interpreter, such as venv/bin/python.")
    return str(path)


def _commit(text: str) -> str:
    try:
        return _git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}").strip()
    except (subprocess.CalledProcessError, FileNotFoundError):
        raise InputError(f"There is no commit {text} here; give one that git rev-parse knows.") from None


@contextmanager
def _tree(commit: str) -> Iterator[Path]:
    """A folder with the files of a commit in a folder of its name; it goes at the end, whatever happened."""
    try:
        with tempfile.TemporaryDirectory(prefix="dyno-gate-") as folder:
            _git("worktree", "add", "--detach", "--force", str(Path(folder) / commit[:12]), commit)
            yield Path(folder)
    except subprocess.CalledProcessError as error:
        reason = (error.stderr or "").strip().splitlines()[-1:]
        raise Undecided(f"Git cannot check out {commit[:12]} ({''.join(reason)}); mend the repository.") from None
    finally:
        with suppress(subprocess.CalledProcessError):
            _git("worktree", "prune")


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def _environment(folder: Path | None) -> dict[str, str]:
    """The packages of a commit come before those that are installed, and what they export is theirs alone."""
    if folder is None:
        return {}
    (tree,) = folder.iterdir()
    source = tree / "src" if (tree / "src").is_dir() else tree
    path = os.pathsep.join(filter(None, [str(source), os.environ.get("PYTHONPATH")]))
    return {"PYTHONPATH": path, "DYNO_CACHE": str(folder / "cache")}


def _check(side: Side) -> None:
    """Whether the side has a modeldyno that can take turns, before anything is measured."""
    try:
        done = subprocess.run(
            [side.python, "-P", "-c", _PROBE],
            capture_output=True,
            text=True,
            cwd=side.folder,
            env={**os.environ, **side.environment},
            timeout=_PATIENCE_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InputError(f"The side {side.name} does not start ({error}); give the path of a Python.") from None
    if done.stdout.strip() != _READY:
        last = done.stderr.strip().splitlines()[-1:] or ["no answer"]
        raise InputError(
            f"The side {side.name} cannot run this modeldyno ({last[0]}); install this version there, or leave the "
            "side as it is here."
        )
