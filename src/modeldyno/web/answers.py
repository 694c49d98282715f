"""Answers as they go out: JSON, CSV or a page, with a mark to be asked again by, small where the client can unpack."""

from __future__ import annotations

import csv
import gzip
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from hashlib import blake2b
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

JSON, CSV, HTML = "application/json", "text/csv; charset=utf-8", "text/html; charset=utf-8"
_WORTH_PACKING = 1000


@dataclass(frozen=True)
class Body:
    """One answer, packed once for all who ask for it."""

    content: bytes
    packed: bytes | None
    media: str
    mark: str
    """Equal for equal answers."""
    file: str | None = None
    """The name to save it under."""

    @classmethod
    def of(cls, content: bytes, media: str, file: str | None = None) -> Body:
        packed = gzip.compress(content, 4, mtime=0) if len(content) >= _WORTH_PACKING else None
        return cls(content, packed, media, f'W/"{blake2b(content, digest_size=12).hexdigest()}"', file)

    def reply(self, request: Request, status: int = 200) -> Response:
        """304 where the client has it already."""
        headers = {"ETag": self.mark, "Cache-Control": "private, no-cache", "Vary": "Accept-Encoding, Cookie"}
        if status == 200 and _has(request.headers.get("if-none-match", ""), self.mark):
            return Response(status_code=304, headers=headers)
        if self.file:
            headers["Content-Disposition"] = f'attachment; filename="{self.file}"'
        content = self.content
        if self.packed is not None and _unpacks(request.headers.get("accept-encoding", "")):
            content, headers["Content-Encoding"] = self.packed, "gzip"
        return Response(content, status, headers, media_type=self.media)


def _has(told: str, mark: str) -> bool:
    """Whether a client that tells these marks has this answer; weak, for packed or not it is the same."""
    marks = [one.strip().removeprefix("W/") for one in told.split(",")]
    return mark.removeprefix("W/") in marks or "*" in marks


def _unpacks(told: str) -> bool:
    for one in told.lower().split(","):
        name, _, weight = one.partition(";")
        if name.strip() == "gzip":
            return weight.replace(" ", "") not in ("q=0", "q=0.0", "q=0.00", "q=0.000")
    return False


def json_body(document: Any, file: str | None = None) -> Body:
    return Body.of(dumped(document), JSON, file)


def dumped(document: Any) -> bytes:
    """Numbers that JSON has no word for become null."""
    try:
        text = json.dumps(document, default=_plain, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        text = json.dumps(_finite(document), default=_plain, ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment_text(value)
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if isinstance(value, set | frozenset | tuple):
        return list(value)
    return str(value)


def moment_text(value: datetime) -> str:
    """In UTC; the store's moments have no zone."""
    return value.isoformat().removesuffix("+00:00") + "Z"


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(each) for each in value]
    return value


def csv_body(rows: Sequence[Mapping[str, Any]], file: str) -> Body:
    """All columns of all rows; what a spreadsheet would take for a formula is quoted as text."""
    columns = list(dict.fromkeys(name for row in rows for name in row if not name.startswith("_")))
    text = io.StringIO(newline="")
    table = csv.writer(text)
    table.writerow(columns)
    for row in rows:
        table.writerow([_cell(row.get(name)) for name in columns])
    return Body.of(text.getvalue().encode("utf-8", "replace"), CSV, file)


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment_text(value)
    if isinstance(value, list | dict | tuple):
        return json.dumps(value, default=_plain)
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return "'" + value
    return value
