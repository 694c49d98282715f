"""What is prepared is finite, repeatable, kept on disk whole, and read back without the model libraries."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from modeldyno import models
from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Weights

TINY = [entry.name for entry in models.catalogue() if entry.tiny]
SHORT = {"tiny-mamba": {"seq": 8}}


def python(code: str, cache: Path) -> subprocess.Popen[str]:
    environment = {**os.environ, "DYNO_CACHE": str(cache)}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)


def output(process: subprocess.Popen[str]) -> Any:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return json.loads(out)


@pytest.mark.parametrize("name", TINY)
def test_a_tiny_model_is_finite_and_the_same_in_every_build(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    spec = models.resolve(name)
    seen = []
    for attempt in ("first", "second"):
        monkeypatch.setenv("DYNO_CACHE", str(tmp_path / attempt))
        models.release()
        source = models.prepare(spec, 2, SHORT.get(name))
        seen.append((source.reference(), source.inputs()))
    (first, inputs), (second, again) = seen
    assert list(first.values) == list(second.values) != []
    for output_name, values in first.values.items():
        assert np.isfinite(values).all()
        assert values.std() > 0
        np.testing.assert_array_equal(values, second.values[output_name])
    for input_name, array in inputs.items():
        np.testing.assert_array_equal(array, again[input_name])


def test_the_seed_decides_weights_and_inputs() -> None:
    spec = models.resolve("tiny-bert")
    one, other = (models.prepare(spec, seed=seed) for seed in (0, 1))
    assert one.info.fingerprint != other.info.fingerprint
    assert not np.array_equal(one.reference().values["logits"], other.reference().values["logits"])
    assert not np.array_equal(one.inputs()["input_ids"], other.inputs()["input_ids"])


def test_the_description_says_what_was_made() -> None:
    info = models.prepare(models.resolve("bert-tiny"), 2, {"seq": 16}).info
    assert (info.name, info.architecture, info.family) == ("bert-tiny", "encoder-only", "embedding")
    assert (info.parameters, info.size, info.weights) == (4_416_698, "tiny", "random")
    assert info.gflop == pytest.approx(0.28, rel=0.1)


def test_a_large_output_is_sampled_evenly() -> None:
    reference = models.prepare(models.resolve("tiny-llama"), 4, {"seq": 128}).reference()
    assert (reference.made_by, reference.strides) == ("torch fp32 on cpu", {"logits": 2})
    assert reference.values["logits"].size == 4 * 128 * 1000 // 2


def test_the_step_takes_tensors_by_name_and_gives_the_compared_outputs() -> None:
    import torch

    source = models.prepare(models.resolve("tiny-llama"), shape={"seq": 8})
    step = source.torch_model()
    inputs = {name: torch.from_numpy(array) for name, array in source.inputs().items()}
    with torch.inference_mode():
        outputs = step(**inputs)
        halved = step.to(torch.bfloat16)(**inputs)
    assert list(outputs) == list(source.reference().values)
    assert halved["logits"].dtype is torch.bfloat16
    assert type(step.module).__name__ == "LlamaForCausalLM"


def test_a_model_is_built_once_until_someone_changes_it() -> None:
    import torch

    models.release()
    spec = models.resolve("tiny-opt")
    first, second = (models.prepare(spec, batch, weights=Weights.RANDOM) for batch in (1, 2))
    step = first.torch_model()
    assert second.torch_model() is step
    assert first.build_ms > 0
    assert second.build_ms == 0
    step.to(torch.float16)
    fresh = second.torch_model()
    assert fresh is not step
    assert {p.dtype for p in fresh.parameters()} == {torch.float32}


@pytest.mark.slow
def test_two_processes_that_prepare_the_same_model_leave_one_whole_copy_for_a_third(tmp_path: Path) -> None:
    """Which reads it without the model libraries."""
    ask = (
        "import json, sys; from modeldyno import models;"
        "s = models.prepare(models.resolve('tiny-vit'));"
        "s.inputs(); r = s.reference(); import onnxruntime; onnxruntime.InferenceSession(s.onnx_path());"
        "print(json.dumps([[m for m in ('torch', 'transformers') if m in sys.modules], s.build_ms, s.info.gflop,"
        " float(abs(r.values['logits']).sum())]))"
    )
    both = [python(ask, tmp_path) for _ in range(2)]
    (_, built_ms, *made), (_, _, *again) = (output(process) for process in both)
    assert built_ms > 0
    assert made == again
    loaded, kept_ms, *read = output(python(ask, tmp_path))
    assert (loaded, kept_ms) == ([], 0)
    assert read == made
    kept = sorted(sorted(path.name for path in folder.iterdir()) for folder in (tmp_path / "prepared").iterdir())
    assert kept == [["inputs.npz", "meta.json", "reference.npz"], ["onnx"]]
    graphs = sorted(path.name for path in (tmp_path / "prepared").glob("*/onnx/*"))
    assert graphs == ["batch1.onnx", "model.onnx", "model.onnx.data"]


def test_a_damaged_file_is_made_anew(kept: Path) -> None:
    source = models.prepare(models.resolve("tiny-vit"), 3)
    before = source.reference().values["logits"]
    newest = max(kept.glob("prepared/*/reference.npz"), key=lambda path: path.stat().st_mtime)
    newest.write_bytes(newest.read_bytes()[:100])
    (newest.parent / "meta.json").write_text('{"name": ')
    again = models.prepare(models.resolve("tiny-vit"), 3)
    np.testing.assert_array_equal(again.reference().values["logits"], before)
    assert again.info == source.info


def test_a_saved_folder_gives_its_own_weights(tmp_path: Path) -> None:
    import torch

    folder = tmp_path / "saved"
    source = models.prepare(models.resolve("tiny-bert"))
    model = source.torch_model().module
    with torch.no_grad():
        model.cls.predictions.bias.fill_(3.0)
    model.save_pretrained(folder)
    spec = models.resolve(str(folder))
    loaded = models.prepare(spec)
    assert (loaded.info.weights, loaded.info.source) == ("pretrained", str(folder))
    assert loaded.reference().values["logits"].mean() > 2
    drawn = models.prepare(spec, weights=Weights.RANDOM)
    assert drawn.info.weights == "random"
    assert abs(drawn.reference().values["logits"].mean()) < 1
    assert drawn.info.fingerprint != loaded.info.fingerprint


def test_an_onnx_file_is_a_model_too(tmp_path: Path) -> None:
    onnx_model = write_graph(tmp_path / "add.onnx", ["batch", "length", 4])
    spec = models.resolve(str(onnx_model))
    assert (spec.architecture, dict(spec.axes)) == (None, {"length": 128})
    source = models.prepare(spec, 2, {"length": 5})
    assert source.inputs()["x"].shape == (2, 5, 4)
    assert (source.info.weights, source.info.parameters, source.info.gflop) == ("file", 4, None)
    reference = source.reference()
    assert reference.made_by == "onnxruntime on cpu"
    np.testing.assert_allclose(reference.values["y"], source.inputs()["x"].reshape(-1) + 1)
    assert input_shape(source.onnx_path()) == [2, 5, 4]
    with pytest.raises(Unsupported, match="is an ONNX file"):
        source.torch_model()


def test_an_onnx_file_with_fixed_sizes_is_used_as_it_is(tmp_path: Path) -> None:
    spec = models.resolve(str(write_graph(tmp_path / "add.onnx", [2, 3, 4])))
    assert models.prepare(spec, 2).onnx_path() == spec.path
    with pytest.raises(Unsupported, match="made for batch size 2"):
        models.prepare(spec, 1)


def write_graph(path: Path, sizes: list[Any]) -> Path:
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    weights = numpy_helper.from_array(np.ones(4, dtype=np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "w"], ["y"])],
        "add",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, sizes)],
        [weights],
    )
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 18)]), path)
    return path


def input_shape(path: Path) -> list[int]:
    import onnxruntime

    shape: list[int] = onnxruntime.InferenceSession(path).get_inputs()[0].shape
    return shape


def test_filling_weights_takes_little_time() -> None:
    """Ten million weights in well under a second: the random block is drawn once and laid over all of them."""
    import torch

    from modeldyno.models import _weights

    model = torch.nn.Linear(4096, 2560)
    start = time.process_time()
    _weights.fill(model, 0)
    assert time.process_time() - start < 0.5
    assert model.weight.std().item() == pytest.approx(0.02, rel=0.01)
    assert torch.linalg.matrix_rank(model.weight[:256]).item() == 256
