"""PyTorch compiled by torch.compile; compilation happens in the first step and is timed there."""

from __future__ import annotations

import os
import shutil
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Session
from modeldyno.core.types import Precision
from modeldyno.runtimes._torch_decoder import DYNAMIC, STATIC, TorchDecoder, Writing
from modeldyno.runtimes._torch_placement import Details
from modeldyno.runtimes.torch import LoadedModule, TorchRuntime


class CompiledModule(LoadedModule):
    """A compiled module; tells how often the compiler gave up on a graph."""

    def steps_at_once(self) -> int:
        """Compiled code may keep buffers between steps, and PyTorch does not promise that threads can share it."""
        return 1

    def details(self) -> dict[str, str | int | float | bool]:
        return _compile_counts()


class CompiledDecoder(TorchDecoder):
    """One token more is compiled; prompts are read by the model as it is, since each length would need a graph."""

    def __init__(self, writing: Writing) -> None:
        super().__init__(writing, _compiled(writing.model))

    def details(self) -> Details:
        return super().details() | _compile_counts()


class TorchCompileRuntime(TorchRuntime):
    """The same placement as eager mode, then one compiled callable per set of inputs."""

    name = "torch-compile"
    caches = (STATIC, DYNAMIC)

    def check(self, session: Session, precision: str) -> None:
        super().check(session, precision)
        if precision == Precision.INT8:
            raise Unsupported("torch.compile has no kernels for eager int8 modules", "use --runtime torch for int8")
        if shutil.which(os.environ.get("CXX", "g++")) is None:
            raise Unsupported("torch.compile needs a C++ compiler and found none", "install g++ or set CXX")

    def bind(self, module: Any, inputs: dict[str, Any], precision: str, load_ms: float, address: str) -> LoadedModule:
        return CompiledModule(_compiled(module), inputs, precision, load_ms, address)

    def bind_decoder(self, writing: Writing) -> TorchDecoder:
        return CompiledDecoder(writing)

    def for_training(self, module: Any) -> Any:
        """A graph for each size: what else is done with the module must not make the one of the steps a general one."""
        return _compiled(module, dynamic=False)

    def training_details(self) -> dict[str, str | int | float | bool]:
        return _compile_counts()


def _compiled(module: Any, dynamic: bool | None = None) -> Any:
    """The module as torch.compile makes it, with nothing left of what was compiled before."""
    # One compile thread: the compiler's pool would idle beside the measurement otherwise.
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
    import torch
    import torch._inductor.config
    from torch._dynamo.utils import counters

    # The first step of every process really compiles.
    torch._inductor.config.force_disable_caches = True
    torch._dynamo.reset()
    counters.clear()
    return torch.compile(module, dynamic=dynamic)


def _compile_counts() -> dict[str, str | int | float | bool]:
    """How many graphs there are since the last `_compiled`, and how often the compiler gave up on one."""
    from torch._dynamo.utils import counters

    return {
        "graphs": int(counters["stats"].get("unique_graphs", 0)),
        "graph_breaks": sum(counters["graph_break"].values()),
    }


MEMBER = TorchCompileRuntime()
