"""Makes and delivers the reports that are due."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from modeldyno.cli._store import open_store
from modeldyno.core.errors import DynoError
from modeldyno.core.spoken import now as told_now
from modeldyno.reports.mail import mail_report
from modeldyno.reports.order import carry_out
from modeldyno.reports.schedule import Ended, Entry, Schedule
from modeldyno.store.store import Store


@dataclass(frozen=True)
class Outcome:
    """What became of one report."""

    entry: Entry
    due_at: datetime
    files: tuple[Path, ...] = ()
    error: str | None = None

    @property
    def sentence(self) -> str:
        written = ", ".join(map(str, self.files))
        if self.error:
            return f"{self.entry.id} failed: {f'wrote {written}, but: ' if written else ''}{self.error}"
        mailed = f"; sent to {', '.join(self.entry.mail)}" if self.entry.mail else ""
        return f"{self.entry.id}: wrote {written}{mailed}"

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.entry.id,
            "due_at": self.due_at.isoformat(),
            "files": [str(path) for path in self.files],
            "mail": list(self.entry.mail),
            "error": self.error,
        }


def work_off(schedule: Schedule, ids: Sequence[str] = (), at_once: bool = False) -> Iterator[Outcome]:
    """Each report that is due, one after the other; with `at_once` those that are not due too."""
    for entry in schedule.entries():
        wanted = entry.id in ids if ids else True
        if (
            wanted
            and (at_once or entry.due(datetime.now(UTC)))
            and (outcome := _claim_and_make(schedule, entry, at_once))
        ):
            yield outcome


def _claim_and_make(schedule: Schedule, entry: Entry, at_once: bool) -> Outcome | None:
    with schedule.claim(entry.id, datetime.now(UTC), at_once) as claimed:
        if claimed is None:
            return None
        outcome = _make(*claimed, schedule.store)
        schedule.note(outcome.entry, Ended(due_at=outcome.due_at, at=datetime.now(UTC), error=outcome.error))
        return outcome


def _make(entry: Entry, due_at: datetime, path: Path) -> Outcome:
    """What is in the folder stays there when the mail fails."""
    files: tuple[Path, ...] = ()
    try:
        delivery = carry_out(entry.order, open_store(str(path)), told_now(), _silent)
        files = delivery.files
        if entry.mail:
            mail_report(delivery.document, delivery.files, entry.mail)
    except DynoError as error:
        return Outcome(entry, due_at, files, str(error))
    except Exception as error:  # noqa: BLE001 - a fault of one report must not keep the others from being made
        command = entry.order.command(Store(path))
        sentence = f"Unexpected {type(error).__name__}: {error}; run it alone with --debug: {command}"
        return Outcome(entry, due_at, files, sentence)
    return Outcome(entry, due_at, files)


def _silent(number: int, total: int, name: str) -> None:
    """Nobody sits in front of a scheduler."""
