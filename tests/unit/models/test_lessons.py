"""Lessons: for every key model something to learn, and it learns it."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np
import pytest
import torch

from modeldyno import models
from modeldyno.core.errors import InputError, UnknownName, Unsupported
from modeldyno.core.types import Weights
from modeldyno.models import Lesson

# model: task, shape, batch, steps, learning rate
COURSES: dict[str, tuple[str, dict[str, int], int, int, float]] = {
    "tiny-bert": ("masked words", {"seq": 16}, 8, 50, 3e-3),
    "tiny-t5": ("missing words", {"seq": 16, "decoder_seq": 6}, 8, 50, 3e-3),
    "tiny-opt": ("next word", {"seq": 16}, 8, 40, 3e-3),
    "tiny-llama": ("next word", {"seq": 16}, 8, 40, 3e-3),
    "tiny-qwen2": ("next word", {"seq": 16}, 8, 40, 3e-3),
    "tiny-qwen3": ("next word", {"seq": 16}, 8, 40, 3e-3),
    "tiny-clip": ("pairs", {"seq": 5}, 8, 60, 5e-4),
    "tiny-clap": ("pairs", {"seq": 5}, 4, 30, 5e-4),
    "tiny-xclip": ("pairs", {"seq": 6}, 4, 60, 5e-4),
    "tiny-vit": ("label", {}, 8, 50, 2e-3),
    "tiny-detr": ("boxes", {"height": 64, "width": 64}, 2, 40, 1e-3),
    "tiny-whisper": ("transcript", {"decoder_seq": 4}, 2, 30, 3e-3),
    "tiny-wav2vec2": ("aligned transcript", {"samples": 8000}, 2, 40, 3e-3),
    "tiny-llava": ("caption", {"seq": 8}, 4, 40, 3e-3),
    "tiny-llava-next": ("caption", {"seq": 8}, 4, 40, 3e-3),
    "tiny-llava-onevision": ("caption", {"seq": 8}, 4, 40, 3e-3),
    "tiny-qwen2-vl": ("caption", {"seq": 8, "image": 56}, 4, 40, 3e-3),
    "tiny-switch": ("missing words", {"seq": 16, "decoder_seq": 6}, 8, 40, 3e-3),
    "tiny-mixtral": ("next word", {"seq": 16}, 4, 40, 3e-3),
    "tiny-mamba": ("next word", {"seq": 8}, 4, 40, 3e-3),
    "tiny-rag": ("answer", {"seq": 8, "decoder_seq": 4}, 2, 60, 3e-3),
    "tiny-unet": ("noise", {"seq": 4}, 2, 40, 3e-3),
}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def _tensors(arrays: dict[str, Any]) -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _lesson(name: str, dataset: str | None = None, seed: int = 0) -> Lesson:
    _, shape, batch, _, _ = COURSES[name]
    return models.lesson(models.resolve(name), dataset, batch, shape, seed)


def _trained(name: str, lesson: Lesson) -> tuple[Any, list[float]]:
    _, _, _, steps, rate = COURSES[name]
    torch.manual_seed(0)
    np.random.seed(0)  # the library masks speech with it
    model = models.learner(models.resolve(name), Weights.RANDOM, 0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    losses = []
    for step in range(steps):
        loss = lesson.forward(model, _tensors(lesson.batch(step))).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return model, losses


def test_every_tiny_model_has_a_course() -> None:
    assert {entry.name for entry in models.catalogue() if entry.tiny} == set(COURSES)


@pytest.mark.parametrize("name", COURSES)
def test_the_loss_falls_and_can_be_graded(name: str) -> None:
    lesson = _lesson(name)
    assert lesson.task == COURSES[name][0]
    model, losses = _trained(name, lesson)
    assert fmean(losses[-10:]) < 0.92 * fmean(losses[:10])
    with torch.no_grad():
        graded = lesson.forward(model.eval(), _tensors(lesson.validation()[0]), grade=True)
    assert graded.loss.isfinite()
    assert graded.right is None or 0 <= graded.right <= (graded.of or 0)


@pytest.mark.parametrize("name", COURSES)
def test_a_batch_is_a_function_of_seed_and_step(name: str) -> None:
    one, again, other = _lesson(name), _lesson(name), _lesson(name, seed=1)
    one.batch(0)
    first = one.batch(1)
    assert all(np.array_equal(first[key], array) for key, array in again.batch(1).items())
    for batch in (one.batch(2), other.batch(1), one.validation()[1]):
        assert any(not np.array_equal(first[key], batch[key]) for key in first)


@pytest.mark.parametrize("name", COURSES)
def test_the_head_is_a_part_of_the_model(name: str) -> None:
    model = models.learner(models.resolve(name), Weights.RANDOM, 0)
    sizes = {key: parameter.numel() for key, parameter in model.named_parameters()}
    head = _lesson(name).head(model)
    assert head <= set(sizes)
    assert 0 < sum(sizes[key] for key in head) < 0.7 * sum(sizes.values())


def test_labels_are_only_at_hidden_words() -> None:
    batch = _lesson("tiny-bert").batch(0)
    hidden = batch["labels"] != -100
    assert hidden.sum(1).tolist() == [2] * 8
    assert len(np.unique(batch["input_ids"][hidden])) == 1
    assert not np.isin(batch["input_ids"][~hidden], np.unique(batch["input_ids"][hidden])).any()


def test_a_prompt_with_its_missing_words_is_a_text() -> None:
    batch = _lesson("tiny-t5").batch(0)
    assert batch["input_ids"].shape == (8, 16)
    assert batch["labels"].shape == (8, 6)
    assert "decoder_input_ids" not in batch


def test_grading_counts_right_answers() -> None:
    lesson = _lesson("tiny-vit")
    tensors = _tensors(lesson.batch(0))

    class Knowing(torch.nn.Module):
        def forward(self, labels: Any, **_: Any) -> Any:
            said = torch.nn.functional.one_hot(labels, 10).float()
            said[0] = said[0].roll(1)
            return type("Outputs", (), {"logits": said, "loss": said.sum()})

    graded = lesson.forward(Knowing(), tensors, grade=True)
    assert (graded.right, graded.of) == (7, 8)
    assert lesson.forward(Knowing(), tensors).right is None


def test_letters_that_were_not_heard_are_wrong() -> None:
    from modeldyno.models._lesson_sounds import _right_letters

    frames = torch.tensor([[0, 5, 5, 0, 6, 7, 7, 0], [0, 0, 0, 0, 0, 0, 0, 0]])
    assert _right_letters(frames, torch.tensor([[5, 6, 7], [5, 6, 7]]), blank=0) == (3, 6)
    assert _right_letters(frames[:1], torch.tensor([[5, 6, 6]]), blank=0) == (2, 3)


def test_boxes_are_found_by_label_and_place() -> None:
    from modeldyno.models._lesson_images import _found_boxes

    true = {
        "class_labels": torch.tensor([[0, 1]]),
        "boxes": torch.tensor([[[0.3, 0.3, 0.2, 0.2], [0.7, 0.7, 0.2, 0.2]]]),
    }
    said = torch.nn.functional.one_hot(torch.tensor([[0, 0, 2]]), 3).float()
    near = torch.tensor([[[0.31, 0.3, 0.2, 0.2], [0.7, 0.7, 0.2, 0.2], [0.1, 0.1, 0.1, 0.1]]])
    outputs = type("Outputs", (), {"logits": said, "pred_boxes": near})
    assert _found_boxes(outputs, true) == (1, 2)


def test_boxes_in_half_precision_are_refused() -> None:
    lesson = _lesson("tiny-detr")
    halves = {name: tensor.bfloat16() for name, tensor in _tensors(lesson.batch(0)).items()}
    with pytest.raises(Unsupported, match="boxes in fp32 only; use fp32 with --option autocast=bf16"):
        lesson.forward(torch.nn.Identity(), halves)


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "dinov2-small", "wav2vec2-base"])
def test_encoders_without_a_head_learn_which_views_belong_together(name: str) -> None:
    shape = {"seq": 8} if name.startswith("all") else {}
    lesson = models.lesson(models.resolve(name), batch=4, shape=shape)
    assert lesson.task == "views"
    assert {len(array) for array in lesson.batch(0).values()} == {4}


def test_a_text_folder_takes_the_place_of_the_text(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two three four. " * 100)
    lesson = _lesson("tiny-opt", str(tmp_path))
    assert lesson.dataset == str(tmp_path)
    assert len(np.unique(lesson.batch(0)["input_ids"])) == 5


def test_the_library_begins_training_with_the_same_weights_every_time() -> None:
    spec = models.resolve("tiny-wav2vec2")
    one, other = (models.learner(spec, Weights.RANDOM, 3).state_dict() for _ in range(2))
    assert all(torch.equal(value, other[name]) for name, value in one.items())


@pytest.mark.parametrize(
    ("name", "options", "error", "says"),
    [
        ("tiny-bert", {"dataset": "images"}, InputError, "learns from text, which 'images' does not have; use 'text'"),
        ("tiny-bert", {"dataset": "txt"}, UnknownName, "did you mean 'text'"),
        ("tiny-bert", {"dataset": "/nowhere"}, InputError, "There is no folder /nowhere"),
        ("tiny-bert", {"shape": {"seq": 4096}}, Unsupported, "longer than the 512 positions"),
        ("tiny-clip", {"batch": 1}, Unsupported, "ask for --batch 2 or more"),
        ("tiny-clip", {"batch": 4, "shape": {"seq": 3}}, Unsupported, "too short for captions of 5 words"),
        ("tiny-llava", {"shape": {"seq": 4}}, Unsupported, "too short for captions of 4 words"),
        ("all-MiniLM-L6-v2", {"batch": 3}, Unsupported, "--batch 4 or a larger even number"),
        ("tiny-opt", {"shape": {"seq": 1}}, Unsupported, "no next word to learn"),
        ("tiny-opt", {"batch": 0}, InputError, "not a batch size"),
        ("tiny-opt", {"seed": -1}, InputError, "not a seed"),
    ],
)
def test_what_cannot_be_taught_is_a_sentence(name: str, options: Any, error: type[Exception], says: str) -> None:
    with pytest.raises(error, match=says):
        models.lesson(models.resolve(name), **options).batch(0)
