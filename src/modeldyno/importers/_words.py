"""What other tools call things, in our words. A function gives None for what it does not know."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

_PLATFORMS = {
    "cpu": "cpu",
    "cuda": "cuda",
    "gpu": "cuda",
    "nvidia": "cuda",
    "rocm": "rocm",
    "amd": "rocm",
    "hip": "rocm",
    "mps": "mps",
    "apple": "mps",
    "metal": "mps",
    "openvino": "openvino",
    "qnn": "qnn",
    "qualcomm": "qnn",
    "snapdragon": "qnn",
    "webnn": "webnn",
    "webgpu": "webgpu",
}
_PRECISIONS = {
    "float32": "fp32",
    "f32": "fp32",
    "single": "fp32",
    "float": "float",
    "float16": "fp16",
    "half": "fp16",
    "f16": "fp16",
    "bfloat16": "bf16",
    "float64": "fp64",
    "double": "fp64",
    "i8": "int8",
    "u8": "uint8",
}
_TRUE = {"true", "yes", "1", "on", "success", "passed", "pass", "ok", "completed"}
_FALSE = {"false", "no", "0", "off", "failed", "failure", "fail", "error"}
_COMPACT = re.compile(r"^(\d{4})(\d\d)(\d\d)[_-]?(\d\d)(\d\d)(\d\d)$")


@lru_cache(maxsize=4096)
def platform_of(name: str) -> str | None:
    """`CUDA`, `cuda:0`, `gpu`, `qualcomm` -> the platform of that name."""
    return _PLATFORMS.get(name.strip().lower().split(":")[0])


@lru_cache(maxsize=4096)
def precision_of(name: str) -> str:
    """`torch.float16`, `FP16`, `w8a16` -> the name of the number format here; one of a vendor's own stays as it is."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.strip().lower().removeprefix("torch.")).strip("_")
    return _PRECISIONS.get(plain, plain)


def number_of(value: Any) -> float | None:
    """A finite number, also as text; a truth value is none."""
    if isinstance(value, bool) or value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def truth_of(value: Any) -> bool | None:
    """A truth value, also as text: `"true"`, `"Success (REAL)"`."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str | int):
        return None
    words = str(value).strip().lower().split()
    word = words[0].rstrip(":,.") if words else ""
    return True if word in _TRUE else False if word in _FALSE else None


def moment_of(value: Any) -> datetime | None:
    """ISO 8601, `2025-02-28 20:25:42`, `20250302_201142`, or (milli)seconds since 1970. Without a zone: UTC."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _since_epoch(number_of(value))
    if not isinstance(value, str):
        return None
    text = value.strip()
    if match := _COMPACT.match(text):
        text = "{}-{}-{}T{}:{}:{}".format(*match.groups())
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return _since_epoch(number_of(text))
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _since_epoch(number: float | None) -> datetime | None:
    if number is None:
        return None
    seconds = number / 1000 if number > 1e11 else number
    try:
        return datetime.fromtimestamp(seconds, UTC) if 1e8 < seconds < 1e10 else None
    except (OverflowError, ValueError, OSError):
        return None
