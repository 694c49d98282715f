"""The queue without anyone who works it off: states, events, alerts, logs and many writers at once."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from modeldyno.core.types import Status
from modeldyno.web.jobs import journal, log, recovery
from modeldyno.web.jobs.log import JobLog
from modeldyno.web.jobs.messages import Planned, Recorded
from modeldyno.web.jobs.order import Order, read_order
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import EventKind, State, UnknownJob, WrongState


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    return Queue(tmp_path / "dyno.duckdb")


def order(**changes: object) -> Order:
    return read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}], **changes})


def result(number: int, status: Status = Status.OK) -> Recorded:
    return Recorded(record_id=f"r{number}", case=f"case {number}", case_key=f"k{number}", status=status, reason="why")


def test_building_one_touches_nothing(queue: Queue, tmp_path: Path) -> None:
    assert list(tmp_path.iterdir()) == []
    assert queue.jobs() == []


def test_only_the_owner_can_read_what_is_kept(queue: Queue) -> None:
    queue.submit(order(), "ann")
    assert stat.S_IMODE(queue.database.path.stat().st_mode) == 0o600


def test_jobs_are_listed_newest_first_in_pages_and_by_state(queue: Queue) -> None:
    made = [queue.submit(order(title=f"job {number}"), "ann") for number in range(5)]
    queue.cancel(made[1].job_id, "bob")
    newest = sorted((job.job_id for job in made), reverse=True)
    first = queue.jobs(limit=2)
    assert [job.job_id for job in first] == newest[:2]
    assert [job.job_id for job in queue.jobs(before=first[-1].job_id)] == newest[2:]
    assert [job.title for job in queue.jobs([State.CANCELLED])] == ["job 1"]
    assert queue.get(made[1].job_id).reason == "cancelled by bob"
    again = Queue(queue.store_path)
    assert again.jobs() == queue.jobs()


def test_the_most_urgent_goes_first_then_the_oldest(queue: Queue) -> None:
    for title, priority in (("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -1)):
        queue.submit(order(title=title), "ann", priority)
    waiting = queue.waiting()
    assert [job.priority for job in waiting] == [5, 5, 0, 0, -1]
    assert [job.job_id for job in waiting[:2]] == sorted(job.job_id for job in waiting[:2])


def test_jobs_and_alerts_are_counted_without_being_read(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    assert queue.counts() == dict.fromkeys(State, 0) and queue.unseen() == 0
    made = [queue.submit(order(), "ann") for _ in range(4)]
    queue.cancel(made[0].job_id)
    journal.claim(queue, made[1].job_id)
    journal.finish(queue, made[1].job_id, State.FAILED, "it broke")
    monkeypatch.setattr("modeldyno.web.jobs.queue._job", None)
    assert queue.counts() == dict.fromkeys(State, 0) | {State.QUEUED: 2, State.CANCELLED: 1, State.FAILED: 1}
    assert queue.unseen() == 1


def test_what_cannot_be_done_with_a_job_says_so(queue: Queue) -> None:
    job = queue.submit(order(), "ann")
    with pytest.raises(WrongState, match="did not end well"):
        queue.resume(job.job_id)
    queue.cancel(job.job_id)
    with pytest.raises(WrongState, match="nothing to cancel"):
        queue.cancel(job.job_id)
    for ask in (queue.get, queue.cancel, queue.resume, queue.events, queue.log):
        with pytest.raises(UnknownJob):
            ask("../../etc/passwd")
    with pytest.raises(UnknownJob):
        queue.acknowledge("none", "ann")


def test_a_resumed_job_keeps_its_run_and_a_rerun_has_its_own(queue: Queue) -> None:
    job = queue.submit(order(), "ann", 3)
    queue.cancel(job.job_id)
    resumed = queue.resume(job.job_id)
    fresh = queue.rerun(job.job_id, "bob")
    assert (resumed.state, resumed.run_id) == (State.QUEUED, job.run_id)
    assert (fresh.order, fresh.priority, fresh.who) == (job.order, 3, "bob")
    assert fresh.run_id != job.run_id


def test_counts_begin_with_what_the_store_has(queue: Queue) -> None:
    """A killed server may have heard of more or less than was kept."""
    job = queue.submit(order(), "ann")
    assert journal.claim(queue, job.job_id)
    assert journal.claim(queue, job.job_id) is None
    journal.absorb(queue, job.job_id, [result(1), result(2)])
    journal.absorb(queue, job.job_id, [Planned(total=9, left=6, runnable=5, kept={Status.OK: 2, Status.SKIPPED: 1})])
    journal.absorb(queue, job.job_id, [result(3), result(4, Status.INVALID)])
    found = queue.get(job.job_id)
    assert (found.cases_total, found.cases_done) == (9, 5)
    assert (found.ok, found.skipped, found.invalid, found.failed) == (3, 1, 1, 0)


def test_events_are_counted_for_each_job_and_told_once_they_are_durable(queue: Queue) -> None:
    heard = []
    queue.listen(lambda event: heard.append((event, queue.events(event.job_id, event.number - 1))))
    jobs = [queue.submit(order(), "ann") for _ in range(2)]
    for job in jobs:
        journal.claim(queue, job.job_id)
        journal.absorb(queue, job.job_id, [result(1), result(2)])
        assert [event.number for event in queue.events(job.job_id)] == [1, 2, 3, 4]
    assert [event.kind for event in queue.events(jobs[0].job_id, after=2)] == [EventKind.RECORD] * 2
    assert all(event == found[0] for event, found in heard)


def test_failures_are_alerts_once_and_not_without_end(queue: Queue) -> None:
    job = queue.submit(order(), "ann")
    journal.claim(queue, job.job_id)
    journal.absorb(queue, job.job_id, [result(1, Status.FAILED), result(1, Status.FAILED), result(2)])
    assert [alert.text for alert in queue.alerts()] == ["case 1 is failed: why"]
    assert [event.kind for event in queue.events(job.job_id)].count(EventKind.ALERT) == 1, "nobody is told twice"
    journal.absorb(queue, job.job_id, [result(number, Status.FAILED) for number in range(100)])
    journal.finish(queue, job.job_id, State.FAILED, "all broke")
    texts = [alert.text for alert in queue.alerts()]
    assert len(texts) == journal.MOST_ALERTS + 2
    assert sum("More went wrong" in text for text in texts) == 1
    assert sum("all broke" in text for text in texts) == 1
    seen = queue.acknowledge(queue.alerts()[0].alert_id, "ann")
    assert queue.acknowledge(seen.alert_id, "bob").seen_by == "ann"
    assert len(queue.alerts(unseen=True)) == len(texts) - 1


def test_what_a_server_that_is_gone_left_running_is_interrupted(queue: Queue) -> None:
    running, asked, waiting = (queue.submit(order(), "ann") for _ in range(3))
    for job in (running, asked):
        journal.claim(queue, job.job_id)
    # A number that is taken, but by a process that began at another time.
    journal.keep_process(queue, running.job_id, os.getpid(), 1.0)
    queue.cancel(asked.job_id)
    assert {job.job_id for job in recovery.recover(queue)} == {running.job_id, asked.job_id}
    states = [queue.get(job.job_id).state for job in (running, asked, waiting)]
    assert states == [State.INTERRUPTED, State.CANCELLED, State.QUEUED]
    assert recovery.recover(queue) == []


def test_nothing_begins_before_what_was_left_running_is_gone(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recovery, "PATIENCE_S", 0.5)
    job = queue.submit(order(), "ann")
    journal.claim(queue, job.job_id)
    stubborn = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"], start_new_session=True)
    known = psutil.Process(stubborn.pid)
    journal.keep_process(queue, job.job_id, known.pid, known.create_time())
    try:
        recovery.recover(queue)
        assert not known.is_running()
    finally:
        stubborn.kill()
        stubborn.wait()


SUBMITTER = """
import sys, threading
from pathlib import Path
from modeldyno.web.jobs.order import read_order
from modeldyno.web.jobs.queue import Queue

