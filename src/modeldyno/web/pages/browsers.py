"""Browsers: results of that kind of work, once there are some."""

from __future__ import annotations

from modeldyno.platforms import in_browsers
from modeldyno.store.query import Filter
from modeldyno.web.sheet import Page
from modeldyno.web.work import Work, page_of

WORK = Work(
    title="Browsers",
    about="Models inside of a browser: WebGPU and WebNN.",
    chosen=Filter(platform=in_browsers()),
    metrics=("latency_ms", "throughput_per_s", "first_ms", "load_ms"),
    command="dyno run tiny-bert --on webgpu --quick",
)
MEMBER = Page("/dashboard/browsers", page_of(WORK), nav="Browsers", place=12, chosen=WORK.chosen)
