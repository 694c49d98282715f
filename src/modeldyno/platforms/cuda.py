"""NVIDIA GPUs through a CUDA build of PyTorch, with NVML for clocks, energy and foreign load."""

from __future__ import annotations

import os
import platform
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import EnergyReading
from modeldyno.core.types import Case, Check, Device, Probe
from modeldyno.platforms import _gpu_state, _nvml, _pci, _torch_build, _torch_devices
from modeldyno.platforms._cuda_visible import VARIABLE, visible
from modeldyno.platforms._nvml import GpuReader, NvidiaGpu
from modeldyno.platforms._probing import absent, no_such_index, one_line, refuse_runtime, safely
from modeldyno.platforms._torch_build import TorchBuild
from modeldyno.platforms._torch_devices import TorchDevice
from modeldyno.platforms._torch_gpu import TorchGpu, TorchGpuSession

_NVIDIA_PCI = "0x10de"
_INSTALL = "pip install 'modeldyno[cuda]'"
_REINSTALL = "install a CUDA build of PyTorch; docs/install.md says how"
_DRIVER = "install or update NVIDIA's driver until `nvidia-smi` answers"


class CudaSession(TorchGpuSession):
    def __init__(self, device: Device, gpu: TorchGpu, nvml: Any, reader: GpuReader | None) -> None:
        self._nvml = nvml
        self._reader = reader
        self._busy = _gpu_state.BusyReadings()
        super().__init__(device, gpu)

    def ort_provider(self) -> tuple[str, dict[str, str]]:
        """On our stream, so that guard and events see its work; TF32 off because fp32 means IEEE here."""
        stream = str(self.gpu.stream.cuda_stream)
        options = {"device_id": str(self.gpu.index), "user_compute_stream": stream, "use_tf32": "0"}
        return "CUDAExecutionProvider", options

    def energy(self) -> EnergyReading | None:
        joules = self._reader.energy_j() if self._reader else None
        return None if joules is None else EnergyReading(joules=joules, source="counter")

    def state(self) -> dict[str, float | str | bool]:
        if self._reader is None:
            return {}
        busy, seen = self._busy.take()
        reasons = self._reader.throttle_reasons()
        return busy | _gpu_state.known(
            {
                "clock_mhz": self._reader.sm_clock_mhz(),
                "default_clock_mhz": self._reader.default_clock_mhz(),
                "temperature_c": self._reader.temperature_c(),
                "power_w": self._reader.power_w(),
                "throttle_reasons": None if reasons is None else _gpu_state.reasons_text(reasons | seen),
                "foreign_processes": self._reader.foreign_processes(),
                "unguarded_laps": self.stopwatch.missed,
            }
        )

    def checks(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Check, ...]:
        return _gpu_state.judge(before, after, _nvml.HARMLESS)

    def watch(self) -> None:
        if self._reader is not None:
            # Between kernels the driver may call a working card idle; under our guard it is not.
            reasons = (self._reader.throttle_reasons() or set()) - {_nvml.IDLE}
            self._busy.add(self._reader.sm_clock_mhz(), reasons)

    def process_mb(self) -> float | None:
        return self._reader.process_mb() if self._reader else None

    def close(self) -> None:
        super().close()
        if self._nvml is not None:
            _nvml.stop(self._nvml)
        self._nvml = self._reader = None


