"""Data sets: the same from the same seed, parts that share nothing, and something in them to learn."""

from __future__ import annotations

import math
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modeldyno.core.errors import UnknownName, Unsupported
from modeldyno.datasets import DATASETS, Draw, find

SIZE = (32, 40)
MAKERS = {
    "text": lambda data, draw: [data.text(draw, 4, 24, 200)],
    "images": lambda data, draw: [*vars(data.images(draw, 4, SIZE, 10)).values(), data.scenes(draw, 4, SIZE, 10).boxes],
    "tones": lambda data, draw: [*vars(data.sounds(draw, 4, 4000, 3, 12, 16_000)).values()],
    "pairs": lambda data, draw: [
        *vars(data.pictures(draw, 4, SIZE)).values(),
        data.videos(draw, 4, 3, SIZE).values,
        data.sounds_told(draw, 4, 4000, 16_000).values,
    ],
}


def test_every_data_set_is_tried_here() -> None:
    assert set(MAKERS) == set(DATASETS.names())


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_a_batch_depends_on_seed_number_and_part_alone(name: str) -> None:
    data, make = find(name), MAKERS[name]
    first = make(data, Draw(7, 3))
    make(data, Draw(7, 4))  # what was drawn before does not matter
    assert all(np.array_equal(one, other) for one, other in zip(first, make(data, Draw(7, 3)), strict=True))
    for other in (Draw(8, 3), Draw(7, 4), Draw(7, 3, held_out=True)):
        assert not np.array_equal(first[0], make(data, other)[0])


def _sentences(rows: np.ndarray[Any, Any]) -> set[tuple[int, ...]]:
    """Whole ones: what stands before the first stop and after the last may be cut off."""
    found = set()
    for row in rows:
        stops = np.flatnonzero(row == 0)
        found |= {tuple(row[a + 1 : b]) for a, b in pairwise(stops)}
    return found


def test_no_sentence_is_in_both_parts_of_the_text() -> None:
    text = find("text")
    trained = _sentences(text.text(Draw(0, 0), 64, 200, 60))
    held_out = _sentences(text.text(Draw(0, 0, held_out=True), 64, 200, 60))
    assert len(trained) > 100 < len(held_out)
    assert not trained & held_out


def test_no_tune_and_no_picture_is_in_both_parts() -> None:
    plans = [(a, b, c) for a in range(20) for b in range(20) for c in range(5)]
    held_out = [plan for plan in plans if Draw(0, 0, held_out=True).has(plan)]
    assert [plan for plan in held_out if Draw(5, 9).has(plan)] == []
    assert len(held_out) / len(plans) == pytest.approx(1 / 8, abs=0.03)


def _surprise(pairs: Counter[Any], of: Counter[Any]) -> float:
    """Mean bits of what comes next, given what it is counted with."""
    total = sum(pairs.values())
    return -sum(count / total * math.log2(count / of[key[:-1]]) for key, count in pairs.items())


def test_text_needs_a_look_back() -> None:
    rows = find("text").text(Draw(0, 0), 200, 200, 60)
    alone = _surprise(Counter((w,) for row in rows for w in row), Counter({(): rows.size}))
    after_one = Counter((a, b) for row in rows for a, b in pairwise(row))
    before = Counter((a,) for row in rows for a in row[:-1])
    assert _surprise(after_one, before) < 0.75 * alone


@pytest.mark.parametrize("vocabulary", [30, 100, 50_000])
def test_text_fits_any_vocabulary(vocabulary: int) -> None:
    words = find("text").text(Draw(0, 0), 8, 100, vocabulary)
    assert words.min() >= 0
    assert words.max() < vocabulary


def test_a_vocabulary_that_is_too_small_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"29 ordinary words is too small.*30 or more"):
        find("text").text(Draw(0, 0), 1, 8, 29)


def test_boxes_are_where_the_things_are() -> None:
    scenes = find("images").scenes(Draw(0, 0), 8, (90, 120), 36)
    assert scenes.labels.shape == (8, 3)
    for picture, boxes in zip(scenes.pixels, scenes.boxes, strict=True):
        bright = picture.max(0) > 0.5
        inside = np.zeros_like(bright)
        for across, down, width, height in boxes:
            rows = slice(round((down - height / 2) * 90), round((down + height / 2) * 90))
            columns = slice(round((across - width / 2) * 120), round((across + width / 2) * 120))
            inside[rows, columns] = True
            assert bright[rows, columns].mean() > 0.2
        assert not bright[~inside].any()


def test_few_classes_differ_in_shape_and_colour() -> None:
    images = find("images").images(Draw(0, 0), 60, (24, 24), 10)
    assert set(images.labels) == set(range(10))
    assert images.pixels.shape == (60, 3, 24, 24)


def test_letters_are_heard_at_their_pitch() -> None:
    sounds = find("tones").sounds(Draw(0, 0), 16, 16_000, 1, 8, 16_000)
    for wave, (letter,) in zip(sounds.waves, sounds.transcripts, strict=True):
        loudest = np.abs(np.fft.rfft(wave)).argmax()  # one second: bins are hertz
        assert loudest == pytest.approx(220 * 1.5**letter, rel=0.02)
    assert np.abs(sounds.waves).max() <= 1


def test_no_letter_follows_itself() -> None:
    letters = find("tones").sounds(Draw(0, 0), 16, 4000, 10, 12, 16_000).transcripts
    assert (letters[:, 1:] != letters[:, :-1]).all()


def test_captions_of_a_batch_tell_its_pictures_apart() -> None:
    captions = find("pairs").pictures(Draw(0, 0, held_out=True), 24, (16, 16)).captions
    assert len({tuple(caption) for caption in captions}) == 24
    assert captions.max() < find("pairs").caption_words


def test_the_same_caption_means_the_same_picture_but_for_size_and_noise() -> None:
    pairs = find("pairs").pictures(Draw(0, 0), 300, (16, 16))
    by_colour = {colour: pairs.values[pairs.captions[:, 0] == colour].max((0, 2, 3)) > 0.5 for colour in range(6)}
    assert len({tuple(channels) for channels in by_colour.values()}) == 6


def test_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match=r"did you mean 'images'.*known: images, pairs, text, tones"):
        find("image")


def test_the_docs_show_the_text_as_it_is() -> None:
    page = (Path(__file__).parents[3] / "docs" / "datasets.md").read_text()
    words = find("text").text(Draw(seed=0, number=0), count=1, length=16, vocabulary=100)
    assert f"# {words}" in page
