"""Ratios to a baseline on a logarithmic axis, with their intervals and the line where nothing changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from modeldyno.reports.cells import metric_name
from modeldyno.reports.charts.layout import unlike
from modeldyno.reports.charts.style import WIDTH, data, finished, platform_colours
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

MOST = 40
_ROW = 18


@dataclass(frozen=True)
class Held:
    """One comparison."""

    name: str
    platform: str
    verdict: str
    ratio: float
    low: float | None = None
    high: float | None = None


def ratios(name: str, title: str, metric: str, held: Sequence[Held]) -> Chart:
    """Of many the first, each on a line of its own."""
    import altair as alt

    names = unlike(one.name for one in held[:MOST])
    shown = [replace(one, name=name) for one, name in zip(held, names, strict=False)]
    scale = alt.Scale(type="log", nice=False, padding=12)
    x = alt.X("ratio:Q", title=f"ratio of {metric_name(metric)} to the baseline (1: no difference)", scale=scale)
    tooltip = [alt.Tooltip("name:N"), alt.Tooltip("ratio:Q", format=".4~g"), alt.Tooltip("verdict:N")]
    base = alt.Chart(data(map(_value, shown))).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(grid=True)),
        color=alt.Color("platform:N", scale=platform_colours(one.platform for one in shown), title="platform"),
        tooltip=tooltip,
    )
    one = alt.Chart(data([{"ratio": 1}])).mark_rule(strokeDash=[4, 3], color="black").encode(x=alt.X("ratio:Q"))
    chart = alt.layer(
        one,
        base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", scale=scale), x2="high:Q"),
        base.mark_point(filled=True, size=55).encode(x=x, shape=alt.Shape("verdict:N", title="verdict")),
    ).properties(width=WIDTH, height=alt.Step(_ROW))
    note = "Points with 95 % intervals." + (f" The first {MOST} of {len(held)}." if len(held) > MOST else "")
    alt_text = f"{counted(len(shown), 'ratio')} of {metric_name(metric)} to a baseline, from {_range(shown)}"
    return finished(chart, name, title, alt_text, note)


def _value(one: Held) -> dict[str, Any]:
    low, high = (one.ratio if bound is None or bound <= 0 else bound for bound in (one.low, one.high))
    return asdict(one) | {"low": low, "high": high}


def _range(shown: Sequence[Held]) -> str:
    values = [one.ratio for one in shown]
    return f"{min(values):.3g} to {max(values):.3g}"
