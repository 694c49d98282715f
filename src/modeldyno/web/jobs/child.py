"""The process of a job: carries out the run that was ordered, as `dyno run` would, and tells how it goes.

Run as `python -m modeldyno.web.jobs.child FD`: the task is the first line of stdin, messages go to the pipe, words
for the log to stderr. The end of stdin means that the server is gone; then it ends as on Ctrl-C.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import traceback
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime

from modeldyno.core.errors import DynoError
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Case, Record, Run, Status
from modeldyno.runner.attempt import Attempt, new_run
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.jobs.messages import LATENCY, Ended, Message, Noted, Planned, Recorded, Task, Warned
from modeldyno.web.jobs.order import cases_of
from modeldyno.web.jobs.types import State

GRACE_S = 10.0
"""To put away what was measured once the server is gone."""
_ENDS = (signal.SIGINT, signal.SIGTERM)
Send = Callable[[Message], None]


def main(descriptor: int) -> None:
    os.set_inheritable(descriptor, False)  # a child that outlives us must not keep the pipe open
    for number in _ENDS:  # also where the server was started with them ignored
        signal.signal(number, signal.default_int_handler)
    try:
        task = Task.model_validate_json(sys.stdin.buffer.readline())
        threading.Thread(target=_end_with_server, daemon=True).start()
        ended = _carried_out(task, lambda message: _send(descriptor, message))
    except KeyboardInterrupt:
        ended = Ended(state=State.INTERRUPTED, reason="it was told to end")
    except DynoError as error:
        ended = Ended(state=State.FAILED, reason=str(error))
    except Exception as error:  # noqa: BLE001 - the server must hear of it in words
        _say(traceback.format_exc())
        ended = Ended(state=State.FAILED, reason=f"Unexpected {type(error).__name__}: {error}; see the job's log.")
    _say(f"{ended.state}: {ended.reason}" if ended.reason else ended.state)
    _send(descriptor, ended)


def _end_with_server() -> None:
    """Signals are for the main thread: there a write to the spool can make them wait."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    while os.read(sys.stdin.fileno(), 4096):  # not through the buffer, whose lock would be held at exit
        pass
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    threading.Event().wait(GRACE_S)
    os._exit(1)


def _carried_out(task: Task, send: Send) -> Ended:
    store = Store(task.store)
    teller = _Teller(send)
    for sentence in store.fold().torn:
        teller.warn(sentence)
    run, kept = _known(store, task) or (_new(task), [])
    attempt = Attempt(store, run, task.order.timeout_s, kept)
    statuses = Counter(record.status for record in kept)
    runnable = attempt.plan.runnable
    send(Planned(total=len(run.plan), left=attempt.left, runnable=runnable, kept=dict(statuses)))
    _say(f"run {run.run_id}: {attempt.left} of {len(run.plan)} cases to do, {runnable} can run here")
    attempt.measure(teller, teller.warn)
    _tell_alarms(store, run, send)
    return _ended(attempt.records)


def _known(store: Store, task: Task) -> tuple[Run, list[Record]] | None:
    """The run of an earlier attempt, if that came far enough to begin one."""
    if task.attempt == 1 or not store.path.exists():
        return None
    run = next((run for run in store.runs() if run.run_id == task.run_id), None)
    return (run, store.records(Filter(run_id=(run.run_id,)))) if run else None


def _new(task: Task) -> Run:
    order = task.order
    run = new_run(cases_of(order), order.effort, order.settings, f"dyno serve (job {task.job_id})", order.title or None)
    return run.model_copy(update={"run_id": task.run_id})


def _tell_alarms(store: Store, run: Run, send: Send) -> None:
    from modeldyno.web.jobs.alarms import alarms_of

    for alarm in alarms_of(store, run):
        send(alarm)


def _ended(records: list[Record]) -> Ended:
    """As for a command: a run in which nothing succeeded did not."""
    if any(record.status is Status.OK for record in records):
        return Ended(state=State.DONE)
    reason = next((record.reason for record in records if record.reason), "there was nothing to do")
    return Ended(state=State.FAILED, reason=f"no case is ok: {reason}")


class _Teller:
    """Watches the run for the server and for the log."""

    def __init__(self, send: Send) -> None:
        self._send = send

    def note(self, process: int, case: Case, text: str) -> None:
        self._send(Noted(case=case.label, process=process, text=text[:500]))

    def record(self, record: Record) -> None:
        self._send(Recorded.of(record))
        latency = record.metrics.get(LATENCY)
        value = format_value(LATENCY, latency.value, latency.low, latency.high) if latency and latency.value else ""
        _say(f"{record.case.label}: {record.status} {record.reason or value}")
        if record.log:
            _say(record.log)

    def warn(self, text: str) -> None:
        self._send(Warned(text=text))
        _say(f"Warning: {text}")


def _send(descriptor: int, message: Message) -> None:
    """Whole lines only: a signal waits. A server that is gone hears nothing, and its end is told elsewhere."""
    data = message.model_dump_json().encode() + b"\n"
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDS)
    try:
        with contextlib.suppress(BrokenPipeError):
            while data:
                data = data[os.write(descriptor, data) :]
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _say(text: str) -> None:
    with contextlib.suppress(OSError):
        sys.stderr.write(f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} {text}\n")
        sys.stderr.flush()


if __name__ == "__main__":
    main(int(sys.argv[1]))
