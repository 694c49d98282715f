"""Log-mel spectra of waves, as the feature extractors of speech models compute them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from modeldyno.datasets._dataset import SPEECH_RATE

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

# Slaney's mel scale: linear up to 1 kHz, logarithmic above.
_LINEAR_HZ, _LINEAR_MEL = 1000.0, 15.0
_HZ_PER_MEL = 200 / 3
_LOG_STEP = math.log(6.4) / 27


@dataclass(frozen=True)
class Spectrum:
    """How waves become spectra. The defaults are Whisper's."""

    rate: int = SPEECH_RATE
    window: int = 400
    hop: int = 160
    bins: int = 80
    lowest_hz: float = 0.0
    highest_hz: float = 8000.0

    def power(self, waves: Array) -> Array:
        """Count x frames x bins: the power in each band, frames centred, the ends mirrored."""
        import numpy as np

        half = self.window // 2
        padded = np.pad(waves, ((0, 0), (half, half)), mode="reflect")
        frames = np.lib.stride_tricks.sliding_window_view(padded, self.window, axis=1)[:, :: self.hop]
        hann = np.hanning(self.window + 1)[:-1].astype(np.float32)
        return np.stack([abs(np.fft.rfft(one * hann)) ** 2 @ _filters(self) for one in frames])

    def whisper(self, waves: Array) -> Array:
        """Count x bins x frames, as Whisper wants it: eight decades below the loudest, brought to about -1 to 1."""
        import numpy as np

        logs = np.log10(np.maximum(self.power(waves)[:, :-1], 1e-10))
        logs = np.maximum(logs, logs.max(axis=(1, 2), keepdims=True) - 8)
        scaled: Array = ((logs + 4) / 4).transpose(0, 2, 1).astype(np.float32)
        return scaled

    def decibels(self, waves: Array) -> Array:
        """Count x frames x bins in dB."""
        import numpy as np

        return (10 * np.log10(np.maximum(self.power(waves), 1e-10))).astype(np.float32)


@lru_cache(maxsize=8)
def _filters(spectrum: Spectrum) -> Array:
    """Frequencies x bins: overlapping triangles of equal area, evenly spaced in mel."""
    import numpy as np

    frequencies = np.linspace(0, spectrum.rate / 2, spectrum.window // 2 + 1)
    ends = _mel(np.array([spectrum.lowest_hz, spectrum.highest_hz]))
    corners = _hertz(np.linspace(ends[0], ends[1], spectrum.bins + 2))
    widths = np.diff(corners)
    slopes = corners[None, :] - frequencies[:, None]
    rising, falling = -slopes[:, :-2] / widths[:-1], slopes[:, 2:] / widths[1:]
    return np.maximum(0, np.minimum(rising, falling)) * (2 / (corners[2:] - corners[:-2]))


def _mel(hertz: Array) -> Array:
    import numpy as np

    above = _LINEAR_MEL + np.log(np.maximum(hertz, 1e-10) / _LINEAR_HZ) / _LOG_STEP
    return np.where(hertz < _LINEAR_HZ, hertz / _HZ_PER_MEL, above)


def _hertz(mel: Array) -> Array:
    import numpy as np

    above = _LINEAR_HZ * np.exp(_LOG_STEP * (mel - _LINEAR_MEL))
    return np.where(mel < _LINEAR_MEL, mel * _HZ_PER_MEL, above)
