"""Distributed: results of that kind of work, once there are some."""

from __future__ import annotations

from modeldyno.store.query import Filter
from modeldyno.web.sheet import Page
from modeldyno.web.work import Work, page_of

WORK = Work(
    title="Distributed",
    about="Work that is spread over several devices or machines.",
    chosen=Filter(workload=("distributed",)),
    metrics=("throughput_per_s", "latency_ms", "memory_peak_mb"),
    command="dyno plan llama-7b --gpus 8 --max-memory-gb 24",
)
MEMBER = Page("/dashboard/distributed", page_of(WORK), nav="Distributed", place=13, chosen=WORK.chosen)
