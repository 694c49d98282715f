"""What to use for each model: the way of running it that won, and what cannot be told from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.analysis.best import Best, best_per_model, both_have_bounds, is_trusted
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Record
from modeldyno.reports.cells import MISSING, measured, metric_column, table, text_column, words
from modeldyno.reports.document import Cell, Finding, Paragraph, Row, Section, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.template import Part

_COLUMNS = (
    text_column("model"),
    text_column("sizes"),
    text_column("lowest latency", "lowest_latency"),
    metric_column("latency_ms"),
    text_column("highest throughput", "highest_throughput"),
    metric_column("throughput_per_s"),
    text_column("trust"),
)
_MOST_TOLD = 3
_SAID = (
    "For each model and shape: the platform, runtime, precision and batch size with the lowest latency, and those with "
    "the highest throughput. What cannot be told from them within the 95 % interval stands in brackets; so does where "
    "no interval is known."
)


def what_to_use(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Only what some hardware gave takes part."""
    rivals = [record for record in material.measured if record.case.workload == "inference"]
    latency = best_per_model(rivals, "latency_ms", any_precision=True)
    if not latency:
        return None
    throughput = {best.work: best for best in best_per_model(rivals, "throughput_per_s", any_precision=True)}
    rows = [_row(best, throughput.get(best.work)) for best in sorted(latency, key=_order)]
    blocks = (Paragraph(text=_SAID), table("what-to-use", "What to use", _COLUMNS, rows))
    return Section(name="what-to-use", title="What to use", blocks=blocks, findings=_findings(latency, rivals))


def _order(best: Best) -> tuple[str, str]:
    return best.record.case.model, best.record.case.sizes


def _row(best: Best, other: Best | None) -> Row:
    case = best.record.case
    chosen = [record for one in (best, other) if one for record in (one.record, *one.ties)]
    shape = " ".join(f"{axis} {size}" for axis, size in case.shape.items())
    more = _choice(other) if other else (MISSING, MISSING)
    return Row(cells=(words(case.model), words(shape or "-"), *_choice(best), *more, _trust(chosen)))


def _trust(chosen: Sequence[Record]) -> Cell:
    """Of the winners and what cannot be told from them, by their passports."""
    if all(map(is_trusted, chosen)):
        return words("valid", Tone.GOOD)
    return words("doubtful" if any(record.passport for record in chosen) else "no passport", Tone.DOUBT)


def _choice(best: Best) -> tuple[Cell, Cell]:
    close = _close(best)
    said = [f"or {_first(close)}"] if close else []
    said += ["no interval is known"] if len(close) < len(best.ties) else []
    name = f"{way(best.record)} ({'; '.join(said)})" if said else way(best.record)
    return words(name), measured(best.record, best.metric)


def _close(best: Best) -> list[Record]:
    """The ties of which intervals say that they are some."""
    return [record for record in best.ties if both_have_bounds(best.record, record, best.metric)]


def way(record: Record) -> str:
    """How a model is run, in words: `cpu, onnxruntime, fp32, batch 4`."""
    case = record.case
    options = [f"{name}={value}" for name, value in case.options.items()]
    return ", ".join([case.platform, case.runtime, case.precision, f"batch {case.batch}", *options])


def _findings(latency: Sequence[Best], rivals: Sequence[Record]) -> tuple[Finding, ...]:
    """The models with most ways of running them, one sentence each."""
    tried = Counter(record.case.model for record in rivals)
    contested = [best for best in latency if tried[best.record.case.model] > 1]
    seen: dict[str, Best] = {}
    for best in sorted(contested, key=lambda best: (-tried[best.record.case.model], _order(best))):
        seen.setdefault(best.record.case.model, best)
    return tuple(_sentence(best) for best in list(seen.values())[:_MOST_TOLD])


def _sentence(best: Best) -> Finding:
    value = best.record.metrics[best.metric]
    text = format_value(best.metric, value.value or 0.0, value.low, value.high)
    told = f"{best.record.case.model} answers fastest on {way(best.record)}: {text}{_conditions([best.record])}"
    sure = all(map(is_trusted, (best.record, *best.ties))) and len(_close(best)) == len(best.ties)
    return Finding(text=f"{told}{_ties(best)}.", tone=Tone.GOOD if sure else Tone.DOUBT)


def _ties(best: Best) -> str:
    close = _close(best)
    known = {record.record_id for record in close}
    blind = [record for record in best.ties if record.record_id not in known]
    are = "is" if len(close) == 1 else "are"
    said = [f"; {_first(close)} {are} within error{_conditions(close)}"] if close else []
    said += [f"; no interval is known to tell {_first(blind)} from it{_conditions(blind)}"] if blind else []
    return "".join(said)


def _first(records: Sequence[Record]) -> str:
    """One by name, the others by number."""
    more = f" and {len(records) - 1} more" if len(records) > 1 else ""
    return f"{way(records[0])}{more}"


def _conditions(records: Sequence[Record]) -> str:
    """What the passports say against them."""
    doubted = [record for record in records if not is_trusted(record)]
    unknown = sum(record.passport is None for record in doubted)
    some, whose = ("some ", "their passports do") if len(records) > 1 else ("", "its passport does")
    said = f", {some}measured under conditions that {whose} not call valid" if len(doubted) > unknown else ""
    missing = ", of some no passport is known" if some else ", no passport is known"
    return said + (missing if unknown else "")


MEMBER = what_to_use
