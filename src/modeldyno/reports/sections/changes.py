"""What got slower or faster, where and since when; nothing found is an answer as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modeldyno.analysis.history import History, Step
from modeldyno.analysis.stretches import Level, level_at, levels_of
from modeldyno.analysis.told import change_text, commit_of, host_names, made_up, ratio_text, suspicion_text
from modeldyno.analysis.verdict import Change, word
from modeldyno.core.metrics import format_value
from modeldyno.reports.cells import metric_name, number, number_column, table, text_column, words
from modeldyno.reports.document import Block, Cell, Finding, Note, Paragraph, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.sections._histories import unchanged
from modeldyno.reports.template import Part
from modeldyno.store.points import Point

MOST_FINDINGS = 3
_COLUMNS = (
    text_column("series"),
    text_column("what", "verdict"),
    text_column("before"),
    text_column("after"),
    number_column("ratio"),
    text_column("date"),
    text_column("commit"),
    text_column("run"),
    text_column("cause, as far as known", "cause"),
    number_column("p-value", "p_value"),
)


@dataclass(frozen=True)
class _Found:
    """One change of one series."""

    history: History
    step: Step

    @property
    def rank(self) -> tuple[bool, bool, bool, bool, float, str, str]:
        """Alarms first, those of hardware before others, the largest first of them; changes that went away and those
        of the environment last."""
        step = self.step
        size = step.ratio.value if step.ratio else 1.0
        apart = max(size, 1 / size) if size > 0 else 1.0
        label = self.history.series.case.label
        doubted = step.is_alarm and made_up(self.history) is not None
        return not step.is_alarm, doubted, bool(step.environment), step.gone, -apart, label, step.after.record_id


def changes(material: Material, part: Part) -> Section:
    """A table of the changes; where there is none, what that means."""
    looked_at = [one for one in material.histories(part.metric) if one.points]
    found = sorted((_Found(one, step) for one in looked_at for step in one.felt), key=lambda one: one.rank)
    findings = _findings(found, looked_at, part.metric)
    blocks: tuple[Block, ...] = (_table(found, part.metric),) if found else (Paragraph(text=findings[0].text),)
    title = f"What changed in {metric_name(part.metric)}"
    return Section(name="changes", title=title, blocks=(*blocks, *_notes(looked_at)), findings=findings)


def _notes(looked_at: Sequence[History]) -> tuple[Note, ...]:
    if not looked_at:
        return ()
    text = (
        "A change counts that stands out among those of all series (at most 5 % of them are false on average). A new "
        "environment, such as another driver, is told apart from a regression."
    )
    doubted = sum(one.doubted for one in looked_at)
    if doubted:
        text += f" {doubted} more did not stand out; dyno history of one series alone may show them."
    return (Note(text=text),)


def _table(found: Sequence[_Found], name: str) -> Table:
    caption = f"Changes of {metric_name(name)}, those that are still worse first"
    return table(f"changes-{name}", caption, _COLUMNS, [_row(one, name) for one in found])


def _row(one: _Found, name: str) -> Row:
    step = one.step
    ratio, levels = step.ratio, levels_of(one.history)
    cells = (
        words(" · ".join([one.history.series.case.label, *filter(None, [one.history.series.device])])),
        words(_verdict(step, name), _tone(step)),
        _level(levels, step.before, name),
        _level(levels, step.after, name),
        Cell(text=ratio_text(ratio), value=ratio.value, low=ratio.low, high=ratio.high) if ratio else words("-"),
        words(f"{step.after.started_at:%Y-%m-%d %H:%M}"),
        words(f"{commit_of(step.before)} to {commit_of(step.after)}"),
        words(f"{step.before.run_id} to {step.after.run_id}"),
        words(_cause(one)),
        number(step.p_value, None if step.p_value is None else f"{step.p_value:.1g}"),
    )
    return Row(cells=cells, mark=made_up(one.history))


def _level(levels: Sequence[Level], point: Point, name: str) -> Cell:
    """The level that the point belongs to."""
    level = level_at(levels, point)
    value = level.value.value if level else point.value
    return words("-") if value is None else Cell(text=format_value(name, value), value=value)


def _verdict(step: Step, name: str) -> str:
    if step.environment:
        return f"{word(step.change, name)} in a new environment"
    if step.gone:
        return f"{word(step.change, name)}, gone since"
    return word(step.change, name)


def _tone(step: Step) -> Tone:
    if step.is_alarm:
        return Tone.BAD
    return Tone.GOOD if step.change is Change.BETTER else Tone.DOUBT


def _cause(one: _Found) -> str:
    told = [", ".join(one.step.environment), suspicion_text(one.step, host_names(one.history))]
    return "; ".join(filter(None, told)) or "-"


def _findings(found: Sequence[_Found], looked_at: Sequence[History], name: str) -> tuple[Finding, ...]:
    if not looked_at:
        return (Finding(text=f"There is no series of {metric_name(name)} to look at.", tone=Tone.DOUBT),)
    alarms = [one for one in found if one.step.is_alarm]
    if not alarms:
        return _without_alarm(found, looked_at, name)
    first, *others = [_alarm(one, name) for one in alarms[:MOST_FINDINGS]]
    more = len(alarms) - MOST_FINDINGS
    if more > 0:
        number = "1 more alarm is" if more == 1 else f"{more} more alarms are"
        first = Finding(text=f"{first.text} {number} in the table.", tone=first.tone)
    return first, *others


def _alarm(one: _Found, name: str) -> Finding:
    """Bad news only where hardware gave the numbers; the sentence says where it did not."""
    return Finding(text=_sentence(one, name), tone=Tone.DOUBT if made_up(one.history) else Tone.BAD)


def _without_alarm(found: Sequence[_Found], looked_at: Sequence[History], name: str) -> tuple[Finding, ...]:
    if not found:
        return (unchanged(looked_at, name),)
    better = [one for one in found if one.step.change is Change.BETTER and not one.step.environment]
    first = Finding(text=f"None of {len(looked_at)} series is shown to be worse than before in the same environment.")
    told = [Finding(text=_sentence(one, name), tone=Tone.GOOD) for one in better[:1]]
    new = [one for one in found if one.step.environment and one.step.change is Change.WORSE]
    told += [Finding(text=_sentence(one, name), tone=Tone.DOUBT) for one in new[:1]]
    return first, *told


def _sentence(one: _Found, name: str) -> str:
    """Who, how much, where, when, and whether it lasts."""
    case, step = one.history.series.case, one.step
    mark = made_up(one.history)
    sizes = f" {case.sizes}" if case.sizes else ""
    how = f"{case.runtime} {case.precision} batch {case.batch}{sizes}{f', {mark}' if mark else ''}"
    task = "" if case.workload == "inference" else f"{case.workload} of "
    verb, what = _said(step, name)
    where = f"with {', '.join(step.environment)}" if step.environment else _at(step.after)
    lasts = ", and still is" if step.is_alarm else ""
    when = f"on {step.after.started_at:%Y-%m-%d}"
    return f"{task}{case.model} on {case.platform} ({how}) {verb} {what} {where} {when}{lasts}."


def _said(step: Step, name: str) -> tuple[str, str]:
    told = change_text(step, name)
    return ("became", told) if told.endswith(("slower", "faster")) else (f"changed in {metric_name(name)}:", f"{told},")


def _at(point: Point) -> str:
    return f"at commit {commit_of(point)}" if point.commit else f"in run {point.run_id}"


MEMBER = changes
