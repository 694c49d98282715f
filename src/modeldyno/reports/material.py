"""What a report is made of: read from the store when a section first asks for it, and only once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from modeldyno.analysis.compatibility import Matrix, matrix
from modeldyno.analysis.history import History, analyse
from modeldyno.analysis.roofline import HARDWARE
from modeldyno.core.types import Host, Record, Run, Status
from modeldyno.store.count import Count, count_records, count_series
from modeldyno.store.find import hosts_of_runs
from modeldyno.store.outcomes import read_tries
from modeldyno.store.points import read_series
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.store.words import filter_of

MOST_SERIES = 5000
"""Series whose newest record is looked at; a report of more would say less."""


@dataclass(frozen=True)
class Material:
    """The records that a filter chooses, and what the analysis says of them."""

    store: Store
    chosen: Filter
    words: dict[str, str] = field(default_factory=dict)
    """The same as the user said it, by the option's name."""

    def narrowed(self, words: dict[str, str]) -> Material:
        """The material of one section that asks for less than the whole report."""
        return replace(self, chosen=self.chosen.narrowed(filter_of(words)), words=self.words | words)

    @cached_property
    def records(self) -> tuple[Record, ...]:
        """The newest record of each series and device slot, whatever became of it, oldest first."""
        if not self.counts:
            return ()
        return tuple(self.store.newest_records(self.chosen, newest=MOST_SERIES))

    @cached_property
    def measured(self) -> tuple[Record, ...]:
        """Those of models that are ok."""
        return tuple(r for r in self.records if r.status is Status.OK and r.case.workload != HARDWARE)

    @cached_property
    def problems(self) -> tuple[Record, ...]:
        """Those that have no numbers, and a reason for it."""
        return tuple(record for record in self.records if record.status is not Status.OK)

    @cached_property
    def probes(self) -> tuple[Record, ...]:
        """Peaks of the devices themselves, from the whole store: a filter for models would hide them."""
        if not self.store.path.exists():
            return ()
        everywhere = Filter(workload=(HARDWARE,), provenance=self.chosen.provenance, platform=self.chosen.platform)
        return tuple(self.store.newest_records(everywhere, newest=MOST_SERIES))

    @cached_property
    def series(self) -> int:
        """How many series there are."""
        return count_series(self.store, self.chosen) if self.store.path.exists() else 0

    @cached_property
    def counts(self) -> tuple[Count, ...]:
        """All records, also those that a newer one has replaced, by what they are."""
        return count_records(self.store, self.chosen) if self.store.path.exists() else ()

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """The runs that the records came from, newest first."""
        wanted = {record.run_id for record in self.records}
        return tuple(run for run in self.store.runs() if run.run_id in wanted) if wanted else ()

    @cached_property
    def hosts(self) -> dict[str, Host]:
        """By run."""
        return hosts_of_runs(self.store) if self.counts else {}

    @cached_property
    def compatibility(self) -> Matrix:
        return matrix(read_tries(self.store, self.chosen) if self.store.path.exists() else ())

    def histories(self, metric: str) -> tuple[History, ...]:
        """What became of a metric in each series."""
        if metric not in self._histories:
            made_up = any(not provenance.is_real for provenance in self.chosen.provenance)
            series = read_series(self.store, self.chosen, metric) if self.counts else []
            self._histories[metric] = analyse(series, metric, made_up)
        return self._histories[metric]

    _histories: dict[str, tuple[History, ...]] = field(default_factory=dict, init=False, repr=False, compare=False)
