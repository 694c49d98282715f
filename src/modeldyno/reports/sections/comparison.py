"""One thing held against another: ratios with intervals and a verdict, or why there is none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.analysis.comparable import By
from modeldyno.analysis.compare import (
    Comparison,
    compare,
    pair_up,
    several_devices,
    side_text,
    verdict_text,
    work_text,
)
from modeldyno.analysis.verdict import Change
from modeldyno.core.metrics import significant
from modeldyno.core.types import Record, Status
from modeldyno.reports.cells import (
    mark_of,
    marked,
    measured,
    metric_name,
    number,
    number_column,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.ratios import Held, ratios
from modeldyno.reports.document import Block, Cell, Finding, Note, Row, Section, Tone
from modeldyno.reports.material import MOST_SERIES, Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

_TONES = {Change.BETTER: Tone.GOOD, Change.WORSE: Tone.BAD, Change.SAME: Tone.PLAIN, Change.AMBIGUOUS: Tone.DOUBT}
_MOST_NOTES = 6


def comparison(material: Material, part: Part) -> Section | None:
    """By the part's question, of the part's metric."""
    by = By(part.by)
    records, cut = _records(material, by)
    pairing = pair_up(records, by, part.metric)
    found = compare(pairing.pairs, by, [part.metric], None, material.hosts)
    if not found:
        return None
    ordered = sorted(found, key=lambda one: (-(one.gain or 0.0), one.new.case.label, one.new.record_id))
    named = several_devices(pairing.pairs)
    blocks: list[Block] = []
    held = [_held(one, by, named) for one in ordered if one.ratio.value]
    title = f"{metric_name(part.metric).capitalize()} against the baseline"
    blocks += [ratios(f"comparison-{part.by}", title, part.metric, held)] if held else []
    columns = (
        text_column("case"),
        text_column("baseline"),
        number_column("its value", f"baseline_{part.metric}"),
        text_column("compared"),
        number_column("its value", part.metric),
        number_column("ratio"),
        text_column("verdict"),
    )
    rows = [_row(one, by, named) for one in ordered]
    blocks.append(table(f"comparison-by-{part.by}", f"Compared by {part.by}", columns, rows))
    blocks += [*_notes(ordered, part.by), *([_newest()] if cut else [])]
    findings = _findings(ordered, by, named)
    return Section(name="comparison", title=f"Compared by {part.by}", blocks=tuple(blocks), findings=findings)


def _records(material: Material, by: By) -> tuple[Sequence[Record], bool]:
    """The newest of each series; of each run, where runs are held against each other, and whether older ones may be
    left out."""
    if by is not By.RUN:
        return material.measured, False
    found = material.store.newest_records(material.chosen, per_run=True, newest=MOST_SERIES) if material.counts else ()
    return [record for record in found if record.status is Status.OK], len(found) >= MOST_SERIES


def _newest() -> Note:
    text = f"At most the newest {counted(MOST_SERIES, 'record')} are looked at; choose fewer to see others."
    return Note(text=text, tone=Tone.DOUBT)


def _held(one: Comparison, by: By, named: frozenset[str]) -> Held:
    bounds, mark, base = one.ratio.interval, mark_of(one.new), mark_of(one.old)
    marks = [*([f"({mark})"] if mark else []), *([f"(baseline {base})"] if base else [])]
    return Held(
        name=" ".join([f"{work_text(one.new.case, by)} · {side_text(one.new, by, named)}", *marks]),
        platform=marked(one.new),
        verdict=one.verdict,
        ratio=one.ratio.value or 1.0,
        low=bounds.low if bounds else None,
        high=bounds.high if bounds else None,
    )


def _row(one: Comparison, by: By, named: frozenset[str]) -> Row:
    return Row(
        cells=(
            words(work_text(one.new.case, by)),
            words(side_text(one.old, by, named)),
            measured(one.old, one.metric),
            words(side_text(one.new, by, named)),
            measured(one.new, one.metric),
            _ratio(one),
            words(verdict_text(one), Tone.DOUBT if one.refused else _TONES[one.change]),
        ),
        mark=mark_of(one.new) or mark_of(one.old),
    )


def _ratio(one: Comparison) -> Cell:
    value, bounds = one.ratio.value, one.ratio.interval
    if value is None:
        return words("-")
    text = significant(value, 4)
    if bounds is None:
        return number(value, text)
    spoken = f"{text} [{significant(bounds.low, 4)}, {significant(bounds.high, 4)}]"
    return Cell(text=spoken, value=value, low=bounds.low, high=bounds.high)


def _notes(found: Sequence[Comparison], by: str) -> list[Block]:
    """What has to be said with the verdicts, the most frequent first."""
    texts = Counter(text for one in found for text in (*one.refused, *one.labels))
    ranked = sorted(texts.items(), key=lambda item: (-item[1], item[0]))
    rows = [Row(cells=(number(count), words(text))) for text, count in ranked]
    columns = (number_column("comparisons"), text_column("what to keep in mind", "label"))
    return [table(f"labels-by-{by}", "What to keep in mind", columns, rows, _MOST_NOTES)] if rows else []


def _mark(one: Comparison) -> str | None:
    return mark_of(one.new) or mark_of(one.old)


def _findings(found: Sequence[Comparison], by: By, named: frozenset[str]) -> tuple[Finding, ...]:
    """How often which verdict, and the largest gain; of numbers that hardware gave on both sides."""
    real = [one for one in found if not _mark(one)]
    verdicts = sorted(Counter(one.verdict for one in real).items(), key=lambda item: (-item[1], item[0]))
    told = ", ".join(f"{count} {verdict}" for verdict, count in verdicts)
    first = f"Of {counted(len(real), 'comparison')} by {by.value}: {told}" if real else "Nothing measured is compared"
    best = next((one for one in real if one.change is Change.BETTER and one.gain), None)
    findings = [Finding(text=f"{first}{_others(found)}.")]
    return (*findings, _gain(best, by, named)) if best else tuple(findings)


def _others(found: Sequence[Comparison]) -> str:
    marks = [mark for one in found if (mark := _mark(one))]
    rest = "rests" if len(marks) == 1 else "rest"
    these = f"{len(marks)} more" if len(marks) < len(found) else counted(len(marks), "comparison")
    return f"; {these} {rest} on {', '.join(sorted(set(marks)))} numbers" if marks else ""


def _gain(best: Comparison, by: By, named: frozenset[str]) -> Finding:
    sides = [side_text(record, by, named) for record in (best.new, best.old)]
    text = f"{work_text(best.new.case, by)}: {sides[0]} is {verdict_text(best)} than {sides[1]}."
    return Finding(text=text, tone=Tone.GOOD)


MEMBER = comparison
