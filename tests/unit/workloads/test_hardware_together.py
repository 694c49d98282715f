"""Sums over several devices, with the vendor's library faked: the host's memory stands for that of each."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Device
from modeldyno.platforms._torch_gpu import TorchGpu, TorchGpuSession
from modeldyno.workloads._hardware.place import Place
from modeldyno.workloads._hardware.probes import PROBES


class _Nccl:
    """The vendor's part of it: adds up what lies on each device."""

    def __init__(self, count: int, built: bool = True) -> None:
        self.waits: list[object] = []
        self.device_count = lambda: count
        self.nccl = SimpleNamespace(is_available=lambda tensors: built, all_reduce=self.all_reduce)

    def all_reduce(self, given: list[Any], sums: list[Any]) -> None:
        for total in sums:
            total.copy_(sum(values.to(total.device) for values in given))

    def current_stream(self, *_: object) -> Any:
        return SimpleNamespace(wait_stream=self.waits.append)

    Stream = Event = synchronize = stream = _sleep = current_stream


def several(module: _Nccl, index: int = 1) -> Place:
    import torch

    gpu = TorchGpu(torch, module, index, f"cpu:{index}")
    session = TorchGpuSession(Device(platform="p", index=index, name="n"), gpu)
    return Place(torch, session, gpu.address, torch.float32)


def test_devices_add_up_together_and_all_are_waited_for() -> None:
    module = _Nccl(3)
    place = several(module)
    assert place.session.together() == ("cpu:1", "cpu:0", "cpu:2")  # type: ignore[attr-defined]
    ready = PROBES["all-reduce"].make(place, 1)
    assert not np.array_equal(ready.outputs()["sum 2"], ready.expected["sum 2"])
    ready.step()
    assert len(module.waits) == 2
    for name, expected in ready.expected.items():
        np.testing.assert_allclose(ready.outputs()[name], expected, rtol=1e-5)
    assert len(ready.expected) == ready.details["devices"] == 3
    assert ready.work == {"moved_gb": 2 * 2 / 3 * 2**20 / 1e9}


def test_one_device_or_a_build_without_sums_is_unsupported() -> None:
    for module, words in ((_Nccl(1), "no other device"), (_Nccl(2, built=False), "no NCCL")):
        with pytest.raises(Unsupported, match=words):
            PROBES["all-reduce"].make(several(module, 0), 1)
