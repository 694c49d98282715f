"""Two graphs for a model that makes tokens: what goes in and out, what is free, what they share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modeldyno import models
from modeldyno.core.decoding import DecodingGraphs
from modeldyno.core.errors import Unsupported
from modeldyno.models._decoding_export import export_decoding, fix_batch

pytestmark = pytest.mark.slow

SHAPE = {"seq": 7, "new_tokens": 4}


@pytest.fixture(scope="module")
def graphs(kept: Path, tmp_path_factory: pytest.TempPathFactory) -> DecodingGraphs:
    """Of a model that has all there is: an encoder, its mask, kept keys and values of both kinds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNO_CACHE", str(kept))
        source = models.prepare_decoding(models.resolve("tiny-t5"), 1, SHAPE)
        folder = tmp_path_factory.mktemp("graphs")
        return export_decoding(source.torch_model(), source.prompt(), folder, any_batch=True)


def sizes(path: Path, side: str) -> dict[str, list[int | str]]:
    import onnx

    items = getattr(onnx.load(path, load_external_data=False).graph, side)
    return {item.name: [d.dim_param or d.dim_value for d in item.type.tensor_type.shape.dim] for item in items}


def test_what_changes_goes_round_and_the_rest_goes_in_only(graphs: DecodingGraphs) -> None:
    first, taken, given = sizes(graphs.prefill, "output"), sizes(graphs.decode, "input"), sizes(graphs.decode, "output")
    own = {f"{layer}.{what}" for layer in (0, 1) for what in ("key", "value")}
    cross = {f"{layer}.cross_{what}" for layer in (0, 1) for what in ("key", "value")}
    assert set(first) == {"token", "logits", *(f"present.{name}" for name in own | cross)}
    assert set(taken) == {"input_ids", *(f"past.{name}" for name in own | cross | {"attention_mask"})}
    assert set(given) == {"token", "logits", *(f"present.{name}" for name in own)}


def test_only_the_past_and_if_asked_the_batch_are_free(graphs: DecodingGraphs, tmp_path: Path) -> None:
    assert sizes(graphs.prefill, "input")["input_ids"] == ["batch", 7]
    taken = sizes(graphs.decode, "input")
    assert taken["past.0.key"] == ["batch", 4, "past", 16]
    assert taken["past.0.cross_key"] == ["batch", 4, 7, 16]
    fixed = tmp_path / "three.onnx"
    fix_batch(graphs.decode, 3, fixed)
    assert sizes(fixed, "input")["past.0.key"] == [3, 4, "past", 16]
    assert sizes(fixed, "output")["logits"] == [3, 1, 1000]


def test_both_graphs_read_one_file_of_weights(graphs: DecodingGraphs) -> None:
    parameters = models.prepare_decoding(models.resolve("tiny-t5"), 1, SHAPE).info.parameters
    assert parameters is not None
    folder = graphs.prefill.parent
    assert {path.name for path in folder.iterdir()} == {"prefill.onnx", "decode.onnx", "weights"}
    assert (folder / "weights").stat().st_size < 4 * parameters * 1.1
    assert embedded(graphs.prefill) < 4096
    assert embedded(graphs.decode) < 4096


def embedded(path: Path) -> int:
    import onnx

    return sum(len(t.raw_data) for t in onnx.load(path, load_external_data=False).graph.initializer)


def test_the_token_is_the_likeliest(graphs: DecodingGraphs) -> None:
    given = run(graphs.prefill, models.prepare_decoding(models.resolve("tiny-t5"), 3, SHAPE).prompt())
    assert given["logits"].shape == (3, 1, 1000)
    assert np.array_equal(given["token"], given["logits"].argmax(-1))


def run(path: Path, arrays: dict[str, Any]) -> dict[str, Any]:
    import onnxruntime

    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    feed = {item.name: arrays[item.name] for item in session.get_inputs()}
    return dict(zip([item.name for item in session.get_outputs()], session.run(None, feed), strict=True))


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tiny-mamba", "keeps something else than keys and values"),
        ("tiny-switch", r"torch\.onnx could not export this model: \w+"),
    ],
)
def test_what_cannot_be_exported_says_why(name: str, reason: str) -> None:
    source = models.prepare_decoding(models.resolve(name), 1, SHAPE)
    with pytest.raises(Unsupported, match=reason):
        source.graphs()
