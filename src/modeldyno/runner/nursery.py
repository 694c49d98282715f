"""A process that has imported the heavy packages and forks a worker for each job it is handed.

Run as `python -m modeldyno.runner.nursery FD MODULE...`. Forked workers share the memory layout, so repeated processes
of one case must not come from here; benchmarks/preload.py holds single ones against fresh processes.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import socket
import sys
import traceback
from typing import NoReturn

from modeldyno.runner import worker


def serve(control: socket.socket) -> None:
    """One job at a time: file descriptors in, the worker's pid and later its exit code out."""
    while True:
        _, descriptors, _, _ = socket.recv_fds(control, 16, 3)
        if not descriptors:
            return
        pid = os.fork()
        if pid == 0:
            _become_worker(control, *descriptors)
        for descriptor in descriptors:
            os.close(descriptor)
        control.sendall(b"%d\n" % pid)
        _, status = os.waitpid(pid, 0)
        control.sendall(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become_worker(control: socket.socket, job: int, events: int, log: int) -> NoReturn:
    os.setsid()
    control.close()
    os.dup2(job, 0)
    os.dup2(log, 1)
    os.dup2(log, 2)
    code = 1
    try:
        worker.main(events)
        code = 0
    except BaseException:  # noqa: BLE001 - the last words of this process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main(descriptor: int, modules: list[str]) -> None:
    worker.die_with_parent()
    for module in modules:
        with contextlib.suppress(ImportError):  # the worker that needs it will say so
            importlib.import_module(module)
    with socket.socket(fileno=descriptor) as control, contextlib.suppress(BrokenPipeError):
        serve(control)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
