"""Identities are stable and sortable; metrics print as people read them; unknown names help."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.identity import digest, new_id, stable_id
from modeldyno.core.metrics import METRICS, format_value, metric, significant
from modeldyno.core.types import Case, Check, Device, Passport, Precision, Verdict


def case(**changes: object) -> Case:
    return Case.model_validate({"model": "m", "platform": "cpu", "runtime": "torch", **changes})


def test_ids_are_unique_and_sort_by_time(monkeypatch: pytest.MonkeyPatch) -> None:
    ids = []
    for second in range(50):
        monkeypatch.setattr("time.time_ns", lambda second=second: 1_700_000_000_000_000_000 + second * 10**9)
        ids.append(new_id())
    assert ids == sorted(ids)
    assert len({*ids, *(new_id() for _ in range(1000))}) == 1050
    assert all(len(one) == 26 for one in ids)


@given(st.dictionaries(st.text(), st.integers() | st.text()))
def test_digest_ignores_key_order(value: dict[str, object]) -> None:
    assert digest(value) == digest(dict(reversed(value.items())))


def test_case_key_is_the_identity_and_the_device_number_is_not_part_of_it() -> None:
    assert case(index=0).key == case(index=1).key
    assert case(index=0) != case(index=1)
    changed = [case(batch=2), case(precision="bf16"), case(shape={"seq": 8}), case(options={"threads": 1})]
    assert len({one.key for one in [case(), *changed]}) == 5


def test_case_key_does_not_change_between_versions() -> None:
    """Stored series hang on it: if this fails, every history breaks."""
    assert case(shape={"seq": 128}, batch=4, precision=Precision.BF16).key == "d57e9f7fbbf5c214"


def test_fingerprint_ignores_slot_and_driver_but_not_hardware() -> None:
    device = Device(platform="x", index=0, name="Chip", memory_mb=8000, driver="1")
    assert device.model_copy(update={"index": 1, "driver": "2"}).fingerprint == device.fingerprint
    assert Device(platform="x", index=0, name="Chip", memory_mb=16000).fingerprint != device.fingerprint


def test_unknown_name_lists_the_known_and_suggests_the_nearest() -> None:
    many = UnknownName("model", "model7x", [f"model{number}" for number in range(85)])
    assert "did you mean 'model7'" in str(many)
    assert str(many).endswith(" and 61 more.")
    error = UnknownName("metric", "latency", ["latency_ms", "power_w"])
    assert "did you mean 'latency_ms'?" in str(error)
    assert "latency_ms, power_w" in str(error)
    assert isinstance(error, InputError)
    assert error.exit_code == 2
    with pytest.raises(UnknownName, match="latency_ms"):
        metric("latncy_ms")


def test_values_carry_unit_and_interval() -> None:
    assert format_value("latency_ms", 12.4, 12.2, 12.6) == "12.4 ms ± 0.2"
    assert format_value("throughput_per_s", 80.0) == "80 items/s"
    assert format_value("not_in_the_table", 3.0) == "3"


@given(st.floats(min_value=1e-4, max_value=1e14))
def test_numbers_are_never_in_exponent_form_where_people_look(value: float) -> None:
    text = significant(value, 4)
    assert "e" not in text
    assert float(text) == pytest.approx(value, rel=1e-3)


def test_metric_table_is_consistent() -> None:
    for name, row in METRICS.items():
        assert name == row.name
        assert row.meaning


def test_passport_verdict_is_its_worst_check() -> None:
    good, doubt = Check(name="a", value=1), Check(name="b", value=1, verdict=Verdict.AMBIGUOUS, advice="x")
    assert Passport.of(()).verdict is Verdict.VALID
    assert Passport.of((good, doubt)).verdict is Verdict.AMBIGUOUS
    assert Passport.of((good, doubt)).concerns == (doubt,)


def test_a_skewed_interval_shows_its_bounds() -> None:
    assert format_value("latency_ms", 157.3, 147.1, 247.3) == "157.3 ms [147.1, 247.3]"
    assert format_value("latency_ms", 12.4, 12.2, 12.6) == "12.4 ms ± 0.2"
    assert format_value("latency_ms", 12.4, 12.4, 12.4) == "12.4 ms ± 0"


def test_stable_ids_sort_by_their_moment_and_depend_on_all_parts() -> None:
    early, late = datetime(2025, 3, 2, tzinfo=UTC), datetime(2025, 3, 3, tzinfo=UTC)
    assert stable_id(early, "a", "b") == stable_id(early, "a", "b")
    assert len({stable_id(early, "a", "b"), stable_id(early, "ab"), stable_id(early, "a", "c")}) == 3
    assert stable_id(early, "z") < stable_id(late, "a")
    assert len(stable_id(early)) == 26
