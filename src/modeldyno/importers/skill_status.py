"""Results of model tests as status maps per platform, one file per test, per batch of tests, or per machine."""

from __future__ import annotations

from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._captured import evidence_of, log_of, reason_of, skill_name, status_of
from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict, as_list, as_text
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._status_map import read_status_map
from modeldyno.importers._words import moment_of, platform_of, truth_of


class SkillStatus:
    name = "skill-status"
    about = "tests of model classes that report REAL or MOCK per platform, with captured output"
    reads_clocks = True

    def recognises(self, document: Document) -> bool:
        keys = document.keys
        return (
            {"metadata", "results"} == keys
            or "skill_tests" in keys
            or {"test_file", "return_code"} <= keys
            or (bool(keys) and document.table is None and all(key.startswith("test_") for key in keys))
        )

    def read(self, document: Document, sheet: Sheet) -> None:
        data = document.data
        if "skill_tests" in data:
            self._read_wrappers(sheet, data)
        elif "test_file" in data:
            self._read_wrapper(sheet, sheet.run(), "", data)
        elif "metadata" in data:
            self._read_results(sheet, as_dict(data["metadata"]), as_dict(data["results"]))
        else:
            self._read_machine(sheet, data)

    def _read_wrappers(self, sheet: Sheet, data: dict[str, Any]) -> None:
        python = as_text(data.get("python_version"))
        run = sheet.run(
            started_at=moment_of(data.get("timestamp")), host={"python": python}, command=as_text(data.get("command"))
        )
        for name, wrapper in as_dict(data["skill_tests"]).items():
            self._read_wrapper(sheet, run, f"skill_tests/{name}", {"test_file": name, **as_dict(wrapper)})

    def _read_wrapper(self, sheet: Sheet, run: str, place: str, wrapper: dict[str, Any]) -> None:
        """A test that ran as a program: its own result if it printed one, else only the program's verdict."""
        test = as_text(wrapper.get("test_file")) or ""
        result = as_dict(wrapper.get("json_result"))
        statuses = as_dict(result.get("status")) or result
        known = {key: value for key, value in statuses.items() if value not in ("UNKNOWN", "Unknown")}
        if any(platform_of(key.split("_")[0]) for key in known):
            read_status_map(
                sheet,
                place or test,
                known,
                run=run,
                test=test,
                model=skill_name(test),
                examples=as_list(result.get("examples")),
                evidence=evidence_of(wrapper),
                duration_s=wrapper.get("elapsed_time"),
                log=log_of(wrapper),
            )
            return
        status = status_of(wrapper)
        said = "it ended well, but told no result" if status is Status.OK else reason_of(wrapper)
        sheet.reject(place or test, f"names no platform: {said}")

    def _read_results(self, sheet: Sheet, metadata: dict[str, Any], results: dict[str, Any]) -> None:
        run = sheet.run(started_at=moment_of(metadata.get("timestamp")))
        if "test_files" in metadata:
            for test, outcome in results.items():
                self._read_outcome(sheet, run, test, as_dict(outcome))
            return
        test = as_text(metadata.get("test_file")) or as_text(metadata.get("model")) or ""
        statuses = as_dict(results.get("status")) or results
        read_status_map(
            sheet,
            "results",
            statuses,
            run=run,
            test=test,
            model=skill_name(test),
            examples=as_list(results.get("examples")),
            duration_s=metadata.get("execution_time"),
        )

    def _read_outcome(self, sheet: Sheet, run: str, test: str, outcome: dict[str, Any]) -> None:
        statuses: dict[str, Any] = {}
        examples: list[Any] = []
        for platform, said in as_dict(outcome.get("performance_metrics")).items():
            for key, value in as_dict(said).items():
                if key == "examples":
                    examples += [{"platform": platform, **as_dict(example)} for example in as_list(value)]
                else:
                    own = key if platform_of(key.split("_")[0]) else f"{platform}_{key}"
                    statuses[own] = value
        if statuses:
            read_status_map(
                sheet,
                f"results/{test}",
                statuses,
                run=run,
                test=test,
                model=skill_name(test),
                examples=examples,
                duration_s=outcome.get("execution_time"),
            )
            return
        said = "worked" if truth_of(outcome.get("status")) else "failed"
        sheet.reject(f"results/{test}", f"names no platform: it only says that the test {said}")

    def _read_machine(self, sheet: Sheet, data: dict[str, Any]) -> None:
        run = sheet.run()
        for test, statuses in data.items():
            if isinstance(statuses, dict):
                read_status_map(sheet, test, statuses, run=run, test=test, model=skill_name(test))
            else:
                sheet.reject(test, f"names no platform: it only says {str(statuses)[:200]!r}")


MEMBER = SkillStatus()
