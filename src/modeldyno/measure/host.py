"""What the host did meanwhile: run-queue wait, steal, pressure, foreign load, throttling, swapping (Linux)."""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import socket
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

import psutil

from modeldyno.core.cores import available_cores
from modeldyno.core.identity import digest
from modeldyno.core.types import Host

PROC = Path("/proc")


def thread_wait_ns() -> int | None:
    """Nanoseconds this thread was runnable but had no core so far; None where the kernel does not tell."""
    descriptor = _schedstat()
    if descriptor is None:
        return None
    return int(os.pread(descriptor, 128, 0).split()[1])


@functools.cache
def _schedstat() -> int | None:
    """Kept open: reading it happens beside every sample."""
    try:
        return os.open(PROC / "self" / "schedstat", os.O_RDONLY)
    except OSError:
        return None


@dataclass(frozen=True)
class Snapshot:
    """Counters at one moment, all cumulative; None where this host has no such counter."""

    at_s: float
    own_cpu_s: float
    busy_cpu_s: float
    steal_s: float | None
    pressure_us: int | None
    involuntary_switches: int
    """Of all threads of this process."""
    swapped_bytes: int
    throttled_periods: int | None
    threads: int
    cores: int
    """Of the whole machine, as the CPU times are."""


def snapshot() -> Snapshot:
    process = psutil.Process()
    times = psutil.cpu_times()
    idle = times.idle + getattr(times, "iowait", 0.0)
    steal = getattr(times, "steal", None)
    # Guest time is counted inside user time already.
    total = sum(getattr(times, name) for name in times._fields if not name.startswith("guest"))
    own = process.cpu_times()
    swap = psutil.swap_memory()
    return Snapshot(
        at_s=time.monotonic(),
        own_cpu_s=own.user + own.system,
        busy_cpu_s=total - idle - (steal or 0.0),
        steal_s=steal,
        pressure_us=_cpu_pressure_us(),
        involuntary_switches=_involuntary_switches(process),
        swapped_bytes=swap.sin + swap.sout,
        throttled_periods=_throttled_periods(),
        threads=process.num_threads(),
        cores=psutil.cpu_count() or 1,
    )


def _involuntary_switches(process: psutil.Process) -> int:
    """The kernel counts per thread; where it lists none, the process's own figure stands."""
    total, found = 0, False
    for status in (PROC / "self" / "task").glob("*/status"):
        with contextlib.suppress(OSError):  # the thread has ended meanwhile
            for line in status.read_text().splitlines():
                if line.startswith("nonvoluntary_ctxt_switches"):
                    total, found = total + int(line.split()[1]), True
    return total if found else process.num_ctx_switches().involuntary


def _cpu_pressure_us() -> int | None:
    try:
        line = (PROC / "pressure" / "cpu").read_text().splitlines()[0]
    except (OSError, IndexError):
        return None
    return int(line.rpartition("total=")[2])


def _throttled_periods() -> int | None:
    for path in ("/sys/fs/cgroup/cpu.stat", "/sys/fs/cgroup/cpu/cpu.stat"):
        try:
            lines = Path(path).read_text().splitlines()
        except OSError:
            continue
        for line in lines:
            name, _, value = line.partition(" ")
            if name == "nr_throttled":
                return int(value)
    return None


def describe_host() -> Host:
    """The machine, with an id that stays the same over reboots and tells no serial number."""
    return Host(
        host_id=digest([_machine_id(), socket.gethostname()], 12),
        hostname=socket.gethostname(),
        system=f"{platform.system()} {platform.release()}",
        cpu=_cpu_name(),
        logical_cores=available_cores(),
        memory_mb=round(psutil.virtual_memory().total / 2**20, 1),
        python=platform.python_version(),
    )


def _machine_id() -> str:
    for path in ("/etc/machine-id", "/var/lib/dbus/machine-id"):
        try:
            return Path(path).read_text().strip()
        except OSError:
            continue
    return f"{uuid.getnode():x}"


def _cpu_name() -> str:
    try:
        for line in (PROC / "cpuinfo").read_text().splitlines():
            if line.startswith(("model name", "Model")):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
