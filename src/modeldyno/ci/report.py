"""What a gate found, as one JSON document: written by `dyno gate --json`, read by `dyno ci`."""

from __future__ import annotations

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field, ValidationError

from modeldyno.analysis.verdict import Change
from modeldyno.core.errors import InputError
from modeldyno.core.types import Frozen, Host

Finite = Annotated[float, Field(allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class GateVerdict(StrEnum):
    """How a gate ended."""

    OK = "ok"
    REGRESSION = "regression"
    UNDECIDED = "undecided"


_ABSURD = math.log(1e6)
"""An interval that spans so many powers of ten says nothing of a smallest effect."""
EXIT_CODES = {GateVerdict.OK: 0, GateVerdict.REGRESSION: 1, GateVerdict.UNDECIDED: 3}


class Ratio(Frozen):
    """Candidate over baseline with its interval; absent where there was too little to say."""

    value: Finite | None = None
    low: Finite | None = None
    high: Finite | None = None


class ControlResult(Frozen):
    """The baseline measured against itself in the same job (A/A)."""

    noise: Share
    """Half width of the control's interval, as a share."""
    widened: bool
    """Whether that noise was larger than a margin, which then gave way to it."""


class CaseVerdict(Frozen):
    """What became of one metric of one case."""

    case: str
    """The case's label."""
    case_key: str
    metric: str
    baseline: Finite | None = None
    candidate: Finite | None = None
    ratio: Ratio = Ratio()
    margin: Share
    """The smallest change that counted, as a share."""
    change: Change
    p_value: Annotated[float, Field(ge=0, le=1)] | None = None
    regression: bool = False
    confirmed: bool = False
    """Whether a fresh measurement found the same."""
    note: str | None = None
    device: str | None = None
    """The device that both values come from; absent where it is not known."""

    @property
    def smallest_effect(self) -> float | None:
        """The change that an estimate had to reach for an interval as wide as this one to lie beyond the margin."""
        low, high = self.ratio.low, self.ratio.high
        if low is None or high is None or not 0 < low <= high:
            return None
        reach = math.log1p(self.margin) + (math.log(high) - math.log(low)) / 2
        return math.expm1(reach) if reach < _ABSURD else None


class GateReport(Frozen):
    """What a gate found."""

    schema_version: Literal[1] = 1
    kind: Literal["ab", "history"]
    baseline: str
    """Name of side A: commit, installation or suite."""
    candidate: str
    baseline_commit: str | None = None
    """The commit that was measured, in full: a branch's name is another one tomorrow."""
    candidate_commit: str | None = None
    host: Host | None = None
    verdict: GateVerdict
    started_at: AwareDatetime
    duration_s: Share
    blocks: Annotated[int, Field(ge=0)]
    control: ControlResult | None = None
    cases: tuple[CaseVerdict, ...] = ()
    command: str | None = None
    """How the gate was called, for whoever wants to see it for themselves."""

    @property
    def exit_code(self) -> int:
        return EXIT_CODES[self.verdict]


def read_report(path: Path) -> GateReport:
    """The report in a file of `dyno gate --json`."""
    remedy = "give a file that dyno gate --json wrote"
    try:
        text = path.read_bytes()
    except OSError as error:
        raise InputError(f"Cannot read {path}: {error.strerror}; {remedy}.") from None
    try:
        return GateReport.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"])) or "the document"
        raise InputError(f"{path} is no report of a gate: {place}: {first['msg']}; {remedy}.") from None
