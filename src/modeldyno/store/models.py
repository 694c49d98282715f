"""Prediction models that were trained: when, on what, and how well they did on what they had not seen."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from modeldyno.core.identity import new_id
from modeldyno.store.database import connect
from modeldyno.store.store import Store

KIND = "cells"


@dataclass(frozen=True)
class StoredModel:
    fingerprint: str
    """Of the results it was made from."""
    created_at: datetime
    metric: str
    version: int
    cells: int
    quality: dict[str, Any]


def keep_model(store: Store, model: StoredModel) -> None:
    with connect(store.existing(), write=True) as connection:
        connection.execute(
            """INSERT INTO prediction_models BY NAME
               SELECT ? AS prediction_model_id, ? AS created_at, ? AS kind, ? AS metric, '[]'::JSON AS features,
                   ?::JSON AS quality, ''::BLOB AS content, ? AS version, ? AS fingerprint, ? AS cells""",
            [
                new_id(),
                model.created_at.replace(tzinfo=None),
                KIND,
                model.metric,
                json.dumps(model.quality),
                model.version,
                model.fingerprint,
                model.cells,
            ],
        )


def newest_model(store: Store, metric: str) -> StoredModel | None:
    with store.reading() as connection:
        row = connection.execute(
            """SELECT fingerprint, created_at, metric, version, cells, quality FROM prediction_models
               WHERE kind = ? AND metric = ? ORDER BY created_at DESC, prediction_model_id DESC LIMIT 1""",
            [KIND, metric],
        ).fetchone()
    if row is None:
        return None
    fingerprint, created_at, name, version, cells, quality = row
    return StoredModel(fingerprint, created_at.replace(tzinfo=UTC), name, version, cells, json.loads(quality))
