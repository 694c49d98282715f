"""What usually helps against each bound, for the record at hand."""

from __future__ import annotations

from collections.abc import Callable

from modeldyno.analysis.roofline import Bound, Roofline
from modeldyno.core.types import Precision, Record, Verdict

LEVELLED_OFF = 0.85
"""From this share of the matrix rate on, larger products bring no more."""
Condition = Callable[[Record], bool]


def _always(_: Record) -> bool:
    return True


def _full_precision(record: Record) -> bool:
    return record.case.precision == Precision.FP32


def _small_batch(record: Record) -> bool:
    return record.case.batch < 8


def _eager(record: Record) -> bool:
    return record.case.runtime == "torch"


def _held_back(record: Record) -> bool:
    return "threads" in record.case.options


def _noisy(record: Record) -> bool:
    return record.passport is not None and record.passport.verdict is not Verdict.VALID


_BATCH = "a larger batch (--batch): more work for each launch and each reading of the weights"
_COMPILE = "--runtime torch-compile: it fuses small operations into few"
_HINTS: dict[Bound, tuple[tuple[Condition, str], ...]] = {
    Bound.COMPUTE: (
        (_full_precision, "bf16 or fp16 (--precision), where the device has a higher matrix rate for it"),
        (_always, "int8, or a smaller or distilled model: fewer or cheaper operations"),
        (_always, "a device with a higher matrix rate"),
    ),
    Bound.MEMORY: (
        (_full_precision, "bf16 or fp16 (--precision): half the bytes"),
        (_small_batch, "a larger batch (--batch): the weights are read once for more items"),
        (_always, "weights in int8: a quarter of the bytes of fp32"),
        (_eager, "--runtime torch-compile: fused operations keep values out of the memory"),
        (_always, "a device with more memory bandwidth"),
    ),
    Bound.LAUNCH: (
        (_small_batch, _BATCH),
        (_eager, _COMPILE),
        (_always, "recording the step once and replaying it: CUDA or HIP graphs, torch.compile's mode reduce-overhead"),
        (_eager, "--runtime onnxruntime, where the platform has it: less work for each operation"),
        (_always, "a faster processor core: the host decides here"),
    ),
    Bound.NONE: (
        (_noisy, "a quiet host: the passport says what disturbed this measurement"),
        (_held_back, "more threads (--option threads)"),
        (_small_batch, "a larger batch (--batch): small products do not reach the matrix rate"),
        (_eager, _COMPILE),
        (_always, "the top of the profile: one operation may be slow on this device"),
    ),
    Bound.UNKNOWN: (),
}


def what_helps(record: Record, roofline: Roofline) -> tuple[str, ...]:
    """Short and concrete; only what can still be done with this case. A probe is as it is."""
    if record.model is None:
        return ()
    open_still = tuple(text for applies, text in _HINTS[roofline.bound] if applies(record))
    return (*open_still, _batch(roofline)) if roofline.bound is Bound.COMPUTE else open_still


def _batch(roofline: Roofline) -> str:
    """Whether a larger batch helps a step that computes most of the time."""
    if (roofline.compute.share or 0.0) >= LEVELLED_OFF:
        return "no larger batch: it would bring no more throughput"
    return "a larger batch (--batch): larger products come closer to the matrix rate"
