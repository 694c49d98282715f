"""The colours of the platforms: told apart by all readers, on white and on black."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from modeldyno import platforms
from modeldyno.platforms import PLATFORMS

SEEN = {
    "all colours": np.eye(3),
    # Machado, Oliveira and Fernandes, IEEE Transactions on Visualization and Computer Graphics 15(6), 2009.
    "no red": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE, BLACK = "#ffffff", "#15181d"


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(light: np.ndarray) -> np.ndarray:
    ratio = XYZ @ np.clip(light, 0, 1) / np.array([0.95047, 1.0, 1.08883])
    x, y, z = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(a: str, b: str) -> float:
    dark, bright = sorted(float(XYZ[1] @ linear(colour)) for colour in (a, b))
    return (bright + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("eye", SEEN)
def test_any_two_platforms_look_different(eye: str) -> None:
    looks = {name: lab(SEEN[eye] @ linear(platforms.colour(name))) for name in PLATFORMS.names() if name in OWN}
    near = {(a, b): float(np.linalg.norm(looks[a] - looks[b])) for a, b in combinations(looks, 2)}
    assert min(near.values()) > 20, min(near, key=near.__getitem__)


OWN = ("cpu", "cuda", "rocm", "mps", "openvino", "qnn", "webnn", "webgpu")


@pytest.mark.parametrize("name", OWN)
def test_each_is_seen_on_white_and_on_black(name: str) -> None:
    assert contrast(platforms.colour(name), WHITE) > 2
    assert contrast(platforms.colour(name), BLACK) > 2


def test_a_platform_nobody_knows_has_a_colour() -> None:
    assert platforms.colour("abacus") == platforms.UNKNOWN_COLOUR
