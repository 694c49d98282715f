"""Folders of the user's own in place of a data set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from modeldyno.core.errors import InputError
from modeldyno.datasets import Draw, GivesImages, GivesText, find


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    (tmp_path / "a.txt").write_text("the cat sat. " * 100)
    (tmp_path / "b.txt").write_text("the dog ran! " * 100)
    return tmp_path


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    image = pytest.importorskip("PIL.Image")
    for label, colour in enumerate(("red", "blue")):
        (tmp_path / colour).mkdir()
        for i in range(10):
            image.new("RGB", (8, 6), (255 * (label == 0), i, 255 * (label == 1))).save(tmp_path / colour / f"{i}.png")
    return tmp_path


def test_words_are_numbered_by_how_often_they_occur(texts: Path) -> None:
    found = find(str(texts))
    assert isinstance(found, GivesText)
    words = found.text(Draw(0, 0), 3, 20, 50)
    assert words.shape == (3, 20)
    assert Draw(0, 0) == Draw(0, 0)
    assert np.array_equal(words, found.text(Draw(0, 0), 3, 20, 50))
    assert np.bincount(words.ravel()).argmax() == 1  # "the"


def test_words_beyond_the_vocabulary_are_one(texts: Path) -> None:
    assert find(str(texts)).text(Draw(0, 0), 3, 20, 3).max() == 2


def test_the_end_of_the_text_is_held_out(texts: Path) -> None:
    dogs = find(str(texts)).text(Draw(0, 0, held_out=True), 5, 20, 50)
    both = find(str(texts)).text(Draw(0, 0), 40, 20, 50)
    assert len(np.unique(dogs)) == 4  # the last eighth has no cat in it
    assert len(np.unique(both)) > 4


def test_a_short_text_says_how_much_is_needed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("three words only")
    with pytest.raises(InputError, match="hold 3 words, too few for stretches of 8; give at least 64"):
        find(str(tmp_path)).text(Draw(0, 0), 1, 8, 50)


def test_class_folders_are_the_labels(pictures: Path) -> None:
    found = find(str(pictures))
    assert isinstance(found, GivesImages)
    images = found.images(Draw(0, 0), 32, (12, 16), 10)
    assert images.pixels.shape == (32, 3, 12, 16)
    blue = images.pixels[:, 2].mean((1, 2)) > 0  # 'blue' comes before 'red'
    assert np.array_equal(images.labels, np.where(blue, 0, 1))


def test_held_out_images_are_not_trained_with(pictures: Path) -> None:
    def greens(held_out: bool) -> set[float]:
        images = find(str(pictures)).images(Draw(0, 0, held_out), 200, (4, 4), 2)
        return set(np.round((images.pixels[:, 1, 0, 0] + 1) * 127.5).tolist())

    assert greens(True) == {1, 9}
    assert greens(False) == set(range(10)) - {1, 9}


def test_more_classes_than_the_model_has_are_refused(pictures: Path) -> None:
    with pytest.raises(InputError, match="has 2 class folders, the model tells 1 classes apart"):
        find(str(pictures)).images(Draw(0, 0), 1, (4, 4), 1)


def test_a_file_that_is_no_image_is_named(pictures: Path) -> None:
    for file in (pictures / "red").iterdir():
        file.write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"red/\d.png is no image"):
        find(str(pictures)).images(Draw(0, 0), 64, (4, 4), 2)


def test_a_missing_folder_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"There is no folder .*nowhere; give the path"):
        find(str(tmp_path / "nowhere"))


def test_an_empty_folder_says_what_to_put_in(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no examples; put text files \(\*.txt\)"):
        find(str(tmp_path))
