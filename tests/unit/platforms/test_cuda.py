import os
import sys
from types import SimpleNamespace

import pytest
from vendor_fakes import CARD, MIB, NvmlCard

from modeldyno.core.errors import Unsupported
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Passport, Verdict
from modeldyno.platforms import cuda, rocm
from modeldyno.platforms._cuda_visible import visible
from modeldyno.platforms._nvml import NvidiaGpu


@pytest.fixture(autouse=True)
def driver(monkeypatch):
    monkeypatch.setattr(cuda, "driver_loaded", lambda: True)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)


@pytest.fixture
def h200(install_torch, install_nvml):
    """One card that answers; returns what can be changed about it."""
    card = NvmlCard()
    memory = {"now": 0, "allocated": 0, "reserved": 0}
    torch = install_torch(cuda="12.8", cards=[CARD], memory=memory)
    return SimpleNamespace(card=card, nvml=install_nvml(card), torch=torch, memory=memory)


class TestProbe:
    def test_a_card_and_a_cuda_build(self, h200):
        (device,) = cuda.MEMBER.probe().devices
        assert (device.name, device.driver, device.capability) == ("NVIDIA H200", "580.95.05", "sm_90")
        assert device.memory_mb == 143_771
        assert device.details == {
            "torch_cuda": "12.8", "uuid": "GPU-aaaa-0", "cuda_driver": "13.0", "power_limit_w": 700.0,
        }  # fmt: skip
        assert h200.nvml.sessions == 0

    def test_a_hip_build_is_never_cuda(self, install_torch, install_nvml):
        install_nvml(NvmlCard())
        install_torch(hip="6.4", cards=[CARD])
        probe = cuda.MEMBER.probe()
        assert not probe.present
        assert "NVIDIA H200" in probe.reason
        assert "ROCm build" in probe.reason
        with pytest.raises(Unsupported, match="ROCm build"):
            cuda.MEMBER.open(0)

    def test_a_cuda_build_is_never_rocm(self, h200, monkeypatch):
        monkeypatch.setattr(rocm, "driver_loaded", lambda: True)
        probe = rocm.MEMBER.probe()
        assert not probe.present
        assert "built for CUDA 12.8" in probe.reason

    def test_a_processor_build_names_the_card(self, install_torch, install_nvml):
        install_nvml(NvmlCard())
        install_torch()
        probe = cuda.MEMBER.probe()
        assert "NVIDIA H200 is here, but the installed PyTorch 2.11.0 is built without CUDA" in probe.reason
        assert "install a CUDA build" in probe.remedy

    def test_no_torch_names_the_card(self, install_nvml, no_torch):
        install_nvml(NvmlCard())
        probe = cuda.MEMBER.probe()
        assert "NVIDIA H200 is here, but PyTorch is not installed" in probe.reason
        assert probe.remedy == "pip install 'modeldyno[cuda]'"

    def test_without_pynvml_torch_answers(self, install_torch, monkeypatch):
        monkeypatch.setitem(sys.modules, "pynvml", None)
        install_torch(cuda="12.8", cards=[CARD, CARD])
        first, second = cuda.MEMBER.probe().devices
        assert (first.name, first.capability, first.memory_mb) == ("NVIDIA H200", "sm_90", 140_000)
        assert second.index == 1

    def test_without_pynvml_and_torch_the_remedy_installs_both(self, no_torch, monkeypatch):
        monkeypatch.setitem(sys.modules, "pynvml", None)
        probe = cuda.MEMBER.probe()
        assert "pynvml" in probe.reason
        assert probe.remedy == "pip install 'modeldyno[cuda]'"

    def test_a_driver_that_does_not_answer(self, install_torch, install_nvml):
        nvml = install_nvml()

        def fail():
            raise nvml.NVMLError("Driver/library version mismatch")

        nvml.nvmlInit = fail
        install_torch(cuda="12.8", cards=[])
        probe = cuda.MEMBER.probe()
        assert "version mismatch" in probe.reason
        assert "nvidia-smi" in probe.remedy

    def test_a_driver_without_a_card(self, install_torch, install_nvml):
        install_nvml()
        install_torch(cuda="12.8")
        assert "lists no GPU" in cuda.MEMBER.probe().reason

    def test_a_broken_library_becomes_a_reason(self, install_nvml):
        install_nvml(NvmlCard()).nvmlDeviceGetCount = lambda: 1 / 0
        assert "ZeroDivisionError" in cuda.MEMBER.probe().reason

    def test_no_driver(self, monkeypatch):
        monkeypatch.setattr(cuda, "driver_loaded", lambda: False)
        assert "no NVIDIA GPU here" in cuda.MEMBER.probe().reason
        monkeypatch.setattr(cuda._pci, "cards", lambda vendor: ("0000:01:00.0",))
        assert "0000:01:00.0" in cuda.MEMBER.probe().reason


