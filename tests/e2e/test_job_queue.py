"""Jobs for real: a dispatcher, job processes, workers and a store; killed, cancelled, stopped and followed."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from modeldyno.core.errors import InputError
from modeldyno.core.types import Record, Status
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.jobs import feed as feed_module
from modeldyno.web.jobs import running
from modeldyno.web.jobs.dispatcher import Dispatcher
from modeldyno.web.jobs.feed import Feed, follow
from modeldyno.web.jobs.order import Order, read_order
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import AlertKind, Event, EventKind, Job, State

pytestmark = pytest.mark.slow
SERVER = """
import signal, sys
from pathlib import Path
from modeldyno.web.jobs.dispatcher import Dispatcher
from modeldyno.web.jobs.queue import Queue

dispatcher = Dispatcher(Queue(Path(sys.argv[1])))
signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
dispatcher.start()
signal.sigwait({signal.SIGTERM})
dispatcher.stop()
"""


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path / "dyno.duckdb")


@pytest.fixture
def dispatcher(queue: Queue) -> Iterator[Dispatcher]:
    """Begun by the test, ended here."""
    made = Dispatcher(queue)
    yield made
    made.stop()
    assert job_processes(queue) == []


def order(workload: str = "fault-none", batch: str = "1", samples: int | None = 5, **changes: object) -> Order:
    """A runtime that is imported in no time: what is tested here is not the model."""
    block = {"model": "tiny-vit", "on": "cpu", "runtime": "onnxruntime", "workload": workload, "batch": batch}
    return read_order({"blocks": [block | changes], "effort": "quick", "samples": samples})


def wait_until(is_so: Callable[[], object], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert is_so()


def ended(queue: Queue, job: Job) -> Job:
    wait_until(lambda: queue.get(job.job_id).state.is_over)
    return queue.get(job.job_id)


def records(queue: Queue, job: Job) -> list[Record]:
    store = Store(queue.store_path)
    store.fold()
    return store.records(Filter(run_id=(job.run_id,)))


def job_processes(queue: Queue) -> list[psutil.Process]:
    """Processes of jobs and their workers that know this test's store."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            ours = process.environ().get("DYNO_STORE") == str(queue.store_path) and process.pid != os.getpid()
            if ours and "modeldyno." in " ".join(process.cmdline()) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


def test_a_job_measures_as_the_command_line_does(queue: Queue, dispatcher: Dispatcher) -> None:
    block = {"model": "tiny-bert", "on": "cpu,cuda", "batch": "1,2", "shape": {"seq": 16}}
    job = queue.submit(read_order({"blocks": [block], "effort": "quick", "samples": 5, "title": "nightly"}), "ann")
    assert dispatcher.start() == []
    done = ended(queue, job)
    assert (done.state, done.reason, done.attempt) == (State.DONE, None, 1)
    assert (done.cases_total, done.cases_done, done.ok, done.skipped) == (4, 4, 2, 2)
    kept = records(queue, job)
    assert {(r.case.platform, r.status) for r in kept} == {("cpu", Status.OK), ("cuda", Status.SKIPPED)}
    assert all(len(r.samples[0].host_ms) == 5 for r in kept if r.status is Status.OK)
    run = Store(queue.store_path).find_run(job.run_id)
    assert (run.name, run.effort, len(run.plan)) == ("nightly", "quick", 4)
    events = queue.events(job.job_id)
    kinds = [event.kind for event in events]
    assert kinds[:3] == [EventKind.QUEUED, EventKind.STARTED, EventKind.PLAN]
    assert kinds[-1] is EventKind.END
    assert EventKind.NOTE in kinds
    told = {event.data["record_id"]: event.data for event in events if event.kind is EventKind.RECORD}
    assert set(told) == {r.record_id for r in kept}
    assert all(told[r.record_id]["latency_ms"] == r.value("latency_ms") for r in kept)
    assert "tiny-bert" in queue.log(job.job_id).read()
    assert queue.alerts() == []


def serve(queue: Queue) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", SERVER, str(queue.store_path)])


def test_the_queue_comes_back_after_a_kill_and_nothing_is_lost_or_doubled(queue: Queue) -> None:
    first = queue.submit(order(batch="1,2,3,4,5,6", samples=None), "ann", 5)
    others = [queue.submit(order(batch=str(number)), "bob") for number in (7, 8)]
    server = serve(queue)
    wait_until(lambda: queue.get(first.job_id).cases_done >= 2)
    server.kill()
    server.wait()
    assert queue.get(first.job_id).state is State.RUNNING
    second = serve(queue)
    try:
        for other in others:
            assert ended(queue, other).state is State.DONE
        left = queue.get(first.job_id)
        assert left.state is State.INTERRUPTED
        assert left.started_at
        before = records(queue, first)
        assert 2 <= len(before) < 6
        queue.resume(first.job_id, "ann")
        done = ended(queue, first)
    finally:
        second.terminate()
        second.wait()
    assert (done.state, done.attempt, done.cases_total, done.cases_done, done.ok) == (State.DONE, 2, 6, 6, 6)
    after = records(queue, first)
    assert sorted(record.case.batch for record in after) == [1, 2, 3, 4, 5, 6]
    assert {record.record_id for record in before} <= {record.record_id for record in after}
    plans = [event.data for event in queue.events(first.job_id) if event.kind is EventKind.PLAN]
    assert [plan["left"] for plan in plans] == [6, 6 - len(before)]
    assert job_processes(queue) == []


def test_no_process_outlives_a_killed_server(queue: Queue) -> None:
    job = queue.submit(order("fault-none,fault-hang"), "ann")
    server = serve(queue)
    wait_until(lambda: queue.get(job.job_id).ok == 1)
    server.kill()
    server.wait()
    wait_until(lambda: job_processes(queue) == [], 8)
    assert [record.case.workload for record in records(queue, job)] == ["fault-none"]


