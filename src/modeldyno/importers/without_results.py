"""Files that lie beside results and hold none: settings, lists of models, summaries of other files."""

from __future__ import annotations

from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict
from modeldyno.importers._sheet import Sheet

_SETTINGS = ({"batch_sizes", "hardware_types"}, {"known_models", "api_models"}, {"temperature_results"})
_SUMMARY = {"model_families", "performance_comparison"}


class WithoutResults:
    name = "without-results"
    about = "settings, model lists and summaries that hold no result of their own"

    def recognises(self, document: Document) -> bool:
        return self._kind(document) is not None

    def read(self, document: Document, sheet: Sheet) -> None:
        sheet.run()
        if self._kind(document) == "summary" and _has_numbers(document):
            sheet.reject("model_families", "its numbers are means over several batch sizes; import the sweep itself")

    def _kind(self, document: Document) -> str | None:
        keys = document.keys
        if document.table or not keys:
            return None
        if keys >= _SUMMARY:
            return "summary"
        if any(keys >= settings for settings in _SETTINGS):
            return "settings"
        entries = [as_dict(entry) for entry in as_dict(document.data).values()]
        if all({"name", "family"} <= entry.keys() for entry in entries):
            return "models"
        return "empty" if all(entry == {} for entry in document.data.values()) else None


def _has_numbers(document: Document) -> bool:
    families = as_dict(document.data.get("model_families")).values()
    return any(
        any(as_dict(values).values())
        for family in families
        for values in as_dict(as_dict(family).get("hardware_results")).values()
    )


MEMBER = WithoutResults()
