"""Helps the importers' tests: a document written to a file, read as an import would read it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from modeldyno.core.elsewhere import Rejection, TestResult
from modeldyno.core.types import Record, Run
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import load
from modeldyno.importers._sheet import Sheet


class Reading:
    """What a file yields, and which formats recognise it."""

    def __init__(self, path: Path, **options: Any) -> None:
        document = load(path)
        members = [member for member in IMPORTERS.all() if member.recognises(document)]
        special = [member for member in members if not getattr(member, "general", False)]
        (self.member,) = special or members
        sheet = Sheet(document, self.member.name, **options)
        self.member.read(document, sheet)
        self.format = self.member.name
        self.rejected: tuple[Rejection, ...] = sheet.rejected
        self.runs = [item for item in sheet.items if isinstance(item, Run)]
        self.records = [item for item in sheet.items if isinstance(item, Record)]
        self.tests = [item for item in sheet.items if isinstance(item, TestResult)]


def read_json(tmp_path: Path, data: Any, **options: Any) -> Reading:
    path = tmp_path / "anything"
    path.write_text(json.dumps(data))
    return Reading(path, **options)


def read_text(tmp_path: Path, text: str, **options: Any) -> Reading:
    path = tmp_path / "anything"
    path.write_text(text)
    return Reading(path, **options)
