"""`dyno compare`: what is faster, by how much, and how sure that is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._newest import LimitOption, newest_records
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from modeldyno.analysis.comparable import By
    from modeldyno.analysis.compare import Comparison, Pairing
    from modeldyno.core.types import Record
    from modeldyno.store.query import Filter
    from modeldyno.store.store import Store


@choosing("status")
def compare(
    two: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[OLD NEW]", help="Two runs (latest, latest~1, ids) or two records; an id's beginning will do."
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(help="What to compare: platform, runtime, precision, batch, model or run.")
    ] = None,
    metric: Annotated[str | None, typer.Option(help="Metrics, e.g. latency_ms,memory_peak_mb.")] = None,
    baseline: Annotated[str | None, typer.Option(help="Which platform, batch, run ... all others are held to.")] = None,
    margin: Annotated[
        str | None, typer.Option(help="Smallest change that counts: 0.05, or latency_ms=0.05,memory_peak_mb=0.02.")
    ] = None,
    choice: Choice = Choice(),
    limit: LimitOption = 5000,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Compare records: ratios with intervals, and a verdict: faster, slower, same or ambiguous."""
    from modeldyno.analysis import documents
    from modeldyno.analysis.comparable import By
    from modeldyno.analysis.compare import compare as compare_pairs
    from modeldyno.analysis.compare import default_metric
    from modeldyno.store.find import hosts_of_runs

    question = _question(two or [], by)
    opened = open_store(store)
    names = _metrics(metric) or [default_metric(question)]
    margins = _margins(margin, names)
    chosen = choice.real_and_ok()
    hosts = hosts_of_runs(opened)
    if two:
        pairing = _two(opened, two, chosen, hosts)
    else:
        base = _run_id(opened, baseline) if baseline and question is By.RUN else baseline
        pairing = _by(opened, question, names[0], base, chosen, limit)
    comparisons = compare_pairs(pairing.pairs, question, names, margins, hosts)
    if json:
        print_json(documents.comparisons(comparisons, pairing, question))
    else:
        _print(comparisons, pairing, question)


def _question(two: Sequence[str], by: str | None) -> By:
    from modeldyno.analysis.comparable import By
    from modeldyno.core.errors import InputError, UnknownName

    if len(two) not in (0, 2):
        raise InputError(f"Two runs or two records are compared, not {len(two)}; write: dyno compare latest~1 latest")
    if bool(two) == bool(by):
        raise InputError("Say what to compare: either --by platform (or runtime, precision, ...), or two runs.")
    try:
        return By(by) if by else By.RUN
    except ValueError:
        raise UnknownName("question for --by", str(by), list(By)) from None


def _metrics(text: str | None) -> list[str]:
    from modeldyno.core.metrics import metric

    return [metric(name).name for name in comma_list(text)]


def _margins(text: str | None, names: Sequence[str]) -> dict[str, float]:
    """One share for all metrics, or one for each that is named."""
    from modeldyno.core.errors import InputError

    margins: dict[str, float] = {}
    for part in comma_list(text):
        name, equals, share = part.rpartition("=")
        for each in _metrics(name) if equals else names:
            if each not in names:
                raise InputError(f"--margin {part} is for a metric that is not compared; add --metric {each}.")
            margins[each] = _share(share)
    return margins


def _share(text: str) -> float:
    from modeldyno.core.errors import InputError

    try:
        share = float(text)
    except ValueError:
        share = math.nan
    if not 0 <= share < 10:
        raise InputError(f"--margin {text} is no share; write for example 0.05 for 5 %.")
    return share


def _by(opened: Store, by: By, name: str, baseline: str | None, chosen: Filter, limit: int) -> Pairing:
    from modeldyno.analysis.comparable import By
    from modeldyno.analysis.compare import pair_up

    return pair_up(newest_records(opened, chosen, limit, by is By.RUN), by, name, baseline)


def _two(opened: Store, two: Sequence[str], chosen: Filter, runs: Iterable[str]) -> Pairing:
    """Two runs case by case, with what failed in one of them; or the two records that are named, of any kind."""
    from dataclasses import replace

    from modeldyno.analysis.compare import Pairing, match_runs

    beginnings = tuple(name.lower() for name in two)
    if not any(name.startswith("latest") for name in two) and not any(run.startswith(beginnings) for run in runs):
        return Pairing(((_record(opened, two[0]), _record(opened, two[1])),), ())
    of_runs = [replace(chosen, status=(), run_id=(_run_id(opened, name),)) for name in two]
    return match_runs(*map(opened.records, of_runs))


def _record(opened: Store, name: str) -> Record:
    from modeldyno.core.errors import InputError
    from modeldyno.store.find import find_record

    record = find_record(opened, name)
    if record is None:
        raise InputError(f"No run and no record begins with '{name}'; dyno show all --json lists them.")
    return record


def _run_id(opened: Store, name: str) -> str:
    """`latest~1` is the one before the latest."""
    from modeldyno.core.errors import InputError

    back = re.fullmatch(r"latest~(\d{1,6})", name)
    if not back:
        return opened.find_run(name).run_id
    runs = opened.runs()
    if int(back[1]) >= len(runs):
        raise InputError(f"There is no {name}: the store holds {len(runs)} runs; see dyno show all.")
    return runs[int(back[1])].run_id


def _print(comparisons: Sequence[Comparison], pairing: Pairing, by: By) -> None:
    from modeldyno.analysis.compare import several_devices, side_text, verdict_text, work_text
    from modeldyno.cli._tables import metric_text, new_table

    if not comparisons:
        print_line(f"Nothing to compare: no two records that match differ in their {by.value}.")
    footnotes: dict[str, int] = {}
    named = several_devices(pairing.pairs)
    table = new_table("Compared", ["case", "metric", "baseline", "compared", "ratio", "verdict", "notes"])
    for one in comparisons:
        said = [str(footnotes.setdefault(text, len(footnotes) + 1)) for text in (*one.refused, *one.labels)]
        values = (f"{side_text(record, by, named)}: {metric_text(record, one.metric)}" for record in (one.old, one.new))
        table.add_row(
            work_text(one.new.case, by), one.metric, *values, _ratio_text(one), verdict_text(one), " ".join(said)
        )
    if comparisons:
        print_table(table)
    for text, number in footnotes.items():
        print_line(f"  {number:2}  {text}")
    if pairing.alone:
        print_note(f"{len(pairing.alone)} more records have nothing to be held against.")


def _ratio_text(one: Comparison) -> str:
    if one.ratio.value is None:
        return "-"
    bounds = one.ratio.interval
    return f"{one.ratio.value:.4g}" + (f" [{bounds.low:.4g}, {bounds.high:.4g}]" if bounds else "")
