"""Log-mel spectra are those of the models' own feature extractors."""

from __future__ import annotations

import numpy as np
import pytest

from modeldyno.datasets import Draw, Spectrum, find

transformers = pytest.importorskip("transformers")


@pytest.mark.parametrize("bins", [80, 128])
def test_whisper(bins: int) -> None:
    waves = find("tones").sounds(Draw(0, 0), 2, 16_000, 3, 12, 16_000).waves
    extractor = transformers.WhisperFeatureExtractor(feature_size=bins, chunk_length=1)
    wanted = extractor(list(waves), sampling_rate=16_000, return_tensors="np").input_features
    assert np.allclose(Spectrum(bins=bins).whisper(waves), wanted, atol=1e-3)


def test_clap() -> None:
    waves = find("tones").sounds(Draw(0, 0), 1, 48_000, 3, 12, 48_000).waves
    extractor = transformers.ClapFeatureExtractor(
        truncation="rand_trunc", padding="pad", max_length_s=1, frequency_min=50
    )
    wanted = extractor(waves[0], sampling_rate=48_000, return_tensors="np").input_features[0, 0]
    spectrum = Spectrum(rate=48_000, window=1024, hop=480, bins=64, lowest_hz=50, highest_hz=14_000)
    assert np.allclose(spectrum.decibels(waves)[0], wanted, atol=0.1)
