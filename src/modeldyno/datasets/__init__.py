"""One file per data set made from a seed; a folder of the user's own takes the place of one."""

from modeldyno.core.registry import Registry
from modeldyno.datasets._dataset import (
    SPEECH_RATE,
    Dataset,
    Draw,
    GivesImages,
    GivesPairs,
    GivesScenes,
    GivesSounds,
    GivesText,
    Images,
    Pairs,
    Scenes,
    Sounds,
)
from modeldyno.datasets._find import find
from modeldyno.datasets._mel import Spectrum

DATASETS: Registry[Dataset] = Registry(__name__, "data set")

__all__ = [
    "DATASETS",
    "SPEECH_RATE",
    "Dataset",
    "Draw",
    "GivesImages",
    "GivesPairs",
    "GivesScenes",
    "GivesSounds",
    "GivesText",
    "Images",
    "Pairs",
    "Scenes",
    "Sounds",
    "Spectrum",
    "find",
]
