"""Results off their history, estimates from it, and what is offered here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from modeldyno.core.errors import InputError
from modeldyno.core.types import Case, Device, MetricValue, Probe, Record, Run, Status
from modeldyno.runner.attempt import new_run
from modeldyno.store.store import Store
from modeldyno.web.jobs import devices
from modeldyno.web.jobs.alarms import alarms_of
from modeldyno.web.jobs.estimate import estimate
from modeldyno.web.jobs.offers import offers
from modeldyno.web.jobs.order import read_order
from modeldyno.web.jobs.types import AlertKind

CASE = Case(model="tiny-bert", platform="cpu", runtime="torch", shape={"seq": 128})
DEVICE = Device(platform="cpu", index=0, name="Processor")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
STEADY = (10.0, 10.1, 9.9, 10.05, 9.95, 10.02, 9.98, 10.0)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "dyno.duckdb")


def keep(store: Store, values: tuple[float, ...], status: Status = Status.OK) -> Run:
    """A run for each value; returns the last."""
    items: list[Run | Record] = []
    for day, value in enumerate(values):
        run = new_run([CASE], "quick", {"samples": 5}, "test")
        moment = BEGIN + timedelta(days=day)
        latency = {"latency_ms": MetricValue(value=value, low=value, high=value, n=5)}
        record = Record(
            run_id=run.run_id, case=CASE, status=status, started_at=moment, device=DEVICE, metrics=latency,
            duration_s=value,
        )  # fmt: skip
        items += [run.model_copy(update={"started_at": moment}), record]
    store.add(items)
    return run


@pytest.mark.parametrize(
    ("last", "kinds"),
    [
        ((10.03,), []),
        ((14.0,), [AlertKind.OUTLIER]),
        ((6.0,), [AlertKind.OUTLIER]),
        ((14.0, 14.1, 13.9, 14.05), [AlertKind.REGRESSION]),
        ((6.0, 6.05, 5.95, 6.01), []),
    ],
    ids=["as ever", "slow once", "fast once", "slower level", "faster level"],
)
def test_a_value_off_its_history_is_told(store: Store, last: tuple[float, ...], kinds: list[AlertKind]) -> None:
    run = keep(store, STEADY + last)
    alarms = list(alarms_of(store, run))
    assert [alarm.alert for alarm in alarms] == kinds
    if kinds:
        assert ("slower" if last[0] > 10 else "faster") in alarms[0].text
        assert "tiny-bert" in alarms[0].text


def test_without_a_history_nothing_is_said(store: Store) -> None:
    assert list(alarms_of(store, keep(store, (10.0, 14.0)))) == []


def test_an_estimate_is_what_the_same_took_before(store: Store) -> None:
    def order(**changes: object):
        block = {"model": "tiny-bert", "on": "cpu", **changes}
        return read_order({"blocks": [block], "effort": "quick", "samples": 5})

    assert estimate(order(), store) is None, "there is no store yet"
    keep(store, (10.0, 12.0))
    assert estimate(order(), store) == pytest.approx(12.0)
    assert estimate(order(batch=[1, 2]), store) == pytest.approx(12.0 + 11.0), "the like of batch 2 is batch 1"
    assert estimate(order(on="cuda"), store) == 0.0, "what cannot run takes no time"
    assert estimate(order(model="tiny-bert,tiny-vit"), store) is None
    assert estimate(order().model_copy(update={"effort": "default"}), store) is None


def test_offers_say_what_is_here_and_why_the_rest_is_not() -> None:
    found = {offer.platform: offer for offer in offers("tiny-bert")}
    assert found["cpu"].devices
    assert not any(combination.refused for combination in found["cpu"].combinations if combination.precision == "fp32")
    for offer in found.values():
        assert bool(offer.devices) != bool(offer.reason)
    assert any(combination.refused for offer in found.values() for combination in offer.combinations)
    for model in ("/etc/passwd", "tiny-brt"):
        with pytest.raises(InputError):
            offers(model)


def test_one_processor_is_one_device_and_equal_cards_are_several() -> None:
    cards = tuple(Device(platform="p", index=index, name=name) for index, name in enumerate(["A", "B", "A"]))
    probe = Probe(platform="p", devices=cards)
    assert [devices._key(probe, index) for index in range(4)] == ["A #0", "B #0", "A #1", "p:3"]
    on_cpu, on_openvino = (
        devices.needed([Case(model="tiny-bert", platform=platform, runtime=runtime)])
        for platform, runtime in (("cpu", "torch"), ("openvino", "openvino"))
    )
    assert on_cpu == on_openvino
    assert len(on_cpu) == 1
    assert devices.needed([Case(model="tiny-bert", platform="qnn", runtime="onnxruntime")]) == ()
