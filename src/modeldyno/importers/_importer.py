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
    reads_clocks: bool = False
    """Whether its times have all digits of a clock, so that a round one in several places is no coincidence."""
    general: bool = False
    """Whether it takes what no other format recognises."""

    def recognises(self, document: Document) -> bool:
        """Whether the document has this shape. Looks at the content, never at the file's name; cheap."""
        ...

    def read(self, document: Document, sheet: Sheet) -> None:
        """Put all of the document on the sheet; what cannot be taken is rejected there, with place and reason."""
        ...
