"""A server as the place of a run's results: nothing is lost while it is away, nothing is doubled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from test_api_client import listening

from api_world import make_record, make_run, token_for
from modeldyno.client import ServerError
from modeldyno.core.errors import InputError
from modeldyno.runner.recorder import Recorder
from modeldyno.runner.remote import RemoteStore
from modeldyno.store.query import Filter
from modeldyno.web.access.roles import Role

World = tuple[Any, Any]
RUN = make_run(20)


@pytest.fixture(autouse=True)
def _own_waiting_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def record(store: RemoteStore, *numbers: int) -> list[str]:
    said: list[str] = []
    with Recorder(store, RUN, said.append) as recorder:
        for number in numbers:
            recorder.add(make_record(RUN, 300 + number))
    return said


def stored(house: Any) -> int:
    return len(house.store.records(Filter(run_id=(RUN.run_id,))))


def test_results_go_to_the_server(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    house, app = world
    monkeypatch.setattr("modeldyno.runner.remote.PART", 3000)
    with listening(app) as url:
        store = RemoteStore(url, token_for(house, Role.RUNNER))
        assert store.check() is None
        assert record(store, 1, 2, 3) == []
        assert not list(store.spool.iterdir())
    assert stored(house) == 3


def test_results_wait_for_a_server_that_is_away(world: World) -> None:
    house, app = world
    away = RemoteStore("http://127.0.0.1:9", patience_s=0.1)
    assert "does not answer" in (away.check() or "")
    [sentence] = record(away, 1, 2)
    assert f"2 wait in {away.spool}" in sentence
    with listening(app) as url:
        store = RemoteStore(url, token_for(house, Role.RUNNER))
        store.spool = away.spool
        assert store.fold().new["record"] == 2
        assert store.fold().new["record"] == 0
    assert stored(house) == 2


def test_a_line_that_was_cut_off_keeps_no_other_back(world: World) -> None:
    house, app = world
    away = RemoteStore("http://127.0.0.1:9", patience_s=0.1)
    record(away, 1, 2)
    [file] = away.spool.iterdir()
    file.write_bytes(file.read_bytes()[:-10])
    with listening(app) as url:
        store = RemoteStore(url, token_for(house, Role.RUNNER))
        store.spool = away.spool
        report = store.fold()
    assert (report.new["record"], stored(house)) == (1, 1)
    assert "cut off" in report.torn[0]


def test_a_refused_file_keeps_no_other_back(world: World) -> None:
    house, app = world
    away = RemoteStore("http://127.0.0.1:9", patience_s=0.1)
    record(away, 1, 2)
    bad = away.spool / "0-bad.ndjson"  # the first in the order
    bad.write_bytes(b'{"kind": "nonsense"}\n')
    with listening(app) as url:
        store = RemoteStore(url, token_for(house, Role.RUNNER))
        store.spool = away.spool
        report = store.fold()
    assert (report.new["record"], stored(house)) == (2, 2)
    assert [path.name for path in store.spool.iterdir()] == [bad.name]
    assert len(report.torn) == 1 and f"refused {bad}" in report.torn[0] and "stays" in report.torn[0]


@pytest.mark.parametrize("status", [401, 403, 408, 429, 503])
def test_a_server_that_takes_nothing_now_is_not_asked_for_each_file(
    status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = RemoteStore("http://127.0.0.1:9", patience_s=0.1)
    asked: list[bytes] = []

    def refuse(lines: bytes) -> None:
        asked.append(lines)
        raise ServerError(status, "Not now.")

    monkeypatch.setattr(store.client, "send_lines", refuse)
    store.spool.mkdir(parents=True)
    for name in "ab":
        (store.spool / f"{name}.ndjson").write_bytes(b'{"kind": "record"}\n')
    assert len(store.fold().torn) == 1 and len(asked) == 1


def test_a_wrong_token_shows_before_anything_is_measured(world: World) -> None:
    with listening(world[1]) as url:
        for token in (None, "dyno_wrong"):
            with pytest.raises(InputError, match="DYNO_TOKEN"):
                RemoteStore(url, token).check()
