"""One test in a browser: model, web platform, load and inference time in ms."""

from __future__ import annotations

from modeldyno.core.types import Status
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import flagged
from modeldyno.importers._facts import as_dict, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, truth_of


class WebResults:
    name = "web-results"
    about = "tests of models in browsers over WebNN and WebGPU"
    reads_clocks = True

    def recognises(self, document: Document) -> bool:
        return {"model_name", "platform", "metrics"} <= document.keys and document.table is None

    def read(self, document: Document, sheet: Sheet) -> None:
        data = document.data
        run = sheet.run(started_at=moment_of(data.get("timestamp")))
        metrics = as_dict(data.get("metrics"))
        worked = truth_of(data.get("status")) is True
        browser = as_text(data.get("browser"))
        batch = number_of(data.get("batch_size") or metrics.get("batch_size"))
        sheet.record(
            "the whole file",
            run=run,
            model=data.get("model_name"),
            platform=data.get("platform"),
            batch=batch and int(batch),
            options={"browser": browser} if browser else {},
            metrics={
                "latency_ms": metrics.get("inference_time_ms"),
                "load_ms": metrics.get("load_time_ms"),
                "memory_peak_mb": metrics.get("memory_mb"),
                "throughput_per_s": metrics.get("throughput_items_per_second"),
            }
            if worked
            else {},
            status=Status.OK if worked else Status.FAILED,
            reason=None if worked else as_text(data.get("error")) or f"its status is {data.get('status')}",
            evidence=(*flagged(data), *_unopened(data)),
        )


def _unopened(data: dict[str, object]) -> tuple[str, ...]:
    if "browser_opened" in data and truth_of(data["browser_opened"]) is False:
        return ("the file says browser_opened: false, so no browser ran it",)
    return ()


MEMBER = WebResults()
