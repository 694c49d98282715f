"""A model made ready for runtimes: what was made once is kept on disk and read without the model libraries."""

from __future__ import annotations

import contextlib
import json
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.cache import cache_dir
from modeldyno.core.errors import InputError, JobError, Unsupported
from modeldyno.core.identity import digest
from modeldyno.core.protocols import Reference, Source
from modeldyno.core.types import ModelInfo, Precision, Weights
from modeldyno.models import _build
from modeldyno.models._architecture import ExportHints, hints_of, size_class
from modeldyno.models._count import count, count_with
from modeldyno.models._inputs import full_shape, model_inputs
from modeldyno.models._kept import Shelf
from modeldyno.models._reference import as_reference, check_finite, relative_distance, sampled
from modeldyno.models._resolve import ModelSpec, SourceKind, read_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_LAYOUT = 1
"""Raised when what is kept changes its meaning."""
_ROUNDED = {"bf16": "bfloat16", "fp16": "float16"}
ANY_BATCH = 0
"""Stands for the batch size of what serves them all."""
_LIBRARIES = ("torch", "transformers", "diffusers", "onnx", "onnxscript")

release = _build.release


@dataclass(frozen=True)
class _Order:
    """What was asked for."""

    spec: ModelSpec
    batch: int
    shape: dict[str, int]
    weights: Weights
    seed: int

    def key(self) -> str:
        spec = self.spec
        made_of = [_LAYOUT, spec.name, spec.fingerprint(self.weights, self.seed), self.weights]
        return digest([*made_of, self.seed, self.batch, self.shape, [_version(name) for name in _LIBRARIES]])


def prepare(
    spec: ModelSpec,
    batch: int = 1,
    shape: Mapping[str, int] | None = None,
    weights: Weights = Weights.AUTO,
    seed: int = 0,
) -> Source:
    """Make a model ready at one batch size and shape. Raises Unsupported where it cannot be."""
    if batch < 1:
        raise InputError(f"batch={batch} is not a batch size; give 1 or more.")
    _build.check_weights(spec, weights)
    sizes = full_shape(spec, shape)
    order = _Order(_as_used(spec, weights), batch, sizes, weights, seed)
    shelf = Shelf(cache_dir("prepared", order.key()))
    made = FileSource if spec.kind is SourceKind.ONNX else ModelSource
    return made(order, shelf)


def _as_used(spec: ModelSpec, weights: Weights) -> ModelSpec:
    """A checkpoint brings its own configuration; the catalogue only says which class to load it into."""
    if spec.entry is None or spec.path is None or not spec.uses_checkpoint(weights):
        return spec
    named = {key: spec.config[key] for key in ("architectures", "_class_name") if key in spec.config}
    return replace(spec, config={**read_config(spec.path / "config.json"), **named})


class _Prepared(ABC):
    """What both kinds of source do: inputs, reference and description, from the shelf if they are there."""

    def __init__(self, order: _Order, shelf: Shelf) -> None:
        self._order = order
        self._shelf = shelf
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


