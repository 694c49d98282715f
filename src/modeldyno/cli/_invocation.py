"""How this program was called, for the record."""

from __future__ import annotations

import shlex
import sys


def command_line() -> str:
    return shlex.join(["dyno", *sys.argv[1:]])
