"""Posts alerts to an address of the server's own settings, signed, and never in the way of the queue."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import queue
import threading
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

from modeldyno.core.errors import InputError
from modeldyno.web.jobs.types import Event, EventKind

SIGNATURE = "X-Dyno-Signature"
TIMEOUT_S = 5.0
PAUSES_S = (2.0, 8.0)
"""Before the second and the third try."""
MOST_WAITING = 1000


class Webhook:
    """Hand its `notice` to the queue as a listener. Building one touches nothing."""

    def __init__(
        self, url: str, secret: str | None, site: str | None = None, pauses_s: Sequence[float] = PAUSES_S
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"The webhook {url!r} is no address; write one that begins with http:// or https://.")
        self.problem: str | None = None
        """Why the newest alert could not be delivered."""
        self._place = urlsplit(url).hostname
        """For what people read: the whole address is often a secret itself."""
        self._url, self._secret, self._site, self._pauses_s = url, secret, site, pauses_s
        self._waiting: queue.Queue[Event | None] = queue.Queue(MOST_WAITING)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._work, name="webhook", daemon=True)
        self._opener = urllib.request.build_opener(_NoRedirect)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Alerts that wait are tried once more."""
        self._stopping.set()
        with contextlib.suppress(queue.Full):
            self._waiting.put_nowait(None)
        if self._thread.is_alive():
            self._thread.join(2 * TIMEOUT_S)

    def notice(self, event: Event) -> None:
        """From any thread; it never blocks."""
        if event.kind is EventKind.ALERT:
            try:
                self._waiting.put_nowait(event)
            except queue.Full:
                self.problem = f"{MOST_WAITING} alerts wait for {self._place}; newer ones are only on the page."

    def _work(self) -> None:
        while (event := self._waiting.get()) is not None:
            self._deliver(json.dumps(self._document(event)).encode())

    def _document(self, event: Event) -> dict[str, Any]:
        return {
            "kind": event.data["alert"],
            "text": event.data["text"],
            "job_id": event.job_id,
            "at": event.at.isoformat(),
            "link": f"{self._site.rstrip('/')}/dashboard/jobs/{event.job_id}" if self._site else None,
        }

    def _deliver(self, body: bytes) -> None:
        for pause_s in (*self._pauses_s, None):
            self.problem = self._post(body)
            if self.problem is None or pause_s is None or self._stopping.wait(pause_s):
                return

    def _post(self, body: bytes) -> str | None:
        """What went wrong, if anything."""
        headers = {"Content-Type": "application/json"}
        if self._secret:
            headers[SIGNATURE] = f"sha256={signature(self._secret, body)}"
        request = urllib.request.Request(self._url, body, headers, method="POST")
        try:
            with self._opener.open(request, timeout=TIMEOUT_S):
                return None
        except urllib.error.HTTPError as error:
            with error:
                return f"{self._place} answered {error.code}"
        except OSError as error:
            return f"{self._place} cannot be reached: {error}"
        except Exception as error:  # noqa: BLE001 - whatever a stranger answers must not end the thread
            return f"{self._place} answered nonsense: {error}"


def signature(secret: str, body: bytes) -> str:
    """HMAC-SHA256 of the body in hexadecimal digits."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """The address is the administrator's; whoever answers there does not choose another."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None
