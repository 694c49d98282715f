"""Qualcomm AI Hub: tables of measurements on Snapdragon devices, and the `perf.yaml` of a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeldyno.core.types import Placement
from modeldyno.importers._document import Document
from modeldyno.importers._facts import MB, as_dict, as_list, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, truth_of

_COLUMNS = {"model", "device", "runtime", "latency_ms", "compute_unit", "job_id"}


class AiHub:
    name = "ai-hub"
    about = "Qualcomm AI Hub performance tables and perf.yaml files"

    def recognises(self, document: Document) -> bool:
        if document.table:
            return document.keys >= _COLUMNS
        models = as_list(as_dict(document.data).get("models"))
        return bool(models) and all("performance_metrics" in as_dict(model) for model in models)

    def read(self, document: Document, sheet: Sheet) -> None:
        if document.table:
            for number, row in enumerate(document.table.rows, 1):
                _read_row(sheet, f"row {number}", row)
            return
        run = sheet.run()
        for place, row in _perf_rows(document.data):
            _read_row(sheet, place, row, run)


def _read_row(sheet: Sheet, place: str, row: dict[str, Any], run: str | None = None) -> None:
    model, component = row.get("model"), row.get("component")
    unit = as_text(row.get("compute_unit"))
    options: dict[str, str] = {"component": str(component)} if component and component != model else {}
    if unit:
        options["compute_unit"] = unit
    copied = truth_of(row.get("shared_job"))
    sheet.record(
        place,
        run=run or _release(sheet, row),
        model=model,
        platform="qnn",
        device=as_text(row.get("device")),
        runtime=as_text(row.get("runtime")),
        precision=as_text(row.get("precision")),
        options=options,
        metrics={"latency_ms": row.get("latency_ms"), "memory_peak_mb": row.get("mem_max_mb")},
        placement=_placement(row, unit),
        software=_versions(as_text(row.get("tool_versions"))),
        log=f"job {row.get('job_id')} is listed for another device as well: one is a copy" if copied else None,
    )


def _release(sheet: Sheet, row: dict[str, Any]) -> str:
    release = as_text(row.get("first_release")) or ""
    return sheet.run(
        release,
        started_at=moment_of(row.get("first_date")),
        name=release or None,
        version=release or None,
        commit=as_text(row.get("first_commit")),
    )


def _placement(row: dict[str, Any], unit: str | None) -> Placement | None:
    """Layers per compute unit."""
    layers = {name: number_of(row.get(f"layers_{name.lower()}")) for name in ("NPU", "GPU", "CPU")}
    nodes = {name: int(count) for name, count in layers.items() if count}
    if not unit:
        return None
    return Placement(device=unit, compute_precision=str(row.get("precision") or "unstated"), nodes=nodes)


def _versions(text: str | None) -> dict[str, str]:
    """`qairt=2.43.0;tflite=2.17.0` as packages."""
    return dict(part.split("=", 1) for part in (text or "").split(";") if "=" in part)


def _perf_rows(data: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rows of a `perf.yaml`: component, device, then a block per runtime with times in microseconds."""
    for position, model in enumerate(as_list(as_dict(data).get("models"))):
        name = as_dict(model).get("name")
        for number, entry in enumerate(as_list(as_dict(model).get("performance_metrics"))):
            device = as_dict(as_dict(entry).get("reference_device_info")).get("name")
            for runtime, block in as_dict(entry).items():
                values = as_dict(block)
                if "inference_time" in values:
                    place = f"models/{position}/performance_metrics/{number}/{runtime}"
                    yield place, _perf_row(name, device, runtime, values)


def _perf_row(name: Any, device: Any, runtime: str, values: dict[str, Any]) -> dict[str, Any]:
    micros = number_of(values.get("inference_time"))
    memory = as_dict(values.get("estimated_peak_memory_range"))
    most = number_of(memory.get("max"))
    layers = as_dict(values.get("layer_info"))
    return {
        "model": name,
        "device": device,
        "runtime": runtime.removeprefix("torchscript_onnx_"),
        "precision": values.get("precision"),
        "latency_ms": None if micros is None else micros / 1e3,
        "mem_max_mb": None if most is None else most / MB,
        "compute_unit": values.get("primary_compute_unit"),
        "job_id": values.get("job_id"),
        "layers_npu": layers.get("layers_on_npu"),
        "layers_gpu": layers.get("layers_on_gpu"),
        "layers_cpu": layers.get("layers_on_cpu"),
    }


MEMBER = AiHub()
