"""Training from the inside: options, gradients, memory, operations and checkpoints of a tiny model on the CPU."""

from __future__ import annotations

import copy
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, Outcome, Status, Verdict
from modeldyno.platforms import PLATFORMS
from modeldyno.workloads import WORKLOADS
from modeldyno.workloads._training.check import check_learning
from modeldyno.workloads._training.checkpoint import Checkpoints, identity_of
from modeldyno.workloads._training.course import GRADE_EVERY, Course, Spent, course_metrics, follow
from modeldyno.workloads._training.memory import MB, memory_split
from modeldyno.workloads._training.operations import compute_metrics
from modeldyno.workloads._training.settings import Settings, read_settings
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.target import Grade, read_target
from modeldyno.workloads._training.trainer import Trainer
from modeldyno.workloads.training import BATCHES, Steps

SEQ = 16


def bench_of(model: str = "tiny-bert", precision: str = "fp32", batch: int = 2, **options: Any) -> Bench:
    shape = {"seq": SEQ} if model not in ("tiny-vit", "tiny-unet") else {}
    told = {"workload": "training", "platform": "cpu", "runtime": "torch", "weights": "random"}
    case = Case(model=model, precision=precision, batch=batch, shape=shape, options=options, **told)
    rules = policy("quick").model_copy(update={"samples": 3, "warmup_max_s": 0.0})
    return Bench(case, rules, PLATFORMS.get("cpu").open(0), 0, True, lambda text: None)


def setup_of(model: str = "tiny-bert", precision: str = "fp32", batch: int = 2, **options: Any) -> Setup:
    return Setup.of(bench_of(model, precision, batch, **options))


def course_of(**options: Any) -> Course:
    setup = setup_of(**options)
    return follow(setup, setup.trainer())


def outcome_of(bench: Bench, **changes: Any) -> Outcome:
    return WORKLOADS.get("training").run(replace(bench, **changes))


def bytes_of(tensors: Any) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"preset": "lorra"}, "preset should be 'full', 'head' or 'lora', not 'lorra'"),
        ({"optimizer": "adam"}, "'adamw' or 'sgd'"),
        ({"lr": 0}, "lr should be greater than 0"),
        ({"autocast": "fp8"}, "'bf16' or 'fp16'"),
        ({"accumulate": 0}, "accumulate"),
        ({"accumulate": 1.5}, "accumulate"),
        ({"checkpointing": "yes"}, "checkpointing"),
        ({"seed": -1}, "seed"),
        ({"steps": 0}, "steps"),
        ({"target": "loss>2"}, "loss<NUMBER or accuracy>NUMBER"),
        ({"target": "accuracy>nan"}, "loss<NUMBER or accuracy>NUMBER"),
        ({"checkpoint": "kept"}, "give steps or target"),
        ({"tensorboard": "logs"}, "give steps or target"),
        ({"steps": 5, "checkpoint_every": 2}, "give checkpoint"),
    ],
)
def test_wrong_options_are_sentences(options: dict[str, Any], says: str) -> None:
    case = Case(workload="training", model="tiny-bert", platform="cpu", runtime="torch", options=options)
    with pytest.raises(InputError, match=says.replace("'", ".")):
        WORKLOADS.get("training").check(case)


def test_options_of_others_are_left_alone_and_the_usual_ones_are_filled_in() -> None:
    settings = read_settings({"threads": 1, "optimizer": "sgd", "target": "accuracy > 0.9"})
    assert settings == Settings.model_validate({"optimizer": "sgd", "target": "accuracy>0.9"})
    assert settings.rate > 0
    assert settings.cap
    assert read_settings({}).cap is None


def test_a_missing_data_set_is_told_before_anything_runs(tmp_path: Path) -> None:
    for name in ("txet", str(tmp_path / "nowhere")):
        told = {"workload": "training", "model": "tiny-bert", "platform": "cpu", "runtime": "torch"}
        with pytest.raises(InputError, match=r"text|no folder"):
            WORKLOADS.get("training").check(Case(**told, options={"dataset": name}))


def test_targets() -> None:
    assert read_target("loss<2").reached(Grade(1.9, None))
    assert not read_target("loss<2").reached(Grade(2.0, 1.0))
    assert read_target("accuracy>0.5").reached(Grade(9.0, 0.6))
    assert not read_target("accuracy>0.5").reached(Grade(0.1, None))
    assert not read_target("loss<2").reached(Grade(math.nan, None))


def test_a_target_that_is_not_reached_is_told_in_a_note() -> None:
    course = Course(losses=[3.0, 2.0], grades={0: Grade(3.0, 0.1), 2: Grade(2.5, 0.2)})
    metrics = course_metrics(course, read_settings({"target": "loss<1"}))
    assert metrics["steps_to_target"].value is None
    assert metrics["steps_to_target"].note == "loss<1 was not reached within 2 steps: loss 2.5"
    assert metrics["validation_loss_untrained"].value == 3.0


