import sys
from types import ModuleType, SimpleNamespace

import pytest

from modeldyno.core.protocols import CountsEnergy, ReportsState
from modeldyno.platforms import openvino


@pytest.fixture
def install_openvino(monkeypatch):
    """OpenVINO with these devices, each a dict of its properties."""

    def install(devices):
        def get_property(device, name):
            if name not in devices[device]:
                raise RuntimeError(f"Cannot get unsupported property: {name}")
            return devices[device][name]

        core = SimpleNamespace(
            available_devices=list(devices),
            get_property=get_property,
            get_versions=lambda device: {device: SimpleNamespace(build_number="2026.4")},
        )
        module = ModuleType("openvino")
        module.Core = lambda: core
        monkeypatch.setattr(openvino.importlib.util, "find_spec", lambda name: object())
        monkeypatch.setitem(sys.modules, "openvino", module)
        return module

    return install


THREE = {
    "CPU": {"FULL_DEVICE_NAME": "Xeon", "OPTIMIZATION_CAPABILITIES": ["FP32", "BF16"]},
    "GPU": {"FULL_DEVICE_NAME": "Arc", "GPU_DEVICE_TOTAL_MEM_SIZE": 16 * 2**30},
    "NPU": {"FULL_DEVICE_NAME": "AI Boost", "NPU_DRIVER_VERSION": 1688},
}


def test_one_device_per_openvino_device(install_openvino):
    install_openvino(THREE)
    cpu, gpu, npu = openvino.MEMBER.probe().devices
    assert (cpu.name, cpu.capability, cpu.details["ov_device"]) == ("Xeon", "BF16 FP32", "CPU")
    assert cpu.details["logical_cores"] >= 1
    assert (gpu.memory_mb, gpu.driver, gpu.details) == (16384, None, {"ov_device": "GPU", "plugin": "2026.4"})
    assert npu.driver == "1688"


def test_only_the_processor_has_the_hosts_counters(install_openvino):
    install_openvino(THREE)
    cpu, gpu = openvino.MEMBER.open(0), openvino.MEMBER.open(1)
    assert isinstance(cpu, CountsEnergy)
    assert isinstance(cpu, ReportsState)
    assert not isinstance(gpu, CountsEnergy)
    assert not isinstance(gpu, ReportsState)
    assert gpu.openvino_device() == "GPU"
    assert gpu.ort_provider() == ("OpenVINOExecutionProvider", {"device_type": "GPU"})


def test_not_installed(monkeypatch):
    monkeypatch.setattr(openvino.importlib.util, "find_spec", lambda name: None)
    probe = openvino.MEMBER.probe()
    assert (probe.reason, probe.remedy) == ("OpenVINO is not installed", "pip install 'modeldyno[openvino]'")


def test_broken(install_openvino):
    def fail():
        raise RuntimeError("cannot\nload plug-ins")

    install_openvino({}).Core = fail
    assert "does not start: RuntimeError: cannot load plug-ins" in openvino.MEMBER.probe().reason


def test_no_devices(install_openvino):
    install_openvino({})
    assert "finds no device" in openvino.MEMBER.probe().reason
