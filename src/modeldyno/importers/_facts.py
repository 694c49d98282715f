"""Reading files of any quality: values of the kind that is wanted, what the user says, the machine a file tells of."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from modeldyno.importers._document import Row
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of

MS_PER_S = 1e3
MB = 2**20
FUNCTION = "function"
"""Workload of tools that time any function."""
_YEARS = range(1990, 2100)
_IS_THE_HOST = ("cpu",)
"""Platforms whose device is the host's own processor."""


def as_dict(value: Any) -> Row:
    """A JSON object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    """A word or a number as text that can be stored; None for anything else and for nothing."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    try:
        clean = str(value).replace("\0", "").strip()
    except ValueError:  # a number of thousands of digits
        return None
    return clean or None


def scaled(value: Any, factor: float) -> Any:
    """A number in another unit; what is no number stays as it is, so that the sheet rejects it."""
    number = number_of(value)
    return value if number is None else number * factor


def moment(value: Any) -> datetime | None:
    """A time of our days."""
    found = moment_of(value)
    return found if found and found.year in _YEARS else None


def said(sheet: Sheet, key: str, *places: Any) -> str | None:
    """What the first of these places of the file says, else what the user says."""
    found = (as_text(as_dict(place).get(key)) for place in places)
    return next((value for value in found if value), None) or as_text(sheet.given.get(key))


def host(
    hostname: Any = None,
    system: Any = None,
    cpu: Any = None,
    cores: Any = None,
    memory_mb: Any = None,
    python: Any = None,
) -> dict[str, Any]:
    """Facts about the host, without those that make no sense."""
    count = number_of(cores)
    return {
        "hostname": as_text(hostname),
        "system": as_text(system),
        "cpu": as_text(cpu),
        "logical_cores": int(count) if count and 1 <= count < 1e6 else None,
        "memory_mb": number_of(memory_mb),
        "python": as_text(python),
    }


def host_of(system: Any) -> dict[str, Any]:
    """`system_info` of the archived files as the facts of a host."""
    facts = as_dict(system)
    return host(
        hostname=facts.get("hostname") or facts.get("node"),
        system=facts.get("platform") or facts.get("os"),
        cpu=facts.get("processor") or facts.get("cpu"),
        cores=facts.get("cpu_count_logical") or facts.get("cpu_count"),
        memory_mb=scaled(facts.get("total_memory_gb") or facts.get("memory_total_gb"), 1024),
        python=facts.get("python_version"),
    )


def device_of(system: Any, platform: str) -> tuple[str | None, float | None]:
    """Name and memory of the device that `system_info` gives for a platform."""
    facts = as_dict(system)
    listed = as_dict(next(iter(as_list(facts.get(f"{platform}_devices"))), None))
    if listed or platform not in _IS_THE_HOST:
        return as_text(listed.get("name")), number_of(scaled(listed.get("total_memory_gb"), 1024))
    name, processor = as_text(facts.get("hostname")), as_text(facts.get("processor"))
    return (f"{processor} of {name}" if processor and name else processor), None


def record_function(
    sheet: Sheet,
    place: str,
    *,
    name: str,
    places: Sequence[Any] = (),
    cpu: str | None = None,
    options: dict[str, str] | None = None,
    **fields: Any,
) -> None:
    """A timed function: it stands for the model unless one is named, and the host ran it unless the file says else."""
    model = said(sheet, "model", *places)
    platform = said(sheet, "platform", *places) or "cpu"
    sheet.record(
        place,
        in_flight=None,
        workload=FUNCTION,
        model=model or name,
        platform=platform,
        runtime=said(sheet, "runtime", *places),
        precision=said(sheet, "precision", *places),
        batch=said(sheet, "batch", *places) or 1,
        device=said(sheet, "device", *places) or (cpu if platform == "cpu" else None),
        options={**(options or {}), **({FUNCTION: name} if model else {})},
        **fields,
    )
