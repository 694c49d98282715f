"""Bars of the matrix rate of each device, by precision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modeldyno.core.metrics import significant
from modeldyno.reports.charts.style import WIDTH, data, finished, platform_colours
from modeldyno.reports.document import Chart

MOST_DEVICES = 16
_ROW = 20


@dataclass(frozen=True)
class Rate:
    """One bar."""

    device: str
    precision: str
    platform: str
    gflops: float


def peak_bars(rates: Sequence[Rate]) -> Chart:
    """Lengths begin at zero; the number stands behind each bar, for small ones among large."""
    import altair as alt

    best: dict[str, float] = {}
    for rate in rates:
        best[rate.device] = max(best.get(rate.device, 0.0), rate.gflops)
    devices = sorted(best, key=lambda device: (-best[device], device))
    shown = devices[:MOST_DEVICES]
    rows = [_row(rate) for rate in rates if rate.device in shown]
    base = alt.Chart(data(rows)).encode(
        y=alt.Y("device:N", title=None, sort=shown),
        yOffset=alt.YOffset("precision:N"),
        tooltip=["device:N", "precision:N", alt.Tooltip("value:Q", title="TFLOP/s", format=".4~g")],
    )
    scale = alt.Scale(domain=[0, best[shown[0]] / 1000 * 1.25], nice=False)
    x = alt.X("value:Q", title="matrix rate (TFLOP/s)", scale=scale, stack=None)  # two bars are never a sum
    colour = alt.Color("platform:N", scale=platform_colours(rate.platform for rate in rates), title="platform")
    chart = alt.layer(
        base.mark_bar().encode(x=x, color=colour.legend(orient="top")),
        base.mark_text(align="left", dx=4, fontSize=10).encode(x=x, text="label:N"),
    ).properties(width=WIDTH, height={"step": _ROW, "for": "offset"})
    told = "; ".join(f"{row['device']} {row['label']}" for row in rows)
    note = "Products of square matrices, the best over the sizes measured."
    if len(shown) < len(devices):
        note += f" The {len(shown)} fastest of {len(devices)} devices."
    return finished(chart, "peaks", "Matrix rate by device and precision", told, note)


def _row(rate: Rate) -> dict[str, str | float]:
    value = rate.gflops / 1000
    label = f"{rate.precision} {significant(value, 3)} TFLOP/s"
    return {
        "device": rate.device,
        "precision": rate.precision,
        "platform": rate.platform,
        "value": value,
        "label": label,
    }
