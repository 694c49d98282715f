"""The GPU of Apple silicon through PyTorch's Metal backend."""

from __future__ import annotations

import platform
from contextlib import nullcontext
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Lap, Step
from modeldyno.core.types import Case, Device, MetricValue, Precision, Probe
from modeldyno.platforms import _host_cpu, _torch_build
from modeldyno.platforms._guarded_stopwatch import GuardedStopwatch, Queue
from modeldyno.platforms._probing import MB, absent, device_at, refuse_runtime, safely

_FLUSH_BYTES = 256 * MB
"""Metal does not tell the size of the system-level cache; the largest so far has 96 MB."""
_HOLD_SIZE = 1024
"""Rows of the square product that keeps the device busy: there is no sleeping kernel."""
_MACOS_WITH_BF16 = 14


class MpsMemory:
    """Metal has no peak counter: peaks are those of the samples taken."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self._allocated = self._driver = 0.0

    def reset(self) -> None:
        self._torch.mps.synchronize()
        self._torch.mps.empty_cache()
        self._allocated = self._driver = 0.0

    def sample(self) -> float:
        allocated = self._torch.mps.current_allocated_memory() / MB
        self._allocated = max(self._allocated, allocated)
        self._driver = max(self._driver, self._torch.mps.driver_allocated_memory() / MB)
        return float(allocated)

    def metrics(self) -> dict[str, MetricValue]:
        self.sample()
        return {
            "memory_peak_mb": MetricValue(value=self._allocated, note="sampled"),
            "memory_reserved_mb": MetricValue(value=self._driver, note="sampled"),
            "memory_fragmentation_mb": MetricValue(value=self._driver - self._allocated, note="sampled"),
        }


class MpsSession:
    """Synchronises before both stamps: without it laps are up to ten times too short (pytorch issue 152199)."""

    def __init__(self, device: Device, torch: Any) -> None:
        self.device = device
        self._torch = torch
        self._held: Any = None
        self._scratch: Any = None
        self._stopwatch = GuardedStopwatch(
            Queue(
                synchronize=torch.mps.synchronize,
                event=lambda: torch.mps.event.Event(enable_timing=True),
                hold=self._hold,
                trial_units=4,
                scope=nullcontext,
                flush=self._flush,
            )
        )

    def lap(self, step: Step, count: int) -> Lap:
        return self._stopwatch.lap(step, count)

    def device_lap(self, step: Step, cold: bool) -> Lap:
        return self._stopwatch.device_lap(step, cold)

    def memory_meter(self) -> MpsMemory:
        self._held = self._scratch = None
        return MpsMemory(self._torch)

    def torch_device(self) -> str:
        return "mps"

    def close(self) -> None:
        self._held = self._scratch = None

    def _hold(self, units: int) -> None:
        if self._held is None:
            self._held = self._torch.ones(_HOLD_SIZE, _HOLD_SIZE, device="mps")
        for _ in range(units):
            self._torch.mm(self._held, self._held)

    def _flush(self) -> None:
        if self._scratch is None:
            self._scratch = self._torch.empty(_FLUSH_BYTES, dtype=self._torch.uint8, device="mps")
        self._scratch.zero_()


class MpsPlatform:
    name = "mps"
    colour = "#CEA6C2"
    fitness = {"embedding": 3, "text_generation": 2, "vision": 3, "audio": 2}
    runtimes = ("torch", "torch-compile")

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        if why := refuse_runtime(self.name, self.runtimes, case):
            return why
        if case.precision == Precision.INT8:
            return "PyTorch's quantized int8 operators have no Metal kernels"
        if case.precision == Precision.BF16 and 0 < _macos_version() < _MACOS_WITH_BF16:
            return f"bf16 on Metal needs macOS {_MACOS_WITH_BF16} or newer"
        return None

    def open(self, index: int) -> MpsSession:
        device = device_at(self.probe(), index)
        import torch

        if not torch.backends.mps.is_available():
            why = f"PyTorch {torch.__version__} cannot start Metal here"
            raise Unsupported(why, "update macOS to 14 or newer")
        return MpsSession(device, torch)

    def _look(self) -> Probe:
        if platform.system() != "Darwin" or platform.machine() != "arm64":
            why = f"Metal needs a Mac with Apple silicon, this is {platform.system()} on {platform.machine()}"
            return absent(self.name, why, "run it on such a Mac")
        host = _host_cpu.describe()
        build = _torch_build.find()
        if build is None:
            why = f"{host.name} is here, but PyTorch is not installed"
            return absent(self.name, why, "pip install 'modeldyno[torch]'")
        device = Device(
            platform=self.name,
            index=0,
            name=f"{host.name} GPU",
            memory_mb=host.memory_mb,
            driver=f"macOS {platform.mac_ver()[0]}",
            details={"torch": build.version, "unified_memory": True},
        )
        return Probe(platform=self.name, devices=(device,))


def _macos_version() -> int:
    """0 elsewhere."""
    major = platform.mac_ver()[0].split(".")[0]
    return int(major) if major.isdigit() else 0


MEMBER = MpsPlatform()
