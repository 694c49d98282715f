from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from vendor_fakes import MIB, FakeTensor, event_class

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case, Precision
from modeldyno.platforms import mps
from modeldyno.runtimes.torch import TorchRuntime
from modeldyno.workloads._placement import proven


@pytest.fixture
def mac(monkeypatch):
    monkeypatch.setattr(mps.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(mps.platform, "machine", lambda: "arm64")
    monkeypatch.setattr(mps.platform, "mac_ver", lambda: ("15.1", ("", "", ""), "arm64"))


@pytest.fixture
def torch(install_torch, timeline, mac):
    torch = install_torch()
    torch.backends.mps = SimpleNamespace(is_available=lambda: True)
    torch.ones = lambda *size, device: FakeTensor(timeline, size)
    torch.mm = lambda left, right: timeline.launch("guard", 300_000)
    torch.memory = {"current": 0, "driver": 0}
    torch.mps = SimpleNamespace(
        synchronize=timeline.synchronize,
        empty_cache=lambda: None,
        event=SimpleNamespace(Event=event_class(timeline)),
        current_allocated_memory=lambda: torch.memory["current"],
        driver_allocated_memory=lambda: torch.memory["driver"],
    )
    return torch


def case(precision, runtime="torch"):
    return Case(model="m", platform="mps", runtime=runtime, precision=precision)


def test_absent_elsewhere():
    probe = mps.MEMBER.probe()
    assert "needs a Mac with Apple silicon" in probe.reason


def test_a_mac_without_torch(mac, no_torch):
    assert "PyTorch is not installed" in mps.MEMBER.probe().reason


def test_a_mac(torch):
    (device,) = mps.MEMBER.probe().devices
    assert device.name.endswith(" GPU")
    assert device.driver == "macOS 15.1"


def test_synchronises_before_both_stamps(torch, timeline):
    session = mps.MEMBER.open(0)
    timeline.log.clear()
    session.lap(timeline.step(kernels=1), 2)
    assert timeline.log == ["synchronize", "stamp", "kernel", "synchronize", "kernel", "synchronize", "stamp"]


@pytest.mark.parametrize("cold", [False, True])
def test_device_time(torch, timeline, cold):
    session = mps.MEMBER.open(0)
    assert session.device_lap(timeline.step(), cold).device_ns == 20_000
    session.close()


def test_memory_peaks_are_those_of_the_samples(torch):
    meter = mps.MEMBER.open(0).memory_meter()
    meter.reset()
    torch.memory.update(current=30 * MIB, driver=50 * MIB)
    assert meter.sample() == 30
    torch.memory.update(current=10 * MIB)
    metrics = meter.metrics()
    assert metrics["memory_peak_mb"].value == 30
    assert metrics["memory_fragmentation_mb"].value == 20
    assert metrics["memory_peak_mb"].note == "sampled"


def test_metal_that_does_not_start(torch):
    torch.backends.mps.is_available = lambda: False
    with pytest.raises(Unsupported, match="cannot start Metal"):
        mps.MEMBER.open(0)


class OnMetal:
    """A tensor, a module and its source in one, on the only device that Metal has."""

    device, dtype, info = "mps:0", "torch.float16", SimpleNamespace(fingerprint="f")

    def torch_model(self):
        return self

    def inputs(self):
        return {}

    def to(self, device, dtype):
        return self

    def parameters(self):
        return iter([self])

    def flatten(self):
        return self

    def __getitem__(self, _):
        return self

    def cpu(self):
        return self

    def __call__(self):
        return {"logits": self}


def test_what_was_asked_for_is_said_as_a_tensor_says_it(torch):
    torch.empty = lambda size, device: OnMetal()
    torch.float16 = OnMetal.dtype
    torch.inference_mode = nullcontext
    torch.get_num_threads = lambda: 1
    loaded = TorchRuntime().load(OnMetal(), mps.MEMBER.open(0), case(Precision.FP16))
    assert proven(loaded.placement(), Precision.FP16).device == "mps:0"


def test_refusals(monkeypatch, mac):
    assert mps.MEMBER.refuses(case(Precision.FP16)) is None
    assert mps.MEMBER.refuses(case(Precision.BF16)) is None
    assert "int8" in mps.MEMBER.refuses(case(Precision.INT8))
    monkeypatch.setattr(mps.platform, "mac_ver", lambda: ("13.6", ("", "", ""), "arm64"))
    assert "macOS 14" in mps.MEMBER.refuses(case(Precision.BF16))
    assert "onnxruntime cannot drive mps" in mps.MEMBER.refuses(case(Precision.FP32, "onnxruntime"))
