"""Whether models work on platforms, by running a test program for each: verdicts with captured output."""

from __future__ import annotations

from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._captured import evidence_of, log_of, reason_of, status_of
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import flagged
from modeldyno.importers._facts import as_dict, as_list, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, truth_of


class Functionality:
    name = "functionality"
    about = "functionality checks of models on platforms, alone or inside a benchmark run"

    def recognises(self, document: Document) -> bool:
        return {"stats", "model_results"} <= document.keys or "functionality_verification" in document.keys

    def read(self, document: Document, sheet: Sheet) -> None:
        data = document.data
        names = {key: as_text(as_dict(model).get("name")) for key, model in as_dict(data.get("models")).items()}
        if "functionality_verification" not in data:
            self._read_check(sheet, "", data, names, None)
            return
        started = moment_of(data.get("timestamp"))
        for hardware, check in as_dict(data["functionality_verification"]).items():
            self._read_check(sheet, f"functionality_verification/{hardware}/", as_dict(check), names, started)
        for family, outcome in as_dict(data.get("performance_benchmarks")).items():
            reason = reason_of(as_dict(outcome)) or "no numbers"
            sheet.reject(f"performance_benchmarks/{family}", f"names no model, and its outcome is: {reason}")

    def _read_check(
        self, sheet: Sheet, place: str, check: dict[str, Any], names: dict[str, str | None], started: Any
    ) -> None:
        run = sheet.run(place, started_at=moment_of(as_dict(check.get("stats")).get("timestamp")) or started)
        detailed = set()
        for number, entry in enumerate(as_list(check.get("detailed_results"))):
            detailed.add((as_dict(entry).get("model"), as_dict(entry).get("hardware")))
            self._read_detail(sheet, run, f"{place}detailed_results/{number}", as_dict(entry), names)
        for model, outcomes in as_dict(check.get("model_results")).items():
            for hardware, works in as_dict(outcomes).items():
                if (model, hardware) not in detailed:
                    sheet.test(
                        f"{place}model_results/{model}/{hardware}",
                        run=run,
                        name="functionality",
                        model=names.get(model) or model,
                        platform=hardware,
                        status=Status.OK if truth_of(works) else Status.FAILED,
                    )

    def _read_detail(
        self, sheet: Sheet, run: str, place: str, entry: dict[str, Any], names: dict[str, str | None]
    ) -> None:
        model = as_text(entry.get("model")) or ""
        status = status_of(entry)
        sheet.test(
            place,
            run=run,
            name="functionality",
            model=names.get(model) or model,
            platform=entry.get("hardware"),
            status=status,
            reason=None if status is Status.OK else reason_of(entry),
            evidence=(*flagged(entry), *evidence_of(entry)),
            log=log_of(entry),
        )


MEMBER = Functionality()
