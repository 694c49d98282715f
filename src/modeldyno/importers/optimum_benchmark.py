"""optimum-benchmark: `benchmark_report.json`, or `benchmark.json` with configuration and report.

Latencies are seconds of one call for the whole batch, memory is in millions of bytes, energy in kWh of one call."""

from __future__ import annotations

from typing import Any

from modeldyno.importers._document import Document, Row
from modeldyno.importers._facts import MB, MS_PER_S, as_dict, as_text, host, said, scaled
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import number_of

_MEASURED = {"memory", "latency", "throughput"}
_WORKLOADS = {"forward": "inference", "generate": "generation", "call": "inference", "train": "training"}
"""The target of each scenario that is a step, and our word for the work."""
_LATENCIES = {
    "latency_ms": "p50",
    "latency_mean_ms": "mean",
    "latency_p90_ms": "p90",
    "latency_p95_ms": "p95",
    "latency_p99_ms": "p99",
    "latency_stddev_ms": "stdev",
}
_OPTIONAL = ("max_process_vram", "max_reserved", "max_allocated")
_J_PER_KWH = 3.6e6
_MB = 1e6 / MB
_RUNTIMES = {"pytorch": "torch"}
_OF_BACKEND = {"openvino": "openvino"}
"""Backends that are a platform, whatever device they are given."""
_OF_AMD = {"cuda": "rocm"}
_SHAPES = {"sequence_length": "seq"}


class OptimumBenchmark:
    name = "optimum-benchmark"
    about = "optimum-benchmark: benchmark.json, or benchmark_report.json with --set model=... --set platform=..."

    def recognises(self, document: Document) -> bool:
        if document.keys >= {"config", "report"}:
            return _is_report(document.data["report"])
        return bool(document.keys) and document.table is None and _is_report(document.data)

    def read(self, document: Document, sheet: Sheet) -> None:
        data = as_dict(document.data)
        combined = "config" in data and "report" in data
        report = as_dict(data["report"] if combined else data)
        config = as_dict(data["config"]) if combined else {}
        steps = [target for target in _WORKLOADS if isinstance(report.get(target), dict)]
        if not steps:
            sheet.reject("report", f"has none of {', '.join(_WORKLOADS)}")
        for target in steps:
            self._read_step(sheet, config, report, target)

    def _read_step(self, sheet: Sheet, config: Row, report: Row, target: str) -> None:
        backend, environment = as_dict(config.get("backend")), as_dict(config.get("environment"))
        latency = report[target].get("latency")
        if latency is not None and as_dict(latency).get("unit") != "s":
            sheet.reject(f"{target}.latency", "is not in seconds")
            return
        platform = _platform(backend, environment) or said(sheet, "platform")
        sheet.record(
            target,
            run=_run(sheet, config, environment),
            in_flight=1,
            workload=_WORKLOADS[target],
            model=said(sheet, "model", backend),
            platform=platform,
            runtime=_runtime(backend) or said(sheet, "runtime"),
            precision=_precision(backend) or said(sheet, "precision"),
            batch=_batch(config, target) or said(sheet, "batch") or _batch_of(report, target) or 1,
            shape=_shape(config),
            device=said(sheet, "device") or _device(platform, environment),
            metrics=_metrics(report, target),
            samples_ms=_samples(latency),
            software=_software(backend, environment),
        )


def _is_report(value: Any) -> bool:
    return any(isinstance(part, dict) and part.keys() >= _MEASURED for part in as_dict(value).values())


def _run(sheet: Sheet, config: Row, environment: Row) -> str:
    return sheet.run(
        host=host(
            system=environment.get("system"),
            cpu=environment.get("cpu"),
            cores=environment.get("cpu_count"),
            memory_mb=scaled(environment.get("cpu_ram_mb"), _MB),
            python=environment.get("python_version"),
        ),
        name=as_text(config.get("name")),
        version=as_text(environment.get("optimum_benchmark_version")),
    )


def _metrics(report: Row, target: str) -> dict[str, Any]:
    step, latency = report[target], as_dict(report[target].get("latency"))
    samples = [number for value in _samples(latency) if (number := number_of(value)) is not None]
    found = {ours: scaled(latency.get(theirs), MS_PER_S) for ours, theirs in _LATENCIES.items()}
    found["latency_min_ms"] = min(samples, default=None)
    found["latency_max_ms"] = max(samples, default=None)
    found["load_ms"] = _mean(report, "load_model")
    found["first_ms"] = _mean(report, f"first_{target}")
    if target in ("forward", "call"):  # of the others it does not count items: tokens of generate, all steps of train
        found["throughput_per_s"] = as_dict(step.get("throughput")).get("value")
    if target == "generate":
        found["first_token_ms"] = scaled(_latency(report, "prefill").get("p50"), MS_PER_S)
        found["tokens_per_s"] = as_dict(as_dict(report.get("decode")).get("throughput")).get("value")
    energy = as_dict(step.get("energy"))
    if energy.get("unit") == "kWh":
        found["energy_j"] = scaled(energy.get("total"), _J_PER_KWH)
    return {**found, **_memory(as_dict(step.get("memory") or as_dict(report.get("decode")).get("memory")))}


