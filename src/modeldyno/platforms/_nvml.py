"""What NVIDIA's management library tells of a GPU; what a card or driver does not tell is None."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modeldyno.platforms._probing import MB

IDLE = "gpu_idle"
_REASONS = {
    0x1: IDLE,
    0x2: "applications_clocks_setting",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
    0x100: "display_clock_setting",
}
HARMLESS = frozenset({IDLE, "applications_clocks_setting", "sync_boost", "display_clock_setting"})
"""Set by the user or by having nothing to do."""


@dataclass(frozen=True)
class NvidiaGpu:
    """The lasting facts of one card."""

    uuid: str
    name: str
    memory_mb: float | None
    capability: str | None
    """`sm_90`"""
    driver: str | None
    cuda_driver: str | None
    """The newest toolkit version the driver can serve."""
    power_limit_w: float | None
    partitioned: bool
    """Cut into MIG instances, which are devices of their own."""


def start() -> Any:
    """The pynvml module, initialised; raises ImportError, or NVMLError when the driver does not answer."""
    import pynvml

    pynvml.nvmlInit()
    return pynvml


def stop(nvml: Any) -> None:
    _ask(nvml, "nvmlShutdown")


def list_gpus(nvml: Any) -> list[NvidiaGpu]:
    """In NVML's order, which is that of the PCI bus."""
    handles = (nvml.nvmlDeviceGetHandleByIndex(index) for index in range(nvml.nvmlDeviceGetCount()))
    return [GpuReader(nvml, handle).facts() for handle in handles]


class GpuReader:
    def __init__(self, nvml: Any, handle: Any) -> None:
        self._nvml = nvml
        self._handle = handle

    @classmethod
    def by_uuid(cls, nvml: Any, uuid: str) -> GpuReader | None:
        """torch leaves out the `GPU-` that NVML asks for."""
        name = uuid if uuid.startswith(("GPU-", "MIG-")) else f"GPU-{uuid}"
        handle = _ask(nvml, "nvmlDeviceGetHandleByUUID", name)
        return None if handle is None else cls(nvml, handle)

    def facts(self) -> NvidiaGpu:
        memory = self._read("nvmlDeviceGetMemoryInfo")
        sm = self._read("nvmlDeviceGetCudaComputeCapability")
        cuda = _ask(self._nvml, "nvmlSystemGetCudaDriverVersion")
        mig = self._read("nvmlDeviceGetMigMode")
        return NvidiaGpu(
            uuid=_text(self._read("nvmlDeviceGetUUID")) or "",
            name=_text(self._read("nvmlDeviceGetName")) or "NVIDIA GPU",
            memory_mb=None if memory is None else round(memory.total / MB, 1),
            capability=None if sm is None else f"sm_{sm[0]}{sm[1]}",
            driver=_text(_ask(self._nvml, "nvmlSystemGetDriverVersion")),
            cuda_driver=None if cuda is None else f"{cuda // 1000}.{cuda % 1000 // 10}",
            power_limit_w=_thousandth(self._read("nvmlDeviceGetEnforcedPowerLimit")),
            partitioned=bool(mig and mig[0]),
        )

    def energy_j(self) -> float | None:
        """Since the driver was loaded; cards before Volta have no counter."""
        return _thousandth(self._read("nvmlDeviceGetTotalEnergyConsumption"))

    def power_w(self) -> float | None:
        return _thousandth(self._read("nvmlDeviceGetPowerUsage"))

    def temperature_c(self) -> float | None:
        return self._number("nvmlDeviceGetTemperature", getattr(self._nvml, "NVML_TEMPERATURE_GPU", 0))

    def sm_clock_mhz(self) -> float | None:
        return self._number("nvmlDeviceGetClockInfo", self._sm)

    def default_clock_mhz(self) -> float | None:
        """Newer drivers dropped application clocks; the maximum is then the default."""
        default = self._number("nvmlDeviceGetDefaultApplicationsClock", self._sm)
        return default or self._number("nvmlDeviceGetMaxClockInfo", self._sm)

    def throttle_reasons(self) -> set[str] | None:
        bits = self._read("nvmlDeviceGetCurrentClocksEventReasons")
        if bits is None:
            bits = self._read("nvmlDeviceGetCurrentClocksThrottleReasons")
        return None if bits is None else {name for bit, name in _REASONS.items() if bits & bit}

    def process_mb(self) -> float | None:
        """What the driver accounts to this process; None in most containers, which hide process ids."""
        mine = [p.usedGpuMemory for p in self._processes() or () if p.pid == os.getpid()]
        return mine[0] / MB if mine and mine[0] is not None else None

    def foreign_processes(self) -> int | None:
        """Other processes that hold a context here. The caller must hold one itself."""
        processes = self._processes()
        if processes is None:
            return None
        # In a container the driver may list ids of the host: ours is then one of the strangers.
        return max(0, len({p.pid for p in processes} | {os.getpid()}) - 1 - self._unrecognised(processes))

    @staticmethod
    def _unrecognised(processes: list[Any]) -> int:
        return int(bool(processes) and all(p.pid != os.getpid() for p in processes))

    def _processes(self) -> list[Any] | None:
        found = self._read("nvmlDeviceGetComputeRunningProcesses")
        return None if found is None else list(found)

    @property
    def _sm(self) -> int:
        return int(getattr(self._nvml, "NVML_CLOCK_SM", 1))

    def _number(self, function: str, *args: Any) -> float | None:
        value = self._read(function, *args)
        return None if value is None else float(value)

    def _read(self, function: str, *args: Any) -> Any:
        return _ask(self._nvml, function, self._handle, *args)


def _ask(nvml: Any, function: str, *args: Any) -> Any:
    """None where this binding, driver or card does not have it."""
    call: Callable[..., Any] | None = getattr(nvml, function, None)
    if call is None:
        return None
    try:
        return call(*args)
    except nvml.NVMLError:
        return None


def _text(value: Any) -> str | None:
    """Old bindings answer in bytes."""
    if value is None:
        return None
    return value.decode() if isinstance(value, bytes) else str(value)


def _thousandth(value: Any) -> float | None:
    return None if value is None else value / 1000
