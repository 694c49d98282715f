"""A GPU that torch drives through streams and events; the vendor's file hands in torch's module for it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Lap, Step
from modeldyno.core.types import Device, MetricValue
from modeldyno.platforms._guarded_stopwatch import GuardedStopwatch, Queue
from modeldyno.platforms._probing import MB

_UNKNOWN_L2_BYTES = 256 * MB
"""Larger than the last-level cache of any GPU so far, for a torch that does not tell its size."""
_TRIAL_CYCLES = 1_000_000


class TorchGpu:
    """One GPU as torch addresses it."""

    def __init__(self, torch: Any, module: Any, index: int, address: str) -> None:
        self.torch = torch
        self.module = module
        self.index = index
        self.address = address
        self.stream = module.Stream(index)
        """Guarded laps run here, and so can other libraries: the default stream has no handle to give them."""
        self._scratch: Any = None

    def queue(self) -> Queue:
        return Queue(
            synchronize=lambda: self.module.synchronize(self.index),
            event=lambda: self.module.Event(enable_timing=True),
            hold=self.module._sleep,
            trial_units=_TRIAL_CYCLES,
            scope=lambda: self.module.stream(self.stream),
            flush=self.flush,
        )

    def flush(self) -> None:
        """Overwrite twice the size of the last-level cache."""
        if self._scratch is None:
            properties = self.module.get_device_properties(self.index)
            size = 2 * (getattr(properties, "L2_cache_size", 0) or _UNKNOWN_L2_BYTES // 2)
            self._scratch = self.torch.empty(size, dtype=self.torch.uint8, device=self.address)
        self._scratch.zero_()

    def together(self) -> tuple[str, ...]:
        kind, count = self.torch.device(self.address).type, self.module.device_count()
        if count > 1 and not self.module.nccl.is_available(()):
            raise Unsupported("this build of PyTorch has no NCCL for sums over several devices", "use one for Linux")
        return self.address, *(f"{kind}:{other}" for other in range(count) if other != self.index)

    def all_reduce(self, given: Sequence[Any], sums: Sequence[Any]) -> None:
        self.module.nccl.all_reduce(given, sums)
        own, *others = (self.module.current_stream(tensor.device) for tensor in sums)
        for other in others:
            own.wait_stream(other)

    def free_scratch(self) -> None:
        """The flush buffer is not the model's memory."""
        self._scratch = None
        self.module.empty_cache()


class TorchGpuMemory:
    """Peaks of torch's allocator, and what the driver accounts to this process."""

    def __init__(self, gpu: TorchGpu, process_mb: Callable[[], float | None]) -> None:
        self._gpu = gpu
        self._process_mb = process_mb
        self._process_peak: float | None = None

    def reset(self) -> None:
        self._gpu.module.synchronize(self._gpu.index)
        self._gpu.free_scratch()
        self._gpu.module.reset_peak_memory_stats(self._gpu.index)
        self._process_peak = None

    def sample(self) -> float:
        process = self._read_process()
        allocated = self._gpu.module.memory_allocated(self._gpu.index) / MB
        return float(allocated or process or 0.0)

    def metrics(self) -> dict[str, MetricValue]:
        self._gpu.module.synchronize(self._gpu.index)
        self._read_process()
        allocated = self._gpu.module.max_memory_allocated(self._gpu.index) / MB
        reserved = self._gpu.module.max_memory_reserved(self._gpu.index) / MB
        found = {
            "memory_peak_mb": self._peak(allocated),
            "memory_reserved_mb": MetricValue(value=reserved),
            "memory_fragmentation_mb": MetricValue(value=reserved - allocated),
        }
        if self._process_peak is not None:
            found["memory_process_mb"] = MetricValue(value=self._process_peak, note="sampled")
        return found

    def _peak(self, allocated: float) -> MetricValue:
        if allocated > 0:
            return MetricValue(value=allocated, note="torch allocator")
        # Another library's allocator did the work; only the driver saw it.
        if self._process_peak is not None:
            return MetricValue(value=self._process_peak, note="driver, with the context")
        return MetricValue(value=None, note="torch allocated nothing and the driver does not tell")

    def _read_process(self) -> float | None:
        now = self._process_mb()
        if now is not None:
            self._process_peak = max(now, self._process_peak or 0.0)
        return now


class TorchGpuSession:
    """The stopwatch and memory of a torch GPU; vendors add energy and state."""

    def __init__(self, device: Device, gpu: TorchGpu) -> None:
        self.device = device
        self.gpu = gpu
        self.stopwatch = GuardedStopwatch(gpu.queue(), self.watch)

    def lap(self, step: Step, count: int) -> Lap:
        return self.stopwatch.lap(step, count)

    def device_lap(self, step: Step, cold: bool) -> Lap:
        return self.stopwatch.device_lap(step, cold)

    def memory_meter(self) -> TorchGpuMemory:
        return TorchGpuMemory(self.gpu, self.process_mb)

    def torch_device(self) -> str:
        return self.gpu.address

    def together(self) -> tuple[str, ...]:
        return self.gpu.together()

    def all_reduce(self, given: Sequence[Any], sums: Sequence[Any]) -> None:
        self.gpu.all_reduce(given, sums)

    def watch(self) -> None:
        """Called while the device is busy."""

    def process_mb(self) -> float | None:
        return None

    def close(self) -> None:
        self.gpu.free_scratch()
