"""The document itself as JSON; `docs/report.schema.json` says what is in it."""

from __future__ import annotations

from collections.abc import Mapping

from modeldyno.reports.document import Document


class Json:
    ending = ".json"

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        return {f"{stem}.json": (document.model_dump_json(indent=2) + "\n").encode()}


MEMBER = Json()
