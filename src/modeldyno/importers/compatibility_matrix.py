"""Which model families run on which hardware, with means over whole sweeps."""

from __future__ import annotations

from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict, as_list
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, truth_of


class CompatibilityMatrix:
    name = "compatibility-matrix"
    about = "hardware compatibility matrices by model family"

    def recognises(self, document: Document) -> bool:
        families = as_dict(document.data).get("model_families")
        return any("hardware_compatibility" in as_dict(family) for family in as_dict(families).values())

    def read(self, document: Document, sheet: Sheet) -> None:
        run = sheet.run(started_at=moment_of(document.data.get("timestamp")))
        for family, entry in as_dict(document.data["model_families"]).items():
            for hardware, said in as_dict(as_dict(entry).get("hardware_compatibility")).items():
                self._read_cell(sheet, run, f"model_families/{family}/{hardware}", hardware, as_dict(said))

    def _read_cell(self, sheet: Sheet, run: str, place: str, hardware: str, said: dict[str, Any]) -> None:
        results = as_list(said.get("benchmark_results"))
        for number, result in enumerate(results):
            entry = as_dict(result)
            works = truth_of(said.get("compatible")) is True and "mean_latency" in entry
            sheet.test(
                f"{place}/{number}",
                run=run,
                name="hardware compatibility",
                model=entry.get("model_name"),
                platform=hardware,
                status=Status.OK if works else Status.FAILED,
                reason=None if works else "the matrix has no numbers for it",
                started_at=moment_of(entry.get("timestamp")),
            )
            if works:
                reason = "its latency is a mean over several batch sizes; import the sweep it was made from"
                sheet.reject(f"{place}/{number}/mean_latency", reason)
        if not results:
            sheet.reject(place, "names no model")


MEMBER = CompatibilityMatrix()
