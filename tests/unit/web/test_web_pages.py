"""Pages over a small real store: what is made up decides nothing, and lists say what they leave out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api_world import START, make_record, make_run, make_series, token_for
from blank_store import blank_store
from modeldyno.core.types import Case, Device, MetricValue, Record, Status
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order, Snapshot
from modeldyno.store.words import real
from modeldyno.web.access.roles import Role
from modeldyno.web.app import create_app
from modeldyno.web.house import House
from modeldyno.web.jobs import journal
from modeldyno.web.jobs.messages import Alarmed, Noted, Recorded
from modeldyno.web.jobs.order import read_order
from modeldyno.web.jobs.types import AlertKind, Event, State
from modeldyno.web.pages import record as record_page
from modeldyno.web.pages._lists import MOST, PROBLEMS
from modeldyno.web.settings import Settings
from modeldyno.web.sheet import PAGES, Ask, NotThere, Sheet
from modeldyno.web.thoughts import Regression, Thought

RUN = make_run()
CHIP = Device(platform="cpu", index=0, name="Chip, 2 cores", memory_mb=1024.0)
TWIN = Device(platform="cpu", index=0, name="Chip, 2 cores", memory_mb=2048.0)
"""Another device of the same name."""


def result(number: int, ms: float | None = 10.0, **changes: Any) -> Record:
    """One that went well, unless it says otherwise."""
    case = {"model": "tiny-opt", "platform": "cpu", "runtime": "torch", **changes.pop("case", {})}
    value = {} if ms is None else {"latency_ms": MetricValue(value=ms), "throughput_per_s": MetricValue(value=1e3 / ms)}
    usual = {"status": "ok", "reason": None, "provenance": "measured", "device": CHIP, "metrics": value}
    return make_record(RUN, 2 * number, **{**usual, **changes, "case": Case.model_validate(case)})


def house_of(folder: Path, records: Sequence[Record]) -> House:
    store = blank_store(folder / "dyno.duckdb")
    store.add([RUN, *records])
    return House.build(Settings(store=store.path, jobs=False))


def page(house: House, which: str, /, query: dict[str, list[str]] | None = None, **places: str) -> Sheet:
    return PAGES.get(which).make(Ask(house, Snapshot.load(house.store, "1"), query or {}, places))


@pytest.fixture
def made(tmp_path: Path) -> Callable[[Sequence[Record]], House]:
    return lambda records: house_of(tmp_path, records)


Make = Callable[[Sequence[Record]], House]


def test_made_up_points_set_no_level_and_raise_no_alarm(made: Make) -> None:
    measured = [result(number, 10 + 0.01 * (number % 3)) for number in range(12)]
    slower = [result(20 + number, 14 + 0.01 * (number % 3), provenance="simulated") for number in range(12)]
    sheet = page(made([*measured, *slower]), "trend", series_id=measured[0].series_id)
    assert (sheet.data["points"], sheet.data["left_out"], sheet.data["made_up"]) == (12, 12, False)
    assert not sheet.data["steps"]
    assert sheet.data["level"].startswith("10")


def test_a_series_that_is_all_made_up_is_shown_as_such(made: Make) -> None:
    records = [result(number, provenance="simulated") for number in range(3)]
    data = page(made(records), "trend", series_id=records[0].series_id).data
    assert (data["points"], data["left_out"], data["made_up"]) == (3, 0, True)


def job_page(house: House, records: Sequence[Record]) -> dict[str, Any]:
    """Of a job that made these."""
    job = house.queue.submit(read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]}), "ann")
    journal.claim(house.queue, job.job_id)
    told = [
        Recorded(record_id=one.record_id, case="c", case_key=one.case.key, status=one.status, reason=None)
        for one in records
    ]
    journal.absorb(house.queue, job.job_id, told)
    return {one["record_id"]: one["before"] for one in page(house, "job", job_id=job.job_id).data["records"]}


@pytest.mark.parametrize(
    ("earlier", "ms", "told"),
    [
        (8, 14.0, "slower: 1.4 times ["),
        (8, 7.0, "faster: 0.7 times ["),
        (8, 10.0, "the same within 2%: 1 times ["),
        (4, 14.0, "1.40 times 10 ms before, too few results for a verdict"),
        (0, 14.0, "first of its series"),
    ],
)
def test_a_job_holds_its_results_against_real_ones(made: Make, earlier: int, ms: float, told: str) -> None:
    history = [result(number) for number in range(earlier)]
    simulated = [result(30 + number, 99.0, provenance="simulated") for number in range(6)]
    failed = [result(40, 50.0, status="failed", reason="no")]
    new = result(50, ms)
    later = [result(60 + number, 77.0) for number in range(3)]
    before = job_page(made([*history, *simulated, *failed, new, *later]), [new])[new.record_id]
    assert before["text"].startswith(told)
    assert before["series_id"] == new.series_id


def test_a_result_that_does_not_count_gets_no_verdict(made: Make) -> None:
    history = [result(number) for number in range(8)]
    new = [result(50, 14.0, provenance="simulated"), result(51, None, status="failed", reason="no")]
    before = job_page(made([*history, *new]), new)
    assert {one["text"] for one in before.values()} == {"its history"}


def test_a_job_that_ends_while_its_page_is_made_is_over_there(made: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else the page would wait for an end that it has seen already."""
    house = made([])
    job = house.queue.submit(read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]}), "ann")
    journal.claim(house.queue, job.job_id)
    events = house.queue.events

    def events_of_one_that_ends(job_id: str, after: int = 0, limit: int = 1000) -> list[Event]:
        if not house.queue.get(job_id).state.is_over:
            journal.finish(house.queue, job_id, State.CANCELLED, None)
        return events(job_id, after, limit)

    monkeypatch.setattr(house.queue, "events", events_of_one_that_ends)
    assert page(house, "job", job_id=job.job_id).data["job"].state is State.CANCELLED


