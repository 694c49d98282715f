"""Events of jobs as they happen, for pages that stay open: read from the queue, waited for without asking again."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress

from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import Event

LOOK_S = 5.0
"""How often to look without a hint: another process may have changed the queue."""


class Feed:
    """Wakes those who wait for news of a job. Events themselves are in the queue, so nobody can miss one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[str, list[tuple[asyncio.AbstractEventLoop, asyncio.Event]]] = {}

    def publish(self, event: Event) -> None:
        """From any thread; it never blocks."""
        with self._lock:
            for loop, news in self._waiting.get(event.job_id, ()):
                with suppress(RuntimeError):  # the loop is closed, and nobody waits there
                    loop.call_soon_threadsafe(news.set)

    @contextmanager
    def waiting(self, job_id: str) -> Iterator[asyncio.Event]:
        """Set whenever there may be something new of this job."""
        entry = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            self._waiting.setdefault(job_id, []).append(entry)
        try:
            yield entry[1]
        finally:
            with self._lock:
                self._waiting[job_id].remove(entry)
                if not self._waiting[job_id]:
                    del self._waiting[job_id]


async def follow(queue: Queue, feed: Feed, job_id: str, after: int = 0) -> AsyncIterator[Event]:
    """All events of a job after this number, then those to come, until it is over."""
    with feed.waiting(job_id) as news:
        while True:
            news.clear()
            job = await asyncio.to_thread(queue.get, job_id)  # before its events: the last ones come with its end
            events = await asyncio.to_thread(queue.events, job_id, after)
            for event in events:
                yield event
                after = event.number
            if events:
                continue
            if job.state.is_over:
                return
            try:
                await asyncio.wait_for(news.wait(), LOOK_S)
            except TimeoutError:
                continue
