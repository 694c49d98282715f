"""One whole generation as a step that times its tokens, and what follows from those times."""

from __future__ import annotations

from statistics import fmean, median
from typing import TYPE_CHECKING, Any

from modeldyno.core.decoding import Decoder, DecodingSource
from modeldyno.core.protocols import Session
from modeldyno.core.types import Check, MetricValue, Samples, Verdict
from modeldyno.measure import statistics

if TYPE_CHECKING:
    import numpy as np

FIRST, BETWEEN, GAPS = "first_token_ms", "inter_token_ms", "token_gap_ms"
"""Of each generation the first token and the mean gap, and every single gap."""
APART = 0.03
"""Parts that are further from the whole than this share of it do not describe it."""
_NS_PER_MS = 1e6


class Generation:
    """Fixed in length: no token ends it. Each token is timed by the session, so what it waits for is in it."""

    def __init__(self, session: Session, decoder: Decoder, new_tokens: int) -> None:
        self._session, self._decoder, self._new_tokens = session, decoder, new_tokens
        self._parts: dict[str, list[float]] = {FIRST: [], BETWEEN: [], GAPS: []}

    def __call__(self) -> None:
        lap, decoder, parts = self._session.lap, self._decoder, self._parts
        parts[FIRST].append(lap(decoder.prefill, 1).host_ns / _NS_PER_MS)
        gaps = [lap(decoder.decode, 1).host_ns / _NS_PER_MS for _ in range(self._new_tokens - 1)]
        if gaps:
            parts[GAPS] += gaps
            parts[BETWEEN].append(fmean(gaps))

    def read(self) -> dict[str, list[float]]:
        given, self._parts = self._parts, {name: [] for name in self._parts}
        return given


def scores_along(decoder: Decoder, path: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Scores of each token when the path is written whatever the scores say: batch x tokens x vocabulary."""
    import numpy as np

    decoder.prefill()
    scores = [decoder.scores()]
    for tokens in path.T[:-1]:
        decoder.force(tokens.tolist())
        decoder.decode()
        scores.append(decoder.scores())
    return np.stack(scores, axis=1)


def rates(source: DecodingSource, samples: Samples, batch: int) -> dict[str, MetricValue]:
    """How fast prompts are read and, apart from that, how fast tokens come."""
    metrics = {"tokens": MetricValue(value=batch * source.new_tokens)}
    prompt = source.prompt()
    if "input_ids" in prompt:  # sound is no token
        metrics["prefill_tokens_per_s"] = _rate(prompt["input_ids"].size, samples.parts[FIRST])
    if gaps := samples.parts[BETWEEN]:
        metrics["decode_tokens_per_s"] = _rate(batch, gaps)
    return metrics


def _rate(tokens: int, times_ms: list[float]) -> MetricValue:
    n, times = len(times_ms), statistics.median_interval(times_ms)
    if n < statistics.FEWEST_FOR_INTERVAL:
        return MetricValue(value=tokens * 1e3 / times.value, n=n, note=f"no interval from {n} samples")
    low, high = tokens * 1e3 / times.high, tokens * 1e3 / times.low
    return MetricValue(value=tokens * 1e3 / times.value, low=low, high=high, n=n)


def parts_add_up(samples: Samples, new_tokens: int) -> Check:
    """The first token and as many mean gaps as there are, against the time of the whole."""
    gap = median(samples.parts[BETWEEN]) if samples.parts[BETWEEN] else 0.0
    told = median(samples.parts[FIRST]) + (new_tokens - 1) * gap
    value = abs(told / median(samples.host_ms) - 1)
    good = value <= APART
    return Check(
        name="parts_add_up",
        value=round(value, 4),
        limit=APART,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else "the generations differ among themselves: measure on a quieter machine",
    )
