"""Status maps: `{"cpu_init": "Success (REAL)", "cuda_handler": "Success (MOCK)", "apple_tests": "not available"}`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from modeldyno.core.elsewhere import Assertion
from modeldyno.core.types import Status
from modeldyno.importers._evidence import flagged
from modeldyno.importers._facts import as_dict, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, platform_of

_GOOD = ("success", "valid", "real", "ready")
_BAD = ("failed", "failure", "error", "invalid", "mock error")
_TIMES = ("elapsed_time", "inference_time", "average_inference_time", "total_time", "generation_time")
NO_CALL_IS_SHORTER_MS = 0.02


@dataclass
class Findings:
    """What a map says about one platform."""

    assertions: list[Assertion] = field(default_factory=list)
    evidence: list[str] = field(default_factory=list)
    examples: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    absent: str | None = None
    device: str | None = None


def read_status_map(
    sheet: Sheet,
    place: str,
    statuses: dict[str, Any],
    *,
    run: str,
    test: str,
    model: str,
    examples: list[Any] | None = None,
    evidence: tuple[str, ...] = (),
    duration_s: Any = None,
    log: str | None = None,
) -> None:
    """A test for each platform in the map, and a record for each example that was timed."""
    by_platform = _sorted_by_platform(statuses, examples or [])
    for platform, found in by_platform.items():
        claims = (*evidence, *found.evidence, *_success_without_start(found.assertions))
        status, reason = _verdict(found)
        sheet.test(
            f"{place}/{platform}",
            run=run,
            name=test,
            model=model,
            platform=platform,
            status=status,
            reason=reason,
            evidence=tuple(dict.fromkeys(claims)),
            duration_s=duration_s,
            assertions=found.assertions,
            log=log,
        )
        for name, example in found.examples:
            _read_example(sheet, f"{place}/{name}", example, run, model, platform, claims, found.device)
    if not by_platform:
        sheet.reject(place, "names no platform")


def _sorted_by_platform(statuses: dict[str, Any], examples: list[Any]) -> dict[str, Findings]:
    found: dict[str, Findings] = {}
    for key, value in statuses.items():
        platform = platform_of(key.split("_")[0])
        if platform:
            _take(found.setdefault(platform, Findings()), key, value)
    for number, example in enumerate(examples):
        entry = as_dict(example)
        platform = platform_of(str(entry.get("platform", "")))
        if platform and not _is_copy(entry, found.get(platform)):
            found.setdefault(platform, Findings()).examples.append((f"examples/{number}", entry))
    return found


def _is_copy(example: dict[str, Any], found: Findings | None) -> bool:
    """Some files list an example again that a key of its own holds already."""
    bare = {key: value for key, value in example.items() if key != "platform"}
    return any(
        bare == {key: value for key, value in named.items() if key != "platform"}
        for _, named in (found.examples if found else ())
    )


def _take(found: Findings, key: str, value: Any) -> None:
    found.evidence += [f"{key}: {text[:120]}" for text in _texts(value) if _is_made_up(text)]
    if isinstance(value, dict):
        found.evidence += flagged(value)
        if _time_of(value) is not None:
            found.examples.append((key, value))
        found.device = found.device or as_text(value.get("device_name") or value.get("cuda_device"))
    elif isinstance(value, str):
        passed = _passed(value)
        if "not available" in value.lower():
            found.absent = value
        elif key.endswith("_device"):
            found.device = value
        elif passed is not None:
            found.assertions.append(Assertion(name=key, passed=passed, message=value[:300]))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _texts(inner)


def _is_made_up(text: str) -> bool:
    lowered = text.lower()
    return "(mock" in lowered or "mock)" in lowered or lowered == "mock" or "simulated" in lowered


def _passed(text: str) -> bool | None:
    lowered = text.strip().lower()
    return True if lowered.startswith(_GOOD) else False if lowered.startswith(_BAD) else None


def _success_without_start(assertions: list[Assertion]) -> tuple[str, ...]:
    """A handler cannot have worked where the initialisation failed."""
    failed = next((a for a in assertions if a.name.endswith("_init") and not a.passed), None)
    success = next((a for a in assertions if a.passed), None)
    if failed and success:
        return (f"{success.name} says '{success.message}' although {failed.name} says '{failed.message}'",)
    return ()


def _verdict(found: Findings) -> tuple[Status, str | None]:
    wrong = next((a for a in found.assertions if not a.passed), None)
    if wrong:
        return Status.FAILED, f"{wrong.name}: {wrong.message}"
    if found.absent and not found.assertions:
        return Status.SKIPPED, found.absent
    return (Status.OK, None) if found.assertions or found.examples else (Status.SKIPPED, "nothing was tried")


def _read_example(
    sheet: Sheet,
    place: str,
    example: dict[str, Any],
    run: str,
    model: str,
    platform: str,
    claims: tuple[str, ...],
    device: str | None,
) -> None:
    seconds = _time_of(example)
    if seconds is None:
        return
    own = [*flagged(example), *(text[:120] for text in _texts(example.get("output")) if _is_made_up(text))]
    if seconds * 1e3 < NO_CALL_IS_SHORTER_MS:
        own.append(f"{seconds * 1e6:.3g} us is shorter than a call of a transformers model takes")
    kind = as_text(example.get("test_type"))
    sheet.record(
        place,
        run=run,
        model=model,
        platform=platform,
        options={"example": kind or place.rsplit("/", 1)[-1]} if not place.split("/")[-1].isdigit() or kind else {},
        metrics={"latency_ms": seconds * 1e3, "tokens_per_s": number_of(example.get("tokens_per_second"))},
        evidence=tuple(dict.fromkeys([*claims, *own])),
        started_at=moment_of(example.get("timestamp")),
        device=device,
    )


def _time_of(example: dict[str, Any]) -> float | None:
    """The seconds that one call took, where the example says so."""
    for holder in (example, as_dict(example.get("performance")), as_dict(example.get("performance_metrics"))):
        for name in _TIMES:
            if (seconds := number_of(holder.get(name))) is not None and seconds > 0:
                return seconds
    return None
