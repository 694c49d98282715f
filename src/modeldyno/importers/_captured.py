"""Tests that ran as a program: return code, captured output, and what the output gives away."""

from __future__ import annotations

from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._evidence import mocked_output
from modeldyno.importers._facts import as_text
from modeldyno.importers._words import truth_of

LOG_LIMIT = 20_000


def status_of(entry: dict[str, Any]) -> Status:
    """What the return code and the flags of the wrapper say together: one failure is enough."""
    claims = [truth_of(entry[key]) for key in ("success", "status") if key in entry]
    code = entry.get("return_code")
    if code is not None:
        claims.append(code == 0)
    return Status.OK if claims and all(claims) else Status.FAILED


def reason_of(entry: dict[str, Any]) -> str | None:
    """The last line of the error, which in a traceback says what it was."""
    text = as_text(entry.get("error")) or as_text(entry.get("stderr")) or ""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if lines:
        return lines[-1][:300]
    code = entry.get("return_code")
    return f"return code {code}" if code not in (None, 0) else None


def log_of(entry: dict[str, Any]) -> str | None:
    parts = [text for key in ("stdout", "stderr") if (text := as_text(entry.get(key)))]
    return "\n".join(parts)[-LOG_LIMIT:] or None


def evidence_of(entry: dict[str, Any]) -> tuple[str, ...]:
    return mocked_output(as_text(entry.get("stdout"))) or mocked_output(as_text(entry.get("stderr")))


def skill_name(test_file: str) -> str:
    """`skills/test_hf_bert.py` tests the model class `bert`."""
    stem = test_file.replace("\\", "/").rsplit("/", 1)[-1].removesuffix(".py").removesuffix("()")
    for prefix in ("test_", "hf_", "default_"):
        stem = stem.removeprefix(prefix)
    return stem
