"""The machine a file was written on, as the archived files describe it."""

from __future__ import annotations

from typing import Any

from modeldyno.importers._words import number_of


def as_dict(value: Any) -> dict[str, Any]:
    """The value, if it is an object; else an empty one."""
    return value if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def as_text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def host_of(system: Any) -> dict[str, Any]:
    """`system_info` and the like as the facts of a host."""
    facts = as_dict(system)
    cores = number_of(facts.get("cpu_count_logical") or facts.get("cpu_count"))
    memory = number_of(facts.get("total_memory_gb") or facts.get("memory_total_gb"))
    return {
        "hostname": as_text(facts.get("hostname") or facts.get("node")),
        "system": as_text(facts.get("platform") or facts.get("os")),
        "cpu": as_text(facts.get("processor") or facts.get("cpu")),
        "logical_cores": None if cores is None else int(cores),
        "memory_mb": None if memory is None else memory * 1024,
        "python": as_text(facts.get("python_version")),
    }


def device_of(system: Any, platform: str) -> tuple[str | None, float | None]:
    """Name and memory of the device that `system_info` gives for a platform."""
    facts = as_dict(system)
    if platform == "cuda":
        card = as_dict(next(iter(as_list(facts.get("cuda_devices"))), None))
        memory = number_of(card.get("total_memory_gb"))
        return as_text(card.get("name")), None if memory is None else memory * 1024
    host = as_text(facts.get("hostname"))
    cpu = as_text(facts.get("processor"))
    return (f"{cpu} of {host}" if cpu and host else cpu), None
