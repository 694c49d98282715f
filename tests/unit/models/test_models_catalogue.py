"""The catalogue says of every model what a build of it confirms."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest

from modeldyno import models
from modeldyno.models import Entry, _count

ENTRIES = models.catalogue()
ARCHITECTURES = (
    "decoder-only",
    "diffusion",
    "encoder-decoder",
    "encoder-only",
    "mixture-of-experts",
    "multimodal",
    "rag",
    "speech",
    "state-space",
    "vision",
    "vision-encoder-text-decoder",
)
KEY_CLASSES = "bert t5 llama clip vit clap whisper wav2vec2 llava llava-next xclip qwen detr"
TINY = """bert t5 llama opt clip vit clap whisper wav2vec2 llava llava-next llava-onevision xclip qwen2 qwen3
qwen2-vl detr"""
PUBLISHED = {
    "bert-base-uncased": 109_514_298,
    "t5-small": 60_506_624,
    "opt-125m": 125_239_296,
    "SmolLM-135M": 134_515_008,
    "Llama-3.2-1B": 1_235_814_400,
    "llama-7b": 6_738_415_616,
    "clip-vit-base-patch32": 151_277_313,
    "vit-base-patch16-224": 86_567_656,
    "whisper-tiny": 37_760_640,
    "whisper-large-v3": 1_543_490_560,
    "Qwen2-7B": 7_615_616_512,
    "Mixtral-8x7B-v0.1": 46_702_792_704,
    "stable-diffusion-v1-5": 859_520_964,
    "dinov2-small": 22_056_576,
}


def test_the_folder_is_the_registry() -> None:
    assert models.ARCHITECTURES.names() == ARCHITECTURES
    assert [member.name for member in models.ARCHITECTURES.all()] == list(ARCHITECTURES)


def test_every_architecture_has_a_tiny_and_a_real_model() -> None:
    for member in models.ARCHITECTURES.all():
        assert {entry.tiny for entry in member.entries} == {True, False}, member.name


@pytest.mark.parametrize("kind", KEY_CLASSES.split())
def test_every_key_class_has_a_tiny_and_a_real_size_that_fits_a_small_machine(kind: str) -> None:
    sizes: dict[bool, list[int]] = {True: [], False: []}
    for entry in ENTRIES:
        if entry.model_class == kind:
            sizes[entry.tiny].append(entry.parameters)
    assert sizes[True]
    assert min(sizes[False]) * 4 < 8e9


def test_the_tiny_siblings_have_the_names_of_their_classes() -> None:
    tiny = {entry.name for entry in ENTRIES if entry.tiny}
    assert {f"tiny-{name}" for name in TINY.split()} <= tiny
    assert all(entry.parameters < 1_000_000 for entry in ENTRIES if entry.tiny)


def test_no_two_entries_answer_to_one_name() -> None:
    counted = Counter(name.lower() for entry in ENTRIES for name in entry.names)
    assert [name for name, count in counted.items() if count > 1] == []


def test_no_model_type_belongs_to_two_architectures() -> None:
    counted = Counter(kind for member in models.ARCHITECTURES.all() for kind in member.model_types)
    assert [kind for kind, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_is_found_by_all_its_names_and_classified_as_where_it_stands(entry: Entry) -> None:
    home = next(member for member in models.ARCHITECTURES.all() if entry in member.entries)
    for name in entry.names:
        for spelled in (name, name.upper(), name.lower()):
            spec = models.resolve(spelled)
            assert (spec.name, spec.architecture, spec.family) == (entry.name, home.name, entry.family)
    assert entry.family in models.families()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_parameters_are_those_of_the_model_as_built(entry: Entry) -> None:
    model = _count._meta_model(models.resolve(entry.name))
    assert sum(parameter.numel() for parameter in model.parameters()) == entry.parameters


def test_published_counts_are_met() -> None:
    assert {entry.name: entry.parameters for entry in ENTRIES if entry.name in PUBLISHED} == PUBLISHED


@pytest.mark.parametrize(
    ("parameters", "name"),
    [
        (39_999_999, "tiny"),
        (40_000_000, "small"),
        (80_000_000, "base"),
        (300_000_000, "large"),
        (1_000_000_000, "xl"),
        (5_000_000_000, "xxl"),
    ],
)
def test_sizes_have_names(parameters: int, name: str) -> None:
    assert models.size_class(parameters) == name


def test_listing_the_catalogue_needs_no_heavy_package() -> None:
    code = (
        "import sys; from modeldyno import models; models.catalogue(); models.resolve('bert');"
        "print([m for m in ('torch', 'transformers', 'diffusers', 'onnx', 'numpy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
