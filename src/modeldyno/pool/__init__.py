"""Loaded models shared by key, within a memory budget, isolated from each other's failures, placed where they fit."""

from modeldyno.pool.borrowed import Borrowed
from modeldyno.pool.errors import Broken, Closed, NoRoom, Resting, StillLoading, TooLarge
from modeldyno.pool.loading import Loader, Model
from modeldyno.pool.placing import Placed
from modeldyno.pool.pool import Pool, PoolState

__all__ = [
    "Borrowed",
    "Broken",
    "Closed",
    "Loader",
    "Model",
    "NoRoom",
    "Placed",
    "Pool",
    "PoolState",
    "Resting",
    "StillLoading",
    "TooLarge",
]
