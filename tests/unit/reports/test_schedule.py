"""When scheduled reports are due, and the file that keeps them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeldyno.cli.schedule._units import calendar_moments, crontab_lines, service_unit, timer_units
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.reports.order import Order
from modeldyno.reports.schedule import LOCAL, Ended, Entry, Schedule, cron_expression, newest_moment

NOON = datetime(2026, 3, 4, 12, tzinfo=UTC)
BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
LORD_HOWE = "LHST-10:30LHDT-11,M10.1.0,M4.1.0"  # whose clocks are set by half an hour
ORDER = Order(kind="performance", formats=("json",), output=Path("/reports"))


@contextmanager
def clock_of(zone: str) -> Iterator[None]:
    """The machine in that time zone."""
    before = os.environ.get("TZ")
    os.environ["TZ"] = zone
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


def entry(every: str, added_at: datetime = NOON, **changes: object) -> Entry:
    return Entry.model_validate({"id": "one", "order": ORDER, "every": every, "added_at": added_at, **changes})


def all_moments(every: str, after: datetime, until: datetime, zone: tzinfo) -> list[datetime]:
    """One after the other, each asked for from the one before."""
    found: list[datetime] = []
    probe = entry(every, after, utc=zone is UTC)
    while (moment := probe.next(found[-1] if found else after)) <= until:
        found.append(moment)
    return found


EXPRESSIONS = st.sampled_from(
    [
        "* * * * *",
        "*/7 * * * *",
        "0 * * * *",
        "30 2 * * *",
        "0,30 2 * * *",
        "*/20 2 * * *",
        "15 1-3 * * *",
        "0 2,3 * * *",
        "0 0 * * *",
        "0 6 * * 1",
        "0 6 13 * 5",
        "30 2 L * *",
        "45 1 * * SUN#1",
    ]
)
ZONES = st.sampled_from([BERLIN, LORD_HOWE, "UTC0", "EST5EDT,M3.2.0,M11.1.0"])
MOMENTS = st.datetimes(datetime(2026, 1, 1), datetime(2027, 6, 1), timezones=st.just(UTC))
CHANGES = st.sampled_from([datetime(2026, 3, 29, 1), datetime(2026, 10, 25, 1), datetime(2026, 4, 4, 15)]).flatmap(
    lambda change: st.integers(-10_000, 10_000).map(lambda s: change.replace(tzinfo=UTC) + timedelta(seconds=s))
)
PAUSES = st.lists(st.integers(1, 200_000).map(lambda s: timedelta(seconds=s)), min_size=1, max_size=12)


@settings(deadline=None, max_examples=150)
@given(EXPRESSIONS, ZONES, MOMENTS | CHANGES, PAUSES)
def test_a_runner_misses_nothing_and_does_nothing_twice(
    every: str, zone: str, start: datetime, pauses: list[timedelta]
) -> None:
    with clock_of(zone):
        kept, now = entry(every, start), start
        expected = all_moments(every, start, start + sum(pauses, timedelta()), LOCAL)
        for pause in pauses:
            before, now = now, now + pause
            passed = [moment for moment in expected if before < moment <= now]
            due = kept.due(now)
            assert due == (passed[-1] if passed else None)
            assert kept.next(now) > now
            if due:
                kept = kept.model_copy(update={"last": Ended(due_at=due, at=now)})
                assert kept.due(now) is None


@settings(deadline=None, max_examples=100)
@given(EXPRESSIONS, MOMENTS, st.integers(0, 3 * 365 * 24 * 3600))
def test_what_is_due_is_the_newest_and_never_of_the_future(every: str, after: datetime, seconds: int) -> None:
    now = after + timedelta(seconds=seconds)
    due = newest_moment(every, after, now, UTC)
    following = entry(every, after, utc=True).next(due or after)
    assert following > now
    assert due is None or after < due <= now


@settings(deadline=None)
@given(st.text(max_size=300) | st.from_regex(r"[-0-9*/,#LWA-Z]{1,6}( [-0-9*/,#LWA-Z]{1,6}){3,5}", fullmatch=True))
def test_an_expression_is_good_or_the_error_shows_an_example(text: str) -> None:
    try:
        good = cron_expression(text)
    except InputError as error:
        assert "0 6 * * 1" in str(error)
    else:
        assert cron_expression(good) == good
        assert entry(good, utc=True).next(NOON) > NOON


@pytest.mark.parametrize("wrong", ["", "daily", "0 6 * *", "0 0 6 * * 1", "61 * * * *", "0 0 30 2 *", "9" * 5000])
def test_a_wrong_expression_is_refused(wrong: str) -> None:
    with pytest.raises(InputError, match="write it like"):
        cron_expression(wrong)


def test_a_machine_that_was_off_for_years_makes_one_report() -> None:
    kept = entry("* * * * *", NOON - timedelta(days=3650))
    assert kept.due(NOON) == NOON
    yearly = entry("0 6 1 1 *", NOON - timedelta(days=3650), utc=True)
    assert yearly.due(NOON) == datetime(2026, 1, 1, 6, tzinfo=UTC)


def test_hours_are_those_of_the_machine_unless_utc_is_said() -> None:
    with clock_of(BERLIN):
        assert entry("0 6 * * *").next(NOON) == datetime(2026, 3, 5, 5, tzinfo=UTC)
        assert entry("0 6 * * *", utc=True).next(NOON) == datetime(2026, 3, 5, 6, tzinfo=UTC)


def test_an_hour_that_is_left_out_is_made_up_for_and_one_that_comes_twice_counts_once() -> None:
    with clock_of(BERLIN):
        nightly = entry("30 2 * * *")
        spring = datetime(2026, 3, 29, 0, 59, tzinfo=UTC)  # a minute before clocks jump from 2:00 to 3:00
        assert nightly.next(spring) == datetime(2026, 3, 29, 1, 0, tzinfo=UTC)
        first = nightly.next(datetime(2026, 10, 24, 22, tzinfo=UTC))  # clocks go back from 3:00 to 2:00 that night
        assert first == datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
        assert nightly.next(first) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
        again = datetime(2026, 10, 25, 1, 10, tzinfo=UTC)  # 2:10 for the second time
        assert nightly.next(again) == datetime(2026, 10, 26, 1, 30, tzinfo=UTC)
        assert nightly.due(again) == first
        hourly = entry("0 * * * *")
        assert hourly.next(first) == datetime(2026, 10, 25, 1, 0, tzinfo=UTC)


def test_entries_are_kept_with_readable_names(tmp_path: Path) -> None:
    schedule = Schedule(tmp_path / "a store.duckdb")
    assert schedule.entries() == ()
    first = schedule.add(ORDER, "0 6 * * 1", False, ("a@b.example",), NOON)
    second = schedule.add(ORDER, " 0  7 * * 1", True, (), NOON)
    about = Order(kind="my/../Weird *.yaml", subject="$(rm -rf ~)/🚀")
    third = schedule.add(about, "0 8 * * 1", False, (), NOON)
    assert [first.id, second.id, third.id] == ["performance", "performance-2", "weird-rm-rf"]
    assert second.every == "0 7 * * 1"
    assert Schedule(schedule.store).entries() == (first, second, third)
    assert schedule.remove("performance") == first
    assert schedule.entries() == (second, third)
    with pytest.raises(UnknownName, match="performance-2"):
        schedule.remove("performance")


def test_what_was_removed_meanwhile_is_not_noted(tmp_path: Path) -> None:
    schedule = Schedule(tmp_path / "s.duckdb")
    old = schedule.add(ORDER, "0 6 * * 1", False, (), NOON)
    schedule.remove(old.id)
    new = schedule.add(ORDER, "0 6 * * 1", False, (), NOON + timedelta(hours=1))
    schedule.note(old, Ended(due_at=NOON, at=NOON))
    assert schedule.entries() == (new,)


@pytest.mark.parametrize("id", ["", "../x", "A", "a/b", "a\nb"])
def test_ids_that_could_lead_elsewhere_are_refused(id: str) -> None:
    with pytest.raises(ValueError, match="pattern"):
        entry("0 6 * * 1", id=id)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"entries": [{}]}', '{"format": "other/1"}'])
def test_a_broken_file_is_told(tmp_path: Path, content: str) -> None:
    schedule = Schedule(tmp_path / "s.duckdb")
    schedule.path.write_text(content)
    with pytest.raises(InputError, match="mend it"):
        schedule.entries()
    with pytest.raises(InputError, match="mend it"):
        schedule.add(ORDER, "0 6 * * 1", False, (), NOON)
    assert schedule.path.read_text() == content


def test_a_broken_expression_in_the_file_is_told(tmp_path: Path) -> None:
    schedule = Schedule(tmp_path / "s.duckdb")
    schedule.add(ORDER, "0 6 * * 1", False, (), NOON)
    schedule.path.write_text(schedule.path.read_text().replace("0 6 * * 1", "0 66 * * 1"))
    with pytest.raises(InputError, match="write it like"):
        schedule.entries()


def test_commands_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    script = f"""
import sys
from datetime import datetime, UTC
from pathlib import Path
from modeldyno.reports.schedule import Order, Schedule
for number in range(10):
    schedule = Schedule(Path({str(tmp_path / "s.duckdb")!r}))
    schedule.add(Order(kind=sys.argv[1]), "0 6 * * 1", False, (), datetime.now(UTC))
