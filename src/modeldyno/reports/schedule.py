"""Reports that are made again and again: which, when, where they go, and how it ended the last time."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import count, takewhile
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, AwareDatetime, Field, ValidationError

from modeldyno.core.errors import InputError, JobError, UnknownName, Unsupported
from modeldyno.core.types import Frozen
from modeldyno.reports.mail import mail_address
from modeldyno.reports.order import Order
from modeldyno.store.database import locked
from modeldyno.store.durable import PARTIAL, sync

ENDING = ".schedule.json"
EXAMPLE = '"0 6 * * 1" (minute, hour, day, month, weekday: Mondays at 6:00)'
_LONGEST_EXPRESSION = 200
_LOOK_BACK = tuple(timedelta(hours=hours) for hours in (2, 48, 24 * 60))
"""Moments are counted forwards, and a machine may have been off for years: look at the newest first."""


class LocalTime(tzinfo):
    """The machine's own time zone with its changes of summer time, whatever /etc/localtime or TZ say."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().utcoffset()

    def tzname(self, moment: datetime | None) -> str | None:
        return None if moment is None else moment.replace(tzinfo=None).astimezone().tzname()

    def dst(self, _: datetime | None) -> timedelta | None:
        return None

    def fromutc(self, moment: datetime) -> datetime:
        there = moment.replace(tzinfo=UTC).astimezone()
        first = there.replace(tzinfo=self, fold=0)
        return first if first.utcoffset() == there.utcoffset() else first.replace(fold=1)


LOCAL = LocalTime()


def cron_expression(text: str) -> str:
    """The five fields with one space between them; an InputError shows an example."""
    fields = text.split()
    if len(fields) != 5 or len(text) > _LONGEST_EXPRESSION or not text.isascii():
        raise InputError(f"{text[:80]!r} are not the five fields of cron; write it like {EXAMPLE}.")
    expression = " ".join(fields)
    if next(_moments(expression, datetime(2000, 1, 1, tzinfo=UTC), UTC), None) is None:
        raise InputError(f"The moment {text!r} never comes; write it like {EXAMPLE}.")
    return expression


class Ended(Frozen):
    """What became of a report the last time."""

    due_at: AwareDatetime
    """The moment it was for."""
    at: AwareDatetime
    error: str | None = None
    """None: it was made and delivered."""


class Entry(Frozen):
    """One report of the schedule."""

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,49}$")]
    order: Order
    every: Annotated[str, AfterValidator(cron_expression)]
    utc: bool = False
    """False: the expression means the machine's own time zone."""
    mail: tuple[Annotated[str, AfterValidator(mail_address)], ...] = ()
    added_at: AwareDatetime
    last: Ended | None = None

    @property
    def zone(self) -> tzinfo:
        return UTC if self.utc else LOCAL

    @property
    def done_until(self) -> datetime:
        return self.last.due_at if self.last else self.added_at

    def due(self, now: datetime) -> datetime | None:
        """The newest moment that has come since the last time; those before it are caught up by it."""
        return newest_moment(self.every, self.done_until, now, self.zone)

    def next(self, now: datetime) -> datetime:
        """The first moment after now."""
        return next(_moments(self.every, now, self.zone))


def newest_moment(expression: str, after: datetime, now: datetime, zone: tzinfo) -> datetime | None:
    """The last one later than `after` and not later than now."""
    for start in (*(max(after, now - back) for back in _LOOK_BACK), after):
        passed = max(takewhile(lambda moment: moment <= now, _moments(expression, start, zone)), default=None)
        if passed or start == after:
            return passed
    return None


def _moments(expression: str, after: datetime, zone: tzinfo) -> Iterator[datetime]:
    """All later ones, in UTC: moments of one zone compare by their clock, which is wrong when clocks are set back."""
    try:
        from cronsim import CronSim, CronSimError
    except ImportError as error:
        raise Unsupported("Schedules need cronsim", "pip install 'modeldyno[report]'") from error
    try:
        for moment in CronSim(expression, after.astimezone(zone)):
            if (found := moment.astimezone(UTC)) > after:
                yield found
    except CronSimError as error:
        raise InputError(f"Cron does not know {expression!r} ({error}); write it like {EXAMPLE}.") from None


