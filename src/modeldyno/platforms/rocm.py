"""AMD GPUs through a ROCm (HIP) build of PyTorch, with amdsmi for clocks, energy and foreign load."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import EnergyReading
from modeldyno.core.types import Case, Check, Device, Probe
from modeldyno.platforms import _amdsmi, _gpu_state, _pci, _torch_build, _torch_devices
from modeldyno.platforms._amdsmi import GpuReader
from modeldyno.platforms._probing import absent, no_such_index, refuse_runtime, safely
from modeldyno.platforms._torch_build import TorchBuild
from modeldyno.platforms._torch_devices import TorchDevice
from modeldyno.platforms._torch_gpu import TorchGpu, TorchGpuSession

_AMD_PCI = "0x1002"
_INSTALL = "install a ROCm build of PyTorch; docs/install.md says how"
_DRIVER = "install AMD's ROCm driver (amdgpu-dkms) and let this user read /dev/kfd (group render)"
_NONE_HARMLESS: frozenset[str] = frozenset()


class RocmSession(TorchGpuSession):
    def __init__(self, device: Device, gpu: TorchGpu, smi: Any, reader: GpuReader | None) -> None:
        self._smi = smi
        self._reader = reader
        self._busy = _gpu_state.BusyReadings()
        super().__init__(device, gpu)

    def energy(self) -> EnergyReading | None:
        joules = self._reader.energy_j() if self._reader else None
        return None if joules is None else EnergyReading(joules=joules, source="counter")

    def state(self) -> dict[str, float | str | bool]:
        if self._reader is None:
            return {}
        busy, seen = self._busy.take()
        clock, highest = self._reader.clocks_mhz()
        reasons = self._reader.throttle_reasons()
        found = _gpu_state.known(
            {
                "default_clock_mhz": highest,
                "momentary_clock_mhz": clock,
                "temperature_c": self._reader.temperature_c(),
                "power_w": self._reader.power_w(),
                "throttle_reasons": None if reasons is None else _gpu_state.reasons_text(reasons | seen),
                "foreign_processes": self._reader.foreign_processes(),
                "unguarded_laps": self.stopwatch.missed,
            }
        )
        return busy | found

    def checks(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Check, ...]:
        """The clock is judged by readings under load only: AMD has no sign for an idle device."""
        return _gpu_state.judge(before, after, _NONE_HARMLESS)

    def watch(self) -> None:
        if self._reader is not None:
            self._busy.add(self._reader.clocks_mhz()[0], self._reader.throttle_reasons() or ())

    def process_mb(self) -> float | None:
        return self._reader.process_mb() if self._reader else None

    def close(self) -> None:
        super().close()
        if self._smi is not None:
            _amdsmi.stop(self._smi)
        self._smi = self._reader = None


class RocmPlatform:
    name = "rocm"
    colour = "#CF5D15"
    fitness = {"embedding": 3, "text_generation": 2, "vision": 2, "audio": 2}
    runtimes = ("torch", "torch-compile")

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        return refuse_runtime(self.name, self.runtimes, case)

    def open(self, index: int) -> RocmSession:
        build = _torch_build.find()
        if not driver_loaded() or build is None or build.hip is None:
            probe = self.probe()
            raise Unsupported(probe.reason or "no ROCm device can be opened here", probe.remedy)
        import torch

        # A HIP build answers under the names of the other vendor.
        gpu = torch.cuda
        count = gpu.device_count() if gpu.is_available() else 0
        if count == 0:
            raise Unsupported(f"PyTorch {build.version} sees no ROCm device", _DRIVER)
        if not 0 <= index < count:
            raise no_such_index(self.name, index, count)
        gpu.set_device(index)
        gpu.synchronize(index)
        found = _torch_devices.describe(gpu.get_device_properties(index))
        smi = _amdsmi_or_none()
        reader = _match(_amdsmi.readers(smi), index, count, found) if smi else None
        device = self._device(index, build, found, reader)
        return RocmSession(device, TorchGpu(torch, gpu, index, f"cuda:{index}"), smi, reader)

    def _look(self) -> Probe:
        if not driver_loaded():
            return self._no_driver()
        build = _torch_build.find()
        smi = _amdsmi_or_none()
        try:
            gpus = _amdsmi.readers(smi) if smi else []
            names = ", ".join(gpu.facts().name for gpu in gpus) or "an AMD GPU"
            if build is None:
                return absent(self.name, f"{names} is here, but PyTorch is not installed", _INSTALL)
            if build.hip is None:
                made_for = f"for CUDA {build.cuda}" if build.cuda else "for the processor only"
                wrong = f"{names} is here, but the installed PyTorch {build.version} is built {made_for}"
                return absent(self.name, wrong, _INSTALL)
            return self._from_torch(build, names, gpus)
        finally:
            if smi:
                _amdsmi.stop(smi)

    def _no_driver(self) -> Probe:
        if platform.system() != "Linux":
            why = f"ROCm is looked for on Linux only, this is {platform.system()}"
            return absent(self.name, why, "run it on a Linux host with an AMD GPU")
        if cards := _pci.cards(_AMD_PCI):
            why = f"an AMD card is on the PCI bus ({', '.join(cards)}), but there is no /dev/kfd"
            return absent(self.name, why, _DRIVER)
        return absent(
            self.name,
            "no AMD GPU here: neither /dev/kfd nor a card on the PCI bus",
            f"run it on a host with an AMD GPU and its ROCm driver, then {_INSTALL}",
        )

    def _from_torch(self, build: TorchBuild, names: str, gpus: list[GpuReader]) -> Probe:
        found, said = _torch_devices.ask()
        if not found:
            why = f"{names} is here, but PyTorch {build.version} sees no ROCm device{f': {said}' if said else ''}"
            return absent(self.name, why, _DRIVER)
        matched = [_match(gpus, index, len(found), gpu) for index, gpu in enumerate(found)]
        devices = (self._device(index, build, *pair) for index, pair in enumerate(zip(found, matched, strict=True)))
        return Probe(platform=self.name, devices=tuple(devices))

    def _device(self, index: int, build: TorchBuild, found: TorchDevice, reader: GpuReader | None) -> Device:
        facts = reader.facts() if reader else None
        details: dict[str, str | int | float | bool | None] = {
            "torch_hip": build.hip,
            "uuid": found.uuid,
            "compute_units": found.processors,
            "l2_bytes": found.l2_bytes,
            "bdf": facts.bdf if facts else None,
            "power_limit_w": facts.power_limit_w if facts else None,
        }
        return Device(
            platform=self.name,
            index=index,
            name=found.name or (facts.name if facts else "AMD GPU"),
            memory_mb=found.memory_mb,
            driver=facts.driver if facts else None,
            capability=found.arch,
            details={key: value for key, value in details.items() if value is not None},
        )


def driver_loaded() -> bool:
    return Path("/dev/kfd").exists()


def _amdsmi_or_none() -> Any:
    try:
        return _amdsmi.start()
    except Exception:  # noqa: BLE001 - amdsmi's import itself raises KeyError and OSError without its C library
        return None


def _match(readers: list[GpuReader], index: int, count: int, found: TorchDevice) -> GpuReader | None:
    """The same card by PCI bus; by index only when both list as many, for variables may hide some from torch."""
    if found.pci_bus is not None:
        return next((reader for reader in readers if reader.bus() == found.pci_bus), None)
    return readers[index] if len(readers) == count else None


MEMBER = RocmPlatform()
