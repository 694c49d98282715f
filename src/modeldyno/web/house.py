"""What all routes share: the store and its snapshot, who may do what, the queue of jobs, and what is thought beside."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from modeldyno.core.types import Device, Probe
from modeldyno.platforms import PLATFORMS
from modeldyno.store.snapshot import Snapshot
from modeldyno.store.store import Store
from modeldyno.web.access.binding import check_binding
from modeldyno.web.access.book import Book
from modeldyno.web.access.guard import Guard
from modeldyno.web.acknowledgements import Acknowledgements
from modeldyno.web.jobs.dispatcher import Dispatcher
from modeldyno.web.jobs.feed import Feed
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import Alert, Event, EventKind
from modeldyno.web.jobs.webhook import Webhook
from modeldyno.web.passage import Figures, log_line
from modeldyno.web.settings import Settings
from modeldyno.web.shelf import Shelf
from modeldyno.web.thoughts import Thinker

LOG = logging.getLogger("modeldyno.web")
_STALE_S = 300.0
"""Pages that tell how long ago something was are made anew after so long."""


@dataclass
class House:
    """One for each server."""

    settings: Settings
    store: Store
    shelf: Shelf
    thinker: Thinker
    book: Book
    guard: Guard
    queue: Queue
    feed: Feed
    acknowledgements: Acknowledgements
    figures: Figures = field(default_factory=Figures)
    alerted: int = 0
    """Alerts that came, or were seen, since the start."""
    started: bool = False
    dispatcher: Dispatcher | None = None
    webhook: Webhook | None = None

    @classmethod
    def build(cls, settings: Settings, shelf: Shelf | None = None) -> House:
        """Reads the store, unless a shelf does so already; starts nothing yet."""
        store, book = Store(settings.store), Book.beside(settings.store)
        # With an address for others, they come through a proxy of this machine.
        alone = check_binding("0.0.0.0" if settings.public_url else settings.host, book)

        def problem(text: str) -> None:
            LOG.warning(log_line(settings.log, "problem", {"text": text}))

        shelf = shelf or Shelf(store, problem)
        queue, feed = Queue(settings.store), Feed()
        queue.listen(feed.publish)
        house = cls(
            settings=settings,
            store=store,
            shelf=shelf,
            thinker=Thinker(shelf, problem),
            book=book,
            guard=Guard(book, alone, settings.public_url),
            queue=queue,
            feed=feed,
            acknowledgements=Acknowledgements(settings.store),
        )
        queue.listen(house._notice)
        if settings.jobs:
            house.dispatcher = Dispatcher(queue)
        if settings.webhook:
            house.webhook = Webhook(settings.webhook, settings.webhook_secret or "", settings.public_url)
            queue.listen(house.webhook.notice)
        return house

    def start(self) -> None:
        """Once; a second time changes nothing."""
        if self.started:
            return
        left = self.dispatcher.start() if self.dispatcher else []
        self.started = True
        self.shelf.start()
        self.thinker.start()
        if self.webhook:
            self.webhook.start()
        for job in left:
            LOG.warning(log_line(self.settings.log, "interrupted", {"job": job.job_id, "title": job.title}))

    def stop(self) -> None:
        """Running jobs are interrupted and keep what they measured."""
        for part in (self.dispatcher, self.webhook, self.thinker, self.shelf):
            if part is not None:
                part.stop()

    @property
    def now(self) -> Snapshot:
        return self.shelf.now

    @cached_property
    def probes(self) -> tuple[Probe, ...]:
        """What is on this machine: looked at once, hardware does not come and go while a server runs."""
        return tuple(PLATFORMS.get(name).probe() for name in PLATFORMS.names())

    @cached_property
    def devices(self) -> tuple[Device, ...]:
        return tuple(device for probe in self.probes for device in probe.devices)

    def mood(self, whole: bool) -> tuple[Any, ...]:
        """What pages tell beside the snapshot; while it stays the same, so do they. Most tell only how long ago."""
        beside = (self.thinker.now.version, self.acknowledgements.changes, self.alerted) if whole else ()
        return *beside, int(time.time() / _STALE_S)

    def open_alerts(self) -> list[Alert]:
        return self.queue.alerts(unseen=True, limit=5)

    def has_predictor(self) -> bool:
        """Whether one is trained on what the store holds now, as far as that has been worked out."""
        return self.thinker.now.predictor_is_fresh

    def _notice(self, event: Event) -> None:
        self.alerted += event.kind is EventKind.ALERT
        if event.kind is EventKind.END:
            self.shelf.hurry()