queue = Queue(Path(sys.argv[1]))
order = read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]})

def submit():
    while True:
        sys.stdout.write(queue.submit(order, "ann").job_id + "\\n")
        sys.stdout.flush()

for _ in range(3):
    threading.Thread(target=submit).start()
submit()
"""


def test_what_was_accepted_is_there_after_a_kill_under_load(queue: Queue) -> None:
    command = [sys.executable, "-c", SUBMITTER, str(queue.store_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as submitter:
        assert submitter.stdout
        accepted = [submitter.stdout.readline().strip() for _ in range(40)]
        submitter.kill()
        accepted += submitter.stdout.read().split("\n")[:-1]
    kept = {job.job_id for job in queue.jobs(limit=1000)}
    assert set(accepted) <= kept
    assert all(queue.events(job_id) for job_id in kept), "a job and its first event are one"
    with queue.database.reading() as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


def test_many_threads_write_at_once(queue: Queue) -> None:
    job = queue.submit(order(), "ann")
    journal.claim(queue, job.job_id)

    def write(number: int) -> None:
        for step in range(10):
            journal.absorb(Queue(queue.store_path), job.job_id, [result(number * 10 + step)])

    threads = [threading.Thread(target=write, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queue.get(job.job_id).cases_done == 60
    assert [event.number for event in queue.events(job.job_id)] == list(range(1, 63))


def test_a_log_has_an_end_and_no_control_characters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "LARGEST", 60)
    kept = JobLog(tmp_path / "jobs" / "a.log")
    assert kept.read() == ""
    kept.append("\x1b[31mred\x1b[0m\x00 \x9b2J\ttab\r\nüber\n".encode() + b"\xff\n")
    assert kept.read() == "red 2J\ttab\nüber\n\ufffd\n"
    for _ in range(3):
        kept.append(b"x" * 50)
    text = kept.read()
    assert text.count("the log is full") == 1
    assert text.count("x") < 60
