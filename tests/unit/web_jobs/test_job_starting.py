"""How jobs are started: one for each device, and none is left as running when that fails."""

from __future__ import annotations

import fcntl
import os
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from modeldyno.core.errors import JobError
from modeldyno.web.jobs import dispatcher, journal, running
from modeldyno.web.jobs.dispatcher import Dispatcher
from modeldyno.web.jobs.messages import Ended
from modeldyno.web.jobs.order import read_order
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.running import Running
from modeldyno.web.jobs.types import Job, State

ORDER = read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]})
HIGH = 1500


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path / "dyno.duckdb")


@pytest.fixture
def high_descriptors(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As in a server that has a thousand others open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = max(soft, HIGH + 100) if soft != resource.RLIM_INFINITY else soft
    if hard != resource.RLIM_INFINITY and wanted > hard:
        pytest.skip("this machine does not let a process have so many files open")
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    low = os.pipe

    def pipe() -> tuple[int, int]:
        ends = low()
        lifted = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, HIGH) for end in ends]
        for end in ends:
            os.close(end)
        return lifted[0], lifted[1]

    monkeypatch.setattr(os, "pipe", pipe)
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def child(script: str, *words: str, **more: Any) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", script, *words]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, **more)


def test_jobs_without_a_device_run_one_after_another(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldyno.web.jobs.queue.needed", lambda _: ())
    for _ in range(5):
        queue.submit(ORDER, "ann")
    begun: list[Job] = []

    class Busy:
        is_over, kill_at = False, None

        def __init__(self, _: Queue, job: Job, __: object) -> None:
            self.job = job
            begun.append(job)

        def kill_if_due(self) -> None: ...

    monkeypatch.setattr(dispatcher, "Running", Busy)
    made = Dispatcher(queue)
    for _ in range(3):
        made._turn()
    assert len(begun) == 1


@pytest.mark.usefixtures("high_descriptors")
def test_a_job_is_heard_in_a_server_with_many_open_files(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    said = Ended(state=State.DONE).model_dump_json() + "\n"
    script = "import os, sys; sys.stdin.readline(); os.write(int(sys.argv[1]), sys.argv[2].encode())"
    monkeypatch.setattr(running, "_start", lambda events: child(script, str(events), said, pass_fds=(events,)))
    job = journal.claim(queue, queue.submit(ORDER, "ann").job_id)
    assert job
    Running(queue, job, lambda: None).join(20)
    found = queue.get(job.job_id)
    assert (found.state, found.reason) == (State.DONE, None)


@pytest.mark.parametrize("name", ["job-", "log-"])
def test_a_job_that_cannot_be_attended_fails(queue: Queue, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Such as where there are too many threads; its process does not live on."""
    begun: list[subprocess.Popen[bytes]] = []

    def start(_: int) -> subprocess.Popen[bytes]:
        begun.append(child("import time; time.sleep(60)"))
        return begun[-1]

    begin = threading.Thread.start

    def refuse(thread: threading.Thread) -> None:
        if thread.name.startswith(name):
            raise RuntimeError("can't start new thread")
        begin(thread)

    monkeypatch.setattr(running, "_start", start)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    job = queue.submit(ORDER, "ann")
    made = Dispatcher(queue)
    made._turn()
    deadline = time.monotonic() + 10
    while queue.get(job.job_id).state is State.RUNNING and time.monotonic() < deadline:
        time.sleep(0.02)
    found = queue.get(job.job_id)
    assert found.state is State.FAILED and "can't start new thread" in (found.reason or "")
    assert begun[0].wait(10) != 0
    for attending in made._running.values():
        attending.join(10)
    if begun[0].stdout:
        begun[0].stdout.close()


def test_a_failure_to_start_is_written_down_as_soon_as_that_can_be(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise JobError("The file is locked.")

    finish = journal.finish
    monkeypatch.setattr(dispatcher, "Running", broken)
    monkeypatch.setattr(journal, "finish", broken)
    job = queue.submit(ORDER, "ann")
    made = Dispatcher(queue)
    with pytest.raises(JobError):
        made._turn()
    assert queue.get(job.job_id).state is State.RUNNING
    monkeypatch.setattr(journal, "finish", finish)
    made._turn()
    found = queue.get(job.job_id)
    assert found.state is State.FAILED and found.reason == (
        "its process could not be started: The file is locked; resume it later"
    )
