"""An order becomes files, or a sentence that says why not."""

from __future__ import annotations

import builtins
import json
import shlex
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import world

from modeldyno.core.errors import DynoError, InputError, JobError
from modeldyno.reports.document import Document
from modeldyno.reports.order import Order, carry_out, check, compose
from modeldyno.reports.words import scope_sentence
from modeldyno.store.store import Store

NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)


def quiet(*_: object) -> None:
    """Nobody watches."""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """One for all: reports only read."""
    run = world.a_run()
    return world.a_store(tmp_path_factory.mktemp("store") / "s.duckdb", run, *world.records(run, ["alpha", "beta"]))


def test_a_folder_gets_a_file_for_each_format(store: Store, tmp_path: Path) -> None:
    order = Order(kind="performance", formats=("json", "html"), output=tmp_path / "new" / "deep")
    assert [path.name for path in carry_out(order, store, NOW, quiet).files] == ["performance.json", "performance.html"]
    document = Document.model_validate_json((tmp_path / "new/deep/performance.json").read_text())
    assert document.made_at == NOW
    assert document.scope.records == 12


def test_a_file_is_written_where_it_was_asked_for(store: Store, tmp_path: Path) -> None:
    order = Order(kind="performance", formats=("json",), output=tmp_path / "here.json")
    assert carry_out(order, store, NOW, quiet).files == (tmp_path / "here.json",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"kind": "sumary"}, "summary"),
        ({"formats": ("hmtl",)}, "html"),
        ({"formats": ()}, "Name a format"),
        ({"formats": ("json", "html"), "output": Path("one.json")}, "give a folder"),
        ({"kind": "model"}, "name the model"),
        ({"kind": "model", "subject": "alhpa"}, "alpha"),
        ({"kind": "run", "subject": "nope"}, "No run begins"),
        ({"subject": "alpha"}, "leave it out"),
        ({"words": {"batch": "many"}}, "no batch size"),
        ({"words": {"provenance": "dreamt"}}, "simulated"),
        ({"templates": Path("nowhere")}, "no template folder"),
        ({"kind": "nowhere.yaml"}, "Cannot read the template"),
        ({"output": Path("/proc/report")}, "choose another --output"),
        ({"formats": ("csv",), "output": Path("results.csv")}, r"write --output results\.zip"),
        ({"formats": ("html",), "output": Path("x.PDF")}, r"write --output x\.html"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(store: Store, changes: dict[str, Any], said: str) -> None:
    order = Order.model_validate({"kind": "performance", "formats": ("json",), **changes})
    with pytest.raises(InputError, match=said):
        carry_out(order, store, NOW, quiet)


def test_nothing_is_written_when_a_format_is_wrong(store: Store, tmp_path: Path) -> None:
    with pytest.raises(DynoError):
        carry_out(Order(kind="performance", formats=("json", "x"), output=tmp_path / "out"), store, NOW, quiet)
    assert not (tmp_path / "out").exists()


def test_a_name_does_not_lead_out_of_the_folder(tmp_path: Path) -> None:
    name = f"../../etc/<b>passwd</b> 😀{'語' * 120}"
    run = world.a_run()
    store = world.a_store(tmp_path / "s.duckdb", run, world.a_record(run, name))
    order = Order(kind="model", subject=name, formats=("json",), output=tmp_path / "out")
    (path,) = carry_out(order, store, NOW, quiet).files
    assert path.parent == tmp_path / "out"
    assert path.exists()


def test_the_same_data_give_the_same_bytes(store: Store, tmp_path: Path) -> None:
    orders = [Order(kind="summary", formats=("json", "html"), output=tmp_path / name) for name in ("a", "b")]
    first, second = ([path.read_bytes() for path in carry_out(order, store, NOW, quiet).files] for order in orders)
    folders = [str(tmp_path / name).encode() for name in ("a", "b")]
    assert [text.replace(folders[0], folders[1]) for text in first] == second


def test_the_document_says_how_to_make_it_again(store: Store) -> None:
    order = Order(kind="model", subject="alpha", words={"on": "cpu", "since": "2026-01-01"}, title="It's $HOME")
    document = compose(order, store, NOW, quiet)
    report, *measured = document.reproduce
    assert shlex.split(report) == [
        *("dyno", "report", "model", "alpha", "--on", "cpu", "--since", "2026-01-01"),
        *("--format", "html", "--output", "report", "--title", "It's $HOME", "--store", str(store.path)),
    ]
    assert measured == ["dyno run suite.yaml"]
    assert document.scope.chosen == {"on": "cpu", "since": "2026-01-01", "model": "alpha"}


def test_of_many_commands_the_newest_are_told(tmp_path: Path) -> None:
    runs = [world.a_run(day, command=f"dyno run {day}") for day in range(8)]
    items = [item for run in runs for item in (run, world.a_record(run, f"model-{run.run_id}"))]
    document = compose(Order(kind="summary"), world.a_store(tmp_path / "s.duckdb", *items), NOW, quiet)
    assert document.reproduce[1:] == (*(f"dyno run {day}" for day in (7, 6, 5, 4, 3)), "# and 3 more")


def test_an_empty_store_gives_a_report_that_says_so(tmp_path: Path) -> None:
    document = compose(Order(kind="summary"), Store(tmp_path / "none.duckdb"), NOW, quiet)
    assert "dyno run" in document.findings[0].text
    assert document.scope.records == 0


def test_a_store_that_holds_only_made_up_records_says_so(tmp_path: Path) -> None:
    run = world.a_run()
    store = world.a_store(tmp_path / "s.duckdb", run, world.a_record(run, provenance="simulated"))
    document = compose(Order(kind="summary"), store, NOW, quiet)
    assert "simulated" in document.findings[0].text
    assert "--provenance" in document.findings[0].text


def test_series_that_are_left_out_are_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("assemble", "material"):
        monkeypatch.setattr(f"modeldyno.reports.{module}.MOST_SERIES", 5)
    document = compose(Order(kind="performance"), store, NOW, quiet)
    assert (document.scope.series, document.scope.series_left_out) == (12, 7)
    assert "7 of 12 series" in scope_sentence(document)


def test_a_made_up_record_does_not_hide_a_measured_one(tmp_path: Path) -> None:
    run = world.a_run()
    both = [world.a_record(run), world.a_record(run, provenance="simulated", record_id="zzz")]
    store = world.a_store(tmp_path / "s.duckdb", run, *both)
    document = compose(Order(kind="performance", words={"provenance": "measured,simulated"}), store, NOW, quiet)
    (results,) = [table for table in document.tables if table.name == "results"]
    assert sorted(str(row.mark) for row in results.rows) == ["None", "simulated"]


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("title: t\nsections: [sped]\n", "speed"),
        ("title: t\nsections: [{section: speed, metric: beauty}]\n", "beauty"),
        ("title: t\nsections: [{section: speed, filters: {colour: red}}]\n", "filter"),
        ("title: t\nsections: [speed]\nlogo: none.svg\n", "beside the template"),
    ],
)
def test_an_order_is_checked_before_it_is_due(tmp_path: Path, template: str, said: str) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(template)
    with pytest.raises(InputError, match=said):
        check(Order(kind=str(path), output=tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_filter_that_matches_nothing_says_what_was_asked(store: Store) -> None:
    document = compose(Order(kind="summary", words={"on": "mps"}), store, NOW, quiet)
    assert "--on mps" in document.findings[0].text


def test_simulated_records_are_left_out_unless_asked_for(tmp_path: Path) -> None:
    run = world.a_run()
    made_up = world.a_record(run, "dreamt", "cuda", provenance="simulated")
    store = world.a_store(tmp_path / "s.duckdb", run, world.a_record(run), made_up)
    plain = compose(Order(kind="performance"), store, NOW, quiet).model_dump_json()
    asked = compose(Order(kind="performance", words={"provenance": "simulated"}), store, NOW, quiet)
    assert "dreamt" not in plain
    assert "dreamt" in asked.model_dump_json()
    assert asked.scope.provenance == {"simulated": 1}
    assert any(row.mark == "simulated" for table in asked.tables for row in table.rows)


def test_without_the_packages_it_says_what_to_install(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "altair":
            raise ModuleNotFoundError("No module named 'altair'", name="altair")
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(JobError, match=r"modeldyno\[report\]"):
        carry_out(Order(kind="performance", formats=("json",), output=tmp_path / "o"), store, NOW, quiet)


def test_each_step_is_told(store: Store, tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    order = Order(kind="compatibility", formats=("json",), output=tmp_path / "o")
    carry_out(order, store, NOW, lambda *step: told.append(step))
    assert told == [(1, 2, "compatibility"), (2, 2, "overview"), (1, 1, "json")]


def test_every_kind_that_is_shipped_can_be_made(store: Store, tmp_path: Path) -> None:
    from modeldyno.reports.template import kinds, read_template

    subjects = {"model": "alpha", "run": "latest", None: None}
    for name, path in kinds(None).items():
        subject = subjects[read_template(path).subject]
        order = Order(kind=name, subject=subject, formats=("json",), output=tmp_path)
        (file,) = carry_out(order, store, NOW, quiet).files
        document = json.loads(file.read_text())
        assert document["sections"], name
        assert document["findings"], name
