"""Probes of what a device computes with: products of matrices, and what starting an operation takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldyno.core.errors import Unsupported
from modeldyno.workloads._hardware.place import Place, Ready, on_host

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

SLOW_STEP_S = 1.0
"""A product that would take longer is left out; the rate levels off long before."""
_TRIAL_SIZE = 512
_TELLING_S = 0.01
"""A product that takes so long does not show what starting it takes."""
_CORNER = 8
"""Rows and columns of a product that are checked."""
_CHAIN_VALUES = 64


def matmul(place: Place, size: int) -> Ready:
    _refuse_slow(place, size)
    torch = place.torch
    left, right = place.values(size, size), place.values(size, size)
    product = torch.empty(size, size, dtype=place.dtype, device=place.address)
    corner = left[:_CORNER].cpu().double() @ right[:, :_CORNER].cpu().double()
    return Ready(
        step=lambda: torch.mm(left, right, out=product),
        work={"compute_gflop": 2 * size**3 / 1e9, "moved_gb": 3 * size**2 * place.dtype.itemsize / 1e9},
        result=product,
        outputs=lambda: {"product": on_host(product[:_CORNER, :_CORNER])},
        expected={"product": corner.numpy().ravel()},
    )


def _refuse_slow(place: Place, size: int) -> None:
    """From smaller products, what this one would take; they grow until one tells more than what starting it takes."""
    trial, took, seconds = _TRIAL_SIZE, 0.0, 0.0
    while trial < size and took < _TELLING_S:
        took = _product_s(place, trial)
        seconds = took * (size / trial) ** 3
        if seconds <= SLOW_STEP_S:
            return
        trial *= 2
    if seconds > SLOW_STEP_S:
        raise Unsupported(
            f"one product of this size would take about {seconds:.1f} s here", "the smaller sizes are enough"
        )


def _product_s(place: Place, size: int) -> float:
    left = place.values(size, size)
    product = place.torch.empty_like(left)
    return min(place.session.lap(lambda: place.torch.mm(left, left, out=product), 1).host_ns for _ in range(3)) / 1e9


def launch(place: Place, count: int) -> Ready:
    values = place.values(_CHAIN_VALUES)
    start = values.clone()

    def step() -> None:
        for _ in range(count):
            values.neg_()

    def once() -> Arrays:
        values.copy_(start)
        step()
        return {"chain": on_host(values)}

    expected = {"chain": on_host(start if count % 2 == 0 else -start)}
    return Ready(step=step, work={"launches": float(count)}, result=values, outputs=once, expected=expected)
