"""Gathers from store and machine what an answer needs."""

from __future__ import annotations

from collections.abc import Mapping

from modeldyno import models
from modeldyno.advise._questions import Operations
from modeldyno.advise.prices import Prices
from modeldyno.advise.recommend import TRAINING, WORKLOADS, Advice, Knowledge, Predicts, Question, advise
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Device, Provenance, Record
from modeldyno.models import ModelSpec
from modeldyno.platforms import PLATFORMS
from modeldyno.predict.cells import Cell
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

REAL = tuple(provenance for provenance in Provenance if provenance.is_real)


def answer(store: Store, question: Question, prices: Prices, predict: bool = True) -> Advice:
    """Raises UnknownName for a model that neither the catalogue nor the store knows."""
    if question.workload not in WORKLOADS:
        raise UnknownName("workload", question.workload, WORKLOADS)
    spec, records = known_of(store, question.model, question.workload)
    cells, predictor = knowledge_of_others(store) if predict else ([], None)
    return advise(
        question,
        Knowledge(
            records=records,
            here=devices_here(),
            prices=prices,
            axes=spec.axes if spec else {},
            parameters=spec.parameters if spec else None,
            cells=cells,
            predictor=predictor,
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


def knowledge_of_others(store: Store) -> tuple[list[Cell], Predicts | None]:
    """What is known of all models, and who fills the gaps; nothing where that is too little to learn from."""
    from modeldyno.predict.stored import cells_of, predictor_of

    predictor = predictor_of(store) if store.path.exists() else None
    return (cells_of(store, "latency_ms"), predictor) if predictor else ([], None)
