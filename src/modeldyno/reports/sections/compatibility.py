"""Which model works on which platform, why not where it does not, and what to use instead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.analysis.advice import Problem, problems
from modeldyno.analysis.compatibility import Cell as Place
from modeldyno.analysis.compatibility import Matrix
from modeldyno.core.types import Status
from modeldyno.reports.cells import status_tone, table, text_column, words
from modeldyno.reports.charts.heat_map import Axes, Square, Words, category_map
from modeldyno.reports.charts.style import GREY
from modeldyno.reports.document import Block, Cell, Chart, Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

MOST_MODELS = 50
COLOURS = {"ok": "#2E7D4F", "invalid": "#B07C00", "failed": "#C0392B", "skipped": GREY}
"""Unlike each other, so that invalid is not red as well; the text of a cell says which it is."""
UNTRIED = "-"
_COLUMNS = tuple(map(text_column, ("model", "platform", "how", "status", "reason and remedy", "instead")))


def compatibility(material: Material, _: Part) -> Section | None:
    """The matrix, and a table of what does not work or only partly."""
    made = material.compatibility
    if not made.cells:
        return None
    found = problems(made)
    blocks: tuple[Block, ...] = (_chart(made), *_made_up(material), *([_table(found)] if found else []))
    return Section(name="compatibility", title="What works where", blocks=blocks, findings=_findings(made))


def _made_up(material: Material) -> tuple[Note, ...]:
    """A matrix holds no provenance, so it is said once where some may not be real."""
    others = [provenance.value for provenance in material.chosen.provenance if not provenance.is_real]
    if not others:
        return ()
    real = any(provenance.is_real for provenance in material.chosen.provenance)
    text = f"{'Some of these outcomes may be' if real else 'All of these outcomes are'} {' or '.join(others)}."
    return (Note(text=text, tone=Tone.DOUBT),)


def _chart(made: Matrix) -> Chart:
    shown = _shown(made)
    cells = [cell for cell in made.cells if cell.model in shown]
    counts = Counter(cell.status.value for cell in made.cells)
    told = ", ".join(f"{counts[name]} {name}" for name in COLOURS if counts[name])
    alt = f"Status of {counted(len(made.models), 'model')} on {', '.join(made.platforms)}: {told}"
    chart_words = Words("compatibility", "Compatibility of models and platforms", alt, _note(made, cells, len(shown)))
    axes = Axes(shown, made.platforms, "model", "platform", UNTRIED)
    return category_map(chart_words, axes, "status", [_square(cell) for cell in cells], COLOURS)


def _shown(made: Matrix) -> tuple[str, ...]:
    """All models, or those that have most trouble."""
    if len(made.models) <= MOST_MODELS:
        return made.models
    trouble = Counter(cell.model for cell in made.cells if cell.status is not Status.OK)
    return tuple(sorted(sorted(made.models, key=lambda model: (-trouble[model], model))[:MOST_MODELS]))


def _square(cell: Place) -> Square:
    text = f"{cell.status.value}*" if _partly(cell) else cell.status.value
    detail = " ".join((cell.best.decisive.reason or "").split()) or f"{counted(len(cell.ways), 'way')} tried"
    return Square(cell.model, cell.platform, text, cell.status.value, detail)


def _partly(cell: Place) -> bool:
    bad = (way.partly or way.decisive.status is not Status.OK for way in cell.ways)
    return cell.status is Status.OK and any(bad)


def _note(made: Matrix, cells: Sequence[Place], shown: int) -> str:
    said = ["The newest outcome of each case; ok if any runtime and precision is."]
    if any(map(_partly, cells)):
        said.append("* Some runtime, precision or size does not work, see below.")
    if len(made.cells) < len(made.models) * len(made.platforms):
        said.append(f"{UNTRIED} Never tried.")
    if shown < len(made.models):
        said.append(f"The {shown} of {len(made.models)} models for which least works.")
    return " ".join(said)


def _table(found: Sequence[Problem]) -> Table:
    ordered = sorted(found, key=lambda one: (_badness(one), one.model, one.platform))
    rows = [Row(cells=_cells(one)) for one in ordered]
    return table("problems", "What does not work, or only partly, and what to use instead", _COLUMNS, rows)


def _badness(one: Problem) -> int:
    order = ("failed", "invalid", "partly failed", "partly invalid", "skipped", "partly skipped")
    return order.index(one.status) if one.status in order else len(order)


def _cells(one: Problem) -> tuple[Cell, ...]:
    tone = status_tone(Status(one.status.removeprefix("partly ")))
    how = ", ".join(one.ways) or "-"
    return (
        words(one.model),
        words(one.platform),
        words(how),
        words(one.status, tone),
        words(one.why),
        words(one.instead),
    )


def _findings(made: Matrix) -> tuple[Finding, ...]:
    """How much works, and the platform with most trouble among those that were there."""
    met = [cell for cell in made.cells if cell.status is not Status.SKIPPED]
    good = sum(cell.status is Status.OK for cell in met)
    skipped = len(made.cells) - len(met)
    left = f"; {skipped} more were skipped" if skipped else ""
    if not met:
        text = "Nothing ran: every pair of model and platform was skipped, see the reasons."
        return (Finding(text=text, tone=Tone.BAD),)
    tone = Tone.GOOD if good == len(met) else Tone.BAD if good == 0 else Tone.DOUBT
    first = Finding(text=f"{good} of {len(met)} tried pairs of model and platform {_work(good)}{left}.", tone=tone)
    bad = Counter(cell.platform for cell in met if cell.status is not Status.OK)
    if not bad or len(made.platforms) == 1:
        return (first,)
    platform, count = min(bad.items(), key=lambda item: (-item[1], item[0]))
    tried = sum(cell.platform == platform for cell in met)
    text = f"Most trouble is on {platform}: {count} of {counted(tried, 'model')} failed or gave invalid results there."
    return first, Finding(text=text, tone=Tone.BAD)


def _work(count: int) -> str:
    return "works" if count == 1 else "work"


MEMBER = compatibility
