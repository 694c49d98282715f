"""What all kinds of prepared models do: keep on disk what was made once, and read it without the model libraries."""

from __future__ import annotations

import contextlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from modeldyno.core.cache import cache_dir
from modeldyno.core.errors import InputError, JobError, is_out_of_memory
from modeldyno.core.identity import digest
from modeldyno.core.protocols import Reference
from modeldyno.core.types import ModelInfo, Precision, Weights
from modeldyno.models import _build
from modeldyno.models._architecture import size_class
from modeldyno.models._kept import Shelf
from modeldyno.models._reference import as_reference, check_finite, relative_distance, sampled
from modeldyno.models._resolve import ModelSpec, read_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_LAYOUT = 1
"""Raised when what is kept changes its meaning."""
_ROUNDED = {"bf16": "bfloat16", "fp16": "float16"}
_LIBRARIES = ("torch", "transformers", "diffusers", "onnx", "onnxscript")


@dataclass(frozen=True)
class Order:
    """What was asked for."""

    spec: ModelSpec
    batch: int
    shape: dict[str, int]
    weights: Weights
    seed: int

    @classmethod
    def of(cls, spec: ModelSpec, batch: int, shape: dict[str, int], weights: Weights, seed: int) -> Order:
        """Raises InputError or Unsupported for what cannot be had."""
        if batch < 1:
            raise InputError(f"batch={batch} is not a batch size; give 1 or more.")
        _build.check_weights(spec, weights)
        return cls(_as_used(spec, weights), batch, shape, weights, seed)

    def key(self) -> str:
        spec = self.spec
        made_of = [_LAYOUT, spec.name, spec.fingerprint(self.weights, self.seed), self.weights]
        return digest([*made_of, self.seed, self.batch, self.shape, [_version(name) for name in _LIBRARIES]])

    def shelf(self) -> Shelf:
        return Shelf(cache_dir("prepared", self.key()))


def _as_used(spec: ModelSpec, weights: Weights) -> ModelSpec:
    """A checkpoint brings its own configuration; the catalogue only says which class to load it into."""
    if spec.entry is None or spec.path is None or not spec.uses_checkpoint(weights):
        return spec
    named = {key: spec.config[key] for key in ("architectures", "_class_name") if key in spec.config}
    return replace(spec, config={**read_config(spec.path / "config.json"), **named})


class Prepared(ABC):
    """Inputs, reference and description, from the shelf if they are there."""

    def __init__(self, order: Order) -> None:
        self._order = order
        self._shelf = order.shelf()
        self.build_ms = 0.0
        self.info = self._described()

    def inputs(self) -> Arrays:
        kept = self._shelf.arrays("inputs.npz")
        if kept is None:
            kept = self._draw()
            self._shelf.put_arrays("inputs.npz", kept)
        return kept

    def reference(self) -> Reference:
        kept = self._shelf.arrays("reference.npz")
        if kept is None:
            made_by, outputs = self._compute()
            check_finite(self._order.spec.name, outputs)
            kept = sampled(made_by, outputs)
            self._shelf.put_arrays("reference.npz", kept)
        return as_reference(kept)

    def rounding(self, precision: str) -> dict[str, float]:
        kept = self._shelf.text(f"rounding-{precision}.json")
        if kept is None:
            kept = json.dumps(self._round(precision))
            self._shelf.put_text(f"rounding-{precision}.json", kept)
        return dict(json.loads(kept))

    def _round(self, precision: str) -> dict[str, float]:  # noqa: ARG002 - unknown unless a source can tell
        return {}

    @contextlib.contextmanager
    def _timed(self) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self.build_ms += (time.perf_counter() - start) * 1e3

    def _described(self) -> ModelInfo:
        if kept := self._shelf.text("meta.json"):
            with contextlib.suppress(ValueError):  # a damaged file is made anew
                return ModelInfo.model_validate_json(kept)
        info = self._describe()
        self._shelf.put_text("meta.json", info.model_dump_json())
        return info

    @abstractmethod
    def _draw(self) -> Arrays: ...

    @abstractmethod
    def _compute(self) -> tuple[str, Arrays]: ...

    @abstractmethod
    def _describe(self) -> ModelInfo: ...

    def _info(self, parameters: int | None, gflop: float | None, weights: str) -> ModelInfo:
        order, spec = self._order, self._order.spec
        return ModelInfo(
            name=spec.name,
            architecture=spec.architecture,
            family=spec.family,
            model_type=spec.model_type,
            parameters=parameters,
            size=None if parameters is None else size_class(parameters),
            weights=weights,
            source=spec.origin(order.weights),
            fingerprint=spec.fingerprint(order.weights, order.seed),
            gflop=gflop,
        )


class OfLibrary(Prepared):
    """A model of transformers or diffusers; the reference is what it computes in fp32 on the CPU."""

    def _step(self) -> Any:
        order = self._order
        step, took_ms = _build.step_of(order.spec, order.weights, order.seed)
        self.build_ms += took_ms
        return step

    @abstractmethod
    def _outputs(self, step: Any, tensors: Mapping[str, Any]) -> Mapping[str, Any]:
        """The tensors that are compared, from the inputs as tensors."""

    def _weights(self) -> str:
        return "pretrained" if self._order.spec.uses_checkpoint(self._order.weights) else "random"

    def _compute(self) -> tuple[str, Arrays]:
        try:
            return "torch fp32 on cpu", self._run_on_cpu(Precision.FP32)
        except Exception as error:
            if is_out_of_memory(error):
                raise
            raise JobError(f"'{self._order.spec.name}' fails in PyTorch on the CPU: {error}") from error

    def _round(self, precision: str) -> dict[str, float]:
        if precision not in _ROUNDED:
            return {}
        reference = self.reference()
        try:
            outputs = self._run_on_cpu(precision)
        except RuntimeError as error:  # an operator without a kernel of this precision on the CPU
            if is_out_of_memory(error):
                raise
            return {}
        distances = {name: relative_distance(outputs.get(name), reference, name) for name in reference.values}
        return {name: distance for name, distance in distances.items() if distance is not None}

    def _run_on_cpu(self, precision: str) -> Arrays:
        import torch

        dtype = getattr(torch, _ROUNDED.get(precision, "float32"))
        step = self._step().to(dtype)
        tensors = {name: torch.from_numpy(array) for name, array in self.inputs().items()}
        cast = {name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()}
        with torch.inference_mode():
            outputs = self._outputs(step, cast)
        return {name: tensor.float().numpy() for name, tensor in outputs.items()}


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
