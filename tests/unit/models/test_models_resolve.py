"""Names, folders, files and the mistakes people make with them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modeldyno import models
from modeldyno.core.errors import InputError, UnknownName, Unsupported
from modeldyno.core.types import Weights
from modeldyno.models import SourceKind

TINY_BERT = {"hidden_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 64}


def write_config(folder: Path, config: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.json"
    path.write_text(config if isinstance(config, str) else json.dumps(config))
    return path


def cached(hub: Path, repo_id: str, commit: str = "abc") -> Path:
    return hub / f"models--{repo_id.replace('/', '--')}" / "snapshots" / commit


def test_an_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'bert-base-uncased'"):
        models.resolve("bert-base-uncasd")


def test_a_folder_and_its_config_give_the_same_model(tmp_path: Path) -> None:
    path = write_config(tmp_path / "mine", {"model_type": "bert", **TINY_BERT})
    folder, file = models.resolve(str(path.parent)), models.resolve(str(path))
    assert (folder.kind, file.kind) == (SourceKind.FOLDER, SourceKind.CONFIG)
    assert folder.architecture == file.architecture == "encoder-only"
    assert (folder.family, folder.has_checkpoint) == ("embedding", False)


def test_a_hub_id_is_found_in_the_local_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_CACHE")
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    for commit in ("old", "new"):
        write_config(cached(tmp_path / "hub", "someone/model", commit), {"model_type": "opt", "tag": commit})
    refs = tmp_path / "hub" / "models--someone--model" / "refs"
    refs.mkdir()
    (refs / "main").write_text("old")
    spec = models.resolve("someone/model")
    assert (spec.kind, spec.architecture, spec.config["tag"]) == (SourceKind.HUB, "decoder-only", "old")


def test_a_catalogue_model_with_its_checkpoint_in_the_cache_says_so(tmp_path: Path) -> None:
    folder = cached(tmp_path / "hub", "google-bert/bert-base-uncased")
    write_config(folder, {"model_type": "bert"})
    assert not models.resolve("bert").has_checkpoint
    (folder / "model.safetensors").write_bytes(b"x")
    assert models.resolve("bert").has_checkpoint


def test_a_diffusers_pipeline_leads_to_its_denoiser(tmp_path: Path) -> None:
    write_config(tmp_path / "unet", {"_class_name": "UNet2DConditionModel"})
    assert models.resolve(str(tmp_path)).architecture == "diffusion"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"model_type": "bert",\n  oops}', "config.json, line 2: "),
        ("[1, 2]", "no JSON object"),
        ('{"model_type": "klingon"}', "'klingon' is unknown"),
        ("{}", "neither a model_type"),
    ],
)
def test_a_bad_config_is_named_with_its_fault(tmp_path: Path, content: str, says: str) -> None:
    write_config(tmp_path, content)
    with pytest.raises(InputError, match=says):
        models.resolve(str(tmp_path))


def test_a_folder_without_config_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no config\.json"):
        models.resolve(str(tmp_path))


@pytest.mark.parametrize("name", ["missing.onnx", "missing/config.json"])
def test_a_missing_file_is_told(name: str) -> None:
    with pytest.raises(InputError, match="There is no file"):
        models.resolve(name)


def test_a_file_that_is_no_onnx_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.onnx"
    path.write_bytes(b"this is not a graph")
    with pytest.raises(InputError, match="ONNX"):
        models.resolve(str(path))


def test_a_type_that_this_library_does_not_know_is_told(tmp_path: Path) -> None:
    write_config(tmp_path, {"model_type": "klingon", "architectures": ["KlingonForCausalLM"]})
    with pytest.raises(InputError, match="does not know the model_type 'klingon'"):
        models.prepare(models.resolve(str(tmp_path)))


def test_pretrained_without_a_checkpoint_says_how_to_get_it() -> None:
    with pytest.raises(Unsupported, match="hf download google-bert/bert-base-uncased"):
        models.prepare(models.resolve("bert"), weights=Weights.PRETRAINED)


@pytest.mark.parametrize(
    ("name", "shape", "says"),
    [
        ("bert", {"seq": 513}, "seq=513 is longer than the 512 positions"),
        ("roberta-base", {"seq": 513}, "longer than the 512 positions"),
        ("tiny-clip", {"seq": 78}, "longer than the 77 positions"),
        ("tiny-whisper", {"decoder_seq": 449}, "longer than the 448 positions"),
        ("tiny-wav2vec2", {"samples": 10}, "shorter than the 400 samples"),
        ("tiny-llava", {"seq": 2040}, "16 tokens of image"),
        ("tiny-qwen2-vl", {"image": 100}, "not a multiple of 28"),
    ],
)
def test_a_size_beyond_the_model_is_unsupported(name: str, shape: dict[str, int], says: str) -> None:
    with pytest.raises(Unsupported, match=says):
        models.prepare(models.resolve(name), shape=shape)


@pytest.mark.parametrize(
    ("shape", "batch", "says"),
    [({"height": 3}, 1, "has no size 'height'; it has: seq"), ({"seq": 0}, 1, "seq=0"), ({}, 0, "batch=0")],
)
def test_a_size_that_is_none_is_wrong_input(shape: dict[str, int], batch: int, says: str) -> None:
    with pytest.raises(InputError, match=says):
        models.prepare(models.resolve("tiny-bert"), batch, shape)
