"""What to ask the predictor about a model: every way that is known of other models, where nothing was measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from modeldyno.core.types import Case
from modeldyno.predict.cells import Cell, cell_of


def questions(known: Iterable[Cell], subject: Cell, batches: Sequence[int]) -> list[Cell]:
    """The subject on every device and in every way that did such work, with the versions used there last.

    At the batch sizes asked for that were seen there; where none was, at the smallest that was: sizes nobody tried on a
    device cannot be told from others."""
    places: dict[tuple[str, ...], list[Cell]] = {}
    workload = subject.work.split()[0]
    for cell in known:
        if cell.work.split()[0] == workload:
            places.setdefault((cell.device, *cell.way[:-1]), []).append(cell)
    asked: list[Cell] = []
    for cells in places.values():
        seen = {cell.batch for cell in cells}
        asked += [_moved(cells[-1], subject, batch) for batch in sorted(seen & set(batches)) or [min(seen)]]
    return asked


def _moved(there: Cell, subject: Cell, batch: int) -> Cell:
    """The subject as it would be run there."""
    told = ("platform", "device", "runtime", "precision", "setting", "version", "year")
    return replace(subject, batch=batch, value=None, **{name: getattr(there, name) for name in told})


Operations = Callable[[Mapping[str, int]], float | None]
"""Billions of one step at batch 1 and these sizes."""


def subject_of(case: Case, known: Iterable[Cell], parameters: int | None, operations: Operations) -> Cell:
    """The model at its work, with how much there is to do: as other results of it say, else counted."""
    bare = cell_of(case, "", parameters=parameters)
    same = [cell for cell in known if (cell.model.lower(), cell.work) == (bare.model.lower(), bare.work)]
    best = max(same, key=lambda cell: (cell.gflop is not None, cell.activations is not None), default=None)
    if best is None or best.gflop is None:
        return replace(bare, gflop=operations(case.shape))
    return replace(bare, gflop=best.gflop, activations=best.activations, parameters=best.parameters or bare.parameters)
