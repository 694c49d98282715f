"""The host's own processor."""

from __future__ import annotations

from modeldyno.core.types import Case, Device, Probe
from modeldyno.platforms import _host_cpu
from modeldyno.platforms._host_session import HostCounters, HostSession
from modeldyno.platforms._probing import device_at, refuse_runtime, safely


class CpuSession(HostCounters, HostSession):
    def __init__(self, device: Device) -> None:
        HostSession.__init__(self, device)
        HostCounters.__init__(self)

    def torch_device(self) -> str:
        return "cpu"

    def ort_provider(self) -> tuple[str, dict[str, str]]:
        return "CPUExecutionProvider", {}


class CpuPlatform:
    name = "cpu"
    colour = "#767676"
    baseline = True
    runtimes = ("torch", "torch-compile", "onnxruntime")

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        return refuse_runtime(self.name, self.runtimes, case)

    def open(self, index: int) -> CpuSession:
        return CpuSession(device_at(self.probe(), index))

    def _look(self) -> Probe:
        host = _host_cpu.describe()
        device = Device(
            platform=self.name,
            index=0,
            name=host.name,
            memory_mb=host.memory_mb,
            driver=host.kernel,
            capability=host.capability,
            details=host.details,
        )
        return Probe(platform=self.name, devices=(device,))


MEMBER = CpuPlatform()
