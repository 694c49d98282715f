"""Fakes of the vendors' interfaces: a torch whose GPU is a simulated queue, pynvml and amdsmi with given cards."""

from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

LAUNCH_NS = 5_000
MIB = 2**20


class Timeline:
    """A host that launches and a device that works through a queue, in simulated nanoseconds."""

    def __init__(self):
        self.now = 1_000_000
        self.free_at = 0
        self.log = []

    def launch(self, name, duration_ns):
        self.log.append(name)
        self.now += LAUNCH_NS
        self.free_at = max(self.now, self.free_at) + duration_ns

    def mark(self, name):
        self.log.append(name)
        return max(self.now, self.free_at)

    def synchronize(self, *_):
        self.log.append("synchronize")
        self.now = max(self.now, self.free_at)

    def stamp(self):
        self.log.append("stamp")
        return self.now

    def step(self, kernels=10, kernel_ns=2_000):
        def run():
            for _ in range(kernels):
                self.launch("kernel", kernel_ns)

        return run


class FakeTensor:
    def __init__(self, timeline, size):
        self.timeline = timeline
        self.size = size

    def zero_(self):
        self.timeline.launch("flush", 40_000)


def event_class(timeline):
    class Event:
        def __init__(self, enable_timing=False):
            assert enable_timing

        def record(self):
            self.at = timeline.mark("event")

        def query(self):
            return timeline.now >= self.at

        def elapsed_time(self, end):
            return (end.at - self.at) / 1e6

    return Event


class FakeGpuModule:
    """torch.cuda, as a CUDA or a HIP build offers it."""

    def __init__(self, timeline, cards, memory):
        self.timeline, self.cards, self.memory = timeline, cards, memory
        self.Event = event_class(timeline)
        self.synchronize = timeline.synchronize

    def is_available(self):
        return bool(self.cards)

    def device_count(self):
        return len(self.cards)

    def get_device_properties(self, index):
        return SimpleNamespace(**self.cards[index])

    def set_device(self, index):
        self.timeline.log.append(f"set_device {index}")

    def Stream(self, index):
        return SimpleNamespace(cuda_stream=4096 + index)

    @contextmanager
    def stream(self, stream):
        yield stream

    def _sleep(self, cycles):
        self.timeline.launch("guard", cycles // 2)

    def empty_cache(self):
        self.timeline.log.append("empty_cache")

    def reset_peak_memory_stats(self, index):
        self.timeline.log.append("reset_peak")

    def memory_allocated(self, index):
        return self.memory["now"]

    def max_memory_allocated(self, index):
        return self.memory["allocated"]

    def max_memory_reserved(self, index):
        return self.memory["reserved"]


CARD = {
    "name": "NVIDIA H200",
    "total_memory": 140_000 * MIB,
    "major": 9,
    "minor": 0,
    "uuid": "aaaa-0",
    "multi_processor_count": 132,
    "L2_cache_size": 60 * MIB,
    "gcnArchName": "",
}
AMD_CARD = CARD | {"name": "AMD Instinct MI300X", "gcnArchName": "gfx942:sramecc+:xnack-", "pci_bus_id": 0xC1}

ON_DISK = """
import json, pathlib
from types import SimpleNamespace
class cuda:
    cards = json.loads(pathlib.Path(__file__).with_name("cards.json").read_text())
    is_available = classmethod(lambda cls: bool(cls.cards))
    device_count = classmethod(lambda cls: len(cls.cards))
    get_device_properties = classmethod(lambda cls, index: SimpleNamespace(**cls.cards[index]))
"""


class NvmlCard:
    """What NVML would say of one card; a missing answer raises as the library does."""

    def __init__(self, uuid="GPU-aaaa-0", name="NVIDIA H200", **answers):
        self.uuid, self.name = uuid, name
        self.answers = {
            "MemoryInfo": SimpleNamespace(total=143_771 * MIB),
            "CudaComputeCapability": (9, 0),
            "EnforcedPowerLimit": 700_000,
            "PowerUsage": 350_500,
            "TotalEnergyConsumption": 5_000_000,
            "Temperature": 41,
            "ClockInfo": 1980,
            "DefaultApplicationsClock": 1980,
            "CurrentClocksEventReasons": 0,
            "ComputeRunningProcesses": [],
        } | answers


def fake_nvml(cards):
    """pynvml with these cards; `sessions` counts inits less shutdowns."""
    nvml = ModuleType("pynvml")
    nvml.NVMLError = type("NVMLError", (Exception,), {})
    nvml.sessions = 0

    def count(change):
        nvml.sessions += change

    def by_uuid(uuid):
        match = [card for card in cards if card.uuid == uuid]
        if not match:
            raise nvml.NVMLError("Not Found")
        return match[0]

    nvml.nvmlInit = lambda: count(1)
    nvml.nvmlShutdown = lambda: count(-1)
    nvml.nvmlDeviceGetCount = lambda: len(cards)
    nvml.nvmlDeviceGetHandleByIndex = lambda index: cards[index]
    nvml.nvmlDeviceGetHandleByUUID = by_uuid
    nvml.nvmlDeviceGetUUID = lambda card: card.uuid.encode()
    nvml.nvmlDeviceGetName = lambda card: card.name
    nvml.nvmlSystemGetDriverVersion = lambda: "580.95.05"
    nvml.nvmlSystemGetCudaDriverVersion = lambda: 13000
    for key in [*NvmlCard().answers, "MigMode", "MaxClockInfo", "CurrentClocksThrottleReasons"]:
        setattr(nvml, f"nvmlDeviceGet{key}", _nvml_reader(nvml, key))
    return nvml


def _nvml_reader(nvml, key):
    def read(card, *_):
        if card.answers.get(key) is None:
            raise nvml.NVMLError("Not Supported")
        return card.answers[key]

    return read


def fake_amdsmi(answers):
    """amdsmi with one MI300X, and `N/A` for what it does not know."""
    smi = ModuleType("amdsmi")
    smi.AmdSmiException = type("AmdSmiException", (Exception,), {})
    smi.AmdSmiTemperatureType = SimpleNamespace(EDGE=0, HOTSPOT=1)
    smi.AmdSmiTemperatureMetric = SimpleNamespace(CURRENT=0)
    smi.AmdSmiClkType = SimpleNamespace(GFX=0)
    smi.amdsmi_init = lambda: None
    smi.amdsmi_shut_down = lambda: None
    smi.amdsmi_get_processor_handles = lambda: ["card"]
    found = {
        "gpu_asic_info": {"market_name": "AMD Instinct MI300X"},
        "gpu_driver_info": {"driver_version": "6.12.12"},
        "gpu_device_bdf": "0000:c1:00.0",
        "power_info": {"current_socket_power": 500, "average_socket_power": "N/A", "power_limit": 750},
        "energy_count": {"energy_accumulator": 2_000_000, "counter_resolution": 15.3, "timestamp": 1},
        "temp_metric": 55,
        "clock_info": {"clk": 2100, "max_clk": 2100},
        "gpu_metrics_info": {"throttle_status": 0},
        "gpu_process_list": [],
    } | answers

    def reader(answer):
        def read(*_):
            if answer is None:
                raise smi.AmdSmiException("not supported")
            return answer

        return read

    for name, answer in found.items():
        setattr(smi, f"amdsmi_get_{name}", reader(answer))
    return smi
