"""Building a model in this process, and holding on to the last one built."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modeldyno.core.errors import InputError, JobError, Unsupported, is_out_of_memory
from modeldyno.core.types import Weights
from modeldyno.models import _library, _weights
from modeldyno.models._resolve import ModelSpec
from modeldyno.models._step import as_step


@dataclass
class _Held:
    """The one model kept between cases of a worker."""

    fingerprint: str
    step: Any
    mark: int

    def untouched(self) -> bool:
        """False once someone moved or converted it: modules change in place."""
        return self.mark == _mark(self.step)


_held: list[_Held] = []


def step_of(spec: ModelSpec, weights: Weights, seed: int) -> tuple[Any, float]:
    """The model in fp32 on the CPU in evaluation mode, and the milliseconds it took to make it now."""
    fingerprint = spec.fingerprint(weights, seed)
    for held in _held:
        if held.fingerprint == fingerprint and held.untouched():
            return held.step.eval(), 0.0
    release()
    cls = _class_of(spec)
    start = time.perf_counter()
    model = _pretrained(cls, spec) if spec.uses_checkpoint(weights) else _random(cls, spec, seed)
    step = as_step(model.eval(), spec.member).eval()
    _held.append(_Held(fingerprint, step, _mark(step)))
    return step, (time.perf_counter() - start) * 1e3


def learner(spec: ModelSpec, weights: Weights, seed: int) -> Any:
    """The library's own model in fp32 on the CPU, as training begins: a checkpoint, or the library's own first weights.

    The quick filling that speed is measured with is no good start: in long stacks hardly any signal is left."""
    cls = _class_of(spec)
    if spec.uses_checkpoint(weights):
        return _pretrained(cls, spec)
    torch = _library.load_torch()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return _constructed(cls, spec)


def release() -> None:
    """Let go of the model held in this process, so that its memory can be used for something else."""
    _held.clear()


def check_weights(spec: ModelSpec, weights: Weights) -> None:
    if weights is Weights.PRETRAINED and not spec.has_checkpoint:
        published = spec.entry.hf_id if spec.entry else spec.name
        fetch = f"fetch it with 'hf download {published}', or " if published else "none is published; "
        raise Unsupported(f"there is no checkpoint of '{spec.name}' on this machine", f"{fetch}use --weights random")


def _class_of(spec: ModelSpec) -> Any:
    member = spec.member
    if member is None:
        raise Unsupported(
            f"'{spec.name}' is an ONNX file, not a PyTorch model", "use the onnxruntime or openvino runtime"
        )
    return _library.model_class(spec.config, member)


def _random(cls: Any, spec: ModelSpec, seed: int) -> Any:
    with _library.without_initialising():
        model = _constructed(cls, spec)
    _weights.fill(model, seed)
    return model


def _constructed(cls: Any, spec: ModelSpec) -> Any:
    try:
        return _library.construct(cls, spec.config)
    except (InputError, Unsupported):
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise JobError(f"'{spec.name}' could not be built: {_library.first_line(error)}") from error


def _pretrained(cls: Any, spec: ModelSpec) -> Any:
    folder: Path | None = spec.path
    torch = _library.load_torch()
    name = "torch_dtype" if _library.is_diffusers(spec.config) else "dtype"
    try:
        with _library.quiet():
            return cls.from_pretrained(folder, local_files_only=True, **{name: torch.float32})
    except Exception as error:
        if is_out_of_memory(error):
            raise
        raise Unsupported(
            f"the checkpoint of '{spec.name}' could not be read: {_library.first_line(error)}", "use --weights random"
        ) from error


def _mark(step: Any) -> int:
    tensors = (*step.parameters(), *step.buffers())
    versions = (None if t.is_inference() else t._version for t in tensors)
    return hash((tuple(t.data_ptr() for t in tensors), tuple(versions)))
