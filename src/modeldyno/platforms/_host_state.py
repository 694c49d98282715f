"""Clocks, throttling and power supply of the host's processor, and what they say about a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil

from modeldyno.core.types import Check, Verdict
from modeldyno.platforms._host_cpu import read_text, usable_cores

_CPUS = Path("sys/devices/system/cpu")
CLOCK_VARIATION_LIMIT = 0.02


def read_state(root: Path = Path("/")) -> dict[str, float | str | bool]:
    """Only what this host really tells; a virtual machine tells little."""
    cpus = root / _CPUS
    found: dict[str, float | str | bool | None] = {
        "clock_mhz": _clock_mhz(cpus),
        "governor": _governor(cpus),
        "turbo": _turbo(cpus),
        "thermal_throttles": _thermal_throttles(cpus),
        "on_battery": _on_battery(),
    }
    return {key: value for key, value in found.items() if value is not None}


def judge(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Check, ...]:
    judges = (_judge_governor, _judge_clock, _judge_turbo, _judge_throttling, _judge_battery)
    return tuple(check for judge_one in judges if (check := judge_one(before, after)))


def _judge_governor(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    governor = after.get("governor", before.get("governor"))
    if governor is None:
        return None
    return _check(
        "governor", governor, "performance", governor != "performance",
        "set it with `cpupower frequency-set -g performance`",
    )  # fmt: skip


def _judge_clock(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    first, last = before.get("clock_mhz"), after.get("clock_mhz")
    if not first or not last:
        return None
    variation = round(abs(last - first) / max(first, last), 4)
    return _check(
        "clock_variation", variation, CLOCK_VARIATION_LIMIT, variation > CLOCK_VARIATION_LIMIT,
        "fix the clock: governor performance, turbo off, and let the host cool down",
    )  # fmt: skip


def _judge_turbo(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    """A mark, not a doubt: nearly every host has turbo on, and a clock that moved is judged by itself."""
    turbo = after.get("turbo", before.get("turbo"))
    if turbo is None:
        return None
    advice = "turn turbo off for figures that others should reproduce" if turbo else None
    return Check(name="turbo", value=turbo, limit=False, advice=advice)


def _judge_throttling(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    first, last = before.get("thermal_throttles"), after.get("thermal_throttles")
    if first is None or last is None:
        return None
    advice = "the processor got too hot and slowed down: cool it and measure again"
    return _check("thermal_throttles", last - first, 0, last > first, advice)


def _judge_battery(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    if "on_battery" not in before and "on_battery" not in after:
        return None
    on_battery = bool(before.get("on_battery") or after.get("on_battery"))
    return _check("on_battery", on_battery, False, on_battery, "plug the host in and measure again")


_Value = float | str | bool


def _check(name: str, value: _Value, limit: _Value, doubt: bool, advice: str) -> Check:
    verdict = Verdict.AMBIGUOUS if doubt else Verdict.VALID
    return Check(name=name, value=value, limit=limit, verdict=verdict, advice=advice if doubt else None)


def _clock_mhz(cpus: Path) -> float | None:
    """The fastest of the cores we may use: idle ones clock down without meaning anything."""
    paths = (cpus / f"cpu{core}/cpufreq/scaling_cur_freq" for core in usable_cores())
    khz = [int(text) for path in paths if (text := read_text(path)) and text.isdigit()]
    return max(khz) / 1000 if khz else None


def _governor(cpus: Path) -> str | None:
    paths = (cpus / f"cpu{core}/cpufreq/scaling_governor" for core in usable_cores())
    governors = sorted({text for path in paths if (text := read_text(path))})
    return "+".join(governors) or None


def _turbo(cpus: Path) -> bool | None:
    if (no_turbo := read_text(cpus / "intel_pstate/no_turbo")) in {"0", "1"}:
        return no_turbo == "0"
    if (boost := read_text(cpus / "cpufreq/boost")) in {"0", "1"}:
        return boost == "1"
    return None


def _thermal_throttles(cpus: Path) -> int | None:
    texts = [
        text
        for core in usable_cores()
        for kind in ("core", "package")
        if (text := read_text(cpus / f"cpu{core}/thermal_throttle/{kind}_throttle_count"))
    ]
    return sum(int(text) for text in texts if text.isdigit()) if texts else None


def _on_battery() -> bool | None:
    try:
        battery = psutil.sensors_battery()
    except (AttributeError, OSError, ValueError):
        return None
    if battery is None or battery.power_plugged is None:
        return None
    return not battery.power_plugged
