"""`dyno configure`: how to run a model on one platform."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._cases import TimeoutOption
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.advise.configure import Configuration, Demand
    from modeldyno.store.store import Store


def configure(
    model: Annotated[str, typer.Argument(help="Catalogue name, Hugging Face id, folder or file.")],
    on: Annotated[str, typer.Option("--on", help="A platform or device: cpu, cuda:0.")],
    slo: Annotated[str | None, typer.Option(help="A limit on the step time: p95=20ms.")] = None,
    max_memory: Annotated[str | None, typer.Option(help="A limit on the peak memory: 8GB.")] = None,
    runtime: Annotated[str | None, typer.Option(help="Only these runtimes.")] = None,
    precision: Annotated[str | None, typer.Option(help="Only these precisions.")] = None,
    shape: Annotated[list[str] | None, typer.Option(help="Sizes beyond the batch: --shape seq=128.")] = None,
    search: Annotated[bool, typer.Option("--search", help="Measure the batch sizes that are missing.")] = False,
    timeout: TimeoutOption = 900.0,
    output: Annotated[Path | None, typer.Option(help="Write a program that runs the model so.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the program.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Choose batch, precision, runtime, threads and requests for a model on one platform, from measurements."""
    from modeldyno.advise.serving_script import render
    from modeldyno.cli._cases import one_shape
    from modeldyno.cli._files import write_new
    from modeldyno.core.spoken import comma_list

    demand = _demand(model, on, slo, max_memory, comma_list(runtime), comma_list(precision), one_shape(None, shape))
    opened = open_store(store)
    if search:
        _search(opened, demand, timeout)
    made = _configured(opened, demand)
    if made.chosen is None:
        _print_nothing(made, json)
        raise typer.Exit(1)
    if output:
        write_new(output, render(made, output.name), force)
    if json:
        print_json(_document(made) | {"program": str(output) if output else None})
    else:
        _print(made, output)


def _demand(
    model: str,
    on: str,
    slo: str | None,
    max_memory: str | None,
    runtimes: list[str],
    precisions: list[str],
    shape: dict[str, int],
) -> Demand:
    from modeldyno.advise.configure import Demand
    from modeldyno.advise.wishes import read_wishes
    from modeldyno.core.errors import InputError, UnknownName
    from modeldyno.core.types import Precision
    from modeldyno.platforms import PLATFORMS

    name, _, index = on.partition(":")
    possible = PLATFORMS.get(name).runtimes
    if index and not index.isdecimal():
        raise InputError(f"'{on}' is not a device; write the platform and a number, such as {name}:0.")
    for asked, kind, known in ((runtimes, "runtime", possible), (precisions, "precision", tuple(Precision))):
        if wrong := next((one for one in asked if one not in known), None):
            raise UnknownName(kind, wrong, known)
    wishes = read_wishes("throughput", slo, max_memory, None)
    return Demand(model, name, int(index or 0), wishes, tuple(runtimes), tuple(precisions), shape)


def _configured(store: Store, demand: Demand) -> Configuration:
    from modeldyno.advise.ask import devices_here, known_of
    from modeldyno.advise.configure import INFERENCE, POOL
    from modeldyno.advise.configure import configure as choose

    spec, records = known_of(store, demand.model, INFERENCE, POOL)
    return choose(demand, records, devices_here((demand.platform,)), spec.axes if spec else {})


def _search(store: Store, demand: Demand, timeout: float) -> None:
    """One search for each runtime and precision that is asked for or known, the platform's first and fp32 else."""
    from modeldyno.advise.search import cases_to_search, search
    from modeldyno.cli._measure import measure
    from modeldyno.core.types import Record, Status

    made = _configured(store, demand)
    fresh: list[Record] = []
    known = {one.record.case: one.record for one in made.tried if one.record}
    for first in cases_to_search(made):

        def of_batch(batch: int, first: Any = first) -> Record:
            case = first.model_copy(update={"batch": batch})
            found = known.get(case)
            missing = found is None or any(found.value(b.figure) is None for b in demand.wishes.limits)
            if found and not missing:
                return found
            fresh.append(measure(store, case, demand.wishes.samples, timeout))
            return fresh[-1]

        search(demand, of_batch)
    if fresh and all(record.status is not Status.OK for record in fresh):
        print_note(f"Nothing could be measured: {fresh[0].reason}.")


def _print(made: Configuration, output: Path | None) -> None:
    from modeldyno.advise.told import undecided_sentence
    from modeldyno.cli._tables import new_table

    case = made.case
    print_line(f"{case.label} on {made.device}")
    table = new_table("", ["setting", "value", "evidence"])
    for one in made.settings:
        table.add_row(one.name, "-" if one.value is None else str(one.value), one.evidence)
    print_table(table)
    if output:
        print_line(f"Program: {output}")
    else:
        print_note("Write a program that runs it so with --output serve.py.")
    if made.chosen and not made.chosen.trusted:
        print_note("It was measured under conditions that its passport does not call valid; repeat it in quiet.")
    if made.undecided:
        print_note(f"Left out: {undecided_sentence(made)} --search measures them.")
    if made.demand.by_latency:
        limit = made.demand.wishes.limits[0].name
        under_load = f"dyno run {case.model} --workload serving --on {case.target} --slo {limit}"
        print_note(f"The limit holds for one step after the other; under load: {under_load}")


def _print_nothing(made: Configuration, json: bool) -> None:
    from modeldyno.advise.told import why_no_configuration

    said = why_no_configuration(made)
    if json:
        print_json({"model": made.demand.model, "on": made.demand.platform, "settings": None, "says": said})
    else:
        for sentence in said:
            print_line(sentence)


def _document(made: Configuration) -> dict[str, Any]:
    case, chosen = made.case, made.chosen
    assert chosen is not None
    return {
        "model": case.model,
        "on": case.target,
        "device": made.device,
        "case": case.model_dump(mode="json"),
        "settings": {one.name: {"value": one.value, "evidence": one.evidence} for one in made.settings},
        "limits": [{"name": held.limit.name, "value": held.value, "holds": held.holds} for held in chosen.held],
        "record_id": chosen.record.record_id if chosen.record else None,
        "throughput_per_s": chosen.figure.value,
        "trusted": chosen.trusted,
        "tried": len(made.tried),
    }