def test_a_large_job_is_shown_whole(made: Make) -> None:
    house = made([])
    job = house.queue.submit(read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]}), "ann")
    journal.claim(house.queue, job.job_id)
    for first in range(0, 1300, 100):
        some = [
            Recorded(record_id=f"r{each}", case="c", case_key=f"k{each}", status=Status.OK, reason=None)
            for each in range(first, first + 100)
        ]
        journal.absorb(house.queue, job.job_id, [*some, Noted(case="c", process=0, text=f"note {first}")])
    data = page(house, "job", job_id=job.job_id).data
    assert len(data["records"]) == 1300
    assert [event.data["text"] for event in data["notes"]] == ["note 1200"]
    assert data["last_event"] == house.queue.events(job.job_id, 1300)[-1].number > 1300


@contextmanager
def zone(name: str) -> Iterator[None]:
    before = os.environ.get("TZ")
    os.environ["TZ"] = name
    time.tzset()
    try:
        yield
    finally:
        os.environ.pop("TZ") if before is None else os.environ.update(TZ=before)
        time.tzset()


def test_a_record_stands_at_its_moment_wherever_the_server_is() -> None:
    with zone("Asia/Tokyo"):
        assert record_page._seconds({"started_at": START.replace(tzinfo=None)}) == START.timestamp()


def test_the_history_of_a_record_marks_what_is_made_up(made: Make) -> None:
    records = [result(0), result(1), result(2, 50.0, provenance="simulated")]
    drawn = str(page(made(records), "record", record_id=records[0].record_id).data["_line"])
    assert drawn.count("point made") == 1
    assert drawn.count("point here") == 1


def test_the_matrix_is_of_inference(made: Make) -> None:
    training = result(1, 1.0, case={"workload": "training"})
    house = made([result(0, 8.0, case={"batch": 4}), result(2, 3.0), training])
    (cell,) = Snapshot.load(house.store, "1").matrix(real(Filter()))
    assert (cell["best_ms"], cell["best_per_s"], cell["results"]) == (2.0, pytest.approx(1e3 / 3), 3)
    assert cell["best_id"] != training.record_id
    legend = page(house, "overview").data["legend"]
    assert "least time per item of inference, over all batch sizes and shapes" in legend


def many() -> list[Record]:
    """More than a page shows; the best per item has the longest step, and the oldest ones did not work."""
    bad = [
        result(n, None, status=("failed", "invalid")[n % 2], reason="no", case={"shape": {"seq": 9000 + n}})
        for n in range(PROBLEMS + 5)
    ]
    good = [result(100 + n, 5.0 + n, case={"shape": {"seq": 1 + n}}) for n in range(MOST + 10)]
    return [*bad, result(50, 900.0, case={"batch": 1000}), *good]


def test_a_model_shows_the_best_per_item_and_what_did_not_work(made: Make) -> None:
    sheet = page(made(many()), "model", name="TINY-opt")
    assert (len(sheet.data["rows"]), sheet.data["rows_of"]) == (MOST, MOST + 11)
    assert (len(sheet.data["problems"]), sheet.data["problems_of"]) == (PROBLEMS, PROBLEMS + 5)
    assert "b1000: 0.9" in str(sheet.data["_chart"]).split("</title>")[0]
    assert len(sheet.rows) == len(many())
    assert sheet.rows[0] in sheet.rows[:1]


def test_a_device_shows_its_own_results_only(made: Make) -> None:
    twins = [result(500 + n, 1.0, device=TWIN, case={"model": "a-first", "shape": {"seq": n + 1}}) for n in range(130)]
    probe = result(700, case={"model": "matmul", "workload": "hardware"})
    sheet = page(made([*many(), *twins, probe]), "device", device_id=CHIP.fingerprint)
    assert {row["device_id"] for row in sheet.data["rows"]} == {CHIP.fingerprint}
    assert (len(sheet.data["rows"]), sheet.data["rows_of"]) == (MOST, len(many()))
    assert [row["model"] for row in sheet.data["peaks"]] == ["matmul"]
    assert len(sheet.rows) == len(many()) + 1
    assert "a-first" not in str(sheet.data["_chart"])


def test_a_device_with_probes_only_has_no_other_results(made: Make) -> None:
    data = page(made([result(0, case={"workload": "hardware"})]), "device", device_id=CHIP.fingerprint).data
    assert (len(data["peaks"]), data["rows"], data["rows_of"]) == (1, [], 0)


