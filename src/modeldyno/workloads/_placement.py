"""Holds the proof of placement against what was asked: never another device's number, never another precision's."""

from __future__ import annotations

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Check, Placement, Precision, Verdict

_WORDS = {
    Precision.FP32: ("f32", "float32"),
    Precision.BF16: ("bf16", "bfloat16"),
    Precision.FP16: ("f16", "float16"),
    Precision.INT8: ("i8", "u8", "int8"),
}
"""What runtimes call the precisions."""


def proven(placement: Placement, precision: str) -> Placement:
    """The placement, if it is what was asked for; else Unsupported says what really happened."""
    if placement.asked is not None and placement.device != placement.asked:
        raise Unsupported(
            f"the model ran on {placement.device} instead of {placement.asked}",
            "install the runtime's build for this device, or ask for that device",
        )
    computed = placement.compute_precision.lower()
    others = [words for asked, words in _WORDS.items() if asked != precision]
    if any(computed.split()[0] in words for words in others):
        raise Unsupported(
            f"asked for {precision}, but the runtime computed in {placement.compute_precision}",
            "ask for that precision, or use another runtime",
        )
    return placement


def fallback_check(placement: Placement) -> Check:
    """Operators that ran elsewhere make a number doubtful, not wrong."""
    names = ", ".join(placement.fallback)
    if not names:
        return Check(name="fallback", value="none")
    advice = f"these ran on another device: {names}"
    return Check(name="fallback", value=names, verdict=Verdict.AMBIGUOUS, advice=advice)
