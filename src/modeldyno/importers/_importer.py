"""What a format brings."""

from __future__ import annotations

from typing import Protocol

from modeldyno.importers._document import Document
from modeldyno.importers._sheet import Sheet


class Importer(Protocol):
    """Knows one shape of result file."""

    name: str
    about: str
    """What writes such files, for people."""

    def recognises(self, document: Document) -> bool:
        """Whether the document has this shape. Looks at the content, never at the file's name; cheap."""
        ...

    def read(self, document: Document, sheet: Sheet) -> None:
        """Put all of the document on the sheet; what cannot be taken is rejected there, with place and reason."""
        ...
