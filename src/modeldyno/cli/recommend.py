"""`dyno recommend`: which hardware should run a model, and how."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import has_room, print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.advise.candidates import Candidate, Way
    from modeldyno.advise.recommend import Advice
    from modeldyno.advise.selection_map import Square
    from modeldyno.advise.wishes import Wishes
    from modeldyno.store.store import Store


def recommend(
    model: Annotated[str | None, typer.Argument(help="Catalogue name, Hugging Face id, folder or file.")] = None,
    goal: Annotated[str, typer.Option(help="latency, throughput, memory, cost or energy.")] = "latency",
    slo: Annotated[str | None, typer.Option(help="A limit on the step time: p95=20ms.")] = None,
    max_memory: Annotated[str | None, typer.Option(help="A limit on the peak memory: 8GB.")] = None,
    budget_per_hour: Annotated[float | None, typer.Option(help="A limit on the price, in USD.")] = None,
    workload: Annotated[str, typer.Option(help="inference or training.")] = "inference",
    shape: Annotated[list[str] | None, typer.Option(help="Sizes beyond the batch: --shape seq=128.")] = None,
    prices: Annotated[Path | None, typer.Option(help="A price table in place of the shipped one.")] = None,
    available: Annotated[bool, typer.Option("--available", help="Only devices that are here.")] = False,
    measured: Annotated[bool, typer.Option("--measured", help="Without predictions.")] = False,
    whole: Annotated[bool, typer.Option("--map", help="The platform for each family and size of models.")] = False,
    limit: Annotated[int, typer.Option(min=1, help="Show so many candidates.")] = 12,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Rank platforms, devices, runtimes, precisions and batch sizes for a model; with evidence and the risk."""
    from modeldyno.advise.ask import answer
    from modeldyno.advise.documents import recommendation
    from modeldyno.advise.prices import read_prices
    from modeldyno.advise.recommend import Question
    from modeldyno.advise.wishes import read_wishes
    from modeldyno.cli._cases import one_shape

    wishes, table = read_wishes(goal, slo, max_memory, budget_per_hour), read_prices(prices)
    opened = open_store(store)
    if whole:
        _check_unnamed(model)
        _show_map(opened, wishes, workload, not measured, json)
        return
    question = Question(_named(model), wishes, workload, one_shape(None, shape), available)
    advice = answer(opened, question, table, predict=not measured, say=print_note)
    if json:
        print_json(recommendation(advice))
    else:
        _print(advice, limit)
    if advice.choice is None:
        raise typer.Exit(1)


def _show_map(store: Store, wishes: Wishes, workload: str, predict: bool, json: bool) -> None:
    from modeldyno.advise.selection_map import selection_map

    squares = selection_map(store, wishes, workload, predict)
    if json:
        documents = [
            {"family": one.kind, "size": one.size, "models": one.models, "use": one.platform, "evidence": one.evidence}
            | {"wins": dict(one.wins), "how_sure": one.sureness}
            for one in squares
        ]
        print_json({"goal": wishes.goal.value, "workload": workload, "map": documents})
        return
    print_table(_map_table(squares, wishes))
    if not any(one.wins for one in squares):
        print_line("Not enough data: no result is of a model of known family and size. Run: dyno run MODEL --quick")


def _map_table(squares: Sequence[Square], wishes: Wishes) -> Table:
    from modeldyno.cli._tables import new_table

    columns = ["family", "size", "catalogue", "use", "evidence", "best for", "how sure"]
    table = new_table(f"The platform for each family and size, by {wishes.goal.value}", columns)
    for one in squares:
        wins = ", ".join(f"{platform} {count}" for platform, count in one.wins)
        use = one.platform or ("undecided" if one.wins else "not enough data")
        table.add_row(one.kind, one.size, str(one.models), use, one.evidence, wins or "-", one.sureness or "-")
    return table


def _check_unnamed(model: str | None) -> None:
    from modeldyno.core.errors import InputError

    if model is not None:
        raise InputError(f"--map is about all models, not about {model}; leave out one of the two.")


def _named(model: str | None) -> str:
    from modeldyno.core.errors import InputError

    if model is None:
        raise InputError("Name a model, or give --map for the whole catalogue; dyno models lists the models.")
    return model


def _print(advice: Advice, limit: int) -> None:
    from modeldyno.advise.told import price_notes, sentences, untried_notes

    print_line(_title(advice))
    shown = [one for one in advice.candidates if not one.is_untried]
    if shown:
        print_table(_table(advice, shown[:limit]))
    for sentence in sentences(advice):
        print_line(sentence)
    more = [f"{len(shown) - limit} more candidates; see them with --limit {len(shown)}."] if len(shown) > limit else []
    for note in (*more, *untried_notes(advice), *advice.notes, *price_notes(advice)):
        print_note(note)


def _title(advice: Advice) -> str:
    question = advice.question
    axes = [f"{axis} {size}" for axis, size in advice.work.shape.items()]
    limits = [limit.name for limit in question.wishes.limits]
    return f"{question.model}: {', '.join([question.workload, *axes, f'by {question.wishes.goal.value}', *limits])}"


def _table(advice: Advice, shown: Sequence[Candidate]) -> Table:
    from modeldyno.advise.told import figure_text, percent
    from modeldyno.cli._tables import new_table

    wishes = advice.question.wishes
    limits, prices = [limit.name for limit in wishes.limits], ["USD/h"] if wishes.needs_prices else []
    headings = [*_way_headings(), wishes.goal.value, "evidence", "really better", *limits, *prices, "here", "rests on"]
    table = new_table("", headings)
    for one in shown:
        chance = advice.chances.get(one.way)
        better = "use this" if one is advice.choice else "-" if chance is None else percent(chance)
        amount = ["-" if one.price.amount is None else f"{one.price.amount:.3g}"] if prices else []
        here = "yes" if one.way.place in advice.here else "no"
        cells = [figure_text(wishes.goal, one.figure), _evidence(one), better, *_held(one), *amount, here]
        table.add_row(*_way_cells(one.way), *cells, one.rests_on)
    return table


def _way_headings() -> list[str]:
    """A column for each part where there is room; on a narrow terminal one that folds."""
    return ["on", "device", "runtime", "precision", "batch"] if has_room() else ["way"]


def _way_cells(way: Way) -> list[str]:
    if not has_room():
        return [f"{way.label}, {way.device}"]
    return [way.platform, way.device, f"{way.runtime} {way.settings}".strip(), way.precision, str(way.batch)]


def _evidence(one: Candidate) -> str:
    return one.evidence.value if one.trusted else f"{one.evidence.value}, doubtful"


def _held(one: Candidate) -> list[str]:
    said = {True: "yes", False: "no"}
    return ["not known" if held.holds is None else f"{said[held.holds]}: {held.text}" for held in one.held]