def test_what_cannot_be_trained_is_refused() -> None:
    with pytest.raises(Unsupported, match="autocast=fp16"):
        setup_of(precision="fp16")
    with pytest.raises(Unsupported, match="keeps weights in fp32"):
        setup_of(precision="bf16", autocast="bf16")
    with pytest.raises(Unsupported, match="no attention projections"):
        setup_of("tiny-mamba", preset="lora").trainer()
    with pytest.raises(Unsupported, match="no accuracy to reach; use a target for the loss"):
        setup_of("tiny-unet", target="accuracy>0.9")


@pytest.mark.parametrize(
    ("package", "options"),
    [("peft", {"preset": "lora"}), ("torch.utils.tensorboard", {"steps": 1, "tensorboard": "logs"})],
)
def test_packages_that_are_missing_are_told_before_anything_is_measured(
    package: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ModuleNotFoundError, match=package):
        setup_of(**options)


def test_accumulated_gradients_are_those_of_one_large_batch() -> None:
    import torch

    one, two = setup_of().trainer(), setup_of(accumulate=2).trainer()
    one.model.eval(), two.model.eval()  # without dropout
    batches = two.batches(3)
    alone, losses = [], []
    for tensors in batches:
        one.clear()
        loss = one.forward(tensors)
        losses.append(loss.item())
        one.backward(loss)
        alone.append({name: value.grad.clone() for name, value in one.trained.items()})
    assert two.step(batches).item() == pytest.approx(sum(losses) / 2, rel=1e-6)
    for name, value in two.trained.items():
        torch.testing.assert_close(value.grad, (alone[0][name] + alone[1][name]) / 2, rtol=1e-4, atol=1e-7)


def test_the_memory_split_is_exact() -> None:
    trainer = setup_of().trainer()
    batches = trainer.batches(0)
    trainer.step(batches)
    split = {name: metric.value for name, metric in memory_split(trainer, batches[0]).items()}
    own = bytes_of(trainer.model.parameters()) / MB
    assert split["memory_parameters_mb"] == split["memory_gradients_mb"] == own
    moments = len(trainer.trained) * 4 / MB  # and a counter of steps for each
    assert split["memory_optimizer_mb"] == pytest.approx(2 * own + moments, rel=1e-9)


def test_activations_grow_with_the_batch_and_shrink_with_checkpointing() -> None:
    def kept(**options: Any) -> float:
        trainer = setup_of(**options).trainer()
        return memory_split(trainer, trainer.batches(0)[0])["memory_activations_mb"].value

    assert kept(batch=4) == pytest.approx(2 * kept(batch=2), rel=0.1)
    assert kept(checkpointing=True) < 0.7 * kept()


def test_presets_train_what_they_say() -> None:
    full, head, lora = (setup_of(preset=preset).trainer() for preset in ("full", "head", "lora"))
    assert full.trained.keys() == dict(full.model.named_parameters()).keys()
    assert 0 < len(head.trained) < len(full.trained)
    assert all("lora_" in name for name in lora.trained)
    frozen = {name: value.clone() for name, value in lora.model.named_parameters() if name not in lora.trained}
    lora.step(lora.batches(0))
    now = dict(lora.model.named_parameters())
    assert frozen
    assert all(bool((now[name] == value).all()) for name, value in frozen.items())


def test_operations_of_a_step_are_counted_with_attention_and_backward() -> None:
    setup = setup_of(batch=3, accumulate=2)
    metrics = compute_metrics(setup, setup.trainer(), step_ms=10.0)
    # The backward pass of matrix products is two of the same size; the count of the forward pass is the catalogue's.
    one = setup.source.info.gflop / 3
    assert metrics["compute_gflop"].value == pytest.approx(6 * 3 * one, rel=1e-3)
    rate = metrics["matrix_rate_gflops"].value
    assert metrics["mfu"].value == pytest.approx(metrics["compute_gflop"].value / 10e-3 / rate)
    assert "fp32" in metrics["mfu"].note


def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not() -> None:
    def losses(seed: int) -> list[float]:
        setup = setup_of(steps=6, seed=seed)
        return follow(setup, setup.trainer()).losses

    first = losses(0)
    assert first == losses(0)
    assert first != losses(1)


