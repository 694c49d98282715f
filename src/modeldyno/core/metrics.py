"""The one metric table: what every metric is called, its unit, which way is better and how it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from modeldyno.core.errors import UnknownName

SKEWED = 3.0
"""One side of an interval so many times the other is told, not averaged."""


class Direction(StrEnum):
    LESS = "less"
    MORE = "more"
    NEITHER = "neither"


@dataclass(frozen=True)
class Metric:
    """One row of the table."""

    name: str
    unit: str
    direction: Direction
    digits: int
    """Significant digits in print."""
    meaning: str


def _row(name: str, unit: str, direction: str, digits: int, meaning: str) -> Metric:
    return Metric(name, unit, Direction(direction), digits, meaning)


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        _row("latency_ms", "ms", "less", 4, "median host time of one step (one batch); in serving, of one query"),
        _row("latency_mean_ms", "ms", "less", 4, "mean host time of one step"),
        _row("latency_min_ms", "ms", "less", 4, "shortest step time"),
        _row("latency_max_ms", "ms", "less", 4, "longest step time"),
        _row("latency_stddev_ms", "ms", "less", 2, "standard deviation of the step time"),
        _row("latency_p90_ms", "ms", "less", 4, "90th percentile of the step time"),
        _row("latency_p95_ms", "ms", "less", 4, "95th percentile of the step time"),
        _row("latency_p99_ms", "ms", "less", 4, "99th percentile of the step time"),
        _row("throughput_per_s", "items/s", "more", 4, "items per second: those of a step over its median time"),
        _row("tokens_per_s", "tokens/s", "more", 4, "tokens made or learned from per second"),
        _row("first_token_ms", "ms", "less", 4, "time until the first token"),
        _row("cpu_time_ms", "ms", "less", 4, "processor time of one step"),
        _row("device_time_ms", "ms", "less", 4, "median time the device itself was busy with one step"),
        _row("device_time_cold_ms", "ms", "less", 4, "the same with the device's last-level cache flushed"),
        _row("launch_gap_ms", "ms", "less", 4, "host time minus device time: large means launch-bound"),
        _row("load_ms", "ms", "less", 4, "time to bring the model onto the device and make it ready"),
        _row("prepare_ms", "ms", "less", 4, "time to export the model and compute its reference, before measuring"),
        _row("build_ms", "ms", "less", 4, "time to construct the model or read its checkpoint"),
        _row("first_ms", "ms", "less", 4, "time of the first step, with compilation and lazy allocation"),
        _row("memory_peak_mb", "MB", "less", 4, "peak memory of the step: the device's own, else the worker's"),
        _row("memory_average_mb", "MB", "less", 4, "mean memory over the steps of the memory pass"),
        _row("memory_host_peak_mb", "MB", "less", 4, "peak resident memory of the worker process"),
        _row("memory_reserved_mb", "MB", "less", 4, "peak memory the allocator holds from the device"),
        _row("memory_fragmentation_mb", "MB", "less", 4, "reserved minus allocated memory at the peak"),
        _row("memory_process_mb", "MB", "less", 4, "memory the driver accounts to the worker process"),
        _row("energy_j", "J", "less", 4, "energy of one step"),
        _row("power_w", "W", "less", 4, "mean power while stepping"),
        _row("error_rel_l2", "", "less", 2, "relative L2 distance of the outputs from the reference"),
        _row("compute_gflop", "GFLOP", "neither", 4, "floating-point operations of one step, counted on the graph"),
        _row("compute_rate_gflops", "GFLOP/s", "more", 4, "counted operations over median step time"),
        _row("activations", "M", "neither", 4, "millions of values that the layers of one step put out"),
        _row("moved_gb", "GB", "neither", 4, "bytes that one step reads and writes at least, each value once"),
        _row("bandwidth_gb_per_s", "GB/s", "more", 4, "bytes moved over median step time"),
        _row("launches", "", "neither", 4, "operations that one step starts, where they are counted"),
        _row("launch_us", "us", "less", 4, "median step time over the operations started"),
        # workload generation
        _row("inter_token_ms", "ms", "less", 4, "mean time between two tokens of a sequence, median over generations"),
        _row("token_gap_ms", "ms", "less", 4, "median of all single times between two tokens"),
        _row("token_gap_p90_ms", "ms", "less", 4, "90th percentile of the times between two tokens"),
        _row("token_gap_p95_ms", "ms", "less", 4, "95th percentile of the times between two tokens"),
        _row("token_gap_p99_ms", "ms", "less", 4, "99th percentile of the times between two tokens"),
        _row("prefill_tokens_per_s", "tokens/s", "more", 4, "tokens of the prompt over the time until the first token"),
        _row("decode_tokens_per_s", "tokens/s", "more", 4, "tokens per second after the first"),
        _row("cold_first_token_ms", "ms", "less", 4, "time until the first token a fresh process ever makes"),
        _row("kv_cache_mb", "MB", "less", 4, "keys and values that are kept at the end of a generation"),
        _row("tokens", "", "neither", 4, "tokens that one step makes or learns from"),
        _row("items", "", "neither", 4, "items that one step works on, where it is not the batch"),
        # workload serving
        _row("offered_per_s", "queries/s", "neither", 4, "rate at which queries were sent"),
        _row("goodput_per_s", "queries/s", "more", 4, "answers per second that kept the latency bound"),
        _row("sustained_per_s", "queries/s", "more", 4, "highest rate found that keeps the latency bound"),
        _row("late_share", "", "less", 3, "share of the answers beyond the latency bound"),
        _row("client_lag_ms", "ms", "less", 3, "how late queries were sent, at the 99th percentile"),
        _row("served_batch", "", "neither", 3, "mean number of queries that were answered together"),
        _row("padding_share", "", "less", 3, "share of the items computed that only filled a batch up"),
        _row("queries", "", "neither", 6, "queries that were answered"),
        # workload training
        _row("forward_ms", "ms", "less", 4, "median time of the forward pass of one training step"),
        _row("backward_ms", "ms", "less", 4, "median time of the backward pass of one training step"),
        _row("optimizer_ms", "ms", "less", 4, "median time of the optimizer in one training step"),
        _row("gradient_norm", "", "neither", 4, "length of the gradient at the last step"),
        _row("loss", "", "less", 4, "training loss at the end, mean over the last steps"),
        _row("loss_begin", "", "neither", 4, "training loss of the first step"),
        _row("validation_loss", "", "less", 4, "loss on data that was not trained on"),
        _row("validation_loss_untrained", "", "neither", 4, "the same before the first step"),
        _row("validation_accuracy", "", "more", 4, "share of right answers on data that was not trained on"),
        _row("validation_accuracy_untrained", "", "neither", 4, "the same before the first step"),
        _row("memory_parameters_mb", "MB", "less", 4, "memory of the parameters"),
        _row("memory_gradients_mb", "MB", "less", 4, "memory of the gradients"),
        _row("memory_optimizer_mb", "MB", "less", 4, "memory of the optimizer's state"),
        _row("memory_activations_mb", "MB", "less", 4, "memory that is kept from the forward for the backward pass"),
        _row("trained_parameters", "", "neither", 6, "parameters that training changes"),
        _row("mfu", "", "more", 3, "counted operations of training over the device's own measured matrix rate"),
        _row("matrix_rate_gflops", "GFLOP/s", "more", 4, "the matrix rate that mfu is held against"),
        _row("steps_to_target", "", "less", 5, "training steps until the target was reached"),
        _row("seconds_to_target", "s", "less", 4, "time in training steps until the target was reached"),
        _row("energy_to_target_j", "J", "less", 4, "energy of the training until the target was reached"),
        _row("resumed_step", "", "neither", 6, "step of the checkpoint that training went on from"),
        # workload pool
        _row("sequential_per_s", "items/s", "more", 4, "items per second of the same work one after the other"),
        _row("concurrency_gain", "", "more", 3, "concurrent over sequential throughput"),
        _row("memory_shared_mb", "MB", "less", 4, "memory that users of one shared model take together"),
        _row("memory_unshared_mb", "MB", "less", 4, "memory that as many users take with a model each"),
        _row("loads", "", "less", 3, "how often the model was loaded for requests that came at one time"),
        _row("evictions", "", "neither", 3, "models that were let go to keep the memory budget"),
        _row("borrow_us", "us", "less", 4, "median time to get a loaded model from the pool"),
        _row("recovery_ms", "ms", "less", 4, "time from a failure until the model works again"),
    )
}


def metric(name: str) -> Metric:
    """The row for `name`; an unknown name is an error that lists the known ones."""
    try:
        return METRICS[name]
    except KeyError:
        raise UnknownName("metric", name, METRICS) from None


def significant(value: float, digits: int) -> str:
    """`value` with this many significant digits and never in exponent form between 1e-4 and 1e15."""
    if value == 0:
        return "0"
    text = f"{value:.{digits}g}"
    if "e" in text and 1e-4 <= abs(value) < 1e15:
        return f"{value:.0f}" if abs(value) >= 1 else f"{value:.{digits + 3}f}".rstrip("0")
    return text


def format_value(name: str, value: float, low: float | None = None, high: float | None = None) -> str:
    """A value with unit and half-width of its interval, as people read it: `12.4 ms ± 0.2`.

    Where the value sits far from the middle of its interval, the bounds are given: `157.3 ms [147.1, 247.3]`."""
    row = METRICS.get(name)
    digits, unit = (row.digits, row.unit) if row else (4, "")
    text = f"{significant(value, digits)} {unit}".rstrip()
    if low is None or high is None:
        return text
    below, above = value - low, high - value
    if max(below, above) > SKEWED * max(min(below, above), (high - low) / 100):
        return f"{text} [{significant(low, digits)}, {significant(high, digits)}]"
    return f"{text} ± {significant((high - low) / 2, 2)}"
