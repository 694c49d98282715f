"""The pool from the command line, in real workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


def test_a_quick_run_of_the_pool_shows_what_sharing_is_worth(dyno) -> None:
    options = ["--option", "beside=tiny-vit", "--option", "users=4"]
    done = dyno("run", "tiny-bert", "--workload", "pool", "--on", "cpu", "--seq", "16", "--quick", *options)
    assert done.returncode == 0, done.stderr
    assert "concurrency" in done.stdout, "the table has the columns of the workload"
    (record,) = json.loads(dyno("show", "latest", "--json").stdout)["records"]
    assert record["status"] == "ok"
    values = {name: metric["value"] for name, metric in record["metrics"].items()}
    assert values["loads"] == 1
    assert values["memory_shared_mb"] < values["memory_unshared_mb"]


@pytest.mark.parametrize(
    ("option", "sentence"),
    [
        ("users=0", "The option users is a number from 1 to 256, not 0; write users=16."),
        ("beside=tiny-bert", "names a model twice"),
        ("beside=tiny-vat", "Unknown model 'tiny-vat', did you mean 'tiny-vit'?"),
    ],
)
def test_wrong_options_end_before_anything_runs(dyno, tmp_path: Path, option: str, sentence: str) -> None:
    done = dyno("run", "tiny-bert", "--workload", "pool", "--on", "cpu", "--option", option)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr
