"""The comment on a pull request: what the gate found, for people, and kept in one place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from modeldyno.analysis.verdict import Change, word
from modeldyno.ci.github import GitHub, Posted
from modeldyno.ci.report import CaseVerdict, GateReport, GateVerdict
from modeldyno.core.errors import InputError
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.reports.markdown import block, code, details, heading, one_line, percent, row

LONGEST = 65_536
"""Characters that GitHub takes in a comment or an issue."""
_ROOM_FOR_NOTES = 200
COLUMNS = ("case", "metric", "baseline", "candidate", "change", "verdict")
_CHANGED = (Change.WORSE, Change.BETTER)


@dataclass(frozen=True)
class Done:
    """What became of a comment: created, updated or unchanged, and where it is."""

    action: str
    url: str


def marker(name: str) -> str:
    """The hidden first line by which the comment of this name is found again."""
    if not re.fullmatch(r"[A-Za-z0-9._-]{1,50}", name) or "--" in name:
        raise InputError("A comment's --name is made of letters, digits, dots and single dashes; choose such a one.")
    return f"<!-- modeldyno:comment:{name} -->"


def put(github: GitHub, number: int, mark: str, body: str) -> Done:
    """Writes the comment that begins with the mark, or brings the one that is there up to date."""

    def find() -> Posted | None:
        return next((comment for comment in github.comments(number) if comment.carries(mark)), None)

    found = find()
    if found is None:
        return Done("created", github.add_comment(number, body, find).html_url)
    if (found.body or "").strip() == body.strip():
        return Done("unchanged", found.html_url)
    return Done("updated", github.edit_comment(found, body).html_url)


def pull_request(environment: Mapping[str, str]) -> int | None:
    """The pull request that a job of GitHub Actions runs for."""
    try:
        event = json.loads(Path(environment.get("GITHUB_EVENT_PATH", "")).read_bytes())
        number = event["pull_request"]["number"]
    except (OSError, ValueError, KeyError, TypeError):
        number = None
    if isinstance(number, int):
        return number
    named = re.fullmatch(r"refs/pull/(\d+)/\w+", environment.get("GITHUB_REF", ""))
    return int(named[1]) if named else None


def render(report: GateReport, name: str = "gate") -> str:
    """The comment in Markdown: the verdict, what changed, and behind summaries the rest and how sure it is."""
    ordered = sorted(report.cases, key=_rank)
    changed = [verdict_row(case) for case in ordered if case.change in _CHANGED]
    others = [verdict_row(case) for case in ordered if case.change not in _CHANGED]
    above = [marker(name), f"**{sentence(report)}**", ""]
    below = details("How sure this is, and how to see it again", [*how_sure(report), "", *_again(report)])
    room = LONGEST - len("\n".join([*above, *below])) - 2 * _ROOM_FOR_NOTES
    shown = _table(changed, room)
    rest = _table(others, room - len("\n".join(shown)))
    return "\n".join([*above, *shown, *details(f"The other {len(others)}", rest), *below]).rstrip() + "\n"


def sentence(report: GateReport) -> str:
    """The verdict."""
    total = len(report.cases)
    sides = f"{code(report.candidate, 60)} against {code(report.baseline, 60)}"
    if not total:
        return f"Nothing was compared: the report of {sides} has no case."
    if report.verdict is GateVerdict.REGRESSION:
        return (
            f"Regression: {sum(case.regression for case in report.cases)} of {total} measurements got worse, {sides}."
        )
    if report.verdict is GateVerdict.UNDECIDED:
        unclear = sum(case.change is Change.AMBIGUOUS for case in report.cases)
        return f"Undecided: {unclear} of {total} measurements are not clear, {sides}."
    return f"No regression in {total} measurements, {sides}."


def verdict_row(case: CaseVerdict) -> str:
    """One metric of one case as a line of a table with these columns."""
    values = (_value(case.metric, case.baseline), _value(case.metric, case.candidate))
    return row([code(case.case), code(case.metric, 60), *values, change_text(case), _verdict(case)])


def change_text(case: CaseVerdict) -> str:
    """The change with its interval: `+5.2 % (+4.1 % to +6.3 %)`."""
    if case.ratio.value is None:
        return "-"
    text = _ratio(case.ratio.value)
    if case.ratio.low is None or case.ratio.high is None:
        return text
    return f"{text} ({_ratio(case.ratio.low)} to {_ratio(case.ratio.high)})"


def how_sure(report: GateReport) -> list[str]:
    """What the verdict rests on, as a list."""
    lines = [f"- {_way(report)}{_host(report)} It took {_duration(report.duration_s)}."]
    if report.cases:
        lines.append(
            "- A change counts only when all of its interval lies beyond the margin: "
            f"{', '.join(_margins(report.cases))}."
        )
    if report.control:
        widened = ", more than a margin, which was widened to it" if report.control.widened else ""
        lines.append(
            f"- Control: the baseline against itself is within {_share(report.control.noise)} of no change{widened}."
        )
    if effects := [effect for case in report.cases if (effect := case.smallest_effect) is not None]:
        lines.append(
            f"- Smallest change that would have counted: {_share(median(effects))} in the middle case, "
            f"{_share(max(effects))} in the noisiest."
        )
    return lines


def _way(report: GateReport) -> str:
    if report.kind == "history":
        return "The latest run was held against its own history."
    return f"Both sides were measured in turns on one host, in {report.blocks} blocks of fresh processes."


def _host(report: GateReport) -> str:
    if report.host is None:
        return ""
    cores = f"{report.host.logical_cores} cores" if report.host.logical_cores else None
    facts = [report.host.hostname, report.host.cpu, cores, report.host.system]
    return f" Host: {', '.join(code(fact, 80) for fact in facts if fact)}."


def _margins(cases: Iterable[CaseVerdict]) -> list[str]:
    """By metric the smallest and largest margin."""
    margins: dict[str, list[float]] = {}
    for case in cases:
        margins.setdefault(one_line(case.metric), []).append(case.margin)
    texts = [f"{code(name, 60)} {_span(values)}" for name, values in sorted(margins.items())[:20]]
    return [*texts, "..."] if len(margins) > len(texts) else texts


def _span(values: Sequence[float]) -> str:
    low, high = _share(min(values)), _share(max(values))
    return low if low == high else f"{low} to {high}"


def _again(report: GateReport) -> list[str]:
    if not report.command:
        return []
    return ["The same again:", "", block(report.command)]


def _table(rows: Sequence[str], room: int) -> list[str]:
    """As many rows as there is room for, and a word on those left out."""
    if not rows:
        return []
    lines = heading(COLUMNS)
    room -= len("\n".join(lines)) + 1
    kept = 0
    for line in rows:
        room -= len(line) + 1
        if room < 0:
            break
        kept += 1
    cut = [f"{len(rows) - kept} more are left out: GitHub takes no longer text. The report has them."]
    return [*(lines if kept else []), *rows[:kept], "", *([*cut, ""] if kept < len(rows) else [])]


def _rank(case: CaseVerdict) -> tuple[bool, int, str]:
    order = (Change.WORSE, Change.BETTER, Change.AMBIGUOUS, Change.SAME)
    return not case.regression, order.index(case.change), case.case


def _verdict(case: CaseVerdict) -> str:
    text = word(case.change, case.metric) if case.metric in METRICS else case.change.value
    if case.regression:
        text = f"**{text}**, {'confirmed' if case.confirmed else 'not confirmed'}"
    elif case.change is Change.WORSE:
        text = f"{text}, not counted"
    return f"{text}: {code(case.note)}" if case.note else text


def _value(metric: str, value: float | None) -> str:
    return "-" if value is None else format_value(metric, value)


def _ratio(ratio: float) -> str:
    """A ratio as a change in percent; as a factor where percent would be no help."""
    return percent(ratio - 1) if abs(ratio) < 10 else f"{ratio:.4g} times"


def _share(share: float) -> str:
    return f"{share * 100:.3g} %"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"
