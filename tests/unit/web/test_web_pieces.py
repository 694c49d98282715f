"""Charts, answers, settings and orders of forms: texts stay texts, numbers stay numbers, nonsense is refused."""

from __future__ import annotations

import json
import math
from datetime import datetime
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import InputError
from modeldyno.web import charts, shown
from modeldyno.web.answers import csv_body, dumped
from modeldyno.web.choosing import chosen
from modeldyno.web.ordering import order_of
from modeldyno.web.passage import log_line
from modeldyno.web.settings import read

NUMBERS = st.floats(1e-6, 1e9)
TEXTS = st.text(st.characters(blacklist_categories=("Cs", "Cc")), max_size=30)


@given(rows=st.lists(st.tuples(TEXTS, NUMBERS, st.booleans()), max_size=8))
def test_bars_are_well_formed_whatever_the_labels_are(rows: list[tuple[str, float, bool]]) -> None:
    bars = [
        charts.Bar(label, value, f"{value:.3g} ms", value * 0.9, value * 1.1, "cpu", f"/x?{label}" if linked else None)
        for label, value, linked in rows
    ]
    drawn = charts.bars(bars, '"alt" & <more>')
    if rows:
        found = ElementTree.fromstring(drawn)
        titles = [title.text or "" for title in found.iter("title")]
        assert titles == [f"{bar.label}: {bar.text}" for bar in bars]


@given(points=st.lists(st.tuples(st.floats(0, 2e9), NUMBERS), min_size=1, max_size=20), log=st.booleans())
def test_points_lie_inside_of_their_plane(points: list[tuple[float, float]], log: bool) -> None:
    at = charts.Plane(
        charts.reach(x for x, _ in points), charts.reach((y for _, y in points), log), log_y=log, times=True
    )
    found = ElementTree.fromstring(charts.plane(at, [charts.Dot(x, y, "t") for x, y in points], "alt"))
    for circle in found.iter("circle"):
        assert 0 <= float(circle.attrib["cx"]) <= at.width
        assert 0 <= float(circle.attrib["cy"]) <= at.height


@given(low=st.floats(-1e6, 1e6), size=st.floats(1e-3, 1e6))
def test_ticks_are_few_round_and_inside(low: float, size: float) -> None:
    found = charts.ticks(low, low + size)
    assert 1 <= len(found) <= 12
    assert all(low - size * 1e-6 <= tick <= (low + size) + size * 1e-6 for tick in found)


def test_samples_that_are_all_the_same_or_not_numbers_are_drawn() -> None:
    assert "<rect" in charts.histogram([2.0] * 10, "ms", "alt")
    assert charts.histogram([math.nan, 1.0], "ms", "alt") == ""
    assert "<circle" in charts.course([[1.0, math.nan, 2.0], [3.0]], "ms", "alt")


def test_heat_goes_from_best_to_worst() -> None:
    assert [charts.heat(value, (1.0, 100.0)) for value in (1.0, 10.0, 100.0, None)] == ["h0", "h5", "h9", "none"]


def test_json_has_no_number_that_is_none() -> None:
    assert json.loads(dumped({"a": [math.nan, math.inf, 1.5], "b": datetime(2026, 1, 2)})) == {
        "a": [None, None, 1.5],
        "b": "2026-01-02T00:00:00Z",
    }


def test_a_spreadsheet_takes_no_cell_for_a_formula() -> None:
    body = csv_body([{"model": '=cmd|"/c calc"!A1', "n": -1.5, "_hidden": 1}], "x.csv")
    assert body.content.decode().splitlines() == ["model,n", '"\'=cmd|""/c calc""!A1",-1.5']


def test_addresses_are_quoted() -> None:
    assert shown.path_part("a/b?c") == "a%2Fb%3Fc"
    assert shown.address("/x", a=["1", "2"], b="", c=None, d='"&') == "/x?a=1&a=2&d=%22%26"


def test_a_line_of_the_log_stays_one_line() -> None:
    for form in ("text", "json"):
        line = log_line(form, "request", {"path": "/a\nrequest path=/fake", "status": 200})
        assert "\n" not in line


def test_filters_take_words_once_or_often() -> None:
    one, often = chosen({"model": ["a,b"], "on": ["cpu"]}), chosen({"model": ["a", "b"], "on": ["cpu"]})
    assert one == often
    assert chosen({"device": ["Chip, 2 cores"]}).device == ("Chip, 2 cores",)
    assert all(provenance.is_real for provenance in one.provenance)
    for wrong in ({"batch": ["x"]}, {"status": ["fine"]}, {"model": ["x" * 300]}, {"since": ["soon"]}):
        with pytest.raises(InputError):
            chosen(wrong)


def test_an_order_of_a_form() -> None:
    order = order_of({"model": ["tiny-bert", "tiny-vit"], "on": ["cpu:0"], "batch": ["1, 8"], "effort": ["quick"]})
    assert (order.blocks[0].model, order.blocks[0].batch, order.effort) == (["tiny-bert", "tiny-vit"], [1, 8], "quick")
    for wrong in ({"model": ["tiny-bert"], "batch": ["many"]}, {}, {"model": ["tiny-bert"], "effort": ["most"]}):
        with pytest.raises(InputError):
            order_of(wrong)


def test_settings_from_file_environment_and_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "server.yaml"
    file.write_text("port: 9000\nlog: json\nhost: 127.0.0.2\n")
    monkeypatch.setenv("DYNO_SERVE_PORT", "9001")
    found = read(file, {"host": "127.0.0.3", "log": None})
    assert (found.port, found.log, found.host) == (9001, "json", "127.0.0.3")
    monkeypatch.setenv("DYNO_SERVE_PROT", "1")
    with pytest.raises(InputError, match="DYNO_SERVE_PROT"):
        read(None, {})
    monkeypatch.delenv("DYNO_SERVE_PROT")
    monkeypatch.delenv("DYNO_SERVE_PORT")
    for text in ("port: many", "prot: 1", "- a", "webhook: ftp://x"):
        file.write_text(text)
        with pytest.raises(InputError):
            read(file, {})
