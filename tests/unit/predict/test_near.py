"""The same work on devices that are well known, shifted by how they differ for work of a like size."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from made_cells import cells

from modeldyno.predict._near import Near
from modeldyno.predict._table import Tabulator
from modeldyno.predict.cells import Cell


def ask(known: list[Cell], asked: list[Cell]) -> tuple[list[float], list[float]]:
    tabulator = Tabulator([*known, *asked])
    told, doubt = Near(tabulator.table(known)).ask(tabulator.table([replace(cell, value=1.0) for cell in asked]))
    return np.exp(told).tolist(), doubt.tolist()


def test_small_work_is_shifted_as_small_work_was() -> None:
    """On the slow device small work takes half as much again: a shift that is the same for all would miss it."""
    made = [cell for cell in cells(80) if cell.device in ("rtx3090", "rtx4090") and cell.runtime == "torch"]
    middle = float(np.median([cell.value for cell in made]))
    bent = [
        replace(cell, value=cell.value * 1.5) if cell.device == "rtx3090" and cell.value < middle else cell
        for cell in made
    ]
    gone = [cell for cell in bent if cell.device == "rtx3090" and cell.model in ("alpha_0", "beta_1", "gamma_2")]
    told, doubt = ask([cell for cell in bent if cell not in gone], gone)
    assert told == pytest.approx([cell.value for cell in gone], rel=0.15)
    assert all(0 < one < 0.3 for one in doubt)


def test_it_is_silent_of_a_new_device_and_of_work_that_nobody_did() -> None:
    made = cells()
    few = [cell for cell in made if cell.device != "h100"] + [cell for cell in made if cell.device == "h100"][:10]
    new = [cell for cell in made if cell.device == "h100"][10:]
    assert np.isnan(ask(few, new)[0]).all()
    assert np.isnan(ask(made, [replace(made[0], model="never-seen")])[0]).all()
