"""Tables of questions from the command line: imported results in, answers with intervals out."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from conftest import Dyno

pytestmark = pytest.mark.slow

SPEED = {"rtx3090": 1.0, "rtx4090": 2.1, "rtx5090": 2.9}
PHONES = {"Phone A": 1.0, "Phone B": 1.7, "Phone C": 0.6, "Phone D": 2.4}
Row = dict[str, Any]


def timm_rows() -> Iterable[Row]:
    for number in range(16):
        gmacs = math.exp(number / 4)
        for hardware, speed in SPEED.items():
            for compiled in (True, False):
                rate = 4000 * speed / gmacs * (1.3 if compiled else 1.0) * (1 + 0.02 * math.sin(number * 7 + speed))
                yield {
                    "model": f"net_{'abcd'[number % 4]}{number}",
                    "img_size": 224,
                    "batch_size": 256,
                    "param_count": 10 + number,
                    "gmacs": gmacs,
                    "macts": 3 * gmacs,
                    "hardware": hardware,
                    "precision": "amp",
                    "layout": "nchw",
                    "compiled": compiled,
                    "pytorch": "2.9.1",
                    "platform": "cu128",
                    "samples_per_sec": rate,
                    "step_time": 256e3 / rate,
                    "commit_date": "2026-01-06",
                }


def hub_rows() -> Iterable[Row]:
    for number in range(14):
        for device, speed in PHONES.items():
            for runtime, factor in (("tflite", 1.0), ("qnn_dlc", 0.8)):
                yield {
                    "model": f"model_{number}",
                    "component": f"Model-{number}",
                    "device": device,
                    "runtime": runtime,
                    "precision": "float",
                    "job_id": f"{number}{device}{runtime}",
                    "latency_ms": math.exp(number / 3) * factor / speed * (1 + 0.02 * math.sin(number * 5 + speed)),
                    "compute_unit": "NPU",
                    "first_date": "2026-02-24",
                    "first_release": "v1",
                    "shared_job": False,
                }


def write(path: Path, rows: Iterable[Row]) -> Path:
    rows = list(rows)
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows({name: "" if value is None else value for name, value in row.items()} for row in rows)
    return path


def ask(dyno: Dyno, folder: Path, known: list[Row], questions: list[Row]) -> tuple[list[Row], str]:
    write(folder / "known.csv", known)
    assert dyno("db", "import", str(folder / "known.csv")).returncode == 0
    write(folder / "questions.csv", [{"id": place} | row for place, row in enumerate(questions)])
    done = dyno("predict", "--questions", str(folder / "questions.csv"), "--output", str(folder / "answers.parquet"))
    assert done.returncode == 0, done.stderr
    with duckdb.connect() as connection:
        found = connection.execute(f"SELECT * FROM '{folder}/answers.parquet' ORDER BY id")
        names = [column[0] for column in found.description or ()]
        return [dict(zip(names, row, strict=True)) for row in found.fetchall()], done.stdout + done.stderr


def test_a_table_in_the_layout_of_timm_is_answered_in_its_own_unit(dyno: Dyno, tmp_path: Path) -> None:
    rows = list(timm_rows())
    hidden = [row for row in rows if (row["model"], row["hardware"]) in {("net_b5", "rtx4090"), ("net_c10", "rtx5090")}]
    known = [row for row in rows if row not in hidden]
    answers, _ = ask(dyno, tmp_path, known, [row | {"samples_per_sec": None, "step_time": None} for row in hidden])
    assert list(answers[0])[:5] == ["id", "predicted", "low", "high", "abstained"]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    for answer, row in zip(answers, hidden, strict=True):
        assert answer["predicted"] == pytest.approx(row["samples_per_sec"], rel=0.2)
        assert answer["low"] < answer["predicted"] < answer["high"]


def test_measurements_in_the_table_are_used_and_one_in_another_unit_is_left_out(dyno: Dyno, tmp_path: Path) -> None:
    rows = list(hub_rows())
    new = [row for row in rows if row["device"] == "Phone D"]
    known = [row for row in rows if row["device"] != "Phone D"]
    given, asked = new[:10], new[10:]
    slip = known[0] | {"latency_ms": known[0]["latency_ms"] * 1000}
    questions = [*given, slip, *(row | {"latency_ms": None} for row in asked)]
    answers, said = ask(dyno, tmp_path, known, questions)
    assert len(answers) == len(asked)
    assert "10 measurements of the table were used" in " ".join(said.split())
    assert "check its unit" in said
    off = [abs(answer["predicted"] / row["latency_ms"] - 1) for answer, row in zip(answers, asked, strict=True)]
    assert sorted(off)[len(off) // 2] < 0.15


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,model\n", "has no rows"),
        ("model,img_size,hardware\nx,224,y\n", "has no column id"),
        ("id,model\n1,x\n", "none of the known layouts"),
        ("id,model,device,runtime,latency_ms\n1,x,y,z,\n", "too few results to predict from"),
    ],
)
def test_tables_that_cannot_be_answered_are_told_why(dyno: Dyno, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "q.csv").write_text(text)
    done = dyno("predict", "--questions", str(tmp_path / "q.csv"), "--output", str(tmp_path / "a.parquet"))
    assert done.returncode == 2
    assert words in " ".join(done.stderr.split())


def test_an_empty_store_and_an_unknown_model_are_told_what_to_do(dyno: Dyno, tmp_path: Path) -> None:
    empty = dyno("predict", "tiny-bert")
    assert empty.returncode == 2
    assert "run dyno run or dyno db import first" in " ".join(empty.stderr.split())
    write(tmp_path / "known.csv", timm_rows())
    assert dyno("db", "import", str(tmp_path / "known.csv")).returncode == 0
    unknown = dyno("predict", "no-such-model")
    assert unknown.returncode == 2
    assert "no-such-model" in unknown.stderr
    told = dyno("predict", "tiny-bert", "--on", "rtx4090", "--json")
    assert told.returncode == 0, told.stderr
    (first, *_) = json.loads(told.stdout)["predictions"]
    assert first["device"] == "rtx4090"
    assert first["evidence"]


def test_a_table_by_itself_names_what_it_does_not_use(dyno: Dyno, tmp_path: Path) -> None:
    rows = list(hub_rows())
    slip, negative = rows[0] | {"latency_ms": 1e3 * rows[0]["latency_ms"]}, rows[1] | {"latency_ms": -5}
    again = rows[2] | {"latency_ms": 3 * rows[2]["latency_ms"]}
    table = [slip, negative, *rows[2:-4], again, *(row | {"latency_ms": None} for row in rows[-4:])]
    write(tmp_path / "q.csv", [{"id": place} | row for place, row in enumerate(table)])
    done = dyno("predict", "--questions", str(tmp_path / "q.csv"), "--output", str(tmp_path / "a.csv"))
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stderr.split())
    assert "was left out: check its unit" in said
    assert "Row 1 was left out" in said
    assert f"Rows 2, {len(table) - 5} are of one case and up to 3 times apart; the last is used." in said

    write(tmp_path / "q.csv", [{"id": place} | row for place, row in enumerate(rows)])
    text = (tmp_path / "q.csv").read_text().replace("latency_ms", "foo")
    (tmp_path / "q.csv").write_text(text)
    done = dyno("predict", "--questions", str(tmp_path / "q.csv"), "--output", str(tmp_path / "b.csv"))
    assert "There is no column latency_ms" in " ".join(done.stderr.split())
