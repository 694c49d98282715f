"""What is said of a case that ran out of memory."""

from __future__ import annotations

from modeldyno.core.types import Case, Outcome, Status
from modeldyno.runner.fitting import with_batch_that_fits

SHORT = Outcome(status=Status.FAILED, reason="out of memory: 3 GB", remedy="use a smaller --batch", out_of_memory=True)
FITS = Outcome(status=Status.OK)


def case(batch: int) -> Case:
    return Case(model="m", platform="cpu", runtime="torch", batch=batch)


def tell(batch: int, room: int, otherwise: Outcome = SHORT) -> tuple[Outcome, list[int]]:
    tried: list[int] = []

    def attempt(smaller: Case) -> Outcome:
        tried.append(smaller.batch)
        return FITS if smaller.batch <= room else otherwise

    return with_batch_that_fits(case(batch), SHORT, attempt), tried


def test_the_batch_that_fits_is_found_by_halving() -> None:
    told, tried = tell(100, room=13)
    assert tried == [50, 25, 12]
    assert told.status is Status.FAILED
    assert told.reason == "out of memory: 3 GB; batch 12 fits"
    assert told.remedy == "use --batch 12"


def test_nothing_fits() -> None:
    told, tried = tell(4, room=0)
    assert tried == [2, 1]
    assert "batch 1 does not fit either" in (told.reason or "")


def test_another_fault_on_the_way_ends_the_search_and_is_told() -> None:
    told, tried = tell(8, room=0, otherwise=Outcome(status=Status.FAILED, reason="it broke"))
    assert tried == [4]
    assert "batch 4 ends otherwise: it broke" in (told.reason or "")


def test_a_single_item_and_other_faults_are_left_as_they_are() -> None:
    assert tell(1, room=1) == (SHORT, [])
    broken = Outcome(status=Status.FAILED, reason="it broke")
    assert with_batch_that_fits(case(8), broken, lambda _: FITS) is broken
