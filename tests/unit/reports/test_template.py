"""Templates of a user's own: what they can change, and what wrong ones get."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
import world
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import InputError
from modeldyno.reports.document import Paragraph
from modeldyno.reports.order import Order, compose
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import find_template, kinds, read_template
from modeldyno.store.store import Store

NOW = datetime(2026, 11, 15, tzinfo=UTC)
SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'


@pytest.fixture
def store(tmp_path: Path) -> Store:
    run = world.a_run()
    return world.a_store(tmp_path / "s.duckdb", run, *world.records(run, ["alpha", "beta"]))


def write(folder: Path, text: str, name: str = "mine.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_title_logo_sections_order_and_filters_are_the_users(store: Store, tmp_path: Path) -> None:
    write(tmp_path, SVG, "logo.svg")
    path = write(
        tmp_path,
        """
title: Ours
intro: For the board.
logo: logo.svg
filters: {on: cuda}
sections:
  - trust
  - section: speed
    title: How quick
    text: Said by us.
    metric: throughput_per_s
    filters: {model: [alpha], batch: 4}
""",
    )
    document = compose(Order(kind=str(path)), store, NOW, lambda *_: None)
    assert (document.title, document.intro, document.report) == ("Ours", "For the board.", "mine")
    assert document.logo
    assert [section.title for section in document.sections] == ["How far to trust this", "How quick"]
    assert document.sections[1].blocks[0] == Paragraph(text="Said by us.")
    assert document.scope.chosen == {"on": "cuda"}
    drawn = document.charts[0].model_dump_json()
    assert "alpha" in drawn
    assert "beta" not in drawn
    assert '"cpu"' not in drawn


def test_the_filters_of_a_section_only_narrow(store: Store, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        """
title: t
subject: model
sections:
  - {section: results, filters: {on: cpu, since: 2026-01-01}}
  - {section: results, filters: {model: beta}}
""",
    )
    document = compose(Order(kind=str(path), subject="alpha"), store, NOW, lambda *_: None)
    (table,) = document.tables
    assert {(row.cells[0].text, row.cells[1].text) for row in table.rows} == {("alpha", "cpu:0")}


def test_a_folder_adds_kinds_and_goes_before_those_that_are_shipped(tmp_path: Path) -> None:
    write(tmp_path, "title: Other\nsections: [trust]\n", "summary.yaml")
    write(tmp_path, "title: New\nsections: [trust]\n", "new.yml")
    assert find_template("new", tmp_path).title == "New"
    assert find_template("summary", tmp_path).title == "Other"
    assert find_template("summary", None).title == "Summary"
    assert {"engineer", "hardware-buyer", "release-manager"} <= kinds(tmp_path).keys()


def test_a_section_may_stand_twice_and_keeps_names_apart(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path, "title: t\nsections: [speed, speed]\n")
    document = compose(Order(kind=str(path)), store, NOW, lambda *_: None)
    names = [section.name for section in document.sections] + [chart.name for chart in document.charts]
    assert len(set(names)) == len(names) == 4


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("title: [", "mend the YAML"),
        ("- a\n- b\n", "no mapping"),
        ("title: t\n", "sections"),
        ("title: t\nsections: []\n", "sections"),
        ("title: t\nsections: [speed]\ncolour: red\n", "colour"),
        ("title: t\nsections: [{section: speed, by: moon}]\n", "sections.0.by"),
        ("{1: 2, sections: [speed]}\n", "wrong at"),
        ("title: t\nsections: [sped]\n", "speed"),
        ("title: t\nsections: [speed]\nlogo: ../../logo.svg\n", "outside"),
        ("title: t\nsections: [speed]\nlogo: none.svg\n", "beside the template"),
        ("title: t\nsections: [speed]\nfilters: {colour: red}\n", "filter"),
        ("title: t\nsections: [{section: speed, metric: beauty}]\n", "beauty"),
    ],
)
def test_a_wrong_template_gets_a_sentence(store: Store, tmp_path: Path, text: str, said: str) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    path = write(folder, text)
    with pytest.raises(InputError, match=said):
        compose(Order(kind=str(path)), store, NOW, lambda *_: None)


@given(content=st.one_of(st.binary(max_size=200), st.text(max_size=200).map(str.encode)))
def test_any_file_is_a_template_or_a_sentence(content: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("t") / "any.yaml"
    path.write_bytes(content)
    try:
        read_template(path)
    except InputError as error:
        assert str(error).endswith(".")


def test_the_shipped_kinds_name_sections_that_are_there() -> None:
    named = {part.section for path in kinds(None).values() for part in read_template(path).sections}
    assert named <= set(SECTIONS.names())
    assert set(SECTIONS.names()) <= named, "a section that no kind shows"
