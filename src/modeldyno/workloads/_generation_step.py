"""One whole generation as a step that times its tokens, and what follows from those times."""

from __future__ import annotations

from statistics import median
from typing import TYPE_CHECKING, Any

from modeldyno.core.protocols import Decoder, DecodingSource, Session
from modeldyno.core.types import Check, MetricValue, Samples, Verdict
from modeldyno.measure import statistics

if TYPE_CHECKING:
    import numpy as np

FIRST, BETWEEN = "first_token_ms", "inter_token_ms"
APART = 0.03
"""Parts that are further from the whole than this share of it do not describe it."""
_NS_PER_MS = 1e6


class Generation:
    """Fixed in length: no token ends it. Each token is timed by the session, so what it waits for is in it."""

    def __init__(self, session: Session, decoder: Decoder, new_tokens: int) -> None:
        self._session, self._decoder, self._new_tokens = session, decoder, new_tokens
        self._first: list[float] = []
        self._between: list[float] = []

    def __call__(self) -> None:
        lap, decoder = self._session.lap, self._decoder
        self._first.append(lap(decoder.prefill, 1).host_ns / _NS_PER_MS)
        for _ in range(self._new_tokens - 1):
            self._between.append(lap(decoder.decode, 1).host_ns / _NS_PER_MS)

    def read(self) -> dict[str, list[float]]:
        given = {FIRST: self._first, BETWEEN: self._between}
        self._first, self._between = [], []
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
    if decoding := _decoding_ms(samples, source.new_tokens - 1):
        metrics["decode_tokens_per_s"] = _rate(batch * (source.new_tokens - 1), decoding)
    return metrics


def _decoding_ms(samples: Samples, gaps: int) -> list[float]:
    """Time after the first token, of each generation."""
    between = samples.parts[BETWEEN]
    return [sum(between[begin : begin + gaps]) for begin in range(0, len(between), gaps)] if gaps else []


def _rate(tokens: int, times_ms: list[float]) -> MetricValue:
    n, times = len(times_ms), statistics.median_interval(times_ms)
    if n < statistics.FEWEST_FOR_INTERVAL:
        return MetricValue(value=tokens * 1e3 / times.value, n=n, note=f"no interval from {n} samples")
    low, high = tokens * 1e3 / times.high, tokens * 1e3 / times.low
    return MetricValue(value=tokens * 1e3 / times.value, low=low, high=high, n=n)


def parts_add_up(samples: Samples, new_tokens: int) -> Check:
    """The first token and as many typical gaps as there are, against the time of the whole."""
    gap = median(samples.parts[BETWEEN]) if samples.parts[BETWEEN] else 0.0
    told = median(samples.parts[FIRST]) + (new_tokens - 1) * gap
    value = abs(told / median(samples.host_ms) - 1)
    good = value <= APART
    return Check(
        name="parts_add_up",
        value=round(value, 4),
        limit=APART,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else "the times of tokens are skewed: look at inter_token_p99_ms beside the median",
    )
