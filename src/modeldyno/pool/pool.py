"""The pool: models are loaded once, lent to any number of threads, and let go when room is wanted."""

from __future__ import annotations

import concurrent.futures
import contextlib
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

from modeldyno.core.errors import JobError
from modeldyno.core.types import Case
from modeldyno.pool.books import Books
from modeldyno.pool.borrowed import Borrowed
from modeldyno.pool.breaker import Breaker
from modeldyno.pool.errors import Closed, NoRoom, StillLoading
from modeldyno.pool.loading import Loader, Model
from modeldyno.pool.placing import Placed, place

PATIENCE_S = 60.0
TRIPS = 3
REST_S = 30.0


@dataclass(frozen=True)
class PoolState:
    """What a pool holds and did so far."""

    models: Mapping[Case, float]
    """The measured MB of each, from the least to the most recently used."""
    held_mb: Mapping[str, float]
    """Their sum by whose memory it is, the host's or a device's, with what is promised to loads under way."""
    peak_mb: Mapping[str, float]
    loads: int
    evictions: int


class Pool:
    """Shares loaded models by case.

    One lock guards the books; it is never held while a model is loaded or stepped, so nobody waits for another's model
    but for room. A load under way is a future that all who want the model wait for."""

    def __init__(
        self,
        budget_mb: float | None = None,
        *,
        patience_s: float = PATIENCE_S,
        load_patience_s: float | None = None,
        trips: int = TRIPS,
        rest_s: float = REST_S,
        loader: Loader | None = None,
    ) -> None:
        """`patience_s`: how long to wait for room; `load_patience_s`: how long for another's load of the same model,
        None: as long as it takes. After `trips` failures in a row a model is refused for `rest_s`."""
        self._loader = loader or Loader()
        self._patience_s, self._load_patience_s = patience_s, load_patience_s
        self._books = Books(budget_mb)
        self._changed = threading.Condition()
        self._loading: dict[Case, Future[None]] = {}
        self._breakers: defaultdict[Case, Breaker] = defaultdict(lambda: Breaker(trips, rest_s))
        self._loads = 0
        self._closed = False

    @contextmanager
    def borrow(self, case: Case, patience_s: float | None = None) -> Iterator[Borrowed]:
        """The model of this case, loaded if it is not; it stays while the block runs. `patience_s` is for room."""
        model = self._take(case, self._patience_s if patience_s is None else patience_s)
        borrowed = Borrowed(model, self)
        try:
            yield borrowed
        finally:
            borrowed.hand_in()
            with self._changed:
                self._books.give_back(model)
                self._changed.notify_all()

    def place(self, model: str, prefer: Sequence[str] | None = None, **wanted: Any) -> Placed:
        """Where this model can run: the first device of the preference that can, with the reasons of those before.

        See `modeldyno.pool.placing.place`."""
        return place(self._loader.session, model, prefer, **wanted)

    def state(self) -> PoolState:
        with self._changed:
            books = self._books
            held = {account: books.held_mb(account) for account in books.peak_mb}
            sizes = {case: model.mb for case, model in books.models.items()}
            return PoolState(sizes, held, dict(books.peak_mb), self._loads, books.evictions)

    def close(self) -> None:
        """Lend no more, wait until all is given back, let go of every model and device."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            ended = self._changed.wait_for(
                lambda: not self._books.in_use() and not self._loading, timeout=self._patience_s
            )
            if not ended:
                raise JobError(f"{self._used()} was not given back in {self._patience_s:.0f} s; end its users.")
            gone = self._books.clear()
        self._loader.let_go(gone)
        self._loader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def broke(self, model: Model, error: Exception) -> None:
        """Take a model out that failed in a step; whoever borrows it next loads it anew."""
        with self._changed:
            if model.fault is None:
                self._books.break_off(model, _told(error))
                self._breakers[model.case].failed(_told(error))
                self._changed.notify_all()

    def worked(self, model: Model) -> None:
        if (breaker := self._breakers.get(model.case)) and breaker.failures:
            with self._changed:
                breaker.worked()

    def _take(self, case: Case, patience_s: float) -> Model:
        while True:
            with self._changed:
                self._check_open()
                if model := self._books.use(case):
                    return model
                under_way = self._loading.get(case)
                if under_way is None:
                    self._breakers[case].check(case.label)
                    mine = self._loading[case] = Future()
            if under_way is None:
                return self._load(case, mine, patience_s)
            self._await(case, under_way)

    def _await(self, case: Case, load: Future[None]) -> None:
        """Another's load: its error is everybody's, the end of its patience is not."""
        if not concurrent.futures.wait([load], timeout=self._load_patience_s).done:
            raise StillLoading(
                f"{case.label} was still being loaded for another borrower after {self._load_patience_s:g} s; "
                "borrow it later, or give the pool a longer load_patience_s."
            )
        with contextlib.suppress(NoRoom):
            load.result()

    def _load(self, case: Case, mine: Future[None], patience_s: float) -> Model:
        try:
            model = self._bring_in(case, patience_s)
        except BaseException as error:
            with self._changed:
                self._books.forget_promise(case)
                if self._loading.get(case) is mine:
                    del self._loading[case]
                if not isinstance(error, NoRoom | Closed):  # not the model's fault
                    self._breakers[case].failed(_told(error))
                self._changed.notify_all()
            mine.set_exception(error)
            raise
        mine.set_result(None)
        return model

    def _bring_in(self, case: Case, patience_s: float) -> Model:
        """Loaded and in the books, with one user. Found too large for the room there is, it goes and waits for it."""
        while True:
            patience_s -= self._make_room(case, patience_s)
            model = self._loader.load(case)
            with self._changed:
                self._loads += 1
                self._check_open()
                gone = self._books.admit(model)
                if gone is not None:
                    del self._loading[case]
                    break
            del model
        self._loader.let_go(gone)
        return model

    def _make_room(self, case: Case, patience_s: float) -> float:
        """Gives the seconds it waited: the time of a load is not taken from the patience."""
        begin = time.monotonic()
        with self._changed:
            self._check_open()
            while (gone := self._books.promise(case)) is None:
                left = begin + patience_s - time.monotonic()
                if left <= 0:
                    budget = f"{self._books.budget_mb:.0f} MB"
                    raise NoRoom(
                        f"There is no room for {case.label} in {budget}: {self._used()} in use; "
                        "give some back, raise the budget or wait longer."
                    )
                self._changed.wait(left)
                self._check_open()
        waited = time.monotonic() - begin
        self._loader.let_go(gone)
        return waited

    def _used(self) -> str:
        return ", ".join(f"{model.case.label} ({model.mb:.0f} MB)" for model in self._books.in_use()) or "a load"

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("The pool is closed; make a new one.")


def _told(error: BaseException) -> str:
    line = (str(error).strip().splitlines() or ["no message"])[0][:200]
    return f"{type(error).__name__}: {line}"