def test_training_goes_on_from_a_checkpoint_to_the_bit(tmp_path: Path) -> None:
    def course(steps: int, folder: Path | None) -> Course:
        kept = {"checkpoint": str(folder), "checkpoint_every": 3} if folder else {}
        setup = setup_of(steps=steps, autocast="fp16", **kept)
        return follow(setup, setup.trainer())

    whole = course(10, None)
    assert course(4, tmp_path).losses == whole.losses[:4]
    rest = course(10, tmp_path)
    assert rest.resumed == 4
    assert rest.losses == whole.losses
    assert rest.last == whole.last
    assert len(list(tmp_path.iterdir())) == 1


def test_a_damaged_or_foreign_checkpoint_is_refused_by_name(tmp_path: Path) -> None:
    setup = setup_of(steps=4, checkpoint=str(tmp_path))
    trainer = setup.trainer()
    shelf = Checkpoints(tmp_path, identity_of(setup))
    shelf.save(trainer, 2, Course(losses=[1.0, 1.0]).kept())
    file = next(tmp_path.iterdir())
    foreign = Checkpoints(tmp_path, "0" * 16)
    renamed = file.rename(file.with_name(file.name.replace(shelf.identity, foreign.identity)))
    with pytest.raises(InputError, match=f"{renamed.name} is a checkpoint of another case; delete it"):
        foreign.restore(trainer)
    renamed.rename(file)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file.name} is damaged; delete it"):
        shelf.restore(trainer)
    file.write_bytes(content[:100])
    with pytest.raises(InputError, match="damaged"):
        shelf.restore(trainer)


def test_a_half_written_checkpoint_is_not_seen(tmp_path: Path) -> None:
    setup = setup_of(steps=4, checkpoint=str(tmp_path))
    shelf = Checkpoints(tmp_path, identity_of(setup))
    (tmp_path / f".{shelf.identity}-1.draft").write_bytes(b"half")
    assert shelf.restore(setup.trainer()) is None
    assert not list(tmp_path.iterdir())


def test_settings_that_change_the_result_change_what_a_checkpoint_is_for() -> None:
    same = identity_of(setup_of(steps=4))
    assert identity_of(setup_of(steps=9, target="loss<1")) == same
    assert identity_of(setup_of(steps=4, lr=1e-3)) != same
    assert identity_of(setup_of(steps=4, batch=1)) != same
    assert identity_of(setup_of(steps=4, threads=1)) != same


def test_other_examples_make_another_case_of_a_folder(tmp_path: Path) -> None:
    text = tmp_path / "some.txt"
    text.write_text("one two three " * 200)
    before = identity_of(setup_of(steps=4, dataset=str(tmp_path)))
    (tmp_path / "kept.pt").write_bytes(b"no example")
    assert identity_of(setup_of(steps=4, dataset=str(tmp_path))) == before
    text.write_text("one two three " * 201)
    assert identity_of(setup_of(steps=4, dataset=str(tmp_path))) != before


def test_a_target_counts_from_the_first_grade_that_met_it_also_in_a_longer_training(tmp_path: Path) -> None:
    kept = {"checkpoint": str(tmp_path), "lr": 0.003}
    longer = course_of(steps=3 * GRADE_EVERY, **kept)
    first = longer.grades[GRADE_EVERY]
    target = f"loss<{first.loss + 1e-6}"
    assert longer.grades[0].loss > first.loss > longer.last.loss
    settings = read_settings({"target": target})
    again = course_of(steps=3 * GRADE_EVERY, target=target, **kept).until(settings.target)
    alone = course_of(steps=5 * GRADE_EVERY, target=target, lr=0.003)
    assert again.resumed == 3 * GRADE_EVERY
    assert again.losses == alone.losses == longer.losses[:GRADE_EVERY]
    metrics = course_metrics(again, settings)
    assert metrics["steps_to_target"].value == GRADE_EVERY
    assert metrics["seconds_to_target"].value == longer.spent_by[GRADE_EVERY].seconds < longer.spent.seconds
    assert metrics["validation_loss"].value == first.loss


def test_energy_and_time_to_the_target_are_those_until_it_was_met() -> None:
    grades = {0: Grade(3.0, None), 20: Grade(0.5, None), 40: Grade(0.7, None)}
    spent = {0: Spent(), 20: Spent(2.0, 30.0), 40: Spent(4.0, 60.0)}
    course = Course(losses=[1.0] * 40, grades=grades, spent=spent[40], spent_by=spent, energy_source="counter")
    metrics = course_metrics(course, read_settings({"target": "loss<0.6"}))
    names = ("steps_to_target", "seconds_to_target", "energy_to_target_j")
    assert [metrics[name].value for name in names] == [20, 2.0, 30.0]


