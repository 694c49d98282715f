"""Answers of hosted models, timed over the network: no platform of ours ran them."""

from __future__ import annotations

from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict, as_list
from modeldyno.importers._sheet import Sheet


class ServiceResults:
    name = "service-results"
    about = "response times of hosted models (recognised, and rejected: no hardware is named)"

    def recognises(self, document: Document) -> bool:
        models = as_list(as_dict(document.data).get("models"))
        return bool(models) and all({"model", "response_time"} <= as_dict(entry).keys() for entry in models)

    def read(self, document: Document, sheet: Sheet) -> None:
        sheet.run()
        for number, entry in enumerate(document.data["models"]):
            model = as_dict(entry).get("model")
            sheet.reject(f"models/{number}", f"'{model}' answered over a network; the hardware is not named")


MEMBER = ServiceResults()