def test_a_cancelled_job_keeps_what_it_measured_and_leaves_no_process(queue: Queue, dispatcher: Dispatcher) -> None:
    dispatcher.start()
    job = queue.submit(order("fault-none,fault-hang"), "ann")
    wait_until(lambda: any(e.data.get("text") == "starting" for e in queue.events(job.job_id)[-1:])
               and queue.get(job.job_id).ok == 1)  # fmt: skip
    begin = time.monotonic()
    queue.cancel(job.job_id, "bob")
    assert ended(queue, job).state is State.CANCELLED
    assert time.monotonic() - begin < running.GRACE_S
    assert [record.case.workload for record in records(queue, job)] == ["fault-none"]
    assert job_processes(queue) == []
    assert queue.alerts() == [], "what someone wanted is no failure"


def test_a_job_that_does_not_listen_is_killed(
    queue: Queue, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(running, "GRACE_S", 0.5)
    dispatcher.start()
    job = queue.submit(order("fault-hang"), "ann")
    wait_until(lambda: len(job_processes(queue)) >= 2)
    leader = min(job_processes(queue), key=lambda process: process.create_time())
    leader.suspend()
    queue.cancel(job.job_id)
    assert ended(queue, job).state is State.CANCELLED
    wait_until(lambda: job_processes(queue) == [])


def test_a_stopped_server_interrupts_its_jobs_and_another_goes_on(queue: Queue, dispatcher: Dispatcher) -> None:
    dispatcher.start()
    job = queue.submit(order("fault-told,fault-hang"), "ann")
    wait_until(lambda: queue.get(job.job_id).ok == 1)
    with pytest.raises(InputError, match="Another server"):
        Dispatcher(queue).start()
    dispatcher.stop()
    stopped = queue.get(job.job_id)
    assert stopped.state is State.INTERRUPTED
    assert "stopped" in (stopped.reason or "")
    assert len(records(queue, job)) == 1


def test_a_killed_job_process_is_a_failure_that_can_be_resumed(queue: Queue, dispatcher: Dispatcher) -> None:
    dispatcher.start()
    job = queue.submit(order("fault-none,fault-hang"), "ann")
    wait_until(lambda: queue.get(job.job_id).ok == 1)
    min(job_processes(queue), key=lambda process: process.create_time()).kill()
    failed = ended(queue, job)
    assert failed.state is State.FAILED
    assert "SIGKILL" in (failed.reason or "")
    assert [alert.kind for alert in queue.alerts()] == [AlertKind.FAILURE]
    wait_until(lambda: job_processes(queue) == [])
    assert len(records(queue, job)) == 1


def test_one_job_for_each_device_the_urgent_first_and_what_needs_none_at_once(
    queue: Queue, dispatcher: Dispatcher
) -> None:
    low = queue.submit(order(), "ann", 0)
    high = queue.submit(order(on="openvino", runtime="auto"), "ann", 9)
    nowhere = queue.submit(order(on="qnn"), "ann", -9)
    assert low.devices == high.devices != ()
    dispatcher.start()
    low, high, nowhere = (ended(queue, job) for job in (low, high, nowhere))
    assert (low.state, high.state, nowhere.state) == (State.DONE, State.DONE, State.FAILED)
    assert high.ended_at and low.started_at and nowhere.started_at
    assert high.ended_at <= low.started_at
    assert nowhere.started_at < high.ended_at
    assert nowhere.skipped == 1
    assert "no case is ok" in (nowhere.reason or "")


def test_a_case_that_fails_is_an_alert_and_the_job_goes_on(queue: Queue, dispatcher: Dispatcher) -> None:
    heard: list[Event] = []
    queue.listen(heard.append)
    dispatcher.start()
    job = ended(queue, queue.submit(order("fault-raise,fault-none"), "ann"))
    assert (job.state, job.ok, job.failed) == (State.DONE, 1, 1)
    (alert,) = queue.alerts()
    assert alert.kind is AlertKind.FAILURE
    assert "on holiday" in alert.text
    assert [event.data["alert_id"] for event in heard if event.kind is EventKind.ALERT] == [alert.alert_id]
    assert "on holiday" in queue.log(job.job_id).read(), "the traceback is in the log"


def test_followers_get_what_was_and_what_comes(
    queue: Queue, dispatcher: Dispatcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feed_module, "LOOK_S", 1000.0)  # news must come by themselves
    feed = Feed()
    queue.listen(feed.publish)
    job = queue.submit(order(batch="1,2"), "ann")

    async def watch(after: int) -> list[Event]:
        return [event async for event in follow(queue, feed, job.job_id, after)]

    async def all_of_them() -> list[list[Event]]:
        async with asyncio.TaskGroup() as group:
            early = [group.create_task(watch(0)) for _ in range(3)]
            await asyncio.sleep(0.2)
            await asyncio.to_thread(dispatcher.start)
        late = await watch(4)
        return [*(task.result() for task in early), late]

    *early, late = asyncio.run(all_of_them())
    known = queue.events(job.job_id)
    assert known[-1].kind is EventKind.END
    assert early == [known] * 3
    assert late == known[4:]
    assert feed._waiting == {}


def test_sigterm_to_the_job_itself_is_an_interruption(queue: Queue, dispatcher: Dispatcher) -> None:
    dispatcher.start()
    job = queue.submit(order("fault-none,fault-hang"), "ann")
    wait_until(lambda: queue.get(job.job_id).ok == 1)
    min(job_processes(queue), key=lambda process: process.create_time()).send_signal(signal.SIGTERM)
    assert ended(queue, job).state is State.INTERRUPTED
