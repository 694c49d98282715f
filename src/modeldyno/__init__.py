"""modeldyno measures machine-learning models honestly on every piece of hardware in reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldyno.runner.benchmark import BenchmarkBase, BenchmarkRegistry, BenchmarkRunner

__version__ = "0.1.0"
__all__ = ["BenchmarkBase", "BenchmarkRegistry", "BenchmarkRunner"]


def __getattr__(name: str) -> Any:
    """The public API, imported only when it is used: the worker needs none of it."""
    if name in __all__:
        from modeldyno.runner import benchmark

        return getattr(benchmark, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
