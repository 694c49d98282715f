"""`dyno schedule` as people call it: real processes, short runs."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conftest import Dyno
from modeldyno.reports.order import Order
from modeldyno.reports.schedule import Entry, Schedule

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
WEEKLY = ("--every", "0 6 * * 1", "--format", "json")


def due_entry(tmp_path: Path, kind: str = "performance", **changes: Any) -> Entry:
    """On the schedule for years, and never made."""
    order = Order(kind=kind, formats=("json",), output=tmp_path / changes.pop("output", "out"))
    return Schedule(tmp_path / "dyno.duckdb").add(order, "0 6 * * 1", True, changes.pop("mail", ()), LONG_AGO)


def listed(dyno: Dyno) -> list[dict[str, Any]]:
    done = dyno("schedule", "list", "--json")
    assert done.returncode == 0, done.stderr
    entries: list[dict[str, Any]] = json.loads(done.stdout)["entries"]
    return entries


def test_add_list_remove(dyno_here: Dyno, tmp_path: Path) -> None:
    assert "Nothing is scheduled" in dyno_here("schedule", "list").stdout
    added = dyno_here(
        "schedule", "add", "performance", *WEEKLY, "--on", "cpu", "--mail", "a@b.example,c@d.example", "--utc"
    )
    assert added.returncode == 0, added.stderr
    assert re.search(r"Added performance; it is first due on Mon \d{4}-\d\d-\d\d 06:00 UTC", added.stdout)
    assert "DYNO_SMTP is not set" in added.stderr
    [entry] = listed(dyno_here)
    assert entry["order"]["words"] == {"on": "cpu"}
    assert entry["order"]["output"] == str(tmp_path / "report")
    assert entry["mail"] == ["a@b.example", "c@d.example"]
    assert entry["due_at"] is None and entry["last"] is None
    assert datetime.fromisoformat(entry["next_at"]).weekday() == 0
    assert "a@b.example" in dyno_here("schedule", "list").stdout
    assert "Removed performance" in dyno_here("schedule", "remove", "performance").stdout
    assert listed(dyno_here) == []
    gone = dyno_here("schedule", "remove", "performance")
    assert gone.returncode == 2 and "Unknown entry" in gone.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("performance", "--every", "0 6 * *"), '"0 6 * * 1"'),
        (("performance", "--every", "0 6 30 2 *"), '"0 6 * * 1"'),
        (("performance",), "--every"),
        (("perfromance", *WEEKLY), "did you mean 'performance'?"),
        (("performance", "alpha", *WEEKLY), "leave it out"),
        (("missing.yaml", *WEEKLY), "missing.yaml"),
        (("performance", "--every", "0 6 * * 1", "--format", "jsno"), "json"),
        (("performance", "--every", "0 6 * * 1", "--format", ","), "Name a format"),
        (("performance", *WEEKLY, "--provenance", "dreamt"), "measured"),
        (("performance", *WEEKLY, "--mail", "a@b\nBcc: c@d"), "no mail address"),
        (("performance", *WEEKLY, "--store", "missing/s.duckdb"), "choose another --store"),
        (("performance", *WEEKLY, "--title", b"\xff".decode(errors="surrogateescape")), "is no text"),
    ],
)
def test_wrong_input_is_told_at_once_and_nothing_is_kept(
    dyno_here: Dyno, tmp_path: Path, words: tuple[str, ...], told: str
) -> None:
    done = dyno_here("schedule", "add", *words)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert Schedule(tmp_path / "dyno.duckdb").entries() == ()


def test_what_was_missed_is_made_once(dyno: Dyno, tmp_path: Path) -> None:
    due_entry(tmp_path, output="out $(touch gone) *")
    before = listed(dyno)[0]
    done = dyno("schedule", "run", "--once", "--json")
    assert done.returncode == 0, done.stderr
    [made] = json.loads(done.stdout)["reports"]
    assert made["due_at"] == before["due_at"]
    assert json.loads(Path(made["files"][0]).read_text())["report"] == "performance"
    assert Path(made["files"][0]).parent == tmp_path / "out $(touch gone) *"
    assert not list(tmp_path.rglob("gone"))
    assert json.loads(dyno("schedule", "run", "--once", "--json").stdout) == {"reports": []}
    [after] = listed(dyno)
    assert after["last"]["due_at"] == before["due_at"].replace("+00:00", "Z")
    assert after["last"]["error"] is None and after["due_at"] is None
    assert " ok" in dyno("schedule", "list").stdout


def test_one_that_fails_keeps_no_other_from_being_made(dyno_here: Dyno, tmp_path: Path) -> None:
    due_entry(tmp_path, kind=str(tmp_path / "gone.yaml"))
    due_entry(tmp_path)
    done = dyno_here("schedule", "run", "--once")
    assert done.returncode == 1
    assert "gone failed: " in done.stderr
    assert (tmp_path / "out" / "performance.json").exists()
    first, second = listed(dyno_here)
    assert "gone.yaml" in first["last"]["error"] and second["last"]["error"] is None
    assert dyno_here("schedule", "run", "--once").returncode == 0


def test_a_mail_that_cannot_be_sent_is_a_failure_that_says_why(dyno: Dyno, tmp_path: Path) -> None:
    due_entry(tmp_path, mail=("a@b.example",))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DYNO_SMTP")}
    done = dyno("schedule", "run", "--once", env=environment)
    assert done.returncode == 1
    assert "performance.json, but: No mail server is known; set DYNO_SMTP=" in done.stderr
    assert (tmp_path / "out" / "performance.json").exists()
    assert "performance failed: No mail server" in dyno("schedule", "list").stdout


def test_one_can_be_tried_before_it_is_due(dyno_here: Dyno, tmp_path: Path) -> None:
    assert dyno_here("schedule", "add", "performance", *WEEKLY, "--output", "out").returncode == 0
    assert dyno_here("schedule", "run", "--once").stdout == ""
    assert "wrote" in dyno_here("schedule", "run", "performance", "--now").stdout
    assert (tmp_path / "out" / "performance.json").exists()
    assert dyno_here("schedule", "run", "performence", "--now").returncode == 2


def test_two_runners_at_once_make_a_report_once(tmp_path: Path) -> None:
    for number in range(3):
        due_entry(tmp_path, output=f"out-{number}")
    command = [sys.executable, "-m", "modeldyno", "schedule", "run", "--once", "--json"]
    runners = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) for _ in range(2)]
    told = [json.loads(runner.communicate()[0])["reports"] for runner in runners]
    assert sorted(made["id"] for reports in told for made in reports) == [
        "performance",
        "performance-2",
        "performance-3",
    ]


def _hears_ctrl_c() -> None:
    """Tests that run in the background are started deaf to it, and so would be their children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_the_runner_goes_on_after_an_error_and_ends_with_a_sentence(tmp_path: Path, how: signal.Signals) -> None:
    due_entry(tmp_path, kind=str(tmp_path / "gone.yaml"))
    due_entry(tmp_path)
    command = [sys.executable, "-m", "modeldyno", "schedule", "run"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path, preexec_fn=_hears_ctrl_c) as runner:
        assert runner.stderr is not None
        said = [runner.stderr.readline() for _ in range(3)]
        runner.send_signal(how)
        rest = runner.stderr.read()
        assert runner.wait(60) == 0
    assert "Ctrl-C ends it" in said[0]
    assert "gone failed" in said[1] and "performance: wrote" in said[2]
    assert rest == "The scheduler has ended; what comes due until it is started again will be caught up once.\n"


