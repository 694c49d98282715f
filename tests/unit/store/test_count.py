"""Records are counted by what they are."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from blank_store import blank_store
from modeldyno.core.types import Case, Device, Host, Provenance, Record, Run, Status
from modeldyno.store.count import count_records
from modeldyno.store.query import Filter

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
RUN = Run(started_at=NOON, host=Host(host_id="a"), command="c", version="0")


def record(model: str, **changes: object) -> Record:
    fields = {
        "run_id": RUN.run_id,
        "case": Case(model=model, platform="cpu", runtime="torch"),
        "status": Status.OK,
        "started_at": NOON,
        "device": Device(platform="cpu", index=0, name="Chip"),
        **changes,
    }
    return Record.model_validate(fields)


def test_alike_ones_are_one_count(tmp_path: Path) -> None:
    store = blank_store(tmp_path / "s.duckdb")
    store.add([RUN, record("a"), record("b"), record("b")])
    (count,) = count_records(store, Filter())
    assert (count.records, count.models, count.first, count.last) == (3, {"a", "b"}, NOON, NOON)
    assert (count.platform, count.device, count.status) == ("cpu", "Chip", Status.OK)


def test_an_emulator_and_what_was_simulated_are_counted_apart(tmp_path: Path) -> None:
    store = blank_store(tmp_path / "s.duckdb")
    soft = Device(platform="cpu", index=0, name="Chip", emulated=True)
    dreamt = record("a", provenance=Provenance.SIMULATED)
    store.add([RUN, record("a"), record("a", device=soft), dreamt, record("a", device=None)])
    found = {(count.provenance.value, count.device, count.emulated) for count in count_records(store, Filter())}
    assert found == {
        ("measured", "Chip", False),
        ("measured", "Chip", True),
        ("measured", None, False),
        ("simulated", "Chip", False),
    }
