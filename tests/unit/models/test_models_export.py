"""Exported graphs compute what PyTorch computes, under the same names."""

from __future__ import annotations

import numpy as np
import pytest

from modeldyno import models
from modeldyno.core.errors import Unsupported

CASES = [entry.name for entry in models.catalogue() if entry.tiny and entry.model_class]
MORE = ["tiny-unet", "tiny-rag", "tiny-mamba"]
REFUSED = ["tiny-switch", "tiny-mixtral"]
SHORT = {"tiny-mamba": {"seq": 8}}
BAKED_IN = {
    "tiny-llava-next": {"image_sizes"},
    "tiny-llava-onevision": {"image_sizes"},
    "tiny-qwen2-vl": {"image_grid_thw", "mm_token_type_ids"},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", [*CASES, *MORE])
def test_onnxruntime_agrees_with_pytorch(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    import onnxruntime

    source = models.prepare(models.resolve(name), 1, SHORT.get(name))
    reference = source.reference()
    session = onnxruntime.InferenceSession(source.onnx_path(), providers=["CPUExecutionProvider"])
    taken = {item.name for item in session.get_inputs()}
    feeds = {key: array for key, array in source.inputs().items() if key in taken}
    results = dict(zip([item.name for item in session.get_outputs()], session.run(None, feeds), strict=True))
    assert set(source.inputs()) - taken == BAKED_IN.get(name, set())
    assert list(results) == list(reference.values)
    for output, expected in reference.values.items():
        got = results[output].reshape(-1)[:: reference.strides[output]]
        assert np.linalg.norm(got - expected) / np.linalg.norm(expected) < 1e-3, output
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_exported_says_why(name: str) -> None:
    source = models.prepare(models.resolve(name), 1, {"seq": 8})
    with pytest.raises(Unsupported, match=r"torch\.onnx could not export this model: \w+"):
        source.onnx_path()
