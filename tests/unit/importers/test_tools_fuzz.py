"""Whatever stands in a file of another tool: reading it never raises, and what comes out can be stored."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tool_files import FILES

from modeldyno.core.types import Record
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import Unreadable, load
from modeldyno.importers._sheet import Sheet

DOCUMENTS = [shape for shape, (_, content) in FILES.items() if content.startswith("{")]
TEXTS = [shape for shape in FILES if shape not in DOCUMENTS]
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from([1e308, 10**400, "\ud800"])
)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
GIVEN = st.sampled_from([{}, {"model": "resnet50", "platform": "cuda"}, {"batch": "none", "precision": "?"}])


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, part in inner:
        yield from paths(part, (*path, step))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    place = value
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = new
    return value


def read(format_name: str, content: str, said: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "results"
        file.write_bytes(content.encode("utf-8", "replace"))
        try:
            document = load(file)
        except Unreadable:
            return
    importer = IMPORTERS.get(format_name)
    importer.recognises(document)
    sheet = Sheet(document, format_name, said)
    importer.read(document, sheet)
    for item in sheet.items:
        json.loads(item.model_dump_json())
    assert sheet.rejected or any(isinstance(item, Record) for item in sheet.items) or not document.data


@pytest.mark.parametrize("shape", DOCUMENTS)
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_node_of_a_document_breaks_the_reading(shape: str, data: st.DataObject) -> None:
    name, content = FILES[shape]
    document = json.loads(content)
    path = data.draw(st.sampled_from(list(paths(document))))
    document = replaced(copy.deepcopy(document), path, data.draw(JSON))
    read(name, json.dumps(document), data.draw(GIVEN))


@pytest.mark.parametrize("shape", TEXTS)
@given(data=st.data())
@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_line_of_a_text_breaks_the_reading(shape: str, data: st.DataObject) -> None:
    name, content = FILES[shape]
    lines = content.splitlines()
    number = data.draw(st.integers(0, len(lines) - 1))
    line = lines[number]
    cut = data.draw(st.integers(0, len(line)))
    lines[number] = line[:cut] + data.draw(
        st.text(max_size=8) | st.sampled_from(["1e999", "9" * 5000, "nan", "-1", "'"])
    )
    read(name, "\n".join(lines[data.draw(st.integers(0, 3)) :]), data.draw(GIVEN))
