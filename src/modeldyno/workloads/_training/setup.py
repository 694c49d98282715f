"""From a case to a trainer: what cannot be trained is refused, and every trainer starts from the initial weights."""

from __future__ import annotations

import gc
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any

from modeldyno import models
from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Bench, RunsTorch, Source, Trains
from modeldyno.core.types import Case, Placement, Precision
from modeldyno.models import Lesson
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._training import presets
from modeldyno.workloads._training.chance import seed_all
from modeldyno.workloads._training.logs import require_tensorboard
from modeldyno.workloads._training.settings import Settings, read_settings
from modeldyno.workloads._training.target import ACCURACY
from modeldyno.workloads._training.trainer import Site, Trainer

_DTYPES: dict[str, str] = {Precision.FP32: "float32", Precision.BF16: "bfloat16"}


@dataclass
class Setup:
    """All that trainers of one case have in common."""

    bench: Bench
    settings: Settings
    source: Source
    lesson: Lesson
    site: Site
    runtime: Trains
    load_ms: float = 0.0
    """Time to bring the model onto the device, of the last trainer."""

    @property
    def case(self) -> Case:
        return self.bench.case

    @classmethod
    def of(cls, bench: Bench) -> Setup:
        case, settings = bench.case, read_settings(bench.case.options)
        site, runtime = _site(bench, settings), _runtime(bench)
        spec = models.resolve(case.model)
        lesson = models.lesson(spec, settings.dataset, case.batch, case.shape, settings.seed)
        _check_ahead(settings, lesson)
        source = models.prepare(spec, case.batch, case.shape, case.weights, settings.seed)
        return cls(bench, settings, source, lesson, site, runtime)

    @property
    def software(self) -> dict[str, str]:
        packages = ("torch", "transformers", *(("peft",) if self.settings.preset == "lora" else ()))
        return {package: version(package) for package in packages}

    def trainer(self) -> Trainer:
        """A new one; those before it should be let go, for their memory."""
        models.release()
        gc.collect()
        seed_all(self.settings.seed, 0)
        model = models.learner(models.resolve(self.case.model), self.case.weights, self.settings.seed)
        presets.apply(self.settings.preset, model, self.lesson)
        if self.settings.checkpointing:
            _keep_less(model)
        model.train()
        place = partial(model.to, device=self.site.address, dtype=self.site.dtype)
        self.load_ms = self.bench.session.lap(place, 1).host_ns / 1e6
        return Trainer(model, self.runtime.for_training(model), self.lesson, self.settings, self.site)

    def small_lesson(self) -> Lesson:
        """The same lesson with as few items in a batch as it can have, for what is done beside the measurement."""
        spec = models.resolve(self.case.model)
        return models.lesson(spec, self.settings.dataset, self.lesson.least, self.case.shape, self.settings.seed)

    def placement(self, trainer: Trainer, loss: Any) -> Placement:
        """Proof of where it learned: where the loss came out, and in which format the parameters are."""
        import torch

        autocast = f" weights, {self.settings.autocast} autocast" if self.settings.autocast else ""
        parameters = list(trainer.model.parameters())
        where = [str(value.device) for value in parameters]
        return Placement(
            asked=self.site.address,
            device=str(loss.device),
            compute_precision=str(next(iter(trainer.trained.values())).dtype).removeprefix("torch.") + autocast,
            nodes={device: where.count(device) for device in dict.fromkeys(where)},
            fallback=tuple(sorted(set(where) - {str(loss.device)})),
            threads=torch.get_num_threads(),
            details={
                "dataset": self.lesson.dataset,
                "task": self.lesson.task,
                "lr": self.settings.rate,
                **self.runtime.training_details(),
            },
        )


def _site(bench: Bench, settings: Settings) -> Site:
    case = bench.case
    if not isinstance(bench.session, RunsTorch):
        raise Unsupported(
            f"PyTorch, which training runs in, cannot address a device of platform {case.platform}",
            f"leave {case.platform} out",
        )
    if settings.autocast and case.precision != Precision.FP32:
        raise Unsupported(f"autocast keeps weights in fp32, not in {case.precision}", "use --precision fp32 with it")
    if case.precision not in _DTYPES:
        raise Unsupported(
            f"weights in {case.precision} cannot take small updates",
            "use --precision bf16, or --precision fp32 with --option autocast=fp16",
        )
    import torch

    if threads := case.options.get("threads"):
        torch.set_num_threads(int(threads))
    address = str(torch.empty(0, device=bench.session.torch_device()).device)
    return Site(address, getattr(torch, _DTYPES[case.precision]))


def _runtime(bench: Bench) -> Trains:
    runtime = RUNTIMES.get(bench.case.runtime)
    if not isinstance(runtime, Trains):
        raise Unsupported(f"{bench.case.runtime} runs models but does not train them", "use --runtime torch")
    runtime.check(bench.session, bench.case.precision)
    return runtime


def _check_ahead(settings: Settings, lesson: Lesson) -> None:
    """What would otherwise end a case after minutes of measuring."""
    if settings.target and settings.target.of == ACCURACY and lesson.mark is None:
        raise Unsupported(
            f"answers of the task '{lesson.task}' are not right or wrong, so it has no accuracy to reach",
            "use a target for the loss, such as --option 'target=loss<2.0'",
        )
    if settings.preset == "lora":
        presets.require_peft()
    if settings.tensorboard:
        require_tensorboard()


def _keep_less(model: Any) -> None:
    if not getattr(model, "supports_gradient_checkpointing", False):
        raise Unsupported("this model cannot checkpoint its gradients", "leave out --option checkpointing")
    model.gradient_checkpointing_enable()
