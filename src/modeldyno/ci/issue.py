"""Issues: one for each confirmed regression, kept up to date, and closed when it is gone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from modeldyno.analysis.verdict import Change, judge
from modeldyno.ci.comment import COLUMNS, how_sure, put, verdict_row
from modeldyno.ci.github import GitHub, Posted
from modeldyno.ci.report import CaseVerdict, Finite, GateReport, Share
from modeldyno.core.identity import digest
from modeldyno.core.metrics import METRICS, Direction
from modeldyno.core.types import Frozen
from modeldyno.measure.statistics import Interval
from modeldyno.reports.markdown import block, code, heading, one_line

LABELS = ("performance", "regression")
LATEST = "<!-- modeldyno:latest -->"
FIXED = "<!-- modeldyno:fixed -->"
_YARDSTICK = "<!-- modeldyno:yardstick "
_LONGEST_TITLE = 200
_MOST_ROWS = 10
_GOOD = (Change.SAME, Change.BETTER)


class Yardstick(Frozen):
    """What a regression was measured against when its issue was opened; hidden in the issue."""

    baseline_commit: str | None
    """Absent where the baseline was no commit, as with a history."""
    device: str | None
    cpu: str | None
    value: Finite | None
    margin: Share


@dataclass(frozen=True)
class Subject:
    """One metric of one case; several verdicts where several equal devices were measured."""

    key: str
    verdicts: tuple[CaseVerdict, ...]

    @property
    def first(self) -> CaseVerdict:
        return self.verdicts[0]

    @property
    def marker(self) -> str:
        """The hidden first line by which its issue is found again."""
        return f"<!-- modeldyno:regression:{self.key} -->"

    @property
    def is_regression(self) -> bool:
        return bool(self.regressions)

    @property
    def regressions(self) -> tuple[CaseVerdict, ...]:
        return tuple(verdict for verdict in self.verdicts if verdict.regression and verdict.confirmed)

    @property
    def title(self) -> str:
        """A title knows no markup but mentions and code, so both are taken out."""
        text = f"Regression: {self.first.metric} of {self.first.case}".replace("@", "(at)").replace("`", "'")
        return one_line(text, _LONGEST_TITLE)


@dataclass(frozen=True)
class Filed:
    """What became of one issue: opened, updated, unchanged or closed."""

    action: str
    subject: Subject
    number: int
    url: str


def subjects(report: GateReport) -> list[Subject]:
    """What the report speaks of, each metric of each case once."""
    found: dict[str, list[CaseVerdict]] = {}
    for verdict in report.cases:
        found.setdefault(digest([verdict.case_key, verdict.metric]), []).append(verdict)
    return [Subject(key, tuple(verdicts)) for key, verdicts in found.items()]


def file_issues(github: GitHub, report: GateReport, labels: Sequence[str], close_fixed: bool) -> Iterator[Filed]:
    """Opens, updates and closes; one by one, so that what was done is known when the next one fails."""
    issues = list(github.open_issues())
    for subject in subjects(report):
        issue = next((issue for issue in issues if issue.carries(subject.marker)), None)
        if subject.is_regression:
            yield _open(github, report, subject, labels) if issue is None else _update(github, report, subject, issue)
        elif close_fixed and issue is not None and is_fixed(report, subject, yardstick(issue)):
            yield _close(github, report, subject, issue)


def is_fixed(report: GateReport, subject: Subject, before: Yardstick | None) -> bool:
    """Whether the regression is gone: "no change" alone may only say that it is as slow as yesterday.

    It is gone when on the same device the commit of then is matched, or the value is back where it was; the value of
    a device hangs on the host's processor too."""
    if before is None or before.device is None or not all(verdict.change in _GOOD for verdict in subject.verdicts):
        return False
    again = [verdict for verdict in subject.verdicts if _short(verdict.device) == before.device]
    if not again:
        return False
    if before.baseline_commit is not None and before.baseline_commit == _short(report.baseline_commit):
        return True
    same_host = before.cpu is not None and before.cpu == _cpu(report)
    return same_host and all(_is_back(verdict, before) for verdict in again)


def _is_back(verdict: CaseVerdict, before: Yardstick) -> bool:
    """Within the margin of the value it was held against; what had broken then is back when it gives a value at all."""
    if before.value is None or verdict.candidate is None:
        return verdict.candidate is not None
    if before.value == 0:
        return False
    ratio = verdict.candidate / before.value
    row = METRICS.get(verdict.metric)
    direction = row.direction if row else Direction.NEITHER
    return judge(Interval(ratio, ratio, ratio), before.margin, direction) in _GOOD


def yardstick(issue: Posted) -> Yardstick | None:
    """What the issue's text hides; None where somebody changed it."""
    line = next((line for line in (issue.body or "").splitlines() if line.startswith(_YARDSTICK)), "")
    try:
        return Yardstick.model_validate_json(line.removeprefix(_YARDSTICK).removesuffix(" -->"))
    except ValidationError:
        return None


def body(report: GateReport, subject: Subject) -> str:
    """The text of a new issue; it stays, because it names where the regression was first seen."""
    seen = subject.regressions[0]
    before = Yardstick(
        baseline_commit=_short(report.baseline_commit),
        device=_short(seen.device),
        cpu=_cpu(report),
        value=seen.baseline,
        margin=seen.margin,
    )
    hidden = before.model_dump_json().replace(">", "\\u003e")  # so that it cannot end the comment it is hidden in
    again = ["", "The same again:", "", block(report.command)] if report.command else []
    lines = [
        subject.marker,
        f"{_YARDSTICK}{hidden} -->",
        f"First seen {_moment(report)} in {code(report.candidate)}, held against {code(report.baseline)}.",
        "",
        *_table(subject),
        "",
        *how_sure(report),
        *again,
    ]
    return "\n".join(lines) + "\n"


def _open(github: GitHub, report: GateReport, subject: Subject, labels: Sequence[str]) -> Filed:
    def find() -> Posted | None:
        return next((issue for issue in github.open_issues() if issue.carries(subject.marker)), None)

    issue = github.add_issue(subject.title, body(report, subject), labels, find)
    return Filed("opened", subject, issue.number, issue.html_url)


def _update(github: GitHub, report: GateReport, subject: Subject, issue: Posted) -> Filed:
    """One comment says what is seen now; a comment a day would be noise."""
    text = f"Still there {_moment(report)} in {code(report.candidate)}, held against {code(report.baseline)}."
    done = put(github, issue.number, LATEST, "\n".join([LATEST, text, "", *_table(subject)]) + "\n")
    return Filed("unchanged" if done.action == "unchanged" else "updated", subject, issue.number, issue.html_url)


def _close(github: GitHub, report: GateReport, subject: Subject, issue: Posted) -> Filed:
    text = f"Gone {_moment(report)} in {code(report.candidate)}, held against {code(report.baseline)}."
    put(github, issue.number, FIXED, "\n".join([FIXED, text, "", *_table(subject)]) + "\n")
    github.close_issue(issue)
    return Filed("closed", subject, issue.number, issue.html_url)


def _table(subject: Subject) -> list[str]:
    return [*heading(COLUMNS), *(verdict_row(verdict) for verdict in subject.verdicts[:_MOST_ROWS])]


def _moment(report: GateReport) -> str:
    return f"on {report.started_at.isoformat(' ', 'minutes')}"


def _cpu(report: GateReport) -> str | None:
    return _short(report.host.cpu) if report.host else None


def _short(text: str | None) -> str | None:
    return one_line(text) if text else None
