"""Exported graphs compute what PyTorch computes, under the same names."""

from __future__ import annotations

import numpy as np
import pytest

from modeldyno import models
from modeldyno.core.errors import Unsupported
from modeldyno.models import _decoding_export, _export, _prepared

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


NO_MEMORY = "[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: you tried"


def test_out_of_memory_is_no_failed_export() -> None:
    """On the host PyTorch has a plain RuntimeError for it, which its exporter wraps."""
    with pytest.raises(RuntimeError, match="can't allocate memory"), _export.exporting():
        raise RuntimeError(NO_MEMORY)
    with pytest.raises(ValueError, match="export failed"), _export.exporting():
        raise ValueError("export failed") from RuntimeError(NO_MEMORY)
    with pytest.raises(Unsupported, match="could not export"), _export.exporting():
        raise RuntimeError("no such operator")


def test_out_of_memory_is_no_unknown_rounding(monkeypatch: pytest.MonkeyPatch) -> None:
    source = models.prepare(models.resolve("tiny-bert"), 1, {"seq": 9})
    source.reference()

    def fail(text: str) -> None:
        raise RuntimeError(text)

    monkeypatch.setattr(_prepared.OfLibrary, "_run_on_cpu", lambda *_: fail(NO_MEMORY))
    with pytest.raises(RuntimeError, match="can't allocate"):
        source.rounding("bf16")
    monkeypatch.setattr(_prepared.OfLibrary, "_run_on_cpu", lambda *_: fail("no kernel"))
    assert source.rounding("bf16") == {}


def test_a_failed_export_for_all_batch_sizes_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fail(*_: object) -> None:
        tried.append("step")
        raise Unsupported("the exporter fixed the batch size")

    monkeypatch.setattr(_export, "export_any_batch", fail)
    monkeypatch.setattr(_export, "export", lambda *given: given[-1].touch())
    for batch in (1, 2):
        assert models.prepare(models.resolve("tiny-bert"), batch, {"seq": 11}).onnx_path().name == "model.onnx"
    assert tried == ["step"]


def test_failed_decoding_graphs_for_all_batch_sizes_are_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def fail(model: object, prompt: object, draft: object, hints: object, free: bool) -> None:
        tried.append(free)
        raise Unsupported("cannot be exported")

    monkeypatch.setattr(_decoding_export, "export_decoding", fail)
    source = models.prepare_decoding(models.resolve("tiny-opt"), 1, {"seq": 11})
    for _ in range(2):
        with pytest.raises(Unsupported, match="cannot be exported"):
            source.graphs()
    assert tried == [True, False, False]
