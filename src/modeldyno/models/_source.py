"""A model made ready for runtimes: what was made once is kept on disk and read without the model libraries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Source
from modeldyno.core.types import ModelInfo, Weights
from modeldyno.models import _build
from modeldyno.models._architecture import ExportHints, hints_of
from modeldyno.models._count import count, count_with
from modeldyno.models._inputs import full_shape, model_inputs
from modeldyno.models._kept import Shelf
from modeldyno.models._prepared import OfLibrary, Order, Prepared
from modeldyno.models._resolve import ModelSpec, SourceKind

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

ANY_BATCH = 0
"""Stands for the batch size of what serves them all."""
NO_ANY_BATCH = "no-any-batch.txt"
"""Kept in place of an export for all batch sizes that failed, with the reason: it would fail in every process."""

release = _build.release


def prepare(
    spec: ModelSpec,
    batch: int = 1,
    shape: Mapping[str, int] | None = None,
    weights: Weights = Weights.AUTO,
    seed: int = 0,
) -> Source:
    """Make a model ready at one batch size and shape. Raises Unsupported where it cannot be."""
    order = Order.of(spec, batch, full_shape(spec, shape), weights, seed)
    return FileSource(order) if spec.kind is SourceKind.ONNX else ModelSource(order)


class ModelSource(OfLibrary):
    """One step of a model of transformers or diffusers."""

    def torch_model(self) -> Any:
        return self._step()

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
        shelf = order.shelf()
        path = shelf.folder / "onnx" / "model.onnx"
        if path.is_file():
            return path
        if shelf.text(NO_ANY_BATCH) is not None:
            return None
        step, names = self.torch_model(), tuple(self.reference().values)
        arrays = model_inputs(order.spec, 2, order.shape, order.seed)
        try:
            with self._timed():
                shelf.put_folder("onnx", lambda draft: export_any_batch(step, arrays, names, draft / path.name))
        except Unsupported as error:  # an export for one batch size may still do; if not, it will tell the reason
            shelf.put_text(NO_ANY_BATCH, str(error))
            return None
        return path

    def _draw(self) -> Arrays:
        order = self._order
        return model_inputs(order.spec, order.batch, order.shape, order.seed)

    def _outputs(self, step: Any, tensors: Mapping[str, Any]) -> Mapping[str, Any]:
        outputs: Mapping[str, Any] = step(**tensors)
        return outputs

    def _describe(self) -> ModelInfo:
        counts = count_with(self._order.spec, self.inputs())
        return self._info(counts.parameters, counts.gflop, self._weights())


class FileSource(Prepared):
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
