"""Reads the text of /proc/cpuinfo, as x86 and ARM kernels write it."""

from __future__ import annotations

from dataclasses import dataclass

_SETS = (
    "avx2", "fma", "avx_vnni", "avx512f", "avx512_bf16", "avx512_fp16", "avx512_vnni",
    "amx_bf16", "amx_fp16", "amx_int8", "neon", "asimddp", "i8mm", "bf16", "sve", "sve2", "sme",
)  # fmt: skip
"""The instruction sets that decide how fast matrix code can be, in the kernel's words."""

_ARM_CORES = {
    ("0x41", "0xd08"): "Arm Cortex-A72",
    ("0x41", "0xd0b"): "Arm Cortex-A76",
    ("0x41", "0xd0c"): "Arm Neoverse N1",
    ("0x41", "0xd40"): "Arm Neoverse V1",
    ("0x41", "0xd49"): "Arm Neoverse N2",
    ("0x41", "0xd4f"): "Arm Neoverse V2",
    ("0xc0", "0xac3"): "Ampere-1",
    ("0x51", "0x001"): "Qualcomm Oryon",
}
"""ARM kernels print implementer and part instead of a name."""


@dataclass(frozen=True)
class CpuInfo:
    name: str | None
    instruction_sets: tuple[str, ...]
    mhz: float | None
    """Mean over the listed cores; a constant without meaning in most virtual machines."""
    virtualised: bool | None
    """None where the architecture has no flag for it."""


def parse(text: str) -> CpuInfo:
    cores = [block for block in map(_fields, text.split("\n\n")) if block]
    first = cores[0] if cores else {}
    flags = set(first.get("flags", first.get("Features", "")).split())
    clocks = [clock for core in cores if (clock := _number(core.get("cpu MHz")))]
    return CpuInfo(
        name=_name(first),
        instruction_sets=instruction_sets(flags),
        mhz=round(sum(clocks) / len(clocks), 1) if clocks else None,
        virtualised="hypervisor" in flags if "flags" in first else None,
    )


def instruction_sets(flags: set[str]) -> tuple[str, ...]:
    """The relevant ones, always in the same order."""
    known = flags | ({"neon"} if "asimd" in flags else set())
    return tuple(name for name in _SETS if name in known)


def _fields(block: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in block.splitlines())
    return {key.strip(): value.strip() for key, colon, value in pairs if colon}


def _name(core: dict[str, str]) -> str | None:
    if name := core.get("model name") or core.get("Model"):
        return " ".join(name.split())
    implementer, part = core.get("CPU implementer"), core.get("CPU part")
    if not implementer or not part:
        return None
    return _ARM_CORES.get((implementer, part), f"ARM implementer {implementer} part {part}")


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 < value < 1e6 else None