def gpu(uuid, name="A", partitioned=False):
    return NvidiaGpu(uuid, name, None, None, None, None, None, partitioned)


class TestVisible:
    cards = (gpu("GPU-a0"), gpu("GPU-b1"), gpu("GPU-c2"))

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            (None, ["GPU-a0", "GPU-b1", "GPU-c2"]),
            ("2,0", ["GPU-c2", "GPU-a0"]),
            ("GPU-b", ["GPU-b1"]),
            ("1,-1,2", ["GPU-b1"]),
            ("1,7,2", ["GPU-b1"]),
            ("", []),
            ("-1", []),
            ("1,1", []),
        ],
    )
    def test_rules_of_cuda(self, value, expected):
        environment = {} if value is None else {"CUDA_VISIBLE_DEVICES": value}
        assert [card.uuid for card in visible(self.cards, environment)] == expected

    def test_only_cuda_knows_the_order_of_unlike_cards(self):
        mixed = (gpu("GPU-a0", "slow"), gpu("GPU-b1", "fast"))
        assert visible(mixed, {}) is None
        assert visible(mixed, {"CUDA_VISIBLE_DEVICES": "0"}) is None
        assert visible(mixed, {"CUDA_DEVICE_ORDER": "PCI_BUS_ID"}) == list(mixed)
        assert visible(mixed, {"CUDA_VISIBLE_DEVICES": "GPU-b1"}) == [mixed[1]]

    def test_only_cuda_knows_the_parts_of_a_card(self):
        assert visible((gpu("GPU-a0", partitioned=True),), {}) is None
        assert visible(self.cards, {"CUDA_VISIBLE_DEVICES": "MIG-1234"}) is None

    def test_hidden_cards_are_absent_with_the_reason(self, h200, monkeypatch):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
        probe = cuda.MEMBER.probe()
        assert "CUDA_VISIBLE_DEVICES='' hides it" in probe.reason
        assert probe.remedy == "unset CUDA_VISIBLE_DEVICES"

    def test_unlike_cards_are_asked_of_torch_in_a_child(self, install_torch, install_nvml):
        install_nvml(NvmlCard("GPU-a0", "slow"), NvmlCard("GPU-b1", "fast"))
        install_torch(cuda="12.8", cards=[CARD | {"name": "fast"}, CARD | {"name": "slow"}])
        assert [device.name for device in cuda.MEMBER.probe().devices] == ["fast", "slow"]

    def test_a_session_reads_the_counters_of_its_own_card(self, install_torch, install_nvml, monkeypatch):
        """torch's index 0 is NVML's index 1 here."""
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
        install_nvml(
            NvmlCard("GPU-a0", TotalEnergyConsumption=111_000), NvmlCard("GPU-b1", TotalEnergyConsumption=222_000)
        )
        install_torch(cuda="12.8", cards=[CARD | {"uuid": "b1"}])
        session = cuda.MEMBER.open(0)
        assert session.energy().joules == 222
        assert session.device.details["uuid"] == "GPU-b1"
        assert session.device == cuda.MEMBER.probe().devices[0].model_copy(update={"details": session.device.details})


