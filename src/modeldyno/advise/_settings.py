"""The settings of a way that was chosen, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modeldyno.advise._known import Work
from modeldyno.advise.candidates import Candidate
from modeldyno.analysis.scaling import KNEE_GAIN
from modeldyno.core.metrics import format_value, significant
from modeldyno.core.options import HOW
from modeldyno.core.types import Record
from modeldyno.workloads._pool.cast import USERS, USUAL_USERS

GAIN = 1.05
"""Concurrency that adds less than this is not worth its memory."""


@dataclass(frozen=True)
class Setting:
    """One thing to set."""

    name: str
    value: str | int | float | bool | None
    """None where it is left to the runtime, or not known."""
    evidence: str


def settings_of(
    chosen: Candidate, tried: Sequence[Candidate], pools: Sequence[Record], work: Work
) -> tuple[Setting, ...]:
    assert chosen.record is not None
    return (
        _choice("runtime", chosen, tried),
        _choice("precision", chosen, tried),
        _batch(chosen, tried),
        _threads(chosen.record),
        _requests(chosen.record, pools),
        *_options(chosen.record),
        _memory(chosen, work),
    )


def _rate(one: Candidate) -> str:
    return f"{significant(one.figure.value or 0.0, 4)} items/s"


def _choice(name: str, chosen: Candidate, tried: Sequence[Candidate]) -> Setting:
    """Against the best of the others that keep the limits."""
    value: str = getattr(chosen.way, name)
    others = [one for one in tried if getattr(one.way, name) != value and one.holds and one.is_known]
    text = f"{_rate(chosen)} at batch {chosen.way.batch} (record {chosen.record.record_id if chosen.record else '-'})"
    if not others:
        return Setting(name, value, f"{text}; no other was measured")
    best = max(others, key=lambda one: one.figure.value or 0.0)
    return Setting(name, value, f"{text}; {getattr(best.way, name)} {_rate(best)} at batch {best.way.batch}")


def _batch(chosen: Candidate, tried: Sequence[Candidate]) -> Setting:
    way = chosen.way
    same = [one for one in tried if (one.way.runtime, one.way.precision, one.way.settings) == _rest(chosen)]
    larger = sorted((one for one in same if one.way.batch > way.batch), key=lambda one: one.way.batch)
    kept = ", ".join(_kept(chosen))
    if not larger:
        return Setting("batch", way.batch, f"{kept or _rate(chosen)}; the largest that was measured")
    following = larger[0]
    if not following.holds:
        missed = "; ".join(_kept(following)) or "not known"
        return Setting("batch", way.batch, f"{kept}; batch {following.way.batch}: {missed}")
    gain = f"batch {following.way.batch} does {_rate(following)}, doubling must add {KNEE_GAIN:.0%}"
    return Setting("batch", way.batch, f"{_rate(chosen)}; {gain}")


def _rest(one: Candidate) -> tuple[str, str, str]:
    return one.way.runtime, one.way.precision, one.way.settings


def _kept(one: Candidate) -> Iterator[str]:
    for held in one.held:
        if held.value is None:
            yield f"{held.limit.name} not known ({held.note})"
        else:
            word = "keeps" if held.holds else "misses"
            yield f"{word} {held.limit.name} with {held.text}"


def _threads(record: Record) -> Setting:
    asked = record.case.options.get("threads")
    if asked is not None:
        return Setting("threads", asked, f"as in record {record.record_id}")
    used = record.placement.threads if record.placement else None
    if used is None:
        return Setting("threads", None, "left to the runtime, as in the record; it does not tell how many it used")
    return Setting("threads", used, "what the runtime chose by itself in the record; try others: --option threads=1,2")


def _work_of(record: Record) -> tuple[object, ...]:
    case = record.case
    how = {name: value for name, value in case.options.items() if name in HOW}
    return case.runtime, case.precision, case.batch, dict(case.shape), how


def _requests(record: Record, pools: Sequence[Record]) -> Setting:
    """How many steps at once: as the workload pool found it worth, for the same work done in the same way."""
    case = record.case
    same = [one for one in pools if _work_of(one) == _work_of(record)]
    found = [(gain, one) for one in same if (gain := one.value("concurrency_gain"))]
    if not found:
        tell = f"dyno run {case.model} --workload pool --on {case.target} --runtime {case.runtime}"
        return Setting("requests", 1, f"more at once was not measured; {tell}")
    gain, best = max(found, key=lambda pair: pair[0])
    told = f"{format_value('concurrency_gain', gain)} times the rate of one by one (record {best.record_id})"
    users = int(best.case.options.get(USERS, USUAL_USERS))
    return Setting("requests", users if gain > GAIN else 1, f"{users} at once do {told}")


def _options(record: Record) -> Iterator[Setting]:
    for name, value in sorted(record.case.options.items()):
        if name in HOW and name != "threads":
            yield Setting(name, value, f"as in record {record.record_id}")


def _memory(chosen: Candidate, work: Work) -> Setting:
    assert chosen.record is not None
    peak = chosen.record.value("memory_peak_mb")
    sizes = " ".join(f"{axis} {size}" for axis, size in work.shape.items())
    if peak is None:
        return Setting("memory_mb", None, "peak memory was not measured")
    return Setting("memory_mb", round(peak, 1), f"peak of a step at batch {chosen.way.batch} {sizes}".rstrip())
