"""Intel's OpenVINO: one device per OpenVINO device, the processor among them."""

from __future__ import annotations

import importlib.util
from typing import Any

from modeldyno.core.types import Case, Device, Probe
from modeldyno.platforms import _host_cpu
from modeldyno.platforms._host_session import HostCounters, HostSession
from modeldyno.platforms._probing import MB, absent, device_at, one_line, refuse_runtime, safely

_REMEDY = "pip install 'modeldyno[openvino]'"
_PROCESSOR = "CPU"


class OpenvinoSession(HostSession):
    """Inference requests block until the result is there, so the host's clock serves for every device."""

    def openvino_device(self) -> str:
        return str(self.device.details["ov_device"])

    def ort_provider(self) -> tuple[str, dict[str, str]]:
        return "OpenVINOExecutionProvider", {"device_type": self.openvino_device()}


class OpenvinoProcessorSession(HostCounters, OpenvinoSession):
    """On the processor: the host counts its energy and clocks, which say nothing about another device."""

    def __init__(self, device: Device) -> None:
        OpenvinoSession.__init__(self, device)
        HostCounters.__init__(self)


class OpenvinoPlatform:
    name = "openvino"
    colour = "#1B74DF"
    fitness = {"embedding": 2, "text_generation": 1, "vision": 3, "audio": 2}
    runtimes = ("openvino", "onnxruntime")

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        return refuse_runtime(self.name, self.runtimes, case)

    def open(self, index: int) -> OpenvinoSession:
        device = device_at(self.probe(), index)
        on_processor = device.details["ov_device"] == _PROCESSOR
        return OpenvinoProcessorSession(device) if on_processor else OpenvinoSession(device)

    def _look(self) -> Probe:
        if importlib.util.find_spec("openvino") is None:
            return absent(self.name, "OpenVINO is not installed", _REMEDY)
        try:
            import openvino

            core = openvino.Core()
            names = list(core.available_devices)
        except Exception as error:  # noqa: BLE001 - OpenVINO's plug-ins raise whatever the driver gives them
            return absent(self.name, f"OpenVINO is installed but does not start: {one_line(error)}", _REMEDY)
        if not names:
            return absent(self.name, "OpenVINO finds no device: its device plug-ins do not load", _REMEDY)
        devices = tuple(self._device(core, index, name) for index, name in enumerate(names))
        return Probe(platform=self.name, devices=devices)

    def _device(self, core: Any, index: int, ov_device: str) -> Device:
        host = _host_cpu.describe() if ov_device == _PROCESSOR else None
        memory = _property(core, ov_device, "GPU_DEVICE_TOTAL_MEM_SIZE") if host is None else None
        driver = _property(core, ov_device, "NPU_DRIVER_VERSION") if host is None else None
        capabilities = _property(core, ov_device, "OPTIMIZATION_CAPABILITIES") or ()
        details: _host_cpu.Details = dict(host.details) if host else {}
        details["ov_device"] = ov_device
        if plugin := _plugin_version(core, ov_device):
            details["plugin"] = plugin
        return Device(
            platform=self.name,
            index=index,
            name=str(_property(core, ov_device, "FULL_DEVICE_NAME") or ov_device),
            memory_mb=host.memory_mb if host else _in_mb(memory),
            driver=None if driver is None else str(driver),
            capability=" ".join(sorted(map(str, capabilities))) or None,
            details=details,
        )


def _property(core: Any, ov_device: str, name: str) -> Any:
    """None where the device has no such property; OpenVINO says so with a RuntimeError."""
    try:
        return core.get_property(ov_device, name)
    except Exception:  # noqa: BLE001 - a property that cannot be read is a property that is not known
        return None


def _plugin_version(core: Any, ov_device: str) -> str | None:
    try:
        versions = core.get_versions(ov_device)
        return next((str(version.build_number) for version in versions.values()), None)
    except Exception:  # noqa: BLE001 - as above
        return None


def _in_mb(size: Any) -> float | None:
    return round(int(size) / MB, 1) if size else None


MEMBER = OpenvinoPlatform()
