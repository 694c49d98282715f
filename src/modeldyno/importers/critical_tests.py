"""Tests of many models, each a program with a verdict; the platform is not named in the file."""

from __future__ import annotations

from modeldyno.core.types import Status
from modeldyno.importers._captured import evidence_of, log_of, reason_of, status_of
from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of


class CriticalTests:
    name = "critical-tests"
    about = "test programs of many models with summary, return codes and captured output"

    def recognises(self, document: Document) -> bool:
        return {"summary", "model_results"} <= document.keys

    def read(self, document: Document, sheet: Sheet) -> None:
        data = document.data
        run = sheet.run(started_at=moment_of(data.get("test_timestamp") or data.get("timestamp")))
        for model, outcome in as_dict(data["model_results"]).items():
            entry = as_dict(outcome)
            status = status_of(entry)
            sheet.test(
                f"model_results/{model}",
                run=run,
                name="critical model test",
                model=model,
                platform=entry.get("hardware") or entry.get("platform"),
                status=status,
                reason=None if status is Status.OK else reason_of(entry),
                evidence=evidence_of(entry),
                duration_s=entry.get("elapsed_time"),
                log=log_of(entry),
            )


MEMBER = CriticalTests()
