"""Which GPUs a program sees as 0, 1, ... under CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from modeldyno.platforms._nvml import NvidiaGpu

VARIABLE = "CUDA_VISIBLE_DEVICES"


def visible(gpus: Sequence[NvidiaGpu], environment: Mapping[str, str]) -> list[NvidiaGpu] | None:
    """In the program's order; None where only CUDA itself can tell (MIG instances, unlike cards by speed)."""
    asked = environment.get(VARIABLE)
    by_index = list(gpus) if _same_order(gpus, environment) else None
    if any(gpu.partitioned for gpu in gpus) or "MIG-" in (asked or ""):
        return None
    if asked is None:
        return by_index
    return _select(gpus, by_index, [token.strip() for token in asked.split(",")])


def _same_order(gpus: Sequence[NvidiaGpu], environment: Mapping[str, str]) -> bool:
    """CUDA puts the fastest first unless told otherwise, NVML goes by the bus."""
    return environment.get("CUDA_DEVICE_ORDER") == "PCI_BUS_ID" or len({gpu.name for gpu in gpus}) <= 1


def _select(
    gpus: Sequence[NvidiaGpu], by_index: list[NvidiaGpu] | None, tokens: Sequence[str]
) -> list[NvidiaGpu] | None:
    """CUDA's rule: the first token that names nothing ends the list, a doubled one empties it."""
    chosen: list[NvidiaGpu] = []
    for token in tokens:
        if token.isdigit():
            if by_index is None:
                return None
            matches = by_index[int(token) : int(token) + 1]
        else:
            matches = [gpu for gpu in gpus if token.startswith("GPU-") and gpu.uuid.startswith(token)]
        if len(matches) != 1:
            break
        if matches[0] in chosen:
            return []
        chosen.append(matches[0])
    return chosen
