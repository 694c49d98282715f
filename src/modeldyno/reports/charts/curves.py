"""Lines over the batch size: a panel for each model, a colour for each platform; a ring marks the knee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.reports.cells import metric_name, metric_title
from modeldyno.reports.charts.layout import axis, evenly, legend, panels, platform_colour, titled, wants_log
from modeldyno.reports.charts.style import finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

_MOST_TICKS = 8


@dataclass(frozen=True)
class Size:
    """One size of one curve."""

    panel: str
    curve: str
    """Which points belong together, within the panel."""
    platform: str
    runtime: str
    precision: str
    size: int
    value: float
    knee: bool
    """Whether doubling pays up to here."""
    made_up: bool
    """Whether no hardware gave it, or an emulator did."""


def curve_chart(name: str, title: str, metric: str, rows: Sequence[Size], note: str) -> Chart:
    """One metric over the batch size."""
    values = [asdict(row) for row in rows]
    return finished(
        panels(_layers(metric, rows), values),
        name,
        titled(title, (row.panel for row in rows)),
        _alt(metric, rows),
        note,
    )


def _alt(metric: str, rows: Sequence[Size]) -> str:
    models = len({row.panel for row in rows})
    curves = len({(row.panel, row.curve) for row in rows})
    sizes = [row.size for row in rows]
    platforms = ", ".join(sorted({row.platform for row in rows}))
    return (
        f"{metric_name(metric).capitalize()} over batch sizes {min(sizes)} to {max(sizes)}: "
        f"{counted(curves, 'line')} in {counted(models, 'panel')}, on {platforms}."
    )


def _layers(metric: str, rows: Sequence[Size]) -> list[altair.Chart]:
    import altair as alt

    base = alt.Chart().encode(
        x=_x(rows), y=_y(metric, rows), color=platform_colour(row.platform for row in rows), detail="curve:N"
    )
    faint = alt.condition("datum.made_up", alt.value(0.5), alt.value(1.0))
    dash = alt.StrokeDash("runtime:N", legend=legend("runtime"))
    shape = alt.Shape("precision:N", legend=legend("precision"))
    return [
        base.mark_line(strokeWidth=1.5).encode(strokeDash=dash, opacity=faint),
        base.mark_point(filled=True, size=45).encode(shape=shape, opacity=faint, tooltip=_tooltip(metric)),
        base.mark_point(size=190, strokeWidth=1.5, shape="circle").transform_filter("datum.knee"),
    ]


def _x(rows: Sequence[Size]) -> altair.X:
    import altair as alt

    sizes = evenly(sorted({row.size for row in rows}), _MOST_TICKS)
    ticks = alt.Axis(values=sizes, format="~s" if sizes[-1] >= 100_000 else "d", gridOpacity=0.5)
    return alt.X("size:Q", title="batch size (items)", scale=alt.Scale(type="log", base=2, nice=False), axis=ticks)


def _y(metric: str, rows: Sequence[Size]) -> altair.Y:
    import altair as alt

    found: dict[str, list[float]] = {}
    for row in rows:
        found.setdefault(row.panel, []).append(row.value)
    scale = alt.Scale(type="log", nice=False, padding=12) if wants_log(found.values()) else alt.Scale(zero=True)
    return alt.Y("value:Q", title=metric_title(metric), scale=scale, axis=axis())


def _tooltip(metric: str) -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("panel:N", title="model"),
        alt.Tooltip("platform:N"),
        alt.Tooltip("runtime:N"),
        alt.Tooltip("precision:N"),
        alt.Tooltip("size:Q", title="batch"),
        alt.Tooltip("value:Q", title=metric_title(metric), format=".4~g"),
    ]
