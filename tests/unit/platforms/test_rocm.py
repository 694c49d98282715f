import os
import sys

import pytest
from vendor_fakes import AMD_CARD, MIB

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Verdict
from modeldyno.platforms import cuda, rocm


@pytest.fixture(autouse=True)
def driver(monkeypatch):
    monkeypatch.setattr(rocm, "driver_loaded", lambda: True)


@pytest.fixture
def mi300(install_torch, install_amdsmi):
    smi = install_amdsmi()
    install_torch(hip="6.4.43", cards=[AMD_CARD], memory={"now": MIB, "allocated": 2 * MIB, "reserved": 4 * MIB})
    return smi


def test_a_hip_build_is_rocm_and_never_cuda(mi300, monkeypatch):
    monkeypatch.setattr(cuda, "driver_loaded", lambda: True)
    (device,) = rocm.MEMBER.probe().devices
    assert (device.platform, device.name, device.capability) == ("rocm", "AMD Instinct MI300X", "gfx942")
    assert device.driver == "6.12.12"
    assert device.details["torch_hip"] == "6.4.43"
    assert device.details["bdf"] == "0000:c1:00.0"
    monkeypatch.setitem(sys.modules, "pynvml", None)
    assert "ROCm build" in cuda.MEMBER.probe().reason


@pytest.mark.parametrize(("build", "words"), [({"cuda": "12.8"}, "CUDA 12.8"), ({}, "the processor only")])
def test_another_build_is_never_rocm(install_torch, install_amdsmi, build, words):
    install_amdsmi()
    install_torch(**build, cards=[AMD_CARD])
    probe = rocm.MEMBER.probe()
    assert not probe.present
    assert f"AMD Instinct MI300X is here, but the installed PyTorch 2.11.0 is built for {words}" in probe.reason
    with pytest.raises(Unsupported, match="built for"):
        rocm.MEMBER.open(0)


def test_no_torch(install_amdsmi, no_torch):
    install_amdsmi()
    assert "PyTorch is not installed" in rocm.MEMBER.probe().reason


def test_torch_that_sees_nothing(install_torch, monkeypatch):
    monkeypatch.setitem(sys.modules, "amdsmi", None)
    install_torch(hip="6.4", cards=[])
    probe = rocm.MEMBER.probe()
    assert "an AMD GPU is here, but PyTorch 2.11.0 sees no ROCm device" in probe.reason
    with pytest.raises(Unsupported, match="sees no ROCm device"):
        rocm.MEMBER.open(0)


def test_no_driver(monkeypatch):
    monkeypatch.setattr(rocm, "driver_loaded", lambda: False)
    assert "no AMD GPU here" in rocm.MEMBER.probe().reason
    monkeypatch.setattr(rocm._pci, "cards", lambda vendor: ("0000:c1:00.0",))
    assert "there is no /dev/kfd" in rocm.MEMBER.probe().reason


def test_session(mi300, timeline):
    session = rocm.MEMBER.open(0)
    assert session.torch_device() == "cuda:0"
    assert session.device == rocm.MEMBER.probe().devices[0]
    assert session.device_lap(timeline.step(), cold=True).device_ns == 20_000
    assert session.memory_meter().metrics()["memory_fragmentation_mb"].value == 2
    session.close()
    session.close()


def test_energy_is_counts_times_resolution(mi300):
    session = rocm.MEMBER.open(0)
    assert session.energy().joules == pytest.approx(30.6)
    assert session.energy().source == "counter"


def test_energy_of_older_versions_and_of_cards_without(install_torch, install_amdsmi):
    install_torch(hip="6.4", cards=[AMD_CARD])
    install_amdsmi(energy_count={"power": 1_000_000, "counter_resolution": 15.3})
    assert rocm.MEMBER.open(0).energy().joules == pytest.approx(15.3)
    install_amdsmi(energy_count=None)
    assert rocm.MEMBER.open(0).energy() is None


def test_state_and_checks(install_torch, install_amdsmi, timeline):
    install_torch(hip="6.4", cards=[AMD_CARD])
    install_amdsmi(
        clock_info={"cur_clk": 900, "max_clk": 2100},
        gpu_metrics_info={"throttle_status": 8},
        gpu_process_list=[{"pid": os.getpid(), "memory_usage": {"vram_mem": 64 * MIB}}, {"pid": 1}],
        power_info={"current_socket_power": "N/A", "average_socket_power": 480, "power_limit": 750_000_000},
    )
    session = rocm.MEMBER.open(0)
    before = session.state()
    assert before["power_w"] == 480
    assert before["temperature_c"] == 55
    assert session.device.details["power_limit_w"] == 750
    assert "device_clock_mhz" not in {check.name for check in session.checks(before, before)}
    session.device_lap(timeline.step(), cold=False)
    checks = {check.name: check for check in session.checks(before, session.state())}
    assert checks["device_clock_mhz"].verdict is Verdict.INVALID
    assert checks["device_throttle_reasons"].verdict is Verdict.AMBIGUOUS
    assert checks["device_foreign_processes"].value == 1
    assert session.process_mb() == 64


def test_cards_are_matched_by_bus(install_torch, install_amdsmi):
    """torch shows a card that amdsmi does not list: no counters rather than another card's."""
    install_amdsmi()
    install_torch(hip="6.4", cards=[AMD_CARD | {"pci_bus_id": 0x11}])
    assert rocm.MEMBER.open(0).energy() is None
