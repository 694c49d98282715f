"""PyTorch compiled by torch.compile; compilation happens in the first step and is timed there."""

from __future__ import annotations

import os
import shutil
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Session, Source
from modeldyno.core.types import Case, Precision
from modeldyno.runtimes.torch import LoadedModule, TorchRuntime


class CompiledModule(LoadedModule):
    """A compiled module; tells how often the compiler gave up on a graph."""

    def details(self) -> dict[str, str | int | float | bool]:
        from torch._dynamo.utils import counters

        return {
            "graphs": int(counters["stats"].get("unique_graphs", 0)),
            "graph_breaks": sum(counters["graph_break"].values()),
        }


class TorchCompileRuntime(TorchRuntime):
    """The same placement as eager mode, then one compiled callable per set of inputs."""

    name = "torch-compile"

    def check(self, session: Session, precision: str) -> None:
        super().check(session, precision)
        if precision == Precision.INT8:
            raise Unsupported("torch.compile has no kernels for eager int8 modules", "use --runtime torch for int8")
        if shutil.which(os.environ.get("CXX", "g++")) is None:
            raise Unsupported("torch.compile needs a C++ compiler and found none", "install g++ or set CXX")

    def load(self, source: Source, session: Session, case: Case) -> LoadedModule:
        import torch._inductor.config

        # One compile thread: the compiler's pool would idle beside the measurement otherwise.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        # The first step of every process really compiles.
        torch._inductor.config.force_disable_caches = True
        return super().load(source, session, case)

    def bind(self, module: Any, inputs: dict[str, Any], precision: str, load_ms: float, address: str) -> LoadedModule:
        import torch
        from torch._dynamo.utils import counters

        torch._dynamo.reset()
        counters.clear()
        return CompiledModule(torch.compile(module), inputs, precision, load_ms, address)


MEMBER = TorchCompileRuntime()