def test_a_runner_that_never_ends_gives_no_json(dyno_here: Dyno) -> None:
    done = dyno_here("schedule", "run", "--json")
    assert done.returncode == 2 and "--once" in done.stderr


def test_a_runner_killed_in_the_middle_leaves_the_report_due(dyno_here: Dyno, tmp_path: Path) -> None:
    entry = due_entry(tmp_path)
    schedule = Schedule(tmp_path / "dyno.duckdb")
    script = f"""
import os, signal
from datetime import datetime, UTC
from pathlib import Path
from modeldyno.reports.schedule import Schedule
with Schedule(Path({str(schedule.store)!r})).claim({entry.id!r}, datetime.now(UTC)) as claimed:
    assert claimed
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == -signal.SIGKILL
    assert len(json.loads(dyno_here("schedule", "run", "--once", "--json").stdout)["reports"]) == 1


def test_the_line_for_cron_does_what_is_due(dyno_here: Dyno, tmp_path: Path) -> None:
    assert dyno_here("schedule", "show", "--crontab").returncode == 2
    order = Order(kind="performance", formats=("json",), output=tmp_path / "out")
    store = tmp_path / "it's 100% $HOME.duckdb"
    Schedule(store).add(order, "0 6 * * MON", False, (), LONG_AGO)
    shown = dyno_here("schedule", "show", "--crontab", "--store", store.name)
    line = shown.stdout.splitlines()[-1]
    assert line.startswith("0 6 * * 1 ")
    command = line.removeprefix("0 6 * * 1 ").replace("\\%", "%")
    bare = {"PATH": "/usr/bin:/bin", "PYTHONPATH": os.environ.get("PYTHONPATH", "")}
    done = subprocess.run(["/bin/sh", "-c", command], cwd="/", env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "performance.json").exists()


def test_units_for_systemd_are_shown(dyno_here: Dyno, tmp_path: Path) -> None:
    due_entry(tmp_path, mail=("a@b.example",))
    shown = dyno_here("schedule", "show", "performance", "--systemd").stdout
    assert "# ~/.config/systemd/user/dyno-performance.timer" in shown
    assert "OnCalendar=Mon *-*-* 06:00:00 UTC" in shown
    assert "systemctl --user enable --now dyno-performance.timer" in shown
    units = json.loads(dyno_here("schedule", "show", "--service", "--json").stdout)["units"]
    assert str(tmp_path / "dyno.duckdb") in units["dyno-schedule.service"]
    assert "mail.env" in units["dyno-schedule.service"]
    assert dyno_here("schedule", "show", "--systemd", "--crontab").returncode == 2


def test_a_moment_that_was_just_missed_is_seen(tmp_path: Path, dyno_here: Dyno) -> None:
    order = Order(kind="performance", formats=("json",), output=tmp_path / "out")
    kept = Schedule(tmp_path / "dyno.duckdb").add(
        order, "* * * * *", False, (), datetime.now(UTC) - timedelta(minutes=2)
    )
    [made] = json.loads(dyno_here("schedule", "run", "--once", "--json").stdout)["reports"]
    due_at = datetime.fromisoformat(made["due_at"])
    assert kept.added_at < due_at <= datetime.now(UTC)
    assert due_at.second == 0
