"""`dyno db ...` as people call it."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Dyno
from modeldyno.store.maintenance import init
from modeldyno.store.store import Store

FIXTURE = Path(__file__).parents[1] / "fixtures" / "stores" / "v1.duckdb.gz"


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refusal(done: subprocess.CompletedProcess[str], code: int) -> str:
    assert done.returncode == code, done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    (line,) = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    return line


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sample") / "dyno.duckdb"
    init(Store(path), sample_data=True)
    return path


@pytest.fixture
def sampled(dyno_here: Dyno, sample: Path, tmp_path: Path) -> Dyno:
    """The command beside a store with sample data."""
    shutil.copytree(sample.parent, tmp_path, dirs_exist_ok=True)
    return dyno_here


def test_help_imports_no_database(dyno: Dyno) -> None:
    code = "import sys; sys.argv = ['dyno', 'db', '--help']\nfrom modeldyno.cli import main\ntry: main()\n"
    code += "except SystemExit: pass\nprint([name for name in sys.modules if 'duckdb' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
    for command in ("sql", "export", "init", "check", "vacuum", "backup", "restore", "purge", "stats", "migrate"):
        assert f" {command} " in done.stdout


def test_every_command_in_a_process_of_its_own(dyno: Dyno, tmp_path: Path) -> None:
    assert answer(dyno("db", "init", "--sample-data", "--json"))["records"] == 48
    assert answer(dyno("db", "export", "out", "--format", "json", "--json"))["counts"] == {"run": 3, "record": 48}
    assert dyno("db", "import", "out", "--store", "other.duckdb").returncode == 0
    assert answer(dyno("db", "forget", "out", "--store", "other.duckdb", "--yes", "--json"))["removed"] is True
    assert answer(dyno("db", "sql", "SELECT count(*) AS n FROM results", "--json")) == [{"n": 48}]
    assert answer(dyno("db", "check", "--json"))["sound"] is True
    saved = answer(dyno("db", "backup", "--json"))["backup"]
    assert answer(dyno("db", "purge", "--older-than", "1h", "--yes", "--json"))["removed"]["record"] == 48
    assert answer(dyno("db", "restore", saved, "--json"))["tables"]["records"] == 48
    assert answer(dyno("db", "vacuum", "--json"))["bytes_after"] == (tmp_path / "dyno.duckdb").stat().st_size
    assert answer(dyno("db", "stats", "--json"))["tables"]["records"] == 48
    assert "there is nothing to do" in dyno("db", "migrate").stdout


def test_sql_in_every_shape(sampled: Dyno, tmp_path: Path) -> None:
    query = "SELECT model, batch, latency_ms, NULL AS gap FROM results WHERE platform = 'cuda' ORDER BY record_id"
    rows = answer(sampled("db", "sql", query, "--json"))
    assert len(rows) == 12
    assert rows[0]["gap"] is None
    assert answer(sampled("db", "sql", query, "--format", "json", "--limit", "2")) == rows[:2]
    assert "bert-base-uncased" in sampled("db", "sql", query).stdout
    markdown = sampled("db", "sql", query, "--format", "markdown", "--limit", "1").stdout.splitlines()
    assert markdown[:2] == ["| model | batch | latency_ms | gap |", "|---|---|---|---|"]
    assert sampled("db", "sql", query, "--output", "out.csv").stdout == ""
    with (tmp_path / "out.csv").open(newline="") as file:
        read = list(csv.DictReader(file))
    assert [float(row["latency_ms"]) for row in read] == [row["latency_ms"] for row in rows]
    assert answer(sampled("db", "sql", "SELECT 1 WHERE false", "--json")) == []


def test_sql_tells_when_a_table_is_cut(sampled: Dyno) -> None:
    done = sampled("db", "sql", "FROM range(1000)")
    assert "Only the first 200 rows are shown" in done.stderr
    assert "Only the first" not in sampled("db", "sql", "FROM range(200)").stderr


def test_sql_values_of_every_type_have_a_shape(sampled: Dyno) -> None:
    query = """SELECT 'nan'::DOUBLE AS a, 1.50::DECIMAL(5, 2) AS b, INTERVAL 1 DAY AS c, {'x': [1, NULL]} AS d,
                      'a|b' AS e, DATE '2026-01-02' AS f, 'ab'::BLOB AS g, now() AS h, true AS i, 2::HUGEINT AS j"""
    (row,) = answer(sampled("db", "sql", query, "--json"))
    assert (row["a"], row["b"], row["d"], row["f"], row["i"]) == (None, 1.5, {"x": [1, None]}, "2026-01-02", True)
    assert "a\\|b" in sampled("db", "sql", query, "--format", "markdown").stdout


def test_sql_refuses_in_one_sentence(sampled: Dyno, tmp_path: Path) -> None:
    assert "Only reading is allowed" in refusal(sampled("db", "sql", "DROP TABLE records"), 2)
    assert "no file and no network" in refusal(sampled("db", "sql", "FROM 'secret.csv'"), 2)
    assert 'Did you mean "records"?' in refusal(sampled("db", "sql", "FROM recordz"), 2)
    endless = "SELECT count(*) FROM range(1000000000000) t(x) WHERE x % 7 = 3"
    assert "longer than 0.3 s" in refusal(sampled("db", "sql", endless, "--timeout", "0.3"), 1)
    assert "Unknown format 'excel'" in refusal(sampled("db", "sql", "SELECT 1", "--format", "excel"), 2)
    assert "made for the screen" in refusal(
        sampled("db", "sql", "SELECT 1", "--format", "table", "--output", "o.txt"), 2
    )
    assert "Cannot write" in refusal(sampled("db", "sql", "SELECT 1", "--output", "no/such/folder.csv"), 2)
    assert "There is no store" in refusal(sampled("db", "sql", "SELECT 1", "--store", "none.duckdb"), 2)
    assert list(tmp_path.glob("*.partial")) == []


@pytest.mark.parametrize("format_name", ["parquet", "json"])
def test_export_and_import_give_the_same_store(sampled: Dyno, format_name: str) -> None:
    done = answer(sampled("db", "export", "out", "--format", format_name, "--json"))
    assert done["counts"] == {"run": 3, "record": 48}
    assert sampled("db", "import", "out", "--store", "other.duckdb").returncode == 0
    for query in ("FROM results ORDER BY ALL", "FROM metrics ORDER BY ALL", "SELECT run_id, plan FROM runs ORDER BY 1"):
        first, second = (sampled("db", "sql", query, "--json", "--store", s) for s in ("dyno.duckdb", "other.duckdb"))
        assert answer(first) == answer(second)
    assert "is already there" in refusal(sampled("db", "export", "out", "--format", format_name), 2)


def test_export_filters(sampled: Dyno, tmp_path: Path) -> None:
    chosen = ("--model", "bert-base-uncased", "--on", "cpu,cuda", "--since", "2026-01-10", "--until", "2026-01-15")
    done = answer(sampled("db", "export", "out.csv", "--format", "csv", *chosen, "--json"))
    assert done["counts"] == {"record": 4}
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 5
    assert "is no moment" in refusal(sampled("db", "export", "x", "--since", "yesterday"), 2)
    assert "is no age" in refusal(sampled("db", "export", "x", "--since", "3y"), 2)
    assert "Unknown format" in refusal(sampled("db", "export", "x", "--format", "xml"), 2)


def test_init_says_what_is_there(sampled: Dyno) -> None:
    assert "with 48 records" in sampled("db", "init").stdout
    assert "sample data goes into a new --store only" in refusal(sampled("db", "init", "--sample-data"), 2)


def test_check_exits_1_when_something_is_wrong(sampled: Dyno, tmp_path: Path) -> None:
    assert answer(sampled("db", "check", "--json")) == {
        "store": str(tmp_path / "dyno.duckdb"),
        "sound": True,
        "findings": [],
    }
    (tmp_path / "dyno.duckdb.spool" / "x.torn").write_text("half a li")
    done = sampled("db", "check")
    assert done.returncode == 1
    assert "x.torn" in done.stdout
    assert "is not sound" in done.stdout
    assert "There is no store" in refusal(sampled("db", "check", "--store", "none.duckdb"), 2)


def test_backup_restore_and_vacuum(sampled: Dyno, tmp_path: Path) -> None:
    saved = answer(sampled("db", "backup", "--keep", "1", "--older-than", "30d", "--json"))
    assert saved["tables"]["records"] == 48
    assert Path(saved["backup"]).parent.name == "dyno.duckdb.backups"
    sizes = answer(sampled("db", "vacuum", "--json"))
    assert sizes["bytes_after"] == (tmp_path / "dyno.duckdb").stat().st_size
    (tmp_path / "dyno.duckdb").write_text("ruined " * 1000)
    assert sampled("db", "stats").returncode == 1
    restored = answer(sampled("db", "restore", saved["backup"], "--json"))
    assert (restored["tables"]["records"], Path(restored["kept"]).exists()) == (48, True)
    assert answer(sampled("db", "stats", "--json"))["tables"]["records"] == 48
    assert "There is no backup" in refusal(sampled("db", "restore", "nothing.gz"), 2)
    assert "is no age" in refusal(sampled("db", "backup", "--older-than", "soon"), 2)


def test_purge_asks_first_and_keeps_an_archive(dyno: Dyno, sampled: Dyno) -> None:
    would = answer(sampled("db", "purge", "--older-than", "1h", "--dry-run", "--json"))
    assert would["would_remove"] == {"record": 48, "test": 0, "run": 3}
    refused = dyno("db", "purge", "--older-than", "1h", stdin=subprocess.DEVNULL)
    assert "give --yes" in refusal(refused, 2)
    assert answer(sampled("db", "stats", "--json"))["tables"]["records"] == 48
    done = answer(sampled("db", "purge", "--older-than", "1h", "--archive", "old", "--yes", "--json"))
    assert done["removed"] == would["would_remove"]
    assert answer(sampled("db", "stats", "--json"))["tables"]["records"] == 0
    assert sampled("db", "import", "old").returncode == 0
    assert answer(sampled("db", "stats", "--json"))["tables"]["records"] == 48
    assert "0 records, 0 tests, 0 runs" in sampled("db", "purge", "--older-than", "99999d", "--yes").stdout


def test_a_store_of_the_first_schema(dyno_here: Dyno, tmp_path: Path) -> None:
    with gzip.open(FIXTURE) as source, (tmp_path / "dyno.duckdb").open("wb") as target:
        shutil.copyfileobj(source, target)
    done = answer(dyno_here("db", "migrate", "--json"))
    assert (done["from"], done["to"], Path(done["backup"]).name) == (1, 5, "dyno.duckdb.schema1")
    assert "there is nothing to do" in dyno_here("db", "migrate").stdout
    shown = answer(dyno_here("show", "all", "--json"))["records"]
    assert sorted((record["case"]["platform"], record["status"]) for record in shown) == [
        ("cpu", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("qnn", "skipped"),
    ]


def test_stats_for_people(sampled: Dyno) -> None:
    text = sampled("db", "stats").stdout
    for words in ("openvino", "simulated", "From 2026-01-05", "waiting"):
        assert words in text


def test_an_import_that_went_wrong_is_taken_back_and_repeated(sampled: Dyno, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("model,platform,secs\nbert,cpu,0.5\nbert,tpu-of-sorts,x\n")
    wrong = answer(sampled("db", "import", "t.csv", "--format", "rows", "--map", "latency_ms=secs:ms", "--json"))
    assert wrong["new"]["record"] == 1
    assert "give --yes" in refusal(sampled("db", "forget", "t.csv"), 2)
    assert answer(sampled("db", "forget", "t.csv", "--dry-run", "--json"))["counts"]["record"] == 1
    assert answer(sampled("db", "forget", "t.csv", "--yes", "--json"))["removed"] is True
    assert "No import is called 't.csv'" in refusal(sampled("db", "forget", "t.csv", "--yes"), 2)
    stats = answer(sampled("db", "stats", "--json"))["tables"]
    assert (stats["records"], stats["imports"], stats["rejections"]) == (48, 0, 0)
    right = answer(sampled("db", "import", "t.csv", "--format", "rows", "--map", "latency_ms=secs:s", "--json"))
    assert right["new"]["record"] == 1
    (row,) = answer(sampled("db", "sql", "SELECT latency_ms FROM results WHERE provenance = 'imported'", "--json"))
    assert row["latency_ms"] == 500
