"""The covariance is one, and its derivatives are those of the numbers."""

from __future__ import annotations

import numpy as np
from made_cells import cells

from modeldyno.predict._covariance import PLACES, STARTS, Covariance, Parameter, with_derivatives
from modeldyno.predict._distances import distances, twins
from modeldyno.predict._table import Tabulator

KNOWN = cells(6)
TABLE = Tabulator(KNOWN).table(KNOWN)
LOOKED_AT = (
    Parameter("scale", "near"),
    Parameter("attribute", "line", 0),
    Parameter("length", "work", 1),
    Parameter("slope", "line", 0),
    Parameter("number", "same", 1),
    Parameter("spelling"),
)
PARAMETERS = np.asarray(list(STARTS.values()))


def test_it_is_positive_definite_and_knows_its_diagonal() -> None:
    covariance = Covariance(PARAMETERS, distances(TABLE))
    matrix = covariance.between(TABLE, TABLE)
    assert np.linalg.eigvalsh(matrix).min() > -1e-8
    assert np.allclose(np.diag(matrix), covariance.of_each(TABLE))


def test_derivatives_agree_with_small_steps() -> None:
    apart = distances(TABLE)
    _, derivatives = with_derivatives(Covariance(PARAMETERS, apart), TABLE)
    found = dict(derivatives)
    for parameter in LOOKED_AT:
        place, step = PLACES[parameter], 1e-6
        moved = PARAMETERS.copy()
        moved[place] += step
        change = Covariance(moved, apart).between(TABLE, TABLE) - Covariance(PARAMETERS, apart).between(TABLE, TABLE)
        assert np.allclose(found[place], change / step, atol=1e-5), parameter


def test_two_names_of_one_device_are_twins() -> None:
    from dataclasses import replace

    doubled = [*KNOWN, *(replace(cell, device="another name") for cell in KNOWN if cell.device == "rtx4090")]
    table = Tabulator(doubled).table(doubled)
    first = twins(table)
    devices = list(dict.fromkeys(cell.device for cell in doubled))
    assert first[devices.index("another name")] == devices.index("rtx4090")
    assert first[devices.index("rtx5090")] == devices.index("rtx5090")
