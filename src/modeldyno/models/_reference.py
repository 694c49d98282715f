"""Reference outputs: how they are kept, and how far other outputs are from them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import JobError
from modeldyno.core.protocols import Reference

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_MOST_VALUES = 2**18
_MADE_BY = "made by"
_STRIDES = "strides"


def check_finite(name: str, outputs: Arrays) -> None:
    import numpy as np

    if not outputs:
        raise JobError(f"'{name}' gives no floating-point output that could be compared.")
    for output, values in outputs.items():
        if not np.isfinite(values).all():
            raise JobError(
                f"The reference output '{output}' of '{name}' is not finite; nothing can be held against it."
            )


def sampled(made_by: str, outputs: Arrays) -> Arrays:
    """Flat values under a number each, since an output may have any name."""
    import numpy as np

    strides = {name: -(-values.size // _MOST_VALUES) or 1 for name, values in outputs.items()}
    kept = {
        str(index): np.ascontiguousarray(values.reshape(-1)[:: strides[name]], dtype=np.float32)
        for index, (name, values) in enumerate(outputs.items())
    }
    return {_MADE_BY: np.array(made_by), _STRIDES: np.array(json.dumps(strides)), **kept}


def as_reference(kept: Arrays) -> Reference:
    strides: dict[str, int] = json.loads(str(kept[_STRIDES]))
    values = {name: kept[str(index)] for index, name in enumerate(strides)}
    return Reference(made_by=str(kept[_MADE_BY]), values=values, strides=strides)


def relative_distance(got: Any, reference: Reference, name: str) -> float | None:
    """Relative L2 distance of one output; None where it is missing, not finite or of another size."""
    import numpy as np

    if got is None or not np.isfinite(got).all():
        return None
    expected = reference.values[name]
    picked = got.astype(np.float64).ravel()[:: reference.strides[name]]
    if picked.size != expected.size:
        return None
    norm = float(np.linalg.norm(expected.astype(np.float64)))
    return float(np.linalg.norm(picked - expected)) / max(norm, 1e-12)
