"""Training: results of that kind of work, once there are some."""

from __future__ import annotations

from modeldyno.store.query import Filter
from modeldyno.web.sheet import Page
from modeldyno.web.work import Work, page_of

WORK = Work(
    title="Training",
    about="Training steps: how fast, how well the hardware is used, and where the loss got to.",
    chosen=Filter(workload=("training",)),
    metrics=("throughput_per_s", "latency_ms", "tokens_per_s", "mfu", "loss", "validation_loss", "memory_peak_mb"),
    command="dyno run tiny-bert --workload training --on cpu --quick",
)
MEMBER = Page("/dashboard/training", page_of(WORK), nav="Training", place=11, chosen=WORK.chosen)