class TestSession:
    def test_open_makes_fp32_exact_and_takes_the_device(self, h200, timeline):
        session = cuda.MEMBER.open(0)
        assert h200.torch.backends.cuda.matmul.allow_tf32 is False
        assert h200.torch.backends.cudnn.allow_tf32 is False
        assert timeline.log == ["set_device 0", "synchronize"]
        assert session.torch_device() == "cuda:0"
        provider, options = session.ort_provider()
        assert provider == "CUDAExecutionProvider"
        assert options == {"device_id": "0", "user_compute_stream": "4096", "use_tf32": "0"}
        assert session.device.details["sm_count"] == 132

    @pytest.mark.parametrize("index", [1, -1])
    def test_no_such_device(self, h200, index):
        with pytest.raises(Unsupported, match=f"no device cuda:{index} here; choose one of cuda:0"):
            cuda.MEMBER.open(index)

    def test_torch_that_cannot_start(self, install_torch, install_nvml):
        install_nvml(NvmlCard())
        install_torch(cuda="12.8", cards=[])
        with pytest.raises(Unsupported, match="cannot start CUDA"):
            cuda.MEMBER.open(0)

    def test_times_the_device_and_flushes_at_least_the_cache(self, h200, timeline):
        session = cuda.MEMBER.open(0)
        assert session.device_lap(timeline.step(), cold=False).device_ns == 20_000
        assert h200.torch.sizes == []
        assert session.device_lap(timeline.step(), cold=True).device_ns == 20_000
        assert h200.torch.sizes[0] >= 60 * MIB

    def test_memory(self, h200, timeline):
        h200.card.answers["ComputeRunningProcesses"] = [SimpleNamespace(pid=os.getpid(), usedGpuMemory=900 * MIB)]
        session = cuda.MEMBER.open(0)
        session.device_lap(timeline.step(), cold=True)
        meter = session.memory_meter()
        timeline.log.clear()
        meter.reset()
        assert timeline.log == ["synchronize", "empty_cache", "reset_peak"]
        h200.memory.update(now=100 * MIB, allocated=300 * MIB, reserved=420 * MIB)
        assert meter.sample() == 100
        metrics = meter.metrics()
        assert {name: metric.value for name, metric in metrics.items()} == {
            "memory_peak_mb": 300,
            "memory_reserved_mb": 420,
            "memory_fragmentation_mb": 120,
            "memory_process_mb": 900,
        }
        assert set(metrics) <= set(METRICS)

    def test_memory_of_another_allocator_is_the_drivers_figure(self, h200):
        h200.card.answers["ComputeRunningProcesses"] = [SimpleNamespace(pid=os.getpid(), usedGpuMemory=900 * MIB)]
        meter = cuda.MEMBER.open(0).memory_meter()
        meter.reset()
        assert meter.sample() == 900
        assert meter.metrics()["memory_peak_mb"].value == 900
        h200.card.answers["ComputeRunningProcesses"] = [SimpleNamespace(pid=os.getpid(), usedGpuMemory=None)]
        meter.reset()
        assert meter.metrics()["memory_peak_mb"].value is None

    def test_energy_is_the_counter_in_joules(self, h200):
        session = cuda.MEMBER.open(0)
        assert (session.energy().joules, session.energy().source) == (5000, "counter")
        h200.card.answers["TotalEnergyConsumption"] = None
        assert session.energy() is None

    def test_state(self, h200):
        state = cuda.MEMBER.open(0).state()
        assert state == {
            "clock_mhz": 1980,
            "default_clock_mhz": 1980,
            "temperature_c": 41,
            "power_w": 350.5,
            "throttle_reasons": "none",
            "foreign_processes": 0,
            "unguarded_laps": 0,
        }

    def test_default_clock_of_a_driver_without_application_clocks(self, h200):
        h200.card.answers |= {"DefaultApplicationsClock": None, "MaxClockInfo": 2000}
        assert cuda.MEMBER.open(0).state()["default_clock_mhz"] == 2000

    def test_works_without_nvml(self, install_torch, monkeypatch, timeline):
        monkeypatch.setitem(sys.modules, "pynvml", None)
        install_torch(cuda="12.8", cards=[CARD])
        session = cuda.MEMBER.open(0)
        assert session.energy() is None
        assert session.state() == {}
        assert session.device_lap(timeline.step(), cold=False).device_ns == 20_000

    def test_closes_nvml_once(self, h200):
        session = cuda.MEMBER.open(0)
        assert h200.nvml.sessions == 1
        session.close()
        session.close()
        assert h200.nvml.sessions == 0