class ModelSource(_Prepared):
    """A model of transformers or diffusers."""

    def torch_model(self) -> Any:
        order = self._order
        step, took_ms = _build.step_of(order.spec, order.weights, order.seed)
        self.build_ms += took_ms
        return step

    def onnx_path(self) -> Path:
        spec = self._order.spec
        assert spec.member is not None
        hints = hints_of(spec.member, spec.model_type or "")
        return (self._of_any_batch() if hints.any_batch else None) or self._of_this_batch(hints)

    def _of_this_batch(self, hints: ExportHints) -> Path:
        from modeldyno.models._export import export

        path = self._shelf.folder / "onnx" / "model.onnx"
        if not path.is_file():
            arrays, names, step = self.inputs(), tuple(self.reference().values), self.torch_model()
            with self._timed():
                self._shelf.put_folder("onnx", lambda draft: export(step, arrays, names, hints, draft / path.name))
        return path

    def _of_any_batch(self) -> Path | None:
        """A graph for this batch beside the one all batch sizes share; None where there is no such graph."""
        from modeldyno.models._export import fix_sizes

        shared = self._any_batch()
        if shared is None:
            return None
        path = shared.with_name(f"batch{self._order.batch}.onnx")
        if not path.is_file():
            Shelf(shared.parent).put(path.name, lambda draft: fix_sizes(shared, self.inputs(), draft))
        return path

    def _any_batch(self) -> Path | None:
        """The export that all batch sizes of this shape share; None where there is no such graph."""
        from modeldyno.models._export import export_any_batch

        order = replace(self._order, batch=ANY_BATCH)
        shelf = Shelf(cache_dir("prepared", order.key()))
        path = shelf.folder / "onnx" / "model.onnx"
        if path.is_file():
            return path
        step, names = self.torch_model(), tuple(self.reference().values)
        arrays = model_inputs(order.spec, 2, order.shape, order.seed)
        try:
            with self._timed():
                shelf.put_folder("onnx", lambda draft: export_any_batch(step, arrays, names, draft / path.name))
        except Unsupported:  # an export for one batch size may still do; if not, it will tell the reason
            return None
        return path

    def _draw(self) -> Arrays:
        order = self._order
        return model_inputs(order.spec, order.batch, order.shape, order.seed)

    def _compute(self) -> tuple[str, Arrays]:
        try:
            return "torch fp32 on cpu", self._run_on_cpu(Precision.FP32)
        except MemoryError:
            raise
        except Exception as error:
            raise JobError(f"'{self._order.spec.name}' fails in PyTorch on the CPU: {error}") from error

    def _round(self, precision: str) -> dict[str, float]:
        if precision not in _ROUNDED:
            return {}
        reference = self.reference()
        try:
            outputs = self._run_on_cpu(precision)
        except RuntimeError:  # an operator without a kernel of this precision on the CPU
            return {}
        distances = {name: relative_distance(outputs.get(name), reference, name) for name in reference.values}
        return {name: distance for name, distance in distances.items() if distance is not None}

    def _run_on_cpu(self, precision: str) -> Arrays:
        import torch

        dtype = getattr(torch, _ROUNDED.get(precision, "float32"))
        step = self.torch_model().to(dtype)
        tensors = {name: torch.from_numpy(array) for name, array in self.inputs().items()}
        with torch.inference_mode():
            outputs = step(**{name: t.to(dtype) if t.is_floating_point() else t for name, t in tensors.items()})
        return {name: tensor.float().numpy() for name, tensor in outputs.items()}

    def _describe(self) -> ModelInfo:
        order = self._order
        counts = count_with(order.spec, self.inputs())
        kind = "pretrained" if order.spec.uses_checkpoint(order.weights) else "random"
        return self._info(counts.parameters, counts.gflop, kind)


class FileSource(_Prepared):
    """A model that is an ONNX file."""

    def torch_model(self) -> Any:
        raise Unsupported(
            f"'{self._order.spec.name}' is an ONNX file, not a PyTorch model", "use the onnxruntime or openvino runtime"
        )

    def onnx_path(self) -> Path:
        from modeldyno.models import _onnx_file

        original = self._file()
        if _onnx_file.read_graph(original).is_static:
            return original
        path = self._shelf.folder / "onnx" / "model.onnx"
        if path.is_file():
            return path
        arrays = self.inputs()
        with self._timed():
            self._shelf.put_folder("onnx", lambda draft: _onnx_file.write_static(original, arrays, draft / path.name))
        return path

    def _file(self) -> Path:
        assert self._order.spec.path is not None
        return self._order.spec.path

    def _draw(self) -> Arrays:
        from modeldyno.models._onnx_file import file_inputs

        order = self._order
        return file_inputs(self._file(), order.batch, order.shape, order.seed)

    def _compute(self) -> tuple[str, Arrays]:
        from modeldyno.models._onnx_file import run_file

        return "onnxruntime on cpu", run_file(self.onnx_path(), self.inputs())

    def _describe(self) -> ModelInfo:
        self.inputs()  # a size the graph cannot take is told before anything is measured
        return self._info(count(self._order.spec).parameters, None, "file")


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None
