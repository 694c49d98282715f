"""Reads the memory that models stay in: the device's own where it counts one, else that of the process."""

from __future__ import annotations

import contextlib
import ctypes

import psutil

from modeldyno.core.protocols import CountsMemory, Session

MB = 2**20
HOST = "host"


def account_of(session: Session) -> str:
    """Whose memory a session's models take; sessions without memory of their own share the host's."""
    return session.device.address if isinstance(session, CountsMemory) else HOST


def memory_mb(session: Session) -> float:
    """Memory in use now. What the allocator of the process keeps for later goes back first: it would hide a model
    that takes the place of another."""
    if isinstance(session, CountsMemory):
        return session.memory_meter().sample()
    with contextlib.suppress(OSError, AttributeError):  # only glibc has the call, and the habit
        ctypes.CDLL(None).malloc_trim(0)
    return float(psutil.Process().memory_info().rss / MB)
