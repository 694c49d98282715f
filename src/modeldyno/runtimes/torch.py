"""PyTorch in eager mode, on any device that a platform lets PyTorch address."""

from __future__ import annotations

import time
import warnings
from typing import TYPE_CHECKING, Any

from modeldyno.core.cores import available_cores
from modeldyno.core.decoding import DecodingSource
from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import RunsTorch, Session, Source
from modeldyno.core.types import KERNEL, Case, Placement, Precision, ProfileRow
from modeldyno.runtimes._profile import top_rows
from modeldyno.runtimes._torch_decoder import DYNAMIC, STATIC, TorchDecoder, Writing
from modeldyno.runtimes._torch_placement import Details, placement_of

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

PROFILED_STEPS = 3
_DTYPES: dict[str, str] = {Precision.FP32: "float32", Precision.BF16: "bfloat16", Precision.FP16: "float16"}


class LoadedModule:
    """A module on a device with its inputs beside it."""

    def __init__(self, module: Any, inputs: dict[str, Any], precision: str, load_ms: float, address: str) -> None:
        self.module = module
        self._address = address
        self.load_ms = load_ms
        self._inputs = inputs
        self._precision = precision

    def step(self) -> Any:
        import torch

        with torch.inference_mode():
            return self.module(**self._inputs)

    def outputs(self) -> Arrays:
        return {name: tensor.detach().float().cpu().numpy() for name, tensor in self.step().items()}

    def steps_at_once(self) -> int:
        """Eager modules keep nothing between steps. More than there are cores for would only cost memory, and a
        device does one after the other anyway."""
        import torch

        return max(1, available_cores() // torch.get_num_threads()) if _is_host(self._address) else 1

    def placement(self) -> Placement:
        result = next(iter(self.step().values()))
        return placement_of(self.module, result, self._address, self._precision, self.details())

    def details(self) -> Details:
        """What else the record should know; runtimes that build on this one add to it."""
        return {}

    def profile(self) -> tuple[ProfileRow, ...]:
        """Kernels by device time where the device reports them, else operators by their own CPU time."""
        from torch.profiler import profile

        with warnings.catch_warnings(), profile() as profiler:
            warnings.simplefilter("ignore")
            for _ in range(PROFILED_STEPS):
                outputs = self.step()
            next(iter(outputs.values())).flatten()[:1].cpu()  # waits for the device, whichever it is
        events = profiler.key_averages()
        on_device = [(e.key, e.count, e.self_device_time_total) for e in events if e.device_type.value != 0]
        on_host = [(e.key, e.count, e.self_cpu_time_total) for e in events if e.device_type.value == 0]
        kind, rows = (KERNEL, on_device) if any(time for _, _, time in on_device) else ("operator", on_host)
        return top_rows(((name, kind, count, us / 1e3) for name, count, us in rows), PROFILED_STEPS)


class TorchRuntime:
    """Eager PyTorch; keeps the last placed module so that cases of one group share it."""

    name = "torch"
    options = frozenset({"threads"})
    preloads = ("torch", "transformers.modeling_utils")
    caches: tuple[str, ...] = (DYNAMIC, STATIC)

    def __init__(self) -> None:
        self._placed: tuple[tuple[str, ...], Any, float] | None = None

    def packages(self) -> tuple[str, ...]:
        return ("torch", "transformers")

    def check(self, session: Session, precision: str) -> None:
        device = _address(session)
        if precision == Precision.INT8 and not _is_host(device):
            raise Unsupported(
                "eager PyTorch has int8 kernels for the host only", "use a runtime with int8 kernels for this device"
            )

    def prepare(self, source: Source, precision: str) -> None:
        """Nothing to keep: modules are built where they run."""

    def load(self, source: Source, session: Session, case: Case) -> LoadedModule:
        _use_threads(case)
        device = _address(session)
        module, load_ms = self._place(source, device, case.precision)
        inputs = _to_device(source.inputs(), device, case.precision)
        return self.bind(module, inputs, case.precision, load_ms, _as_tensors_say(device))

    def release(self) -> None:
        self._placed = None

    def bind(self, module: Any, inputs: dict[str, Any], precision: str, load_ms: float, address: str) -> LoadedModule:
        return LoadedModule(module, inputs, precision, load_ms, address)

    def prepare_decoder(self, source: DecodingSource, precision: str) -> None:
        """Nothing to keep here either."""

    def load_decoder(self, source: DecodingSource, session: Session, case: Case) -> TorchDecoder:
        _use_threads(case)
        device = _address(session)
        model, load_ms = self._place(source, device, case.precision)
        prompt = _to_device(source.prompt(), device, case.precision)
        cache = str(case.options.get("cache", self.caches[0]))
        return self.bind_decoder(
            Writing(model, prompt, source.new_tokens, cache, case.precision, _as_tensors_say(device), load_ms)
        )

    def bind_decoder(self, writing: Writing) -> TorchDecoder:
        return TorchDecoder(writing, writing.model)

    def for_training(self, module: Any) -> Any:
        return module

    def training_details(self) -> dict[str, str | int | float | bool]:
        return {}

    def _place(self, source: Source | DecodingSource, device: str, precision: str) -> tuple[Any, float]:
        key = (type(source).__name__, source.info.fingerprint, device, precision)
        if self._placed is None or self._placed[0] != key:
            module = source.torch_model()
            begin = time.perf_counter()
            placed = _converted(module, device, precision)
            _finish_copy(placed)
            self._placed = (key, placed, (time.perf_counter() - begin) * 1e3)
        return self._placed[1], self._placed[2]


def _address(session: Session) -> str:
    if not isinstance(session, RunsTorch):
        raise Unsupported(
            f"PyTorch cannot address a device of platform {session.device.platform}",
            f"choose another --runtime for {session.device.platform}",
        )
    return session.torch_device()


def _use_threads(case: Case) -> None:
    import torch

    if threads := case.options.get("threads"):
        torch.set_num_threads(int(threads))


def _as_tensors_say(device: str) -> str:
    """A tensor on `mps` says `mps:0`; in its words asked and actual can be compared."""
    import torch

    return str(torch.empty(0, device=device).device)


def _is_host(device: str) -> bool:
    import torch

    return bool(torch.device(device).type == torch.get_default_device().type)


def _converted(module: Any, device: str, precision: str) -> Any:
    """The module in the asked precision on the device; converted in place, so only one copy stays in memory."""
    import torch

    if precision == Precision.INT8:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # deprecated in favour of torchao, which does more and starts slower
            torch.ao.quantization.quantize_dynamic(module, {torch.nn.Linear}, dtype=torch.qint8, inplace=True)
        if not any("quantized" in type(part).__module__ for part in module.modules()):
            raise Unsupported("this model has no linear layer that PyTorch could quantize", "use another precision")
        return module
    return module.to(device=device, dtype=getattr(torch, _DTYPES[precision]))


def _finish_copy(module: Any) -> None:
    for parameter in module.parameters():
        parameter.flatten()[:1].cpu()
        return


def _to_device(arrays: Arrays, device: str, precision: str) -> dict[str, Any]:
    import torch

    dtype = getattr(torch, _DTYPES.get(precision, "float32"))
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return {
        name: tensor.to(device=device, dtype=dtype if tensor.is_floating_point() else None)
        for name, tensor in tensors.items()
    }


MEMBER = TorchRuntime()