class _Content(Frozen):
    format: Literal["modeldyno-schedule/1"] = "modeldyno-schedule/1"
    entries: tuple[Entry, ...] = ()


class Schedule:
    """The file beside a store that holds its entries. Building one touches nothing."""

    def __init__(self, store: Path) -> None:
        self.store = store
        self.path = store.with_name(store.name + ENDING)

    def entries(self) -> tuple[Entry, ...]:
        """In the order they were added. The file is always whole: who only reads takes no lock."""
        try:
            return _Content.model_validate_json(self.path.read_bytes()).entries
        except FileNotFoundError:
            return ()
        except OSError as error:
            raise InputError(f"Cannot read {self.path} ({error.strerror}); choose another --store.") from None
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(map(str, first["loc"])) or "its beginning"
            raise InputError(
                f"{self.path} is no schedule at {place} ({first['msg']}); mend it, or remove it and add them again."
            ) from None

    def entry(self, id: str) -> Entry:
        known = {entry.id: entry for entry in self.entries()}
        if id not in known:
            raise UnknownName("entry of the schedule", id, known)
        return known[id]

    def add(self, order: Order, every: str, utc: bool, mail: tuple[str, ...], now: datetime) -> Entry:
        with locked(self.path, write=True):
            entries = self.entries()
            id = _free_id(order, {entry.id for entry in entries})
            entry = Entry(id=id, order=order, every=every, utc=utc, mail=mail, added_at=now)
            self._write((*entries, entry))
        return entry

    def remove(self, id: str) -> Entry:
        with locked(self.path, write=True):
            gone = self.entry(id)
            self._write(tuple(entry for entry in self.entries() if entry.id != id))
        return gone

    def note(self, done: Entry, ended: Ended) -> None:
        """How a report ended; nothing where the entry was removed meanwhile, even if another has its name now."""
        with locked(self.path, write=True):
            entries = self.entries()
            self._write(tuple(_noted(entry, ended) if _same(entry, done) else entry for entry in entries))

    @contextmanager
    def claim(self, id: str, now: datetime, at_once: bool = False) -> Iterator[tuple[Entry, datetime] | None]:
        """The entry and the moment it is due for, for nobody else inside the block; None when it is not due, or
        another runner has it. Who is killed inside leaves it due."""
        lock = self.path.with_name(f"{self.path.name}.{id}.lock")
        descriptor = _own(lock)
        if descriptor is None:
            yield None
            return
        try:
            entry = next((entry for entry in self.entries() if entry.id == id), None)
            moment = (now if at_once else entry.due(now)) if entry else None
            yield (entry, moment) if entry and moment else None
        finally:
            lock.unlink(missing_ok=True)
            os.close(descriptor)

    def _write(self, entries: tuple[Entry, ...]) -> None:
        partial = self.path.with_name(self.path.name + PARTIAL)
        try:
            partial.write_text(_Content(entries=entries).model_dump_json(indent=2) + "\n", encoding="utf-8")
            sync(partial)
            partial.replace(self.path)
            sync(self.path.parent)
        except OSError as error:
            raise JobError(
                f"Cannot write {self.path} ({error.strerror}); make room, or choose another --store."
            ) from None


def _noted(entry: Entry, ended: Ended) -> Entry:
    return entry.model_copy(update={"last": ended})


def _same(entry: Entry, other: Entry) -> bool:
    return (entry.id, entry.added_at) == (other.id, other.added_at)


def _free_id(order: Order, taken: set[str]) -> str:
    """The kind and what it is about, short; with a number where that is taken."""
    words = " ".join(filter(None, (Path(order.kind).stem, order.subject)))
    name = re.sub(r"[^a-z0-9]+", "-", words.lower()).strip("-")[:40].strip("-") or "report"
    return next(id for id in (name if number == 1 else f"{name}-{number}" for number in count(1)) if id not in taken)


def _own(lock: Path) -> int | None:
    """The lock's file, locked; None while somebody else has it. A file that its last owner took away is made again."""
    while True:
        try:
            descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise JobError(f"Cannot write {lock} ({error.strerror}); choose another --store.") from None
        with contextlib.suppress(FileNotFoundError):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(descriptor)
                return None
            if os.path.samestat(os.fstat(descriptor), lock.stat()):
                return descriptor
        os.close(descriptor)
