"""`dyno report` as people call it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from modeldyno.reports.document import Document

sys.path.insert(0, str(Path(__file__).parents[1] / "unit" / "reports"))
import world

Dyno = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def store(tmp_path: Path) -> Path:
    run = world.a_run()
    failed = {"status": "failed", "reason": "it broke", "metrics": {}, "samples": ()}
    items = [*world.records(run, ["alpha", "beta"]), world.a_record(run, "gamma", "cpu", **failed)]
    return world.a_store(tmp_path / "dyno.duckdb", run, *items).path


def test_without_a_kind_it_lists_them(dyno: Dyno) -> None:
    done = dyno("report")
    assert done.returncode == 0
    assert "summary" in done.stdout
    assert "model MODEL" in done.stdout
    kinds = json.loads(dyno("report", "--json").stdout)["kinds"]
    assert {"kind": "run", "subject": "run"}.items() <= next(kind for kind in kinds if kind["kind"] == "run").items()


def test_all_formats_at_once(dyno: Dyno, store: Path, tmp_path: Path) -> None:
    done = dyno("report", "summary", "--format", "html,md,pdf,json,csv", "--output", "out", "--json")
    assert done.returncode == 0, done.stderr
    files = [Path(name) for name in json.loads(done.stdout)["files"]]
    assert {path.suffix for path in files} == {".html", ".md", ".pdf", ".json", ".zip", ".svg"}
    assert all((tmp_path / path).stat().st_size > 200 for path in files)
    document = Document.model_validate_json((tmp_path / "out/summary.json").read_text())
    assert "gamma" in document.model_dump_json()


@pytest.mark.parametrize("kind", ["summary", "performance", "compatibility", "quality", "regressions"])
def test_a_store_in_which_all_failed_makes_a_report(dyno_here: Dyno, tmp_path: Path, kind: str) -> None:
    run = world.a_run()
    failed = {"status": "failed", "reason": "it <b>broke</b>", "metrics": {}, "samples": ()}
    world.a_store(tmp_path / "dyno.duckdb", run, world.a_record(run, "alpha", "cuda", **failed))
    done = dyno_here("report", kind, "--format", "html,md,json", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert "it <b>broke</b>" not in (tmp_path / f"out/{kind}.html").read_text()


def test_an_empty_place_says_so(dyno_here: Dyno, tmp_path: Path) -> None:
    done = dyno_here("report", "summary", "--format", "md", "--output", "out")
    assert done.returncode == 0, done.stderr
    assert "dyno run" in (tmp_path / "out/summary.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("sumary",), "summary"),
        (("summary", "--format", "docx"), "known"),
        (("summary", "--output", "file/below"), "choose another --output"),
        (("model",), "name the model"),
        (("model", "nobody"), "nobody"),
        (("summary", "--batch", "x"), "whole numbers"),
        (("summary", "--since", "someday"), "no moment"),
    ],
)
def test_wrong_input_gets_one_sentence(
    dyno_here: Dyno, store: Path, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    (tmp_path / "file").write_text("here already")
    done = dyno_here("report", *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_source_date_epoch_fixes_the_date(dyno: Dyno, store: Path, tmp_path: Path) -> None:
    import os

    fixed = {**os.environ, "SOURCE_DATE_EPOCH": "1767225600"}
    for name in ("a", "b"):
        done = dyno("report", "summary", "--format", "html,md,json", "--output", f"{name}/r", env=fixed)
        assert done.returncode == 0, done.stderr
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) > 5
    for file in files:
        first, second = ((tmp_path / name / file).read_bytes() for name in ("a", "b"))
        if file.suffix in (".md", ".html", ".json"):
            assert first.replace(b"output a/r", b"output b/r") == second, file
    assert "2026-01-01" in (tmp_path / "a/r/summary.md").read_text()


def test_every_puts_it_on_the_schedule_and_writes_nothing_now(dyno_here: Dyno, tmp_path: Path) -> None:
    done = dyno_here("report", "performance", "--every", "0 6 * * 1", "--utc", "--on", "cpu", "--output", "out")
    assert done.returncode == 0, done.stderr
    (entry,) = json.loads(dyno_here("schedule", "list", "--json").stdout)["entries"]
    assert (entry["every"], entry["utc"], entry["order"]["words"]) == ("0 6 * * 1", True, {"on": "cpu"})
    assert not (tmp_path / "out").exists()


def test_mail_without_a_server_is_said_before_any_work(dyno_here: Dyno, store: Path, tmp_path: Path) -> None:
    done = dyno_here("report", "performance", "--format", "json", "--mail", "a@b.example", "--output", "out")
    assert done.returncode == 2
    assert "DYNO_SMTP" in done.stderr
    assert not (tmp_path / "out").exists()
