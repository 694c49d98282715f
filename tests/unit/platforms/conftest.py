"""Puts the fakes of the vendors' interfaces where `import` finds them."""

import json
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest
from vendor_fakes import ON_DISK, FakeGpuModule, FakeTensor, Timeline, fake_amdsmi, fake_nvml

from modeldyno.platforms import _guarded_stopwatch


@pytest.fixture
def timeline(monkeypatch):
    line = Timeline()
    monkeypatch.setattr(_guarded_stopwatch, "perf_counter_ns", line.stamp)
    return line


@pytest.fixture
def install_torch(monkeypatch, tmp_path, timeline):
    """A torch built for `cuda` or `hip` that sees `cards`, both in this process and in a child's."""

    def install(cuda=None, hip=None, cards=(), memory=None):
        for name in [name for name in sys.modules if name.split(".")[0] == "torch"]:
            monkeypatch.delitem(sys.modules, name)
        folder = tmp_path / "torch"
        folder.mkdir(exist_ok=True)
        (folder / "__init__.py").write_text(ON_DISK)
        (folder / "cards.json").write_text(json.dumps(list(cards)))
        (folder / "version.py").write_text(f"__version__ = '2.11.0'\ncuda: str = {cuda!r}\nhip: str = {hip!r}\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        torch = ModuleType("torch")
        torch.__spec__ = ModuleSpec("torch", None, origin=str(folder / "__init__.py"))
        torch.__version__ = "2.11.0"
        torch.uint8 = "uint8"
        torch.sizes = []
        torch.empty = lambda size, dtype, device: torch.sizes.append(size) or FakeTensor(timeline, size)
        torch.cuda = FakeGpuModule(timeline, list(cards), memory or {"now": 0, "allocated": 0, "reserved": 0})
        torch.backends = SimpleNamespace(
            cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=True)), cudnn=SimpleNamespace(allow_tf32=True)
        )
        monkeypatch.setitem(sys.modules, "torch", torch)
        return torch

    return install


@pytest.fixture
def no_torch(monkeypatch):
    monkeypatch.setattr("modeldyno.platforms._torch_build.importlib.util.find_spec", lambda name: None)


@pytest.fixture
def install_nvml(monkeypatch):
    def install(*cards):
        nvml = fake_nvml(cards)
        monkeypatch.setitem(sys.modules, "pynvml", nvml)
        return nvml

    return install


@pytest.fixture
def install_amdsmi(monkeypatch):
    def install(**answers):
        smi = fake_amdsmi(answers)
        monkeypatch.setitem(sys.modules, "amdsmi", smi)
        return smi

    return install
