"""The hardware selection map: for each family and size of the catalogue the platform that is best for most models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modeldyno import models
from modeldyno.advise.ask import REAL, knowledge_of_others, operations_of
from modeldyno.advise.prices import Prices
from modeldyno.advise.recommend import WORKLOADS, Knowledge, Question, advise
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.analysis.recommendation import Recommendation, Sureness
from modeldyno.analysis.recommendation import recommend as recommend_measured
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Record, Status
from modeldyno.models import SIZES, Entry
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

_Wins = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Square:
    """One family and size."""

    kind: str
    size: str
    models: int
    """Of the catalogue, without those that stand in for others in tests."""
    platform: str | None
    """None where two are best for equally many models, or nothing is known."""
    wins: _Wins
    """Platforms by the number of models for which they are best."""
    evidence: str
    """measured, predicted or unknown."""
    sureness: str | None = None


def selection_map(store: Store, wishes: Wishes, workload: str, predict: bool) -> list[Square]:
    """From what was measured; where nothing was, from predictions."""
    if workload not in WORKLOADS:
        raise UnknownName("workload", workload, WORKLOADS)
    if wishes.goal is Goal.COST or wishes.limits:
        raise InputError(
            "--map ranks platforms, which have neither a price nor limits; leave out cost, slo and limits."
        )
    entries = [entry for entry in models.catalogue() if not entry.tiny]
    held = Filter(workload=(workload,), status=(Status.OK,), provenance=REAL)
    records = store.newest_records(held) if store.path.exists() else []
    found = {(one.kind, one.size): one for one in recommend_measured(records, wishes.goal.metric, workload, "family")}
    missing = [entry for entry in entries if (entry.family, entry.size) not in found]
    guessed = _guesses(store, missing, wishes, workload) if predict else {}
    counts = Counter((entry.family, entry.size) for entry in entries)
    order = sorted({*counts, *found}, key=lambda key: (key[0], _rank(key[1])))
    return [_square(*key, counts[key], found.get(key), guessed.get(key, ())) for key in order]


def _rank(size: str) -> tuple[int, str]:
    """Small before large."""
    return (SIZES.index(size), "") if size in SIZES else (len(SIZES), size)


def _square(kind: str, size: str, count: int, found: Recommendation | None, guessed: _Wins) -> Square:
    if found:
        return Square(kind, size, count, found.platform, found.wins, "measured", found.sureness.value)
    if not guessed:
        return Square(kind, size, count, None, (), "unknown")
    even = len(guessed) > 1 and guessed[0][1] == guessed[1][1]
    sureness = Sureness.CONTESTED.value if len(guessed) > 1 else None
    return Square(kind, size, count, None if even else guessed[0][0], guessed, "predicted", sureness)


def _guesses(store: Store, entries: Iterable[Entry], wishes: Wishes, workload: str) -> Mapping[tuple[str, str], _Wins]:
    """The predicted best platform of each model that nobody measured, counted by family and size."""
    cells, predictors = knowledge_of_others(store, wishes)
    if not predictors:
        return {}
    wins: dict[tuple[str, str], Counter[str]] = {}
    nothing: list[Record] = []
    for entry in entries:
        spec = models.resolve(entry.name)
        known = Knowledge(
            nothing,
            (),
            Prices(prices=()),
            spec.axes,
            entry.parameters,
            cells,
            predictors,
            operations_of(spec, workload),
        )
        choice = advise(Question(entry.name, wishes, workload), known).choice
        if choice:
            wins.setdefault((entry.family, entry.size), Counter())[choice.way.platform] += 1
    return {key: tuple(sorted(count.items(), key=lambda item: (-item[1], item[0]))) for key, count in wins.items()}
