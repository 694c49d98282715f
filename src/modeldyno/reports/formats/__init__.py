"""One file per format: a document in, files out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from modeldyno.core.registry import Registry
from modeldyno.reports.document import Document


class Format(Protocol):
    ending: str
    """Of the file's name, with its dot."""

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        """The files by their names beside each other, the main one first; `stem` is its name without the ending."""
        ...


FORMATS: Registry[Format] = Registry(__name__, "report format")
