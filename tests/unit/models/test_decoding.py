"""Prompts, paths and references of models that write: right, repeatable, kept, and refused where there is no room."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modeldyno import models
from modeldyno.core.errors import InputError, Unsupported
from modeldyno.models._decoding import CHECKED_TOKENS


def prepared(name: str, batch: int = 1, **shape: int) -> Any:
    return models.prepare_decoding(models.resolve(name), batch, shape)


def test_the_axes_are_those_of_a_step_with_new_tokens_for_the_decoders_length() -> None:
    assert models.decoding_axes(models.resolve("tiny-t5").axes) == {"seq": 128, "new_tokens": 32}
    assert models.decoding_axes(models.resolve("tiny-whisper").axes) == {"new_tokens": 32}
    assert models.decoding_axes(models.resolve("tiny-qwen2-vl").axes) == {"seq": 32, "image": 112, "new_tokens": 32}


def test_a_decoder_behind_an_encoder_begins_with_its_own_token() -> None:
    prompt = prepared("tiny-whisper", 2).prompt()
    assert prompt["decoder_input_ids"].tolist() == [[3], [3]]
    assert set(prepared("tiny-t5", 2, seq=8).prompt()) == {"input_ids", "attention_mask", "decoder_input_ids"}


def test_the_path_is_the_same_each_time_and_has_no_special_token() -> None:
    one, other = (prepared("tiny-llava", 2, seq=8, new_tokens=64) for _ in range(2))
    assert one.path().shape == (2, CHECKED_TOKENS)
    np.testing.assert_array_equal(one.path(), other.path())
    assert 999 not in one.path(), "that one stands for the image"
    assert prepared("tiny-opt", seq=8, new_tokens=3).path().shape == (1, 3)


@pytest.mark.parametrize("name", ["tiny-opt", "tiny-t5", "tiny-whisper", "tiny-mamba", "tiny-qwen2-vl"])
def test_the_reference_is_a_plain_forward_pass_over_prompt_and_path(name: str) -> None:
    """Worked out here token by token, each with the whole text before it."""
    import torch

    sizes = {axis: 8 for axis in models.resolve(name).axes if axis == "seq"}
    source = prepared(name, 2, **sizes, new_tokens=3)
    model = source.torch_model()
    expected = []
    for length in range(3):
        tensors = {key: torch.from_numpy(array) for key, array in source.prompt().items()}
        ids = "decoder_input_ids" if "decoder_input_ids" in tensors else "input_ids"
        behind = torch.from_numpy(source.path()[:, :length])
        tensors[ids] = torch.cat([tensors[ids], behind], dim=1)
        for grows, fill in (("attention_mask", 1), ("mm_token_type_ids", 0)):
            if ids == "input_ids" and grows in tensors:
                tensors[grows] = torch.cat([tensors[grows], torch.full_like(behind, fill)], dim=1)
        with torch.inference_mode():
            expected.append(model(**tensors).logits[:, -1].numpy())
    reference = source.reference()
    np.testing.assert_allclose(reference.values["first_token"], expected[0].ravel(), atol=1e-6)
    np.testing.assert_allclose(reference.values["next_tokens"], np.stack(expected[1:], axis=1).ravel(), atol=1e-6)


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("tiny-bert", "BertForMaskedLM makes no tokens"),
        ("tiny-vit", "ViTForImageClassification makes no tokens"),
        ("tiny-unet", "UNet2DConditionModel makes no tokens"),
        ("tiny-rag", "more than one model"),
    ],
)
def test_what_does_not_write_says_so(name: str, reason: str) -> None:
    with pytest.raises(Unsupported, match=reason):
        prepared(name)


def test_an_onnx_file_does_not_write(tmp_path: Path) -> None:
    from onnx import TensorProto, helper, save

    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [value], [])
    graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1]))
    save(helper.make_model(graph), tmp_path / "same.onnx")
    with pytest.raises(Unsupported, match="is an ONNX file and makes no tokens"):
        prepared(str(tmp_path / "same.onnx"))


def test_more_than_the_model_has_positions_for_is_refused_with_the_numbers() -> None:
    assert prepared("tiny-opt", seq=500, new_tokens=12)
    with pytest.raises(
        Unsupported, match="500 tokens of prompt and 13 new ones are more than the 512 positions"
    ) as told:
        prepared("tiny-opt", seq=500, new_tokens=13)
    assert told.value.remedy == "ask for new_tokens of at most 12"
    with pytest.raises(Unsupported, match="512 tokens of prompt") as told:
        prepared("tiny-opt", seq=512, new_tokens=1)
    assert told.value.remedy == "ask for a shorter seq"
    with pytest.raises(Unsupported, match="1 tokens of prompt and 448 new ones are more than the 448 positions"):
        prepared("tiny-whisper", new_tokens=448)
    with pytest.raises(Unsupported, match="seq=513 is longer"):
        prepared("tiny-opt", seq=513)
    assert prepared("tiny-t5", seq=8, new_tokens=2000), "its positions are relative"


def test_a_number_of_tokens_is_at_least_one() -> None:
    with pytest.raises(InputError, match="new_tokens=0 is not a number of tokens; give 1 or more"):
        prepared("tiny-opt", new_tokens=0)
    with pytest.raises(InputError, match="has no size 'frames'"):
        prepared("tiny-opt", frames=3)


def test_the_description_says_what_was_made_but_counts_no_operations() -> None:
    info = prepared("tiny-opt", seq=8).info
    assert (info.parameters, info.weights, info.gflop) == (163_968, "random", None)
    assert info.fingerprint == models.prepare(models.resolve("tiny-opt")).info.fingerprint


def test_what_is_kept_is_read_without_the_model_libraries(tmp_path: Path) -> None:
    code = """
import json, sys
from modeldyno import models
source = models.prepare_decoding(models.resolve("tiny-opt"), 1, {"seq": 8, "new_tokens": 3})
seen = [source.reference().values["next_tokens"].size, source.rounding("bf16")["first_token"] > 0, source.path().shape]
print(json.dumps([*seen, "torch" in sys.modules]))
"""
    environment = {**os.environ, "DYNO_CACHE": str(tmp_path / "cache")}
    run = functools.partial(subprocess.run, [sys.executable, "-c", code], env=environment, capture_output=True)
    seen = [json.loads(run(check=True).stdout) for _ in range(2)]
    assert seen == [[2000, True, [1, 3], True], [2000, True, [1, 3], False]]
