"""What a history says, in words that commands and reports share."""

from __future__ import annotations

from modeldyno.analysis.history import History, Step
from modeldyno.analysis.hosts import Suspect
from modeldyno.analysis.verdict import Change, word
from modeldyno.core.metrics import significant
from modeldyno.measure.statistics import Interval
from modeldyno.store.points import Point

COMMIT = 10
"""Characters of a commit that people read."""


def made_up(one: History) -> str | None:
    """The word for a series whose numbers no hardware gave, at least in part, or an emulator did."""
    others = sorted({point.provenance.value for point in one.points if not point.provenance.is_real})
    return ", ".join(others) or ("emulated" if one.series.emulated else None)


def commit_of(point: Point) -> str:
    return (point.commit or "-")[:COMMIT]


def ratio_text(ratio: Interval | None) -> str:
    return "-" if ratio is None else f"{ratio.value:.3f} [{ratio.low:.3f}, {ratio.high:.3f}]"


def change_text(step: Step, name: str) -> str:
    """`12 % slower`: the share by which the metric itself changed; only the word where no ratio is known."""
    told = word(step.change, name)
    if step.ratio is None or step.change is Change.SAME:
        return told
    share = f"{significant(abs(step.ratio.value - 1) * 100, 2)} %"
    if told in ("slower", "faster"):
        return f"{share} {told}"
    return f"{share} {'more' if step.ratio.value > 1 else 'less'}, {told}"


def suspicion_text(step: Step, names: dict[str, str]) -> str:
    """Whether host or commit is behind it; `names` are those of hosts by id."""
    if step.suspicion is None:
        return ""
    hosts = ", ".join(names.get(host, host) for host in step.suspicion.hosts)
    return {
        Suspect.COMMIT: f"the commit is the suspect: {hosts} all changed",
        Suspect.HOST: f"the host is the suspect: only {hosts} changed",
        Suspect.NOT_COMMIT: "no commit is new, so it is not the commit",
        Suspect.UNKNOWN: "the other hosts do not tell whether host or commit is behind it",
    }[step.suspicion.what]


def host_names(one: History) -> dict[str, str]:
    """By id; the id is told too, for names repeat."""
    return {
        host.host_id: f"{host.hostname} ({host.host_id})" if host.hostname else host.host_id
        for host in (point.host for point in one.points)
    }
