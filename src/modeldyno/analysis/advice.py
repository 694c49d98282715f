"""What does not work, why, and what to use instead, in words."""

from __future__ import annotations

from dataclasses import dataclass

from modeldyno.analysis.compatibility import Matrix, Way
from modeldyno.core.types import Status
from modeldyno.store.outcomes import Try

MOST_ADVICE = 3


@dataclass(frozen=True)
class Problem:
    """Ways of running a model on a platform that fail, or fail in part, for the same reason."""

    model: str
    platform: str
    ways: tuple[str, ...]
    """Workload, runtime, precision and sizes, as far as they are told."""
    status: str
    """`failed`; `partly failed` where other sizes work."""
    why: str
    """Reason and remedy, on one line."""
    instead: str

    @property
    def on(self) -> str:
        """Platform and ways in one line."""
        return _words(self.platform, ", ".join(self.ways))


def problems(made: Matrix) -> tuple[Problem, ...]:
    """What does not work or only partly; ways that fail for the same reason stand together."""
    found: dict[tuple[str, str, str, str, str], list[str]] = {}
    for cell in made.cells:
        for way in cell.ways:
            bad = way.partly[0] if way.partly else way.decisive
            if bad.status is not Status.OK:
                status = f"partly {bad.status.value}" if way.partly else bad.status.value
                key = (cell.model, cell.platform, status, _why(bad), _advice(way))
                found.setdefault(key, []).append(_words(_how(bad), _sizes(bad) if way.partly else ""))
    return tuple(
        Problem(model, platform, tuple(filter(None, ways)), status, why, advice)
        for (model, platform, status, why, advice), ways in found.items()
    )


def _why(one: Try) -> str:
    return "; ".join(" ".join(text.split()) for text in (one.reason, one.remedy) if text) or "no reason given"


def _advice(way: Way) -> str:
    if way.partly:
        worked, other = _sizes(way.decisive), "other options" if way.decisive.workload else "another test"
        return f"{worked if worked != _sizes(way.partly[0]) else other}, which worked"
    asked = _sizes(way.decisive)
    ways = [_words(one.platform, _how(one), _sizes(one) if _sizes(one) != asked else "") for one in way.instead]
    return ", ".join(ways[:MOST_ADVICE]) or "nothing that worked is known"


def _how(one: Try) -> str:
    return _words("" if one.workload == "inference" else one.workload, one.runtime, one.precision)


def _sizes(one: Try) -> str:
    return _words(f"batch {one.batch}" if one.batch else "", *(f"{axis} {size}" for axis, size in one.shape.items()))


def _words(*parts: str | None) -> str:
    return " ".join(filter(None, parts))
