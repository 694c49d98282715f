"""Made-up documents for tests of formats; no number in them was measured."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from modeldyno.reports.document import (
    Cell,
    Chart,
    Code,
    Column,
    Document,
    Finding,
    Note,
    Paragraph,
    Row,
    Scope,
    Section,
    Table,
    Tone,
)

MADE_AT = datetime(2026, 3, 2, 9, 30, tzinfo=UTC)
HOSTILE = (
    '#import "x"',
    "$math$ $`x`$",
    "*bold* _em_ __strong__ ~~gone~~",
    "@mention @ref <label>",
    "<script>alert(1)</script>",
    "= heading",
    "# heading #",
    "\\u{1F680} \\n \\",
    "[x](javascript:alert(1)) ![y](z)",
    "https://evil.test www.evil.test a@evil.test",
    "#1 GH-2 owner/name#3 deadbee1",
    ":rocket: 12:30:45",
    "a|b `c` ``d`` \\| `e|@f`",
    "1. one",
    "2) two",
    "- item",
    "---",
    "> quoted",
    "&amp; &#35; &copy",
    "🚀 עברית العربية 日本語",
    "\u202eevil\u202c\u200b\x00\x1b[31m",
    "first line\n\nsecond line",
    "N" * 200,
    "ש" * 200,
    "org/" + "very-long_name." * 12,
)


def a_table(*rows: Row, **changes: Any) -> Table:
    columns = (Column(name="model", key="model"), Column(name="latency", key="latency_ms", numeric=True))
    told = {"name": "speed", "caption": "How fast", "columns": columns, "rows": rows}
    return Table(**(told | changes))


def a_row(model: str = "alpha", latency: float = 12.4, mark: str | None = None) -> Row:
    number = Cell(text=f"{latency} ms ± 0.2", value=latency, low=latency - 0.2, high=latency + 0.2)
    return Row(cells=(Cell(text=model), number), mark=mark)


def a_chart(name: str = "bars", models: tuple[str, ...] = ("alpha", "beta"), **changes: Any) -> Chart:
    spec = {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": [{"model": model, "value": len(model) % 7 + 1} for model in models]},
        "mark": "bar",
        "encoding": {
            "y": {"field": "model", "type": "nominal"},
            "x": {"field": "value", "type": "quantitative", "title": "latency (ms)"},
        },
        "width": 640,
        "config": {"font": "Helvetica, Arial, sans-serif"},
    }
    told = {"name": name, "title": "Latency by model", "alt": "Bars of latency", "spec": spec, "note": "Newest only."}
    return Chart(**(told | changes))


def a_document(*sections: Section, **changes: Any) -> Document:
    told = {
        "report": "performance",
        "title": "Performance",
        "made_at": MADE_AT,
        "version": "0.1.0",
        "scope": Scope(
            records=3,
            since=datetime(2026, 3, 1, tzinfo=UTC),
            until=MADE_AT,
            provenance={"measured": 2, "simulated": 1},
            chosen={"on": "cpu,cuda"},
        ),
        "findings": (
            Finding(text="alpha is 2.0 times as fast on cuda.", tone=Tone.GOOD),
            Finding(text="beta cannot be told apart.", tone=Tone.DOUBT),
        ),
        "sections": sections or (a_section(),),
        "reproduce": ("dyno report performance --format md --output report", "dyno run suite.yaml"),
    }
    return Document(**(told | changes))


def a_section(title: str = "Latency", **changes: Any) -> Section:
    blocks = (
        Paragraph(text="Less is better."),
        a_chart(),
        a_table(a_row(), a_row("beta", 7.5, "simulated"), a_row("not shown"), shown=2),
        Note(text="One row was left out.", tone=Tone.DOUBT),
        Code(lines=("dyno show latest", "dyno compare --by platform")),
    )
    return Section(**({"name": "latency", "title": title, "blocks": blocks} | changes))


def hostile_document() -> Document:
    """Text that would like to be more than text, wherever text can stand."""
    return a_document(*(_hostile_section(number, text) for number, text in enumerate(HOSTILE)), **_hostile_frame())


def _hostile_frame() -> dict[str, Any]:
    return {
        "title": " ".join(HOSTILE[:3]),
        "intro": "\n\n".join(HOSTILE),
        "findings": tuple(Finding(text=text, tone=tone) for text, tone in zip(HOSTILE, 7 * tuple(Tone), strict=False)),
        "reproduce": HOSTILE,
        "scope": Scope(
            records=1, since=MADE_AT, until=MADE_AT, provenance={"measured": 1}, chosen={"model": HOSTILE[0]}
        ),
    }


def _hostile_section(number: int, text: str) -> Section:
    blocks = (
        Paragraph(text=text),
        Note(text=text, tone=Tone.BAD),
        Code(lines=(text, "````")),
        a_table(a_row(text, mark="simulated"), name=f"table {number}", caption=text),
        a_chart(f"chart/{number}", (text,), title=text, alt=text, note=text),
    )
    return Section(name=f"section-{number}", title=text, blocks=blocks)
