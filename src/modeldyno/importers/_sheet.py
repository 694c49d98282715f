"""Where an importer writes what it finds: it gives ids, checks each row, and keeps what is rejected with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from modeldyno.core.elsewhere import Assertion, Import, Rejection, TestResult
from modeldyno.core.identity import digest, stable_id
from modeldyno.core.types import Host, Provenance, Record, Run, Status
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import check_constants, check_rates
from modeldyno.importers._result import UNSTATED, Result, model_name
from modeldyno.importers._words import number_of, platform_of
from modeldyno.store.spool import Item

_NO_MODEL = {"", "unknown", "none", "null", "n/a", "model"}
MAX_REJECTIONS = 1000


class Sheet:
    """All that one document yields."""

    def __init__(
        self,
        document: Document,
        format_name: str,
        given: Mapping[str, str] | None = None,
        mapping: Mapping[str, str] | None = None,
        constants: frozenset[float] = frozenset(),
        questions: bool = False,
    ) -> None:
        self._document = document
        self._format = format_name
        self.given = dict(given or {})
        """What the user says about the file, for what it does not say itself."""
        self.mapping = dict(mapping or {})
        """Which column holds what, where a table does not use our words."""
        self._constants = constants
        """Round times that stand in several unrelated places."""
        self._questions = questions
        """Whether results without a number are wanted: someone asks for it."""
        self._items: list[Item] = []
        self._rejected: list[Rejection] = list(document.broken)
        self._rejected += document.table.broken if document.table else ()
        self._runs: dict[str, Run] = {}
        self._moments: dict[str, datetime] = {}
        """When each run began, by its id."""

    @property
    def items(self) -> list[Item]:
        """The import first, then runs, then what belongs to them."""
        kept = self._rejected[:MAX_REJECTIONS]
        if len(self._rejected) > MAX_REJECTIONS:
            more = len(self._rejected) - MAX_REJECTIONS
            kept.append(Rejection(place="after these", reason=f"{more} more rejections of this file"))
        imported = Import(
            import_id=self._document.digest,
            file=self._document.file,
            format=self._format,
            size=self._document.size,
            rejected=tuple(kept),
        )
        return [imported, *self._runs.values(), *self._items]

    @property
    def is_empty(self) -> bool:
        """Whether nothing was found, not even something to reject."""
        return not self._items and not self._rejected

    @property
    def rejected(self) -> tuple[Rejection, ...]:
        return tuple(self._rejected)

    def keep(self, item: Item) -> None:
        """Take an item as it is: for modeldyno's own files."""
        self._items.append(item)

    def reject(self, place: str, reason: str) -> None:
        self._rejected.append(Rejection(place=place, reason=reason))

    def run(
        self,
        key: str = "",
        started_at: datetime | None = None,
        host: Mapping[str, Any] | None = None,
        name: str | None = None,
        command: str | None = None,
        version: str | None = None,
        commit: str | None = None,
    ) -> str:
        """The id of the run with this key inside the document, made on first use."""
        if key not in self._runs:
            facts = {name: value for name, value in (host or {}).items() if value is not None}
            moment = started_at or self._document.modified
            self._runs[key] = Run(
                run_id=stable_id(moment, self._document.digest, "run", key),
                started_at=moment,
                host=_host(facts),
                name=name,
                command=command or f"import of {self._format}",
                version=version or UNSTATED,
                commit=commit,
                effort="imported",
                import_id=self._document.digest,
            )
            self._moments[self._runs[key].run_id] = moment
        return self._runs[key].run_id

    def record(self, place: str, **fields: Any) -> None:
        """One result, by the fields of `Result`.

        It is rejected if the model or the platform is not named, or if any number of it is none."""
        told = Result(**fields)
        told = replace(told, model=self._model(told.model), platform=self._platform(told.platform))
        try:
            platform = self._identified(told.model, told.platform)
            self._items.append(self._record(place, told, platform))
        except (ValueError, TypeError, OverflowError) as error:
            self.reject(place, _first_problem(error))

    def _record(self, place: str, told: Result, platform: str) -> Record:
        case, values = told.case(platform, self.given), told.values(may_be_empty=self._questions)
        contradictions = check_rates(values, case.batch, told.in_flight)
        claims = (*told.evidence, *contradictions, *check_constants(values, self._constants))
        moment = told.started_at or self._moments[told.run]
        return Record(
            record_id=stable_id(moment, self._document.digest, place),
            run_id=told.run,
            case=case,
            status=told.status,
            reason=told.reason,
            provenance=Provenance.SIMULATED if claims else Provenance.IMPORTED,
            evidence=claims,
            started_at=moment,
            duration_s=told.duration_s,
            device=told.device_of(platform, self.given),
            model=told.model_info(self._format),
            placement=told.placement,
            metrics=values,
            samples=told.samples(),
            profile=tuple(told.profile),
            software=dict(told.software),
            log=told.log,
        )

    def test(
        self,
        place: str,
        *,
        run: str,
        name: str,
        status: Status,
        model: Any = None,
        platform: Any = None,
        reason: str | None = None,
        evidence: Sequence[str] = (),
        started_at: datetime | None = None,
        duration_s: Any = None,
        assertions: Sequence[Assertion] = (),
        log: str | None = None,
    ) -> None:
        """One test: whether something worked, without a measurement."""
        model, platform = self._model(model), self._platform(platform)
        moment = started_at or self._moments[run]
        try:
            self._items.append(
                TestResult(
                    test_id=stable_id(moment, self._document.digest, place),
                    run_id=run,
                    name=name,
                    platform=self._identified(model, platform),
                    model=model_name(str(model)),
                    status=status,
                    reason=reason,
                    provenance=Provenance.SIMULATED if evidence else Provenance.IMPORTED,
                    evidence=tuple(evidence),
                    started_at=moment,
                    duration_s=number_of(duration_s),
                    assertions=tuple(assertions),
                    log=log,
                )
            )
        except ValueError as error:
            self.reject(place, _first_problem(error))

    def _model(self, said: Any) -> Any:
        return said or self.given.get("model")

    def _platform(self, said: Any) -> Any:
        return said or self.given.get("platform")

    def _identified(self, model: Any, platform: Any) -> str:
        """The platform, in our words; a ValueError says what is not named."""
        if str(model or "").strip().lower() in _NO_MODEL:
            raise ValueError("names no model; give one with --set model=NAME")
        if not platform:
            raise ValueError("names no platform; give one with --set platform=NAME")
        known = platform_of(str(platform))
        if known is None:
            raise ValueError(f"names '{platform}', which is none of the platforms")
        return known


def _host(facts: dict[str, Any]) -> Host:
    """The host of these facts; one that tells nonsense stays nameless."""
    try:
        return Host(host_id=digest(["imported", facts], 12), **facts)
    except ValidationError:
        return Host(host_id=digest(["imported", {}], 12))


def _first_problem(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    return str(error)