def test_when_held_out_data_is_looked_at_does_not_depend_on_the_last_step(tmp_path: Path) -> None:
    cap = 2 * GRADE_EVERY + 3
    assert list(course_of(steps=cap).grades) == [0, GRADE_EVERY, 2 * GRADE_EVERY, cap]
    assert list(course_of(steps=5, checkpoint=str(tmp_path)).grades) == [0, 5]
    assert list(course_of(steps=7, checkpoint=str(tmp_path)).grades) == [0, 7]


def test_a_checkpoint_beyond_the_last_step_is_refused_before_anything_is_measured(tmp_path: Path) -> None:
    course_of(steps=6, checkpoint=str(tmp_path))
    bench = bench_of(steps=3, checkpoint=str(tmp_path))
    noted: list[str] = []
    with pytest.raises(InputError, match="is at step 6, beyond the 3 steps asked for; give steps=6 or more"):
        outcome_of(bench, note=noted.append)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"damaged")
    with pytest.raises(InputError, match="damaged"):
        outcome_of(bench_of(steps=6, checkpoint=str(tmp_path)), note=noted.append)
    assert not noted


def test_a_training_that_diverges_leaves_the_good_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Trainer.update
    updates: list[None] = []

    def update(trainer: Trainer) -> None:
        plain(trainer)
        updates.append(None)
        if len(updates) == 4:  # the loss of this step was good still
            next(iter(trainer.trained.values())).data.fill_(math.nan)

    monkeypatch.setattr(Trainer, "update", update)
    course = course_of(steps=4, checkpoint=str(tmp_path), checkpoint_every=2)
    assert course.broken == 4
    assert math.isfinite(course.losses[-1])
    (file,) = tmp_path.iterdir()
    assert "step0000002" in file.name


def test_losses_of_the_speed_loop_do_not_mix_with_those_of_the_course() -> None:
    names = {"loss", "loss_begin", "gradient_norm"}
    beside = outcome_of(bench_of(steps=5), process=1)
    assert beside.status is Status.OK
    assert not names & beside.metrics.keys()
    speed = outcome_of(bench_of(), fresh=False)
    assert names <= speed.metrics.keys()
    assert "had run other shapes" in speed.metrics["first_ms"].note


def test_a_trial_leaves_nothing_behind(tmp_path: Path) -> None:
    kept, logs = tmp_path / "kept", tmp_path / "logs"
    outcome = outcome_of(bench_of(steps=5, checkpoint=str(kept), tensorboard=str(logs)), trial=True)
    assert outcome.status is Status.OK
    assert "validation_loss" not in outcome.metrics
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(("together", "steps"), [(1, 8), (3, 2), (20, 1)])
def test_few_batches_lie_on_the_device_and_those_of_one_step_for_memory(together: int, steps: int) -> None:
    few = Steps(setup_of(accumulate=together).trainer())
    assert [len(of_step) for of_step in few.batches] == [together] * steps
    assert len({id(batch) for of_step in few.batches for batch in of_step}) <= BATCHES
    few.keep_one()
    few()
    few()
    assert len(few.batches) == 1


def test_a_count_that_fails_says_why_and_no_memory_is_raised() -> None:
    setup = setup_of()
    trainer = setup.trainer()

    def fails(error: Exception) -> Any:
        def hook(*_: Any) -> None:
            raise error

        return trainer.model.register_forward_pre_hook(hook)

    hook = fails(ValueError("cannot be followed"))
    metrics = compute_metrics(setup, trainer, step_ms=1.0)
    assert metrics["mfu"].value is None
    assert "ValueError: cannot be followed" in metrics["mfu"].note
    hook.remove()
    fails(MemoryError("full"))
    with pytest.raises(MemoryError):
        compute_metrics(setup, trainer, step_ms=1.0)


@pytest.mark.parametrize("options", [{"precision": "bf16"}, {"autocast": "fp16"}], ids=str)
def test_other_number_formats_learn_the_same_as_fp32(options: dict[str, Any]) -> None:
    setup = setup_of(**options)
    trainer = setup.trainer()
    trainer.step(trainer.batches(0))
    check, gradient = check_learning(setup, trainer)
    assert check.passed
    assert 0 < check.rel_l2 < check.tolerance
    assert 0 < gradient.value < 0.2
    assert gradient.verdict is Verdict.VALID


def test_a_model_that_learns_something_else_is_found_out() -> None:
    setup = setup_of(precision="bf16")
    trainer = setup.trainer()
    wrong = copy.deepcopy(trainer.model)
    wrong.get_input_embeddings().weight.data.mul_(30)
    trainer.callee = wrong
    check, gradient = check_learning(setup, trainer)
    assert not check.passed or gradient.verdict is Verdict.AMBIGUOUS


def test_fp32_on_the_host_is_what_others_are_held_against() -> None:
    setup = setup_of()
    assert check_learning(setup, setup.trainer()) is None