class CudaPlatform:
    name = "cuda"
    colour = "#1D612B"
    fitness = {"embedding": 3, "text_generation": 3, "vision": 3, "audio": 3, "multimodal": 3}
    runtimes = ("torch", "torch-compile", "onnxruntime")

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        return refuse_runtime(self.name, self.runtimes, case)

    def open(self, index: int) -> CudaSession:
        build = _torch_build.find()
        if not driver_loaded() or build is None or build.cuda is None or build.hip is not None:
            probe = self.probe()
            raise Unsupported(probe.reason or "no CUDA device can be opened here", probe.remedy)
        import torch

        _require_device(torch, index)
        _keep_fp32_exact(torch)
        torch.cuda.set_device(index)
        torch.cuda.synchronize(index)  # makes the context, so that NVML can list this process
        found = _torch_devices.describe(torch.cuda.get_device_properties(index))
        nvml = _nvml_or_none()
        reader = GpuReader.by_uuid(nvml, found.uuid) if nvml and found.uuid else None
        if nvml and reader is None:
            _nvml.stop(nvml)
            nvml = None
        # From NVML where it answers, so that probe and session give one fingerprint.
        device = self._device(index, build, reader.facts() if reader else _as_told(found), found)
        return CudaSession(device, TorchGpu(torch, torch.cuda, index, f"cuda:{index}"), nvml, reader)

    def _look(self) -> Probe:
        if not driver_loaded():
            return self._no_driver()
        build = _torch_build.find()
        try:
            nvml = _nvml.start()
        except ImportError:
            return self._ask_torch(build, "nvidia-ml-py (pynvml) is not installed", _INSTALL)
        except Exception as error:  # noqa: BLE001 - NVMLError, whose class lives in a module that may be broken
            return self._ask_torch(build, f"NVIDIA's driver does not answer: {one_line(error)}", _DRIVER)
        try:
            return self._from_nvml(build, _nvml.list_gpus(nvml))
        finally:
            _nvml.stop(nvml)

    def _no_driver(self) -> Probe:
        if platform.system() == "Darwin":
            return absent(self.name, "macOS has no CUDA", "run it on Linux or Windows with an NVIDIA GPU")
        if cards := _pci.cards(_NVIDIA_PCI):
            why = f"an NVIDIA card is on the PCI bus ({', '.join(cards)}), but its driver is not loaded"
            return absent(self.name, why, _DRIVER)
        return absent(
            self.name,
            "no NVIDIA GPU here: neither a loaded driver nor a card on the PCI bus",
            f"run it on a host with an NVIDIA GPU and its driver, after `{_INSTALL}`",
        )

    def _from_nvml(self, build: TorchBuild | None, gpus: list[NvidiaGpu]) -> Probe:
        names = ", ".join(gpu.name for gpu in gpus)
        if not gpus:
            return absent(self.name, "NVIDIA's driver is loaded but lists no GPU", _DRIVER)
        if build is None:
            return absent(self.name, f"{names} is here, but PyTorch is not installed", _INSTALL)
        if wrong := _wrong_build(build):
            return absent(self.name, f"{names} is here, but {wrong}", _REINSTALL)
        seen = visible(gpus, os.environ)
        if seen is None:
            return self._ask_torch(build, f"NVML cannot tell which of {names} are visible", _DRIVER)
        if not seen:
            hidden = f"{names} is here, but {VARIABLE}={os.environ.get(VARIABLE, '')!r} hides it"
            return absent(self.name, hidden, f"unset {VARIABLE}")
        devices = tuple(self._device(index, build, gpu, None) for index, gpu in enumerate(seen))
        return Probe(platform=self.name, devices=devices)

    def _ask_torch(self, build: TorchBuild | None, reason: str, remedy: str) -> Probe:
        """Where NVML cannot tell, a CUDA build of torch can."""
        here = f"NVIDIA's driver is loaded, but {reason}"
        if build is None:
            return absent(self.name, f"{here} and PyTorch is not installed", _INSTALL)
        if wrong := _wrong_build(build):
            return absent(self.name, f"{here} and {wrong}", _REINSTALL)
        found, said = _torch_devices.ask()
        if not found:
            why = f"{here} and PyTorch sees no CUDA device{f': {said}' if said else ''}"
            return absent(self.name, why, remedy)
        devices = tuple(self._device(index, build, _as_told(gpu), gpu) for index, gpu in enumerate(found))
        return Probe(platform=self.name, devices=devices)

    def _device(self, index: int, build: TorchBuild, gpu: NvidiaGpu, found: TorchDevice | None) -> Device:
        details = {
            "torch_cuda": build.cuda,
            "uuid": gpu.uuid,
            "cuda_driver": gpu.cuda_driver,
            "power_limit_w": gpu.power_limit_w,
            "sm_count": found.processors if found else None,
            "l2_bytes": found.l2_bytes if found else None,
        }
        return Device(
            platform=self.name,
            index=index,
            name=gpu.name,
            memory_mb=gpu.memory_mb,
            driver=gpu.driver,
            capability=gpu.capability,
            details={key: value for key, value in details.items() if value is not None},
        )


def driver_loaded() -> bool:
    """Signs of NVIDIA's driver that cost nothing to look for: Linux, WSL, Windows."""
    signs = (
        Path("/dev/nvidiactl"),
        Path("/proc/driver/nvidia/version"),
        Path("/usr/lib/wsl/lib/libnvidia-ml.so.1"),
        Path(os.environ.get("SYSTEMROOT", "C:/Windows")) / "System32/nvml.dll",
    )
    return any(sign.exists() for sign in signs)


def _as_told(found: TorchDevice) -> NvidiaGpu:
    """What torch knows of a card where NVML does not answer."""
    return NvidiaGpu(
        uuid=found.uuid or "",
        name=found.name,
        memory_mb=found.memory_mb,
        capability=f"sm_{found.arch.replace('.', '')}",
        driver=None,
        cuda_driver=None,
        power_limit_w=None,
        partitioned=False,
    )


def _wrong_build(build: TorchBuild) -> str | None:
    if build.hip is not None:
        return f"the installed PyTorch {build.version} is a ROCm build, for AMD GPUs"
    if build.cuda is None:
        return f"the installed PyTorch {build.version} is built without CUDA"
    return None


def _nvml_or_none() -> Any:
    try:
        return _nvml.start()
    except Exception:  # noqa: BLE001 - NVML is a bonus in an open session
        return None


def _require_device(torch: Any, index: int) -> None:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if count == 0:
        why = " ".join(str(said[-1].message).split())[:300] if said else "it does not say why"
        raise Unsupported(f"PyTorch {torch.__version__} cannot start CUDA here: {why}", _DRIVER)
    if not 0 <= index < count:
        raise no_such_index("cuda", index, count)


def _keep_fp32_exact(torch: Any) -> None:
    """`fp32` is IEEE single precision here; TF32 keeps 10 bits of the mantissa."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer versions announce another name for the same switch
        torch.backends.cuda.matmul.allow_tf32 = False
        torch.backends.cudnn.allow_tf32 = False


MEMBER = CudaPlatform()
