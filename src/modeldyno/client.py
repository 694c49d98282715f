"""A client of the server's API in the standard library: results and jobs as frozen types, patient with a server that is
away for a moment."""

from __future__ import annotations

import gzip
import http.client
import json
import random
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from email.message import Message
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from pydantic import BaseModel, ConfigDict

from modeldyno.core.elsewhere import Import, TestResult
from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Provenance, Record, Run, Status

PATIENCE_S = 30.0
"""How long a request is tried again."""
LONGEST_PAUSE_S = 10.0
_FIRST_PAUSE_S = 0.25
_BUSY = (429, 502, 503, 504)
_DONE = ("done", "failed", "cancelled", "interrupted")
_KINDS: dict[type[BaseModel], str] = {Import: "import", Run: "run", Record: "record", TestResult: "test"}
Item = Import | Run | Record | TestResult


class ServerError(JobError):
    """What the server answers in place of what was asked for."""

    def __init__(self, status: int, detail: str, retry_after_s: float = 0.0) -> None:
        self.status, self.retry_after_s = status, retry_after_s
        super().__init__(detail)


class ServerAway(JobError):
    """Nobody answers."""


class _Told(BaseModel):
    """Of a server that may know more than this client."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Model(_Told):
    name: str
    id: str | None
    architecture: str | None
    family: str | None
    parameters: int | None
    catalogue: bool
    results: int
    ok: int
    platforms: tuple[str, ...]
    last: datetime | None


class Result(_Told):
    """A record without its samples."""

    model_config = ConfigDict(frozen=True, extra="allow")
    record_id: str
    run_id: str
    series_id: str
    started_at: datetime
    status: Status
    provenance: Provenance
    workload: str
    model: str
    platform: str
    device: str | None
    runtime: str
    precision: str
    batch: int
    shape: dict[str, Any]
    reason: str | None
    latency_ms: float | None = None
    throughput_per_s: float | None = None
    memory_peak_mb: float | None = None

    def value(self, metric: str) -> float | None:
        """Any metric that lists have."""
        found = getattr(self, metric, None)
        return float(found) if isinstance(found, int | float) else None


class Series(_Told):
    series_id: str
    workload: str
    model: str
    platform: str
    device: str | None
    runtime: str
    precision: str
    batch: int
    results: int
    first: datetime
    last: datetime
    latency_ms: float | None


class Job(_Told):
    job_id: str
    state: str
    title: str
    run_id: str
    cases_total: int
    cases_done: int
    ok: int
    failed: int
    skipped: int
    invalid: int
    reason: str | None

    @property
    def is_over(self) -> bool:
        return self.state in _DONE


class Taken(_Told):
    """What came of results that were sent; all of them are durable there."""

    records: int
    new: int
    known: int


class Client:
    """One server. Building one asks nothing."""

    def __init__(
        self, url: str, token: str | None = None, timeout_s: float = 60.0, patience_s: float = PATIENCE_S
    ) -> None:
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise InputError(f"'{url}' is no address of a server; write it like http://127.0.0.1:8000.")
        self.url = url.rstrip("/")
        self._token, self._timeout_s, self._patience_s = token, timeout_s, patience_s
        self._opener = urllib.request.build_opener(_NoRedirects)

    def models(self) -> list[Model]:
        return [Model.model_validate(item) for item in self._get("/api/v1/models")["items"]]

    def records(self, limit: int = 1000, **filters: Any) -> Iterator[Result]:
        """All results that the filters choose, `limit` for each request: `records(model="tiny-bert", on="cpu")`."""
        yield from map(Result.model_validate, self._pages("/api/v1/records", limit, filters))

    def record(self, record_id: str) -> Record:
        """With its samples."""
        told = self._get(f"/api/v1/records/{quote(record_id, safe='')}")
        return Record.model_validate({name: told[name] for name in Record.model_fields if name in told})

    def series(self, limit: int = 1000, **filters: Any) -> Iterator[Series]:
        yield from map(Series.model_validate, self._pages("/api/v1/series", limit, filters))

    def submit(self, order: Mapping[str, Any], priority: int = 0) -> Job:
        """`{"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}], "effort": "quick"}`."""
        content = json.dumps(order).encode()
        told = self._ask("POST", f"/api/v1/jobs?priority={priority}", content, "application/json", twice=False)
        return Job.model_validate(told)

    def job(self, job_id: str) -> Job:
        return Job.model_validate(self._get(f"/api/v1/jobs/{quote(job_id, safe='')}"))

    def wait(self, job_id: str, timeout_s: float | None = None, every_s: float = 1.0) -> Job:
        """Until it is over."""
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while not (job := self.job(job_id)).is_over:
            if deadline is not None and time.monotonic() >= deadline:
                raise JobError(f"The job {job_id} is still {job.state} after {timeout_s:g} s; wait longer.")
            time.sleep(every_s)
        return job

    def send(self, items: Iterable[Item]) -> Taken:
        """All or none; a run before its records. What was sent before is known there, and not doubled."""
        return self.send_lines(b"".join(map(_line, items)))

    def send_lines(self, content: bytes) -> Taken:
        """The same, in the lines that the spool has."""
        return Taken.model_validate(self._ask("POST", "/api/v1/records", content, "application/x-ndjson"))

    def _pages(self, path: str, limit: int, filters: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        words = {name: value for name, value in filters.items() if value is not None} | {"limit": limit}
        while True:
            page = self._get(f"{path}?{urlencode(words, doseq=True)}")
            yield from page["items"]
            if page["next"] is None:
                return
            words["cursor"] = page["next"]

    def _get(self, path: str) -> Any:
        return self._ask("GET", path)

    def _ask(
        self, method: str, path: str, content: bytes | None = None, media: str | None = None, twice: bool = True
    ) -> Any:
        """Again and again while the server is away or busy; once only where doing it twice would be wrong."""
        deadline, pause = time.monotonic() + self._patience_s, _FIRST_PAUSE_S
        while True:
            wait: float = 0.0
            problem: JobError
            try:
                return self._once(method, path, content, media)
            except ServerError as error:
                if error.status not in _BUSY:
                    raise
                problem, wait = error, error.retry_after_s
            except (OSError, http.client.HTTPException) as error:
                if not (twice or _was_refused(error)):
                    raise ServerAway(f"{self.url} broke off ({_reason(error)}); look there for what it did.") from None
                problem = ServerAway(f"{self.url} does not answer ({_reason(error)}); start it with: dyno serve")
            wait = max(wait, pause * random.uniform(0.5, 1.0))
            if time.monotonic() + wait > deadline:
                raise problem
            time.sleep(wait)
            pause = min(pause * 2, LONGEST_PAUSE_S)

    def _once(self, method: str, path: str, content: bytes | None, media: str | None) -> Any:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip"}
        headers |= {"Content-Type": media} if media else {}
        headers |= {"Authorization": f"Bearer {self._token}"} if self._token else {}
        request = urllib.request.Request(self.url + path, content, headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                return _document(answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                raise _problem(error) from None


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for one server only."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _document(content: bytes, headers: Message) -> Any:
    if headers.get("Content-Encoding") == "gzip":
        content = gzip.decompress(content)
    try:
        return json.loads(content)
    except ValueError:
        raise JobError("The server answers with something that is no JSON; is it a server of modeldyno?") from None


def _problem(error: urllib.error.HTTPError) -> ServerError:
    try:
        detail = str(_document(error.read(), error.headers)["detail"])
    except (JobError, OSError, KeyError, TypeError):
        detail = f"The server answers {error.code} {error.reason}; look into its log."
    told = error.headers.get("Retry-After", "")
    return ServerError(error.code, detail, float(told) if told.isdecimal() else 0.0)


def _was_refused(error: Exception) -> bool:
    """Then nothing has begun."""
    return isinstance(getattr(error, "reason", error), ConnectionRefusedError)


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _line(item: Item) -> bytes:
    return f'{{"kind":"{_KINDS[type(item)]}","data":{item.model_dump_json()}}}\n'.encode()