def _memory(memory: Row) -> dict[str, Any]:
    process, reserved, allocated = (scaled(memory.get(name), _MB) for name in _OPTIONAL)
    ram = scaled(memory.get("max_ram"), _MB)
    return {
        "memory_peak_mb": next((peak for peak in (allocated, process, ram) if peak is not None), None),
        "memory_host_peak_mb": ram,
        "memory_reserved_mb": reserved,
        "memory_process_mb": process,
    }


def _latency(report: Row, target: str) -> Row:
    return as_dict(as_dict(report.get(target)).get("latency"))


def _mean(report: Row, target: str) -> Any:
    return scaled(_latency(report, target).get("mean"), MS_PER_S)


def _samples(latency: Any) -> list[Any]:
    values = as_dict(latency).get("values")
    return [scaled(value, MS_PER_S) for value in values] if isinstance(values, list) else []


def _batch(config: Row, target: str) -> str | None:
    scenario = as_dict(config.get("scenario"))
    if target == "train":
        arguments = as_dict(scenario.get("training_arguments"))
        return _product(arguments.get("per_device_train_batch_size"), arguments.get("gradient_accumulation_steps", 1))
    images = as_dict(scenario.get("call_kwargs")).get("num_images_per_prompt", 1) if target == "call" else 1
    return _product(as_dict(scenario.get("input_shapes")).get("batch_size"), images)


def _product(first: Any, second: Any) -> str | None:
    one, other = number_of(first), number_of(second)
    return as_text(one * other) if one and other else None


def _batch_of(report: Row, target: str) -> str | None:
    """Without a configuration: the throughput of these targets is the batch over the mean time."""
    target = {"generate": "prefill", "train": ""}.get(target, target)
    rate = number_of(as_dict(as_dict(report.get(target)).get("throughput")).get("value"))
    mean = number_of(_latency(report, target).get("mean"))
    return as_text(float(round(rate * mean))) if rate and mean and rate * mean < 2**31 else None


def _platform(backend: Row, environment: Row) -> str | None:
    """PyTorch calls the devices of ROCm `cuda` too."""
    device = as_text(backend.get("device"))
    if (_gpu(environment) or "").upper().startswith("AMD"):
        device = _OF_AMD.get(device or "", device)
    return _OF_BACKEND.get(as_text(backend.get("name")) or "", device)


def _gpu(environment: Row) -> str | None:
    gpus = environment.get("gpu")
    return as_text(gpus[0]) if isinstance(gpus, list) and gpus else as_text(gpus)


def _device(platform: str | None, environment: Row) -> str | None:
    return _gpu(environment) if platform in ("cuda", "rocm") else as_text(environment.get("cpu"))


def _runtime(backend: Row) -> str | None:
    name = as_text(backend.get("name"))
    runtime = _RUNTIMES.get(name or "", name)
    return f"{runtime}-compile" if runtime == "torch" and backend.get("torch_compile") is True else runtime


def _precision(backend: Row) -> str | None:
    scheme = as_text(backend.get("quantization_scheme")) or as_text(
        as_dict(backend.get("quantization_config")).get("quant_method")
    )
    if scheme:
        return scheme
    for key, precision in (
        ("load_in_4bit", "int4"),
        ("load_in_8bit", "int8"),
        ("quantization", "int8"),
        ("half", "fp16"),
    ):
        if backend.get(key) is True:
            return precision
    if backend.get("autocast_enabled") is True and (autocast := as_text(backend.get("autocast_dtype"))):
        return autocast
    dtype = as_text(backend.get("torch_dtype"))
    return None if dtype == "auto" else dtype


def _shape(config: Row) -> dict[str, int]:
    sizes = as_dict(as_dict(config.get("scenario")).get("input_shapes"))
    found = {_SHAPES.get(name, name): size for name, size in sizes.items() if name != "batch_size"}
    return {name: size for name, size in found.items() if isinstance(size, int) and not isinstance(size, bool)}


def _software(backend: Row, environment: Row) -> dict[str, str]:
    suffix = "_version"
    found = {name.removesuffix(suffix): as_text(value) for name, value in environment.items() if name.endswith(suffix)}
    found[_runtime(backend) or ""] = as_text(backend.get("version"))
    return {name: version for name, version in found.items() if name and version}


MEMBER = OptimumBenchmark()
