"""The copy that a server answers from says what the store says, in any order, page by page."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api_world import fill
from blank_store import blank_store
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import FACETS, ORDERS, Order, Snapshot
from modeldyno.store.store import Store
from modeldyno.store.words import real


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    made = blank_store(tmp_path_factory.mktemp("snapshot") / "dyno.duckdb")
    fill(made)
    return made


@pytest.fixture(scope="module")
def snapshot(store: Store) -> Snapshot:
    return Snapshot.load(store, "1")


FILTERS = st.builds(
    Filter,
    model=st.sampled_from([(), ("tiny-bert",), ("TINY-VIT", "someone/Else"), ("nothing",)]),
    platform=st.sampled_from([(), ("cpu",), ("cuda", "cpu")]),
    status=st.sampled_from([(), (Status.OK,), (Status.FAILED, Status.SKIPPED)]),
    provenance=st.sampled_from([(), (Provenance.SIMULATED,), (Provenance.MEASURED, Provenance.IMPORTED)]),
    batch=st.sampled_from([(), (1,), (1, 2)]),
)


@settings(deadline=None, max_examples=60)
@given(chosen=FILTERS, column=st.sampled_from(ORDERS), descending=st.booleans(), size=st.integers(1, 20))
def test_pages_give_every_result_once_and_in_order(
    store: Store, snapshot: Snapshot, chosen: Filter, column: str, descending: bool, size: int
) -> None:
    order, seen, after = Order(column, descending), [], None
    while rows := snapshot.results(chosen, order, size, after):
        seen += rows
        after = rows[-1]["record_id"]
    assert {row["record_id"] for row in seen} == {record.record_id for record in store.records(chosen)}
    assert len(seen) == snapshot.count(chosen) == len({row["record_id"] for row in seen})
    values = [row[column] for row in seen]
    known = [value for value in values if value is not None]
    assert known == sorted(known, reverse=descending)
    assert values[: len(known)] == known, "what has no value comes last"


@settings(deadline=None, max_examples=30)
@given(chosen=FILTERS)
def test_whole_records_are_those_of_the_store(store: Store, snapshot: Snapshot, chosen: Filter) -> None:
    def ids(of: Store) -> list[str]:
        return [record.record_id for record in of.records(chosen)]

    assert ids(snapshot.store) == ids(store)
    both = (snapshot.store.newest_records(chosen, newest=7), store.newest_records(chosen, newest=7))
    assert both[0] == both[1] or [r.record_id for r in both[0]] == [r.record_id for r in both[1]]


@settings(deadline=None, max_examples=30)
@given(chosen=FILTERS)
def test_facets_count_what_is_chosen(snapshot: Snapshot, chosen: Filter) -> None:
    rows = snapshot.results(chosen, Order(), 1000)
    for name, counted in snapshot.facets(chosen).items():
        values = [row[name] for row in rows if row[name] is not None]
        assert dict(counted) == {value: values.count(value) for value in values}, name


def test_it_stays_as_it_was_while_the_store_goes_on(tmp_path: Path) -> None:
    made = blank_store(tmp_path / "dyno.duckdb")
    fill(made, 10)
    before = Snapshot.load(made, "1")
    count = before.count(Filter())
    fill(made, 20)
    assert before.count(Filter()) == count
    assert len(before.store.records(Filter())) == count
    assert Snapshot.load(made, "2").count(Filter()) > count


def test_a_store_that_is_not_there_yet_is_empty(tmp_path: Path) -> None:
    empty = Snapshot.load(Store(tmp_path / "new.duckdb"), "none")
    assert (empty.count(Filter()), empty.results(Filter(), Order(), 5), empty.matrix(Filter())) == (0, [], [])
    assert set(empty.facets(Filter())) == set(FACETS)


def test_its_copy_goes_with_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / "dyno-snapshot-999999999-x").mkdir()  # of a process that was killed
    made = Snapshot.load(blank_store(tmp_path / "s" / "dyno.duckdb"), "1")
    assert not (tmp_path / "dyno-snapshot-999999999-x").exists()
    assert list(tmp_path.glob("dyno-snapshot-*"))
    del made
    assert not list(tmp_path.glob("dyno-snapshot-*"))


def test_the_matrix_tells_the_best_time_of_an_item(snapshot: Snapshot) -> None:
    cells = {row["model"]: row for row in snapshot.matrix(real(Filter()))}
    rows = snapshot.results(real(Filter(status=(Status.OK,))), Order(), 1000, newest=True)
    for model in {row["model"] for row in rows if row["latency_ms"]}:
        times = [row["latency_ms"] / row["batch"] for row in rows if row["model"] == model and row["latency_ms"]]
        assert cells[model]["best_ms"] == min(times)


def test_wrong_orders_and_cursors_are_told(snapshot: Snapshot) -> None:
    with pytest.raises(UnknownName, match="latency_ms"):
        Order.read("-latency")
    with pytest.raises(InputError, match="begin again"):
        snapshot.results(Filter(), Order(), 5, "nowhere")
