"""Our own lines, as `dyno run --output` writes them and the spool keeps them."""

from __future__ import annotations

from modeldyno.importers._document import Document
from modeldyno.importers._sheet import Sheet
from modeldyno.store.spool import from_document

_KINDS = ("import", "run", "record", "test")


class Modeldyno:
    name = "modeldyno"
    about = "modeldyno: dyno run --output, dyno db export --format json"

    def recognises(self, document: Document) -> bool:
        lines = [line for _, line in document.lines[:1]] or [document.data]
        return isinstance(lines[0], dict) and lines[0].get("kind") in _KINDS and "data" in lines[0]

    def read(self, document: Document, sheet: Sheet) -> None:
        for number, line in document.lines or ((1, document.data),):
            try:
                sheet.keep(from_document(line))
            except ValueError as error:
                sheet.reject(f"line {number}", str(error))


MEMBER = Modeldyno()
