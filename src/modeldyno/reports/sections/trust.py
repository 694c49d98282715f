"""How far the data can be trusted: the passports of the measurements, check by check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.core.types import Check, Provenance, Record, Verdict
from modeldyno.reports.cells import mark_of, number, number_column, table, text_column, trust_tone, words
from modeldyno.reports.document import Cell, Column, Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

_NO_PASSPORT = "no passport"
_MOST_TOLD = 3


def trust(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Verdicts by platform, then the checks that most often spoke against a number, with what to do."""
    if not material.measured:
        return None
    blocks = [_verdicts(material.measured)]
    concerns = [(record, check) for record in material.measured for check in _concerns(record)]
    blocks += [_checks(concerns, len(material.measured))] if concerns else []
    note = Note(
        text="A passport says under which conditions a number came about; doubtful ones are shown, never hidden."
    )
    findings = _findings(material.measured)
    return Section(name="trust", title="How far to trust this", blocks=(note, *blocks), findings=findings)


def _concerns(record: Record) -> tuple[Check, ...]:
    return record.passport.concerns if record.passport else ()


def _verdict(record: Record) -> str:
    return record.passport.verdict.value if record.passport else _NO_PASSPORT


def _verdicts(records: Sequence[Record]) -> Table:
    """The provenance has a column only where not all was measured."""
    told = any(record.provenance is not Provenance.MEASURED for record in records)
    before: tuple[Column, ...] = (text_column("provenance"),) if told else ()
    names = [*(verdict.value for verdict in Verdict), _NO_PASSPORT]
    columns = (*before, text_column("platform"), text_column("device"), *(number_column(name) for name in names))
    places: dict[tuple[str, ...], Counter[str]] = {}
    for record in records:
        place = (record.case.platform, record.device.name if record.device else "-", record.provenance.value)
        places.setdefault((*place, mark_of(record) or ""), Counter())[_verdict(record)] += 1
    rows = [
        Row(
            cells=(*map(words, (origin, *place) if told else place), *(_count(name, found[name]) for name in names)),
            mark=mark or None,
        )
        for (*place, origin, mark), found in sorted(places.items())
    ]
    return table("verdicts", "Verdicts of the passports", columns, rows)


def _count(name: str, found: int) -> Cell:
    tone = trust_tone(Verdict(name)) if found and name != _NO_PASSPORT else Tone.PLAIN
    return Cell(text=str(found) if found else "-", value=found, tone=tone)


def _checks(concerns: Sequence[tuple[Record, Check]], total: int) -> Table:
    columns = (
        text_column("check"),
        text_column("platform"),
        number_column("records"),
        text_column("worst"),
        text_column("limit"),
        text_column("what to do", "advice"),
    )
    grouped: dict[tuple[str, str, str], list[Check]] = {}
    for record, check in concerns:
        grouped.setdefault((check.name, record.case.platform, mark_of(record) or ""), []).append(check)
    ranked = sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [_row(*place, checks) for place, checks in ranked]
    return table("concerns", f"What speaks against numbers, of {counted(total, 'record')}", columns, rows)


def _row(name: str, platform: str, mark: str, checks: Sequence[Check]) -> Row:
    worst = max(checks, key=lambda check: (check.verdict is Verdict.INVALID, _beyond(check)))
    return Row(
        cells=(
            words(plain(name)),
            words(platform),
            number(len(checks)),
            words(_text(worst.value), trust_tone(worst.verdict)),
            words(_text(worst.limit)),
            words(worst.advice or "-"),
        ),
        mark=mark or None,
    )


def plain(name: str) -> str:
    """A check as people say it."""
    return name.removesuffix("_per_s_per_thread").replace("_", " ")


def _beyond(check: Check) -> float:
    """How far the value lies from its limit, on whichever side of it; as a share, where there is one."""
    value, limit = check.value, check.limit
    if not isinstance(value, int | float):
        return 0.0
    if not isinstance(limit, int | float):
        return abs(value)
    return abs(value - limit) / (abs(limit) or 1.0)


def _text(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else "-" if value is None else str(value)


def _findings(records: Sequence[Record]) -> tuple[Finding, ...]:
    """Of what was measured; where nothing was, of what was imported."""
    taken = [record for record in records if record.provenance is Provenance.MEASURED]
    return (_measured(taken),) if taken else _imported(records)


def _imported(records: Sequence[Record]) -> tuple[Finding, ...]:
    imported = [record for record in records if record.provenance is Provenance.IMPORTED]
    without = sum(record.passport is None for record in imported)
    text = f"{without} of {counted(len(imported), 'imported record')} came without a passport."
    return (Finding(text=text, tone=Tone.DOUBT),) if without else ()


def _measured(taken: Sequence[Record]) -> Finding:
    valid = sum(_verdict(record) == Verdict.VALID for record in taken)
    number_of = counted(len(taken), "measurement")
    told = f"Passports call the conditions of {valid} of {number_of} valid"
    most = Counter(plain(check.name) for record in taken for check in _concerns(record))
    ranked = sorted(most.items(), key=lambda item: (-item[1], item[0]))[:_MOST_TOLD]
    often = ", ".join(f"{name} ({count})" for name, count in ranked)
    share = valid / len(taken)
    tone = Tone.GOOD if share > 0.8 else Tone.DOUBT if share > 0.2 else Tone.BAD
    return Finding(text=f"{told}; most often {often} spoke against it." if often else f"{told}.", tone=tone)


MEMBER = trust
