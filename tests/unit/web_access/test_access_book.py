"""The book: users, tokens, sessions and the audit log in a real file."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import argon2
import pytest
from access_world import PASSWORD, Clock, World
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import InputError, JobError, UnknownName
from modeldyno.web.access import passwords
from modeldyno.web.access.audit import plain
from modeldyno.web.access.book import Book
from modeldyno.web.access.roles import Role


def test_building_and_asking_touch_nothing(tmp_path: Path) -> None:
    book = Book.beside(tmp_path / "dyno.duckdb")
    assert book.path == tmp_path / "dyno.duckdb.server.sqlite"
    assert book.users.all() == () and book.tokens.bearer("x") is None and book.sessions.find("x") is None
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_can_read_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.touch(mode=0o644)
    book = Book(path)
    book.note("ada", "test")
    keeper = sqlite3.connect(path)  # while one is connected, the files beside it stay
    keeper.execute("SELECT * FROM users").fetchall()
    book.note("ada", "test")
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in tmp_path.iterdir()}
    keeper.close()
    assert modes == {"a.sqlite": 0o600, "a.sqlite-wal": 0o600, "a.sqlite-shm": 0o600}


def test_another_part_may_have_made_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE jobs (id TEXT)")
        other.execute("INSERT INTO jobs VALUES ('mine')")
    other.close()
    assert Book(path).users.all() == ()
    Book(path).note("ada", "test")
    with sqlite3.connect(path) as other:
        assert other.execute("SELECT * FROM jobs").fetchall() == [("mine",)]
    other.close()


def test_a_file_that_is_none_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    path.write_text("this is no database, and long enough to be seen as one" * 20)
    with pytest.raises(JobError, match="move the file away"):
        Book(path).users.all()
    with pytest.raises(InputError, match="choose another --store"):
        Book(tmp_path / "missing" / "a.sqlite").note("ada", "test")


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "a.sqlite"
    program = (
        "import sys; from pathlib import Path; from modeldyno.web.access.book import Book\n"
        "book = Book(Path(sys.argv[1]))\n"
        "for number in range(40): book.note(sys.argv[2], 'test', str(number)); book.sessions.start('ada')"
    )
    writers = [subprocess.Popen([sys.executable, "-c", program, str(path), name]) for name in ("one", "two", "three")]
    assert [writer.wait(timeout=120) for writer in writers] == [0, 0, 0]
    notes = Book(path).audit.newest(1000)
    assert {name: sum(note.who == name for note in notes) for name in ("one", "two", "three")} == dict.fromkeys(
        ("one", "two", "three"), 40
    )


def test_roles_are_ordered() -> None:
    assert Role.VIEWER < Role.RUNNER < Role.ADMIN
    assert Role.ADMIN > Role.RUNNER >= Role.RUNNER and Role.VIEWER <= Role.VIEWER
    assert min(Role.ADMIN, Role.VIEWER) is Role.VIEWER


@pytest.mark.parametrize("name", ["a", "Ada", "1ada", "ada\n", "ada lovelace", "a" * 65, "local", "anonymous", ""])
def test_names_that_nobody_can_have(world: World, name: str) -> None:
    with pytest.raises(InputError, match="choose"):
        world.book.users.add(name, Role.VIEWER, PASSWORD)


@pytest.mark.parametrize("password", ["", "ninechars", "x" * 1025, "\udcff" * 12, "ADA-LOVELACE"])
def test_passwords_that_nobody_can_have(world: World, password: str) -> None:
    with pytest.raises(InputError):
        world.book.users.add("ada-lovelace", Role.VIEWER, password)
    assert "ada-lovelace" not in [user.name for user in world.book.users.all()]


def test_a_name_is_taken_once(world: World) -> None:
    with pytest.raises(InputError, match="--change"):
        world.add("viewer-1", Role.ADMIN)
    assert world.book.users.get("viewer-1").role is Role.VIEWER


def test_passwords_are_argon2_and_checked(world: World) -> None:
    assert b"$argon2id$" in world.path.read_bytes() and PASSWORD.encode() not in world.path.read_bytes()
    assert world.book.users.check("viewer-1", PASSWORD)
    assert not world.book.users.check("viewer-1", PASSWORD + " ")
    assert not world.book.users.check("nobody-here", "nobody has this password")


def test_letters_count_however_a_keyboard_writes_them(world: World) -> None:
    world.book.users.add("zoe", Role.VIEWER, "caf\u00e9 caf\u00e9 1")
    assert world.book.users.check("zoe", "cafe\u0301 cafe\u0301 1")


def test_an_old_hash_is_made_anew_and_ends_no_session(world: World) -> None:
    weak = argon2.PasswordHasher(time_cost=1, memory_cost=1024, parallelism=1).hash(PASSWORD)
    with sqlite3.connect(world.path) as raw:
        raw.execute("UPDATE users SET password_hash = ? WHERE name = 'viewer-1'", (weak,))
    raw.close()
    session = world.book.sessions.start("viewer-1")
    assert not world.book.users.check("viewer-1", "something else") and weak.encode() in world.path.read_bytes()
    assert world.book.users.check("viewer-1", PASSWORD)
    with sqlite3.connect(world.path) as raw:
        [[now]] = raw.execute("SELECT password_hash FROM users WHERE name = 'viewer-1'")
    raw.close()
    assert now != weak and not passwords.is_outdated(now)
    assert world.book.sessions.find(session)


def test_changing_a_password_ends_sessions_but_no_tokens(world: World) -> None:
    session = world.book.sessions.start("runner-1")
    _, text = world.book.tokens.make("runner-1", "ci", Role.RUNNER)
    world.book.users.change("runner-1", Role.VIEWER, "another password")
    assert world.book.sessions.find(session) is None
    bearer = world.book.tokens.bearer(text)
    assert bearer and bearer.role is Role.VIEWER  # not above what the user is now
    assert world.book.users.check("runner-1", "another password")


def test_a_removed_user_is_gone_with_everything(world: World) -> None:
    session = world.book.sessions.start("runner-1")
    _, text = world.book.tokens.make("runner-1", "ci", Role.RUNNER)
    world.book.users.remove("runner-1")
    assert world.book.sessions.find(session) is None and world.book.tokens.bearer(text) is None
    world.add("runner-1", Role.ADMIN)
    assert world.book.sessions.find(session) is None and world.book.tokens.bearer(text) is None
    with pytest.raises(UnknownName):
        world.book.users.remove("nobody-here")


def test_a_session_that_a_removal_missed_is_none_of_the_next_user(world: World) -> None:
    world.book.users.remove("runner-1")
    late = world.book.sessions.start("runner-1")
    assert world.book.sessions.find(late) is None
    world.add("runner-1", Role.ADMIN)
    assert world.book.sessions.find(late) is None


def test_a_token_is_kept_as_a_hash_and_ends(world: World, tmp_path: Path) -> None:
    token, text = world.book.tokens.make("runner-1", "ci", Role.VIEWER, timedelta(days=30))
    secret = text.removeprefix(f"dyno_{token.token_id}_")
    assert len(secret) == 43
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())
    assert token.expires_at - token.created_at == timedelta(days=30)
    bearer = world.book.tokens.bearer(text)
    assert bearer and (bearer.user, bearer.role) == ("runner-1", Role.VIEWER)
    [used] = world.book.tokens.of("runner-1")
    assert used.last_used_at == world.clock()
    world.clock.turn(days=30, seconds=-1)
    assert world.book.tokens.bearer(text)
    world.clock.turn(seconds=1)
    assert world.book.tokens.bearer(text) is None


def test_wrong_tokens(world: World) -> None:
    token, text = world.book.tokens.make("runner-1", "ci", Role.RUNNER)
    other = world.book.tokens.make("runner-1", "ci", Role.RUNNER)[1]
    swapped = f"dyno_{token.token_id}_{other[22:]}"
    for wrong in ("", "dyno_", text[:-1], text + "A", text.upper(), swapped, text + "\n", text.replace("dyno", "dyn")):
        assert world.book.tokens.bearer(wrong) is None, wrong
    world.book.tokens.remove("runner-1", token.token_id)
    assert world.book.tokens.bearer(text) is None
    with pytest.raises(UnknownName):
        world.book.tokens.remove("admin-1", other[5:21])
    assert world.book.tokens.bearer(other)


def test_tokens_that_nobody_can_have(world: World) -> None:
    make = world.book.tokens.make
    with pytest.raises(InputError, match="--scope runner"):
        make("runner-1", "ci", Role.ADMIN)
    with pytest.raises(InputError, match="366 days"):
        make("runner-1", "ci", Role.VIEWER, timedelta(days=367))
    with pytest.raises(InputError, match="what it is for"):
        make("runner-1", "c\ni", Role.VIEWER)
    with pytest.raises(UnknownName):
        make("local", "ci", Role.VIEWER)


def test_a_user_has_a_bounded_number_of_tokens(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldyno.web.access.tokens.MOST", 2)
    for _ in range(2):
        world.book.tokens.make("runner-1", "ci", Role.VIEWER)
    with pytest.raises(InputError, match="remove one"):
        world.book.tokens.make("runner-1", "ci", Role.VIEWER)


def test_a_session_slides_up_to_a_week(world: World, tmp_path: Path) -> None:
    secret = world.book.sessions.start("viewer-1")
    assert all(secret.encode() not in file.read_bytes() for file in tmp_path.iterdir())
    for _ in range(16):  # used every ten hours
        world.clock.turn(hours=10)
        assert world.book.sessions.find(secret)
    world.clock.turn(hours=8)  # the seventh day is over
    assert world.book.sessions.find(secret) is None


def test_a_session_ends_when_it_is_not_used(world: World) -> None:
    secret = world.book.sessions.start("viewer-1")
    world.clock.turn(hours=12)
    assert world.book.sessions.find(secret) is None


def test_the_one_time_link_works_once_and_not_for_long(world: World) -> None:
    link = world.book.one_time_link_secret()
    assert world.book.sessions.find(link) is None  # it is no session itself
    world.book.sessions.end(link)  # nor can it be ended as one
    session = world.book.sessions.redeem(link)
    assert session and world.book.sessions.find(session).role is Role.ADMIN  # type: ignore[union-attr]
    assert world.book.sessions.redeem(link) is None and world.book.sessions.redeem(session) is None
    late = world.book.one_time_link_secret()
    world.clock.turn(minutes=15)
    assert world.book.sessions.redeem(late) is None


def test_a_note_stays_on_its_line(world: World) -> None:
    world.book.note("eve\n2026 admin log in ok", "log in", "a\\n\x1b[2J\u202e", "failed", "1.2.3.4")
    [note, *_] = world.book.audit.newest(1)
    assert note.who == "eve\\n2026 admin log in ok"
    assert note.target == "a\\\\n\\x1b[2J\\u202e"
    assert note.at == world.clock()


@given(st.text(st.characters()))
def test_plain_text_is_one_short_line(text: str) -> None:
    assert plain(text).isprintable() and plain(text).encode().decode() == plain(text)
    if len(text) <= 200 and "\\" not in text and text.isprintable():
        assert plain(text) == text


def test_the_audit_log_is_bounded(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldyno.web.access.audit.KEPT", 3)
    for number in range(5):
        world.book.note("ada", "test", str(number))
    assert [note.target for note in world.book.audit.newest(10)] == ["4", "3", "2"]


def test_the_clock_is_the_real_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "0")
    Book(tmp_path / "a.sqlite").note("ada", "test")
    assert Book(tmp_path / "a.sqlite").audit.newest(1)[0].at > Clock().moment - timedelta(days=3650)
