"""What the hardware workload measures in place of models: each probe does one thing only, in a known amount."""

from __future__ import annotations

from modeldyno.workloads._hardware.between import all_reduce, from_device, to_device
from modeldyno.workloads._hardware.compute import launch, matmul
from modeldyno.workloads._hardware.memory import copy, read, write
from modeldyno.workloads._hardware.place import HardwareProbe

PROBES: dict[str, HardwareProbe] = {
    "matmul": HardwareProbe("size", (1024, 2048, 4096, 8192), matmul),
    "read": HardwareProbe("mb", (1024, 2048), read),
    "write": HardwareProbe("mb", (1024, 2048), write),
    "copy": HardwareProbe("mb", (512, 1024), copy),
    "launch": HardwareProbe("launches", (100, 400), launch),
    "to-device": HardwareProbe("mb", (64, 256), to_device),
    "from-device": HardwareProbe("mb", (64, 256), from_device),
    "all-reduce": HardwareProbe("mb", (64, 256), all_reduce),
}
