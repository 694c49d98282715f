"""Quantization: results in fewer bits than fp32, with what they cost in accuracy."""

from __future__ import annotations

from modeldyno.store.query import Filter
from modeldyno.web.sheet import Page
from modeldyno.web.work import Work, page_of

WORK = Work(
    title="Quantization",
    about="Results with weights or activations in few bits; the error is how far the outputs are off the reference.",
    chosen=Filter(precision=("int8", "int4", "w8a8", "w8a16", "w4a16", "w8a8_mixed_int16", "w8a16_mixed_int16")),
    metrics=("latency_ms", "throughput_per_s", "memory_peak_mb", "error_rel_l2"),
    command="dyno run tiny-bert --on cpu --runtime onnxruntime --precision int8 --quick",
)
MEMBER = Page("/dashboard/quantization", page_of(WORK), nav="Quantization", place=14, chosen=WORK.chosen)
