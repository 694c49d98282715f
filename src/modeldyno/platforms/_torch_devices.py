"""Asks torch which GPUs it sees, in a child process: a context in this one would be foreign load later."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from typing import Any

from modeldyno.platforms._probing import MB


@dataclass(frozen=True)
class TorchDevice:
    """One GPU as torch describes it, in torch's order."""

    name: str
    memory_mb: float
    arch: str
    """`9.0`, or `gfx942` for an AMD GPU."""
    uuid: str | None
    pci_bus: int | None
    processors: int
    l2_bytes: int | None


def describe(properties: Any) -> TorchDevice:
    """From `get_device_properties`, whose fields grew over the versions."""
    gcn = getattr(properties, "gcnArchName", "")
    uuid = getattr(properties, "uuid", None)
    return TorchDevice(
        name=str(properties.name),
        memory_mb=round(properties.total_memory / MB, 1),
        arch=gcn.split(":")[0] if gcn.startswith("gfx") else f"{properties.major}.{properties.minor}",
        uuid=None if uuid is None else str(uuid),
        pci_bus=getattr(properties, "pci_bus_id", None),
        processors=int(properties.multi_processor_count),
        l2_bytes=getattr(properties, "L2_cache_size", None),
    )


def ask(timeout_s: float = 120) -> tuple[list[TorchDevice], str | None]:
    """The devices, or none and what torch said."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", __name__], capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.SubprocessError) as error:
        return [], str(error)
    if done.returncode != 0:
        return [], _last_line(done.stderr)
    rows = json.loads(done.stdout.splitlines()[-1])
    return [TorchDevice(**row) for row in rows], _last_line(done.stderr)


def _last_line(text: str) -> str | None:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else None


def main() -> None:
    import torch

    gpu = torch.cuda
    count = gpu.device_count() if gpu.is_available() else 0
    rows = [asdict(describe(gpu.get_device_properties(index))) for index in range(count)]
    sys.stdout.write("\n" + json.dumps(rows) + "\n")


if __name__ == "__main__":
    main()
