"""The snapshot that is answered from: made anew beside the old one whenever the store has changed."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, TypeVar, cast

from modeldyno.core.errors import JobError
from modeldyno.store.snapshot import Snapshot
from modeldyno.store.store import Store

LOOK_S = 0.5
"""How often the file is looked at."""
PATIENCE = 20
"""Times what the last snapshot took, at least, until the next: a run that writes is hardly disturbed."""
MOST_ANSWERS, MOST_BYTES = 2000, 200_000_000
"""Kept until the next snapshot."""
T = TypeVar("T")
Problem = Callable[[str], None]


class Shelf:
    """Hands out the newest snapshot there is, and brings what waits in the spool into the store."""

    def __init__(self, store: Store, problem: Problem) -> None:
        self.store = store
        self._problem = problem
        self._lock = threading.Lock()
        self._asked, self._stopped = threading.Event(), threading.Event()
        self._changed = threading.Condition()
        self._wanted = self._looked = 0
        self._not_before, self._folded = 0.0, ""
        self._ready, self._failure = threading.Event(), ""
        self._current: Snapshot | None = None
        threading.Thread(target=self._load_first, name="first snapshot").start()
        self._answers: OrderedDict[Any, Any] = OrderedDict()
        self._being_made: dict[Any, threading.Lock] = {}
        self._bytes = 0
        self._thread = threading.Thread(target=self._keep, name="shelf", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._asked.set()
        self._thread.join(timeout=30)

    @property
    def now(self) -> Snapshot:
        """Waits for the first one, which is read while the rest of the server gets ready."""
        self._ready.wait()
        if self._current is None:
            raise JobError(f"The store cannot be read: {self._failure}; the server tries again.")
        return self._current

    @property
    def alive(self) -> bool:
        """Whether someone still looks at the store."""
        return self._thread.is_alive()

    @property
    def behind(self) -> bool:
        """Whether the store has changed since the snapshot."""
        return self._current is None or self._current.version != _mark(self.store)

    def _load_first(self) -> None:
        try:
            self._current = Snapshot.load(self.store, _mark(self.store))
        except Exception as error:  # noqa: BLE001 - whoever asks for it is told, and it is tried again
            self._failure = str(error)
        self._ready.set()

    def hurry(self) -> int:
        """Have a look now, without waiting for it; the number of what was asked for."""
        with self._changed:
            self._wanted += 1
            self._asked.set()
            return self._wanted

    def refresh(self, timeout_s: float = 10.0) -> None:
        """After something was written: waits until it can be read, but not for ever."""
        number = self.hurry()
        with self._changed:
            self._changed.wait_for(lambda: self._looked >= number, timeout_s)

    def found(self, key: Any) -> Any:
        """What is kept for this key, without waiting for anything; None where it has to be made."""
        return self._answers.get((self.now.version, key))

    def kept(self, key: Any, make: Callable[[Snapshot], T]) -> T:
        """What was made for this key from this snapshot, else made now."""
        snapshot = self.now
        place = (snapshot.version, key)
        with self._lock:
            if place in self._answers:
                self._answers.move_to_end(place)
                found: T = self._answers[place]
                return found
            turn = self._being_made.setdefault(place, threading.Lock())
        try:
            with turn:  # whoever asks for the same meanwhile waits for it instead of making it as well
                made = self._answers.get(place)
                if made is None:
                    made = make(snapshot)
                    self._keep_answer(place, made)
        finally:
            with self._lock:
                self._being_made.pop(place, None)
        return cast("T", made)

    def _keep_answer(self, place: Any, made: Any) -> None:
        """The oldest go where there are too many, or too large ones."""
        with self._lock:
            self._answers[place] = made
            self._bytes += _size(made)
            while len(self._answers) > MOST_ANSWERS or self._bytes > MOST_BYTES:
                _, gone = self._answers.popitem(last=False)
                self._bytes -= _size(gone)

    def _keep(self) -> None:
        while not self._stopped.is_set():
            asked = self._asked.wait(LOOK_S)
            self._asked.clear()
            number = self._wanted
            try:
                self._look(asked)
            except Exception as error:  # noqa: BLE001 - a full disk must not end the looking for ever
                self._problem(str(error))
            with self._changed:
                self._looked = number
                self._changed.notify_all()

    def _look(self, asked: bool) -> None:
        waiting = _waiting(self.store)
        if waiting and (asked or waiting != self._folded):
            for sentence in self.store.fold().torn:
                self._problem(sentence)
            self._folded = _waiting(self.store)
        mark, begin = _mark(self.store), time.monotonic()
        self._ready.wait()
        seen = self._current.version if self._current else None
        if mark == seen or (begin < self._not_before and not asked):
            return
        fresh = Snapshot.load(self.store, mark)
        self._not_before = time.monotonic() + PATIENCE * (time.monotonic() - begin)
        with self._lock:
            self._answers.clear()
            self._bytes = 0
        self._current = fresh  # the old one goes when the last who asks it is done


def _size(made: Any) -> int:
    """Bytes of an answer; what is none takes little."""
    body = getattr(made, "body", made)
    return len(getattr(body, "content", b"")) + len(getattr(body, "packed", None) or b"")


def _waiting(store: Store) -> str:
    """Changes whenever something is added to the spool; empty where nothing waits."""
    found = sorted(store.spool.glob("*.ndjson")) if store.spool.is_dir() else []
    try:
        return " ".join(f"{path.name}:{path.stat().st_size}" for path in found)
    except FileNotFoundError:  # folded in this very moment
        return "?"


def _mark(store: Store) -> str:
    """Changes whenever the file does."""
    try:
        found = store.path.stat()
    except FileNotFoundError:
        return "none"
    return f"{found.st_mtime_ns:x}-{found.st_size:x}"
