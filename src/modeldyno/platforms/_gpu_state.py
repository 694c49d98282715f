"""Judges a GPU's clocks, throttling and foreign load by the keys that vendors' sessions put in their state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from statistics import median
from typing import Any

from modeldyno.core.types import Check, Verdict

THROTTLED_BELOW = 0.75
"""Of the default clock; below it a sample is not the device's speed (nvbench)."""

State = dict[str, float | str | bool]
_CLOCK, _MEDIAN, _LOWEST = "clock_mhz", "busy_clock_median_mhz", "busy_clock_lowest_mhz"
_IDLE = "gpu_idle"
NO_REASON = "none"


class BusyReadings:
    """Clock readings and throttle reasons seen while the device was busy, gathered between two states."""

    def __init__(self) -> None:
        self._clocks: list[float] = []
        self._reasons: set[str] = set()

    def add(self, clock_mhz: float | None, reasons: Iterable[str]) -> None:
        if clock_mhz:
            self._clocks.append(clock_mhz)
        self._reasons.update(reasons)

    def take(self) -> tuple[State, set[str]]:
        """What was seen since the last time."""
        clocks, reasons = self._clocks, self._reasons
        self._clocks, self._reasons = [], set()
        if not clocks:
            return {}, reasons
        return {_MEDIAN: median(clocks), _LOWEST: min(clocks)}, reasons


def known(found: Mapping[str, float | str | bool | None]) -> State:
    return {key: value for key, value in found.items() if value is not None}


def reasons_text(reasons: Iterable[str]) -> str:
    return "+".join(sorted(reasons)) or NO_REASON


def judge(before: Mapping[str, Any], after: Mapping[str, Any], harmless: frozenset[str]) -> tuple[Check, ...]:
    """`harmless`: throttle reasons that say nothing against the measurement."""
    found = (
        _judge_clock(after),
        _judge_reasons(before, after, harmless),
        _judge_foreign(before, after),
        _judge_guard(before, after),
        _tell_temperature(after),
    )
    return tuple(check for check in found if check is not None)


def _judge_clock(after: Mapping[str, Any]) -> Check | None:
    """By readings under load where there are any; an idle device clocks down without being throttled."""
    default = after.get("default_clock_mhz")
    idle = _IDLE in _reasons(after)
    clock = after.get(_MEDIAN, None if idle else after.get(_CLOCK))
    if not default or not clock:
        return None
    limit = THROTTLED_BELOW * default
    if clock < limit:
        verdict, advice = Verdict.INVALID, "throttled: cool the device or raise its power limit"
    elif after.get(_LOWEST, clock) < limit:
        verdict, advice = Verdict.AMBIGUOUS, "throttled part of the time: cool the device"
    else:
        verdict, advice = Verdict.VALID, None
    return Check(name="device_clock_mhz", value=clock, limit=limit, verdict=verdict, advice=advice)


def _judge_reasons(before: Mapping[str, Any], after: Mapping[str, Any], harmless: frozenset[str]) -> Check | None:
    if "throttle_reasons" not in after:
        return None
    seen = (_reasons(before) | _reasons(after)) - harmless
    doubt = bool(seen)
    return Check(
        name="device_throttle_reasons",
        value=reasons_text(seen),
        limit=NO_REASON,
        verdict=Verdict.AMBIGUOUS if doubt else Verdict.VALID,
        advice="the device held itself back: check cooling, power limit and power supply" if doubt else None,
    )


def _judge_foreign(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    counts = [state["foreign_processes"] for state in (before, after) if "foreign_processes" in state]
    if not counts:
        return None
    count = max(counts)
    return Check(
        name="device_foreign_processes",
        value=count,
        limit=0,
        verdict=Verdict.AMBIGUOUS if count else Verdict.VALID,
        advice="stop the other processes on the device and measure again" if count else None,
    )


def _judge_guard(before: Mapping[str, Any], after: Mapping[str, Any]) -> Check | None:
    """Laps without a device time: a gap in the record, no doubt about what is in it."""
    missed = after.get("unguarded_laps", 0) - before.get("unguarded_laps", 0)
    if missed <= 0:
        return None
    advice = "no device time for these laps: the step waits for the device itself, or launches too much to queue"
    return Check(name="device_unguarded_laps", value=missed, advice=advice)


def _tell_temperature(after: Mapping[str, Any]) -> Check | None:
    if "temperature_c" not in after:
        return None
    return Check(name="device_temperature_c", value=after["temperature_c"])


def _reasons(state: Mapping[str, Any]) -> set[str]:
    return set(str(state.get("throttle_reasons", NO_REASON)).split("+")) - {NO_REASON}