def judged(session, work=lambda: None):
    before = session.state()
    work()
    return {check.name: check for check in session.checks(before, session.state())}


class TestChecks:
    def test_a_quiet_card_is_valid(self, h200, timeline):
        session = cuda.MEMBER.open(0)
        checks = judged(session, lambda: session.device_lap(timeline.step(), cold=False))
        assert Passport.of(tuple(checks.values())).verdict is Verdict.VALID
        assert checks["device_clock_mhz"].value == 1980

    def test_a_clock_below_three_quarters_is_invalid(self, h200, timeline):
        session = cuda.MEMBER.open(0)
        h200.card.answers["ClockInfo"] = 1480
        check = judged(session, lambda: session.device_lap(timeline.step(), cold=False))["device_clock_mhz"]
        assert check.verdict is Verdict.INVALID
        assert check.limit == 1485
        assert "throttled" in check.advice

    def test_slow_in_less_than_half_of_the_readings_is_ambiguous(self, h200, timeline):
        session = cuda.MEMBER.open(0)

        def work():
            for clock in (1980, 1000, 1980):
                h200.card.answers["ClockInfo"] = clock
                session.device_lap(timeline.step(), cold=False)

        assert judged(session, work)["device_clock_mhz"].verdict is Verdict.AMBIGUOUS

    def test_an_idle_card_clocks_down_without_being_throttled(self, h200):
        h200.card.answers |= {"ClockInfo": 345, "CurrentClocksEventReasons": 0x1}
        checks = judged(cuda.MEMBER.open(0))
        assert "device_clock_mhz" not in checks
        assert checks["device_throttle_reasons"].verdict is Verdict.VALID

    def test_a_slow_card_that_is_not_idle_is_throttled(self, h200):
        h200.card.answers |= {"ClockInfo": 345, "CurrentClocksEventReasons": 0x40}
        checks = judged(cuda.MEMBER.open(0))
        assert checks["device_clock_mhz"].verdict is Verdict.INVALID
        assert checks["device_throttle_reasons"].value == "hw_thermal_slowdown"

    def test_a_power_cap_seen_under_load_is_ambiguous(self, h200, timeline):
        session = cuda.MEMBER.open(0)

        def work():
            h200.card.answers["CurrentClocksEventReasons"] = 0x4
            session.device_lap(timeline.step(), cold=False)
            h200.card.answers["CurrentClocksEventReasons"] = 0x1

        check = judged(session, work)["device_throttle_reasons"]
        assert (check.value, check.verdict) == ("sw_power_cap", Verdict.AMBIGUOUS)

    def test_old_bindings_say_throttle_reasons(self, h200):
        h200.card.answers |= {"CurrentClocksEventReasons": None, "CurrentClocksThrottleReasons": 0x20}
        assert judged(cuda.MEMBER.open(0))["device_throttle_reasons"].value == "sw_thermal_slowdown"

    @pytest.mark.parametrize(("pids", "foreign"), [([], 0), (["me"], 0), (["me", 1], 1), ([77], 0), ([77, 78], 1)])
    def test_foreign_processes(self, h200, pids, foreign):
        """Where our own id is not listed, the list is the host's and one of the strangers is this process."""
        own = [os.getpid() if pid == "me" else pid for pid in pids]
        h200.card.answers["ComputeRunningProcesses"] = [SimpleNamespace(pid=p, usedGpuMemory=1) for p in own]
        check = judged(cuda.MEMBER.open(0))["device_foreign_processes"]
        assert check.value == foreign
        assert check.verdict is (Verdict.AMBIGUOUS if foreign else Verdict.VALID)

    def test_laps_without_device_time_are_told(self, h200, timeline):
        session = cuda.MEMBER.open(0)
        check = judged(session, lambda: session.device_lap(timeline.synchronize, cold=False))["device_unguarded_laps"]
        assert check.value == 1
