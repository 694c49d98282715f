"""The map of the whole catalogue."""

from __future__ import annotations

from pathlib import Path

import pytest
from advise_world import L4, XEON, record, store_of

from modeldyno.advise.selection_map import selection_map
from modeldyno.advise.wishes import read_wishes
from modeldyno.core.errors import InputError
from modeldyno.core.types import ModelInfo
from modeldyno.models import catalogue
from modeldyno.store.store import Store

BERT = ModelInfo(
    name="bert-base-uncased", family="embedding", size="base", weights="random", source="catalogue", fingerprint="f"
)
WISHES = read_wishes("latency", None, None, None)


def test_every_family_and_size_of_the_catalogue_has_a_square(tmp_path: Path) -> None:
    records = [record(on, time, model=BERT.name, info=BERT) for on, time in ((L4, 1.0), (XEON, 9.0))]
    squares = selection_map(store_of(tmp_path, records), WISHES, "inference", predict=False)
    assert {(one.kind, one.size) for one in squares} >= {(e.family, e.size) for e in catalogue() if not e.tiny}
    (known,) = [one for one in squares if one.wins]
    assert (known.kind, known.size, known.platform, known.evidence) == ("embedding", "base", "cuda", "measured")
    sizes = [one.size for one in squares if one.kind == "audio"]
    assert sizes == [size for size in ("tiny", "small", "base", "large", "xl") if size in sizes]


def test_without_a_store_nothing_is_known(tmp_path: Path) -> None:
    squares = selection_map(Store(tmp_path / "none.duckdb"), WISHES, "inference", predict=True)
    assert {one.evidence for one in squares} == {"unknown"}


def test_a_platform_has_no_price(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--map"):
        selection_map(Store(tmp_path / "none.duckdb"), read_wishes("cost", None, None, None), "inference", True)
