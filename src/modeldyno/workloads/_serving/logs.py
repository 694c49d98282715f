"""What LoadGen writes: the summary with its verdict, and the trace with the times of each query."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

_SAMPLE = '{"name":"Sample","cat":"default","ph":"b"'


@dataclass(frozen=True)
class _Query:
    scheduled_ms: float
    delay_ms: float
    """From then until LoadGen sent it."""
    latency_ms: float


@dataclass(frozen=True)
class Times:
    """Times of the queries of one test, in LoadGen's own clock, in the order they were to be sent."""

    scheduled_ms: list[float]
    """When each was to be sent; without a schedule, when it was sent."""
    latency_ms: list[float]
    """From then until its last sample was answered."""
    lag_ms: list[float]
    """From then until the server received it."""
    answered_ms: list[float]
    """Each sample's answer, from the first query on."""

    @property
    def seconds(self) -> float:
        """From the first query to the last answer."""
        return max(self.answered_ms) / 1e3

    @property
    def offered_per_s(self) -> float:
        """The rate of the schedule as it was drawn."""
        gaps = max(1, len(self.scheduled_ms) - 1)
        return gaps / max(1e-9, (self.scheduled_ms[-1] - self.scheduled_ms[0]) / 1e3)

    @property
    def answered_per_s(self) -> float:
        return len(self.answered_ms) / self.seconds


@dataclass(frozen=True)
class Summary:
    """LoadGen's verdict and its reasons, in its own words."""

    text: str
    valid: bool
    unsatisfied: tuple[str, ...]
    """`performance constraints`, `min duration`, `min queries`, `early stopping`."""
    advice: tuple[str, ...]
    errors: tuple[str, ...]
    """What went wrong in the test, such as too many queries waiting."""


def read_summary(folder: Path) -> Summary:
    text = (folder / "mlperf_log_summary.txt").read_text()
    return Summary(
        text=text,
        valid=re.search(r"^Result is : VALID$", text, re.MULTILINE) is not None,
        unsatisfied=tuple(name.lower() for name in re.findall(r"^  (.+?) satisfied ?: NO$", text, re.MULTILINE)),
        advice=tuple(_recommendations(text.splitlines())),
        errors=tuple(_errors((folder / "mlperf_log_detail.txt").read_text().splitlines())),
    )


def _recommendations(lines: Iterable[str]) -> Iterable[str]:
    """The bullets under `Recommendations:`, each as one line."""
    bullets: list[str] = []
    inside = False
    for line in lines:
        if not line.startswith(" "):
            inside = line.startswith("Recommendations")
        elif inside and line.startswith(" * "):
            bullets.append(line[3:].strip())
        elif inside and bullets:
            bullets[-1] += f" {line.strip()}"
    return bullets


def _errors(lines: Iterable[str]) -> Iterator[str]:
    for line in lines:
        if '"error_runtime"' in line:
            yield str(json.loads(line.partition(" ")[2])["value"])


def read_times(folder: Path, received_s: Sequence[float]) -> Times:
    """From the trace, which has a line for each sample, and from when we received each query, in a clock of our own."""
    with (folder / "mlperf_log_trace.json").open() as lines:
        samples = [json.loads(line.rstrip(",\n")) for line in lines if line.startswith(_SAMPLE)]
    queries: dict[int, _Query] = {}
    for sample in samples:
        took = sample["args"]
        query = _Query(sample["ts"] / 1e3, took["issue_start_ns"] / 1e6, took["complete_ns"] / 1e6)
        queries[took["query_seq"]] = max(query, queries.get(took["query_seq"], query), key=lambda one: one.latency_ms)
    ordered = [queries[number] for number in sorted(queries)]
    begin = ordered[0].scheduled_ms
    return Times(
        scheduled_ms=[query.scheduled_ms - begin for query in ordered],
        latency_ms=[query.latency_ms for query in ordered],
        lag_ms=_lags(ordered, [at * 1e3 for at in received_s]),
        answered_ms=[sample["ts"] / 1e3 + sample["args"]["complete_ns"] / 1e6 - begin for sample in samples],
    )


def _lags(queries: Sequence[_Query], received_ms: Sequence[float]) -> list[float]:
    """The clocks differ by what lies between sending and receiving where that was shortest."""
    sent = [query.scheduled_ms + query.delay_ms for query in queries]
    offset = min(ours - theirs for ours, theirs in zip(received_ms, sent, strict=True))
    return [ours - offset - query.scheduled_ms for ours, query in zip(received_ms, queries, strict=True)]
