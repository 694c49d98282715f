"""The processor of this host: name, memory, instruction sets and cores, on Linux, macOS and Windows."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psutil

from modeldyno.platforms import _proc_cpuinfo
from modeldyno.platforms._probing import MB
from modeldyno.platforms._proc_cpuinfo import CpuInfo

Details = dict[str, str | int | float | bool]


@dataclass(frozen=True)
class HostCpu:
    name: str
    memory_mb: float
    instruction_sets: tuple[str, ...]
    kernel: str
    details: Details

    @property
    def capability(self) -> str | None:
        return " ".join(self.instruction_sets) or None


def describe(root: Path = Path("/")) -> HostCpu:
    """`root` is where /proc and /sys are looked for."""
    info = _cpu_info(root)
    return HostCpu(
        name=info.name or platform.processor() or platform.machine() or "unnamed processor",
        memory_mb=round(psutil.virtual_memory().total / MB, 1),
        instruction_sets=info.instruction_sets,
        kernel=f"{platform.system()} {platform.release()}",
        details=_details(info, root),
    )


def usable_cores() -> tuple[int, ...]:
    """The logical cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def read_text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except (OSError, UnicodeDecodeError):
        return None


def _cpu_info(root: Path) -> CpuInfo:
    text = read_text(root / "proc/cpuinfo")
    if text is not None:
        return _proc_cpuinfo.parse(text)
    arm = platform.machine().lower() in {"arm64", "aarch64"}
    sets = _proc_cpuinfo.instruction_sets({"asimd"} if arm else set())
    return CpuInfo(name=_name_without_proc(), instruction_sets=sets, mhz=None, virtualised=None)


def _name_without_proc() -> str | None:
    if platform.system() == "Darwin":
        command = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=5, check=False)
        except (OSError, subprocess.SubprocessError):
            return None
        return done.stdout.strip() or None
    return os.environ.get("PROCESSOR_IDENTIFIER")


def _details(info: CpuInfo, root: Path) -> Details:
    cores = usable_cores()
    governor = read_text(root / f"sys/devices/system/cpu/cpu{cores[0]}/cpufreq/scaling_governor")
    found = {
        "logical_cores": len(cores),
        "physical_cores": psutil.cpu_count(logical=False),
        "mhz": info.mhz,
        "governor": governor,
        "virtualised": info.virtualised,
    }
    return {key: value for key, value in found.items() if value is not None}