def test_a_run_shows_what_did_not_work_however_much_did(made: Make) -> None:
    late = result(900, None, status="skipped", reason="no", device=None)
    sheet = page(made([*many(), late]), "run-one", run_id=RUN.run_id)
    assert (len(sheet.data["rows"]), sheet.data["rows_of"]) == (MOST, MOST + 11)
    assert len(sheet.data["problems"]) == sheet.data["problems_of"] == PROBLEMS + 6
    assert len(sheet.rows) == len(many()) + 1


def test_explained_regressions_are_not_open(made: Make) -> None:
    house = made([result(0)])
    one = Regression("s", "label", "m", "cpu", None, "latency_ms", "r1", START, None, 1.4, 1.3, 1.5, None)
    house.thinker.now = Thought("1", (one, replace(one, record_id="r2")), 1)
    assert len(page(house, "overview").data["regressions"]) == 2
    house.acknowledgements.add("s", "r1", "a new driver", "ann")
    data = page(house, "overview").data
    assert ([each.record_id for each in data["regressions"]], data["explained"]) == (["r2"], 1)


def test_models_count_what_is_real(made: Make) -> None:
    only = {"model": "made-up"}
    made_up = [result(9 + n, provenance=word, case=only) for n, word in enumerate(("simulated", "predicted"))]
    house = made([result(0), result(1, provenance="imported"), result(2, provenance="simulated"), *made_up])
    snapshot = Snapshot.load(house.store, "1")
    assert [(row["model"], row["results"]) for row in snapshot.models()] == [("tiny-opt", 2)]
    assert page(house, "overview").data["total"] == 2
    found = page(house, "explore", {"model": ["made-up"], "provenance": ["simulated"]})
    assert [row["model"] for row in found.rows] == ["made-up"]
    assert snapshot.results(Filter(), Order(), 9, device_id="none") == []


@pytest.mark.parametrize("changes", [{"case": {"workload": "hardware"}}, {"provenance": "simulated"}])
def test_a_model_without_results_of_its_own_is_not_there(made: Make, changes: dict[str, Any]) -> None:
    with pytest.raises(NotThere, match="tiny-opt"):
        page(made([result(0, **changes)]), "model", name="tiny-opt")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    store = blank_store(tmp_path / "dyno.duckdb")
    store.add([RUN, *many(), *make_series(RUN)])
    app = create_app(Settings(store=store.path, jobs=False))
    headers = {"Authorization": f"Bearer {token_for(app.state.house, Role.RUNNER)}"}
    with TestClient(app, base_url="http://127.0.0.1", headers=headers, follow_redirects=False) as opened:
        yield opened


def test_only_changes_that_are_there_are_acknowledged(client: TestClient) -> None:
    house: House = client.app.state.house  # type: ignore[attr-defined]
    record = make_series(RUN)[12]
    said = {"series_id": record.series_id, "record_id": record.record_id, "text": "a new driver"}

    def answer(**changes: str) -> int:
        form = client.post("/dashboard/acknowledge", data={**said, **changes}).status_code
        api = client.post("/api/v1/acknowledgements", json={**said, **changes}).status_code
        assert (form, api) in {(303, 201), (404, 404), (422, 422)}
        return api

    assert answer(record_id="nothing") == answer(series_id="nothing") == 404
    assert answer(text="x" * 2001) == answer(text="  ") == 422
    assert house.acknowledgements.all() == ()
    assert answer() == answer(text="x" * 2000) == 201
    assert len(house.acknowledgements.all()) == 1


def test_who_has_seen_an_alert_is_in_the_audit_log(client: TestClient) -> None:
    house: House = client.app.state.house  # type: ignore[attr-defined]
    job = house.queue.submit(read_order({"blocks": [{"model": "tiny-vit", "on": "cpu"}]}), "ann")
    journal.claim(house.queue, job.job_id)
    journal.absorb(house.queue, job.job_id, [Alarmed(alert=AlertKind.OUTLIER, about="x", text="odd")])
    (alert,) = house.queue.alerts()
    assert client.post(f"/dashboard/alerts/{alert.alert_id}/seen").status_code == 303
    note = house.book.audit.newest(1)[0]
    assert (note.who, note.action, note.target) == ("a-runner", "acknowledge", alert.alert_id)


def test_pages_say_how_much_they_show_and_their_csv_has_all(client: TestClient) -> None:
    places = (f"devices/{CHIP.fingerprint}", "models/tiny-opt", f"runs/{RUN.run_id}")
    for place in places:
        text = client.get(f"/dashboard/{place}").text
        assert f"{MOST} of " in text, place
        assert "all of them in Explore" in text
        lines = client.get(f"/dashboard/{place}.csv").text.splitlines()
        assert len(lines) > len(many()), place
    series = make_series(RUN)[0]
    for place in ("", f"/records/{series.record_id}", f"/trends/{series.series_id}", "/trends", "/models"):
        assert client.get(f"/dashboard{place}").status_code == 200, place