"""
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in ("a", "b", "c")]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len({kept.id for kept in Schedule(tmp_path / "s.duckdb").entries()}) == 30
    assert {path.name for path in tmp_path.iterdir()} == {"s.duckdb.schedule.json", "s.duckdb.schedule.json.lock"}


def test_a_report_has_one_runner_and_who_dies_leaves_it_due(tmp_path: Path) -> None:
    schedule = Schedule(tmp_path / "s.duckdb")
    kept = schedule.add(ORDER, "* * * * *", True, (), NOON)
    later = NOON + timedelta(minutes=5)
    with schedule.claim(kept.id, NOON) as not_yet:
        assert not_yet is None
    with schedule.claim(kept.id, later) as mine:
        assert mine == (kept, later)
        with schedule.claim(kept.id, later) as yours:
            assert yours is None
    with schedule.claim(kept.id, later) as again:  # nothing was noted, as if the first had been killed
        assert again == (kept, later)
        schedule.note(kept, Ended(due_at=later, at=later, error="It broke; mend it."))
    with schedule.claim(kept.id, later) as done:
        assert done is None
    with schedule.claim("gone", later) as gone:
        assert gone is None
    last = schedule.entry(kept.id).last
    assert last is not None and last.error == "It broke; mend it."
    assert not list(tmp_path.glob("*.performance.lock"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose another --store"):
        Schedule(tmp_path / "missing" / "s.duckdb").add(ORDER, "0 6 * * 1", False, (), NOON)


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        ("0 6 * * 1", ["Mon *-*-* 06:00:00"]),
        ("*/15 * * * *", ["*-*-* *:00,15,30,45:00"]),
        ("5/20 9-17 * 1,2,3,7 1-5", ["Mon,Tue,Wed,Thu,Fri *-01..03,07-* 09..17:05,25,45:00"]),
        ("0 6 13 * FRI", ["*-*-13 06:00:00", "Fri *-*-* 06:00:00"]),
        ("0 6 */10 * FRI", ["Fri *-*-01,11,21,31 06:00:00"]),
        ("0 6 L * *", ["*-*~01 06:00:00"]),
        ("0 6 * * 0,7", ["Sun *-*-* 06:00:00"]),
        ("0 6 LW * *", []),
        ("0 6 * * MON#2", []),
        ("0 6 * * 5L", []),
    ],
)
def test_systemd_says_it_in_its_own_words(every: str, expected: list[str]) -> None:
    assert calendar_moments(entry(every)) == expected
    assert calendar_moments(entry(every, utc=True)) == [f"{moment} UTC" for moment in expected]


needs_systemd = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here")


@needs_systemd
@pytest.mark.parametrize("every", ["0 6 * * 1", "*/15 3 * * *", "5/20 9-17 * 1,7 1-5", "0 6 */10 * FRI", "0 6 L * *"])
def test_systemd_means_the_same_moments(every: str) -> None:
    [moment] = calendar_moments(entry(every, utc=True))
    told = subprocess.run(
        ["systemd-analyze", "calendar", "--iterations=8", f"--base-time={NOON:%Y-%m-%d %H:%M:%S} UTC", moment],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"TZ": "UTC", "LC_ALL": "C"},
    ).stdout
    lines = [line.split(": ", 1)[1] for line in told.splitlines() if "elapse:" in line or "Iter" in line]
    found = [datetime.strptime(line, "%a %Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC) for line in lines]
    assert len(found) == 8
    assert found == all_moments(every, NOON, found[-1], UTC)


NASTY = Path('/tmp/a $HOME 100% "b" \\ it\'s; `id` $(id) *.duckdb')


@needs_systemd
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    units = timer_units(entry("0 6 13 * 5", mail=["a@b.example"]), NASTY) | service_unit(NASTY, mail=True)
    for name, text in units.items():
        (tmp_path / name).write_text(text)
    paths = [str(tmp_path / name) for name in units]
    told = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
    assert [line for line in told.stderr.splitlines() if str(tmp_path) in line or "dyno-" in line] == []


def test_a_unit_quotes_what_systemd_would_change() -> None:
    unit = timer_units(entry("0 6 * * 1"), NASTY)["dyno-one.service"]
    assert '"/tmp/a $$HOME 100%% \\"b\\" \\\\ it\'s; `id` $$(id) *.duckdb"' in unit


def test_the_line_for_cron_reaches_the_command_as_it_is() -> None:
    *_, line = crontab_lines(entry("0 6 * * 1"), NASTY)
    assert line.startswith("0 6 * * 1 ")
    assert line.count("%") == line.count("\\%") == 1
    command = line.removeprefix("0 6 * * 1 ").replace("\\%", "%")  # as cron does
    printed = command.replace(sys.executable, "printf '%s\\n'", 1)
    words = subprocess.run(["/bin/sh", "-c", printed], capture_output=True, text=True, check=True).stdout.splitlines()
    assert words == ["-m", "modeldyno", "schedule", "run", "one", "--once", "--store", str(NASTY)]


@pytest.mark.parametrize(
    ("every", "utc", "fields"),
    [
        ("5/20 9-17 * jan,MAR mon-WED", False, "5-59/20 9-17 * 1,3 1-3"),
        ("*/20 * 1,15 * *", False, "*/20 * 1,15 * *"),
        ("0 6 L * *", False, "* * * * *"),
        ("0 6 * * MON#1", False, "* * * * *"),
        ("0 6 * * 1", True, "* * * * *"),
    ],
)
def test_cron_is_asked_each_minute_where_it_does_not_know_the_moment(every: str, utc: bool, fields: str) -> None:
    *others, line = crontab_lines(entry(every, utc=utc), Path("/s.duckdb"))
    assert line.startswith(f"{fields} {sys.executable} -m")
    after_a_start = line.replace(fields, "@reboot")
    assert [other for other in others if not other.startswith("#")] == ([after_a_start] * (fields != "* * * * *"))


def test_cron_has_no_way_to_write_a_line_end() -> None:
    with pytest.raises(InputError, match="--systemd"):
        crontab_lines(entry("0 6 * * 1"), Path("/a\nb.duckdb"))


def test_the_file_holds_plain_json(tmp_path: Path) -> None:
    schedule = Schedule(tmp_path / "s.duckdb")
    schedule.add(ORDER, "0 6 * * 1", False, ("a@b.example",), NOON)
    told = json.loads(schedule.path.read_text())
    assert told["format"] == "modeldyno-schedule/1"
    assert told["entries"][0]["mail"] == ["a@b.example"]
