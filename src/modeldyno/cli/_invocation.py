"""How this program was called, for the record."""

from __future__ import annotations

import shlex
import subprocess
import sys


def command_line() -> str:
    return shlex.join(["dyno", *sys.argv[1:]])


def current_commit() -> str | None:
    """The commit of the repository in the working directory, where there is one."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
