"""`dyno users` as people call it."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import stat
import subprocess
import sys
import termios
from pathlib import Path
from typing import Any

import pytest

from conftest import Dyno
from modeldyno.web.access.book import Book
from modeldyno.web.access.roles import Role

PASSWORD = "correct horse battery"
FILE = "dyno.duckdb.server.sqlite"


@pytest.fixture
def book(tmp_path: Path) -> Book:
    """With one runner in it."""
    made = Book.beside(tmp_path / "dyno.duckdb")
    made.users.add("ada", Role.RUNNER, PASSWORD)
    return made


def read(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_add_list_remove(dyno: Dyno, tmp_path: Path) -> None:
    assert "dyno users add NAME --role admin" in dyno("users", "list").stdout
    assert not (tmp_path / FILE).exists()
    added = dyno("users", "add", "ada", "--role", "admin", "--password-stdin", input=f"{PASSWORD}\n")
    assert added.returncode == 0 and "ada can log in as admin" in added.stdout, added.stderr
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert Book(tmp_path / FILE).users.check("ada", PASSWORD)
    listed = read(dyno("users", "list", "--json"))
    assert [(user["name"], user["role"]) for user in listed["users"]] == [("ada", "admin")]
    assert "password" not in json.dumps(listed)
    asked = dyno("users", "remove", "ada", stdin=subprocess.DEVNULL)
    assert asked.returncode == 2 and "give --yes" in asked.stderr
    assert read(dyno("users", "remove", "ada", "--yes", "--json"))["removed"]["name"] == "ada"
    gone = dyno("users", "remove", "ada", "--yes")
    assert gone.returncode == 2 and "Unknown user 'ada'" in gone.stderr
    actions = [note["action"] for note in read(dyno("users", "audit", "--json"))["audit"]]
    assert actions == ["remove user", "add user"]


def test_the_store_says_which_users(dyno_here: Dyno, book: Book) -> None:
    assert "ada" in dyno_here("users", "list").stdout
    assert "ada" not in dyno_here("users", "list", "--store", "other.duckdb").stdout
    missing = dyno_here("users", "token", "ada", "--name", "x", "--store", "gone/other.duckdb")
    assert missing.returncode == 2


def test_a_user_can_be_changed(dyno: Dyno, book: Book) -> None:
    session = book.sessions.start("ada")
    words = ("users", "add", "ada", "--role", "viewer", "--password-stdin")
    twice = dyno(*words, input="another password\n")
    assert twice.returncode == 2 and "--change" in twice.stderr
    assert book.users.check("ada", PASSWORD)
    changed = dyno(*words, "--change", "--json", input="another password\n")
    assert read(changed)["user"]["role"] == "viewer"
    assert book.users.check("ada", "another password") and book.sessions.find(session) is None


@pytest.mark.parametrize(
    ("words", "typed", "told"),
    [
        (("bob", "--role", "boss"), PASSWORD, "known: admin, runner, viewer"),
        (("bob",), PASSWORD, "--role"),
        (("Bob Smith", "--role", "viewer"), PASSWORD, "choose 2 to 64 lower-case"),
        (("local", "--role", "admin"), PASSWORD, "choose another"),
        (("bob", "--role", "viewer"), "too short", "choose one of 10 to 1024"),
        (("bob", "--role", "viewer"), "", "choose one of 10 to 1024"),
        (("bob", "--role", "viewer", "--change"), PASSWORD, "Unknown user 'bob'"),
    ],
)
def test_wrong_input_is_told_and_nobody_is_added(
    dyno: Dyno, book: Book, words: tuple[str, ...], typed: str, told: str
) -> None:
    done = dyno("users", "add", *words, "--password-stdin", input=typed)
    assert done.returncode == 2 and told in done.stderr and "Traceback" not in done.stderr
    assert [user.name for user in book.users.all()] == ["ada"]


def test_a_password_that_is_no_text(dyno: Dyno, tmp_path: Path) -> None:
    done = dyno("users", "add", "bob", "--role", "viewer", "--password-stdin", input=b"\xff" * 12, text=False)
    assert done.returncode == 2 and b"UTF-8" in done.stderr


def test_nobody_is_there_to_type(dyno: Dyno) -> None:
    done = dyno("users", "add", "bob", "--role", "viewer", stdin=subprocess.DEVNULL)
    assert done.returncode == 2 and "--password-stdin" in done.stderr


def heard(terminal: int, until: bytes) -> bytes:
    """What the terminal shows, up to these words or its end."""
    shown = b""
    while not shown.endswith(until) or not until:
        if not select.select([terminal], [], [], 60)[0]:
            raise TimeoutError(f"Only {shown!r} was shown")
        try:
            shown += os.read(terminal, 1)
        except OSError:  # the terminal closes with the child
            break
    return shown


def test_the_password_is_asked_twice_and_not_shown(tmp_path: Path) -> None:
    terminal, other_side = pty.openpty()
    command = [sys.executable, "-m", "modeldyno", "users", "add", "ada", "--role", "admin"]
    streams = {"stdin": other_side, "stdout": other_side, "stderr": other_side}
    child = subprocess.Popen(command, cwd=tmp_path, start_new_session=True, preexec_fn=_own_terminal, **streams)
    os.close(other_side)
    try:
        shown = b""
        for question in (b"Password of ada: ", b"Repeat for confirmation: "):  # the space comes when echo is off
            shown += heard(terminal, question)
            os.write(terminal, f"{PASSWORD}\n".encode())
        shown += heard(terminal, b"")
        assert child.wait(timeout=60) == 0, shown
    finally:
        child.kill()
        child.wait()
        os.close(terminal)
    assert b"ada can log in" in shown and PASSWORD.encode() not in shown
    assert Book(tmp_path / FILE).users.check("ada", PASSWORD)


def _own_terminal() -> None:
    """Questions go to /dev/tty."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def test_a_token_is_shown_once(dyno_here: Dyno, book: Book) -> None:
    made = dyno_here("users", "token", "ada", "--name", "ci", "--scope", "runner", "--expires", "30d")
    assert made.returncode == 0, made.stderr
    text = made.stdout.strip()
    assert re.fullmatch(r"dyno_[0-9a-f]{16}_[\w-]{43}", text) and "not shown again" in made.stderr
    bearer = book.tokens.bearer(text)
    assert bearer and bearer.role is Role.RUNNER
    listed = dyno_here("users", "token", "ada", "--list", "--json")
    [token] = read(listed)["tokens"]
    assert token["name"] == "ci" and token["scope"] == "runner" and text[22:] not in listed.stdout
    assert token["token_id"] in dyno_here("users", "token", "ada", "--list").stdout
    assert "no longer works" in dyno_here("users", "token", "ada", "--revoke", token["token_id"]).stdout
    assert book.tokens.bearer(text) is None
    other = read(dyno_here("users", "token", "ada", "--name", "x", "--json"))
    assert other["scope"] == "viewer" and book.tokens.bearer(other["token"])
    log = dyno_here("users", "audit").stdout
    assert "make token" in log and "remove token" in log and other["token"] not in log


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ada",), "--name nightly-ci"),
        (("ada", "--name", "ci", "--scope", "admin"), "choose --scope runner"),
        (("ada", "--name", "ci", "--expires", "soon"), "like 12h, 30d or 8w"),
        (("ada", "--name", "ci", "--expires", "99999w"), "at most 366 days"),
        (("ada", "--name", "ci", "--expires", "0d"), "at most 366 days"),
        (("ada", "--name", "c\ni"), "what it is for"),
        (("ada", "--name", "ci", "--list"), "one of the three"),
        (("ada", "--revoke", "0123"), "Unknown token of ada"),
        (("adda", "--name", "ci"), "did you mean 'ada'?"),
    ],
)
def test_tokens_that_are_not_made(dyno_here: Dyno, book: Book, words: tuple[str, ...], told: str) -> None:
    done = dyno_here("users", "token", *words)
    assert done.returncode == 2 and told in done.stderr
    assert done.stdout == "" and book.tokens.of("ada") == ()


def test_the_log_of_nothing(dyno_here: Dyno) -> None:
    assert "Nothing has happened" in dyno_here("users", "audit").stdout


def test_help_loads_no_server(dyno: Dyno) -> None:
    program = "import sys; from modeldyno.cli import build; build(); print({'fastapi', 'argon2'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", program], capture_output=True, text=True).stdout == "set()\n"
