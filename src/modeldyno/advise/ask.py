"""Gathers from store and machine what an answer needs."""

from __future__ import annotations

from collections.abc import Mapping

from modeldyno import models
from modeldyno.advise._questions import Operations
from modeldyno.advise.prices import Prices
from modeldyno.advise.recommend import TRAINING, WORKLOADS, Advice, Knowledge, Predicts, Question, advise
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Device, Provenance, Record
from modeldyno.models import ModelSpec
from modeldyno.platforms import PLATFORMS
from modeldyno.predict.cells import Cell
from modeldyno.predict.stored import LATENCY, Say, cells_of, predictor_of, quiet
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

REAL = tuple(provenance for provenance in Provenance if provenance.is_real)


def answer(
    store: Store,
    question: Question,
    prices: Prices,
    predict: bool = True,
    say: Say = quiet,
    here: tuple[Device, ...] | None = None,
) -> Advice:
    """Raises UnknownName for a model that neither the catalogue nor the store knows. What is here is looked for, unless
    it is told."""
    if question.workload not in WORKLOADS:
        raise UnknownName("workload", question.workload, WORKLOADS)
    spec, records = known_of(store, question.model, question.workload)
    cells, predictors = knowledge_of_others(store, question.wishes, say) if predict else ([], {})
    return advise(
        question,
        Knowledge(
            records=records,
            here=devices_here() if here is None else here,
            prices=prices,
            axes=spec.axes if spec else {},
            parameters=spec.parameters if spec else None,
            cells=cells,
            predictors=predictors,
            operations=operations_of(spec, question.workload),
        ),
    )


def known_of(store: Store, model: str, *workloads: str) -> tuple[ModelSpec | None, list[Record]]:
    """The model, as far as it is one we can build, and the newest record of each of its series."""
    spec, problem = _resolved(model)
    names = spec.entry.names if spec and spec.entry else (model,)
    chosen = Filter(model=tuple(names), workload=workloads, provenance=REAL)
    records = store.newest_records(chosen) if store.path.exists() else []
    if problem and not records:
        raise problem
    return spec, records


def _resolved(model: str) -> tuple[ModelSpec | None, InputError | None]:
    """Results from elsewhere may be of models that nobody here can build."""
    try:
        return models.resolve(model), None
    except InputError as error:
        return None, error


def operations_of(spec: ModelSpec | None, workload: str) -> Operations:
    """Counted on the meta device; what training does beyond the forward pass is not."""

    def operations(shape: Mapping[str, int]) -> float | None:
        return models.count(spec, 1, shape).gflop if spec and workload != TRAINING else None

    return operations


def devices_here(platforms: tuple[str, ...] = ()) -> tuple[Device, ...]:
    """As `dyno detect` finds them."""
    return tuple(device for name in platforms or PLATFORMS.names() for device in PLATFORMS.get(name).probe().devices)


def knowledge_of_others(store: Store, wishes: Wishes, say: Say = quiet) -> tuple[list[Cell], dict[str, Predicts]]:
    """What is known of all models, and who fills the gaps, by metric; nothing where too little is known."""
    if not store.path.exists():
        return [], {}
    found = {name: predictor_of(store, name, say) for name in _told_by(wishes)}
    predictors: dict[str, Predicts] = {name: one for name, one in found.items() if one}
    return (cells_of(store, LATENCY), predictors) if predictors else ([], {})


def _told_by(wishes: Wishes) -> list[str]:
    """Rates, costs and times follow from the latency; memory and energy are learned apart."""
    asked = {wishes.goal.metric, *(limit.figure for limit in wishes.limits)}
    return [LATENCY, *sorted(asked & {Goal.MEMORY.metric, Goal.ENERGY.metric})]
