"""Ways to run a model, each with what is known of it: measured, imported, predicted, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modeldyno.advise._figures import Figure, measured_figure, missing, of_prediction, predicted_figure, towards
from modeldyno.advise.prices import Hourly, Price, hourly
from modeldyno.advise.wishes import Goal, Limit, Wishes, is_percentile
from modeldyno.analysis.best import is_trusted
from modeldyno.core.metrics import significant
from modeldyno.core.options import HOW
from modeldyno.core.types import Device, Provenance, Record
from modeldyno.predict.cells import Cell
from modeldyno.predict.prediction import Prediction

Place = tuple[str, str]
"""Platform and name of a device."""
NO_DEVICE = "unknown device"
UNTRIED = "nothing was measured"


class Evidence(StrEnum):
    """Where what is said of a candidate comes from."""

    MEASURED = "measured"
    IMPORTED = "imported"
    PREDICTED = "predicted"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Way:
    """All that can be chosen."""

    platform: str
    device: str
    runtime: str
    precision: str
    batch: int
    settings: str = ""
    """Options that say how the work is done: `threads=2`."""

    @property
    def place(self) -> Place:
        return self.platform, self.device

    @property
    def label(self) -> str:
        return " ".join(
            filter(None, [self.platform, self.runtime, self.precision, f"batch {self.batch}", self.settings])
        )


@dataclass(frozen=True)
class Held:
    """A limit, and what is known of the figure that it is about."""

    limit: Limit
    value: float | None
    note: str | None = None
    at_least: bool = False
    """Whether it may be more: a percentile of which only the median is known, which is no less."""

    @property
    def holds(self) -> bool | None:
        """None where it is not known."""
        return None if self.value is None else self.value <= self.limit.most

    @property
    def text(self) -> str:
        return f"{'at least ' if self.at_least else ''}{significant(self.value or 0.0, 3)} {self.limit.unit}"

    @property
    def excess(self) -> float:
        """So many times the limit; one where it holds or nobody knows."""
        return max(1.0, (self.value or 0.0) / self.limit.most)


@dataclass(frozen=True)
class Candidate:
    """One way to run the model, seen with somebody's wishes."""

    way: Way
    evidence: Evidence
    rests_on: str
    """What the evidence is, in a few words."""
    figure: Figure
    """The goal's."""
    held: tuple[Held, ...]
    price: Hourly
    record: Record | None = None
    trusted: bool = True
    """Whether the passport of the record calls the conditions valid."""

    @property
    def holds(self) -> bool | None:
        """Whether it keeps all limits; None where nothing speaks against it but not all is known."""
        said = [held.holds for held in self.held]
        return False if False in said else None if None in said else True

    @property
    def is_untried(self) -> bool:
        """Whether this machine offers it and that is all."""
        return self.rests_on == UNTRIED

    @property
    def is_known(self) -> bool:
        return self.figure.value is not None


@dataclass(frozen=True)
class Market:
    """Prices, and the devices whose size is known."""

    prices: tuple[Price, ...] = ()
    devices: Mapping[Place, Device] = field(default_factory=dict, hash=False)

    def hourly(self, place: Place) -> Hourly:
        return hourly(self.prices, place[1], self.devices.get(place))

    def memory_mb(self, cell: Cell) -> float | None:
        device = self.devices.get((cell.platform, cell.device))
        return device.memory_mb if device else None


def way_of(record: Record) -> Way:
    case = record.case
    settings = " ".join(f"{name}={value}" for name, value in sorted(case.options.items()) if name in HOW)
    name = record.device.name if record.device else NO_DEVICE
    return Way(case.platform, name, case.runtime, case.precision, case.batch, settings)


def measured(records: Iterable[Record], wishes: Wishes, market: Market) -> list[Candidate]:
    """The newest record of each way."""
    newest = {way_of(record): record for record in sorted(records, key=lambda record: record.started_at)}
    return [_measured(way, record, wishes, market) for way, record in newest.items()]


def _measured(way: Way, record: Record, wishes: Wishes, market: Market) -> Candidate:
    price = market.hourly(way.place)
    imported = record.provenance is Provenance.IMPORTED
    figure = towards(wishes.goal, measured_figure(record, wishes.goal.metric, price), way.batch, price)
    return Candidate(
        way,
        Evidence.IMPORTED if imported else Evidence.MEASURED,
        f"record {record.record_id}",
        figure,
        tuple(_held(limit, lambda name: measured_figure(record, name, price)) for limit in wishes.limits),
        price,
        record,
        imported or is_trusted(record),
    )


def way_of_cell(cell: Cell) -> Way:
    return Way(cell.platform, cell.device, cell.runtime, cell.precision, cell.batch, cell.setting)


def predicted(cell: Cell, answers: Mapping[str, Prediction], wishes: Wishes, market: Market) -> Candidate:
    """A way that nobody measured, with an answer for each metric; unknown where that of the goal abstains."""
    way = way_of_cell(cell)
    price, told = market.hourly(way.place), {name: of_prediction(answer) for name, answer in answers.items()}
    metric = wishes.goal.metric
    figure = towards(wishes.goal, predicted_figure(told, way.batch, metric, price), way.batch, price)
    answer = answers.get(metric) or answers.get(Goal.LATENCY.metric)
    known = answer is not None and not answer.abstained and figure.value is not None
    return Candidate(
        way,
        Evidence.PREDICTED if known else Evidence.UNKNOWN,
        (answer and (answer.why_not or answer.evidence)) or figure.note or UNTRIED,
        figure,
        tuple(_held(limit, lambda name: predicted_figure(told, way.batch, name, price)) for limit in wishes.limits),
        price,
    )


def unknown(way: Way, why: str, wishes: Wishes, market: Market) -> Candidate:
    held = tuple(Held(limit, None, why) for limit in wishes.limits)
    return Candidate(way, Evidence.UNKNOWN, why, missing(why), held, market.hourly(way.place))


def nearest(candidates: Iterable[Candidate]) -> Candidate | None:
    """The one that misses its limits by least, as far as that is known."""
    missed = [one for one in candidates if one.is_known and one.holds is False]
    return min(missed, key=_distance, default=None)


def _distance(one: Candidate) -> tuple[bool, float]:
    return any(held.at_least for held in one.held), max(held.excess for held in one.held)


def _held(limit: Limit, figure_of: Callable[[str], Figure]) -> Held:
    """A percentile that is not known is no less than the median, which may be too much already."""
    figure = figure_of(limit.figure)
    if figure.value is not None:
        return Held(limit, figure.value)
    least = figure_of(Goal.LATENCY.metric) if is_percentile(limit.figure) else figure
    if least.value is not None and least.value > limit.most:
        return Held(limit, least.value, figure.note, at_least=True)
    return Held(limit, None, figure.note)
