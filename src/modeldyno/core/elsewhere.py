"""What comes from elsewhere beside records: files that were imported, and tests that ran without measuring."""

from __future__ import annotations

from datetime import UTC, datetime

from pydantic import Field

from modeldyno.core.identity import new_id
from modeldyno.core.types import Frozen, Provenance, Status


class Assertion(Frozen):
    """One thing that a test looked at."""

    name: str
    passed: bool
    message: str | None = None


class TestResult(Frozen):
    """A test that ran elsewhere: whether something works, without a measurement."""

    __test__ = False  # not a test of pytest's

    test_id: str = Field(default_factory=new_id)
    run_id: str
    name: str
    model: str | None = None
    platform: str | None = None
    status: Status
    reason: str | None = None
    provenance: Provenance = Provenance.IMPORTED
    evidence: tuple[str, ...] = ()
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    duration_s: float | None = None
    assertions: tuple[Assertion, ...] = ()
    log: str | None = None


class Rejection(Frozen):
    """What an import could not take, where it stands and why."""

    place: str
    reason: str


class Import(Frozen):
    """One file of results from elsewhere."""

    import_id: str
    """Hash of the file's content: the same content is never imported twice."""
    file: str
    format: str
    size: int
    imported_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    rejected: tuple[Rejection, ...] = ()
