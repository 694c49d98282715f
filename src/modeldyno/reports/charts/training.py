"""A training step beside an inference step of the same case: two points and the way between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from modeldyno.core.metrics import significant
from modeldyno.reports.cells import metric_title
from modeldyno.reports.charts.layout import (
    TWO_LINES,
    axis,
    legend,
    platform_colour,
    two_line_axis,
    two_lines,
    wants_log,
)
from modeldyno.reports.charts.style import WIDTH, data, finished
from modeldyno.reports.document import Chart
from modeldyno.reports.plural import counted

if TYPE_CHECKING:
    import altair

_METRIC = "latency_ms"


@dataclass(frozen=True)
class Pair:
    """One case, measured both ways."""

    model: str
    name: str
    """Which platform, runtime and sizes."""
    platform: str
    inference: float
    training: float


def training_chart(name: str, title: str, rows: Sequence[Pair], note: str) -> Chart:
    """One line for each case, in the order given."""
    times = [row.training / row.inference for row in rows]
    told = (
        f"Latency of an inference and of a training step of {counted(len(rows), 'case')}; training takes "
        f"{significant(min(times), 3)} to {significant(max(times), 3)} times as long."
    )
    return finished(_chart(rows), name, title, told, note)


def _chart(rows: Sequence[Pair]) -> altair.TopLevelMixin:
    import altair as alt

    labels = two_lines([row.model for row in rows], [row.name for row in rows])
    log = wants_log([[value for row in rows for value in (row.inference, row.training)]])
    scale = alt.Scale(type="log", nice=False, padding=12) if log else alt.Scale(zero=True)
    base = alt.Chart(data(asdict(row) | {"label": label} for row, label in zip(rows, labels, strict=True))).encode(
        y=alt.Y("label:N", title=None, sort=None, axis=two_line_axis()),
        color=platform_colour(row.platform for row in rows),
    )
    x = alt.X("inference:Q", title=metric_title(_METRIC), scale=scale, axis=axis())
    said = [
        alt.Tooltip("model:N"),
        alt.Tooltip("name:N", title="on"),
        alt.Tooltip("inference:Q", title="inference (ms)", format=".4~g"),
        alt.Tooltip("training:Q", title="training (ms)", format=".4~g"),
    ]
    points = base.transform_fold(["inference", "training"], as_=["step", "value"]).mark_point(
        filled=True, size=70, opacity=1
    )
    return alt.layer(
        base.mark_rule(strokeWidth=2, strokeOpacity=0.6).encode(x=x, x2="training:Q"),
        points.encode(x="value:Q", shape=alt.Shape("step:N", legend=legend("step")), tooltip=said),
    ).properties(width=WIDTH, height=alt.Step(TWO_LINES))
