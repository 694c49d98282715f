"""The model libraries, loaded quietly and offline: classes and configurations from what a config.json says."""

from __future__ import annotations

import contextlib
import copy
import inspect
import io
import logging
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, Unsupported

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Architecture


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep what libraries print, log and warn off the user's terminal and out of a worker's output."""
    before = logging.root.manager.disable
    sink = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        warnings.simplefilter("ignore")
        logging.disable(logging.ERROR)
        try:
            yield
        finally:
            logging.disable(before)


def load_torch() -> Any:
    os.environ["HF_HUB_OFFLINE"] = "1"  # read once, when the library is imported
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        with quiet():
            import torch
    except ImportError as error:
        raise Unsupported("PyTorch is not installed", "pip install 'modeldyno[torch]'") from error
    return torch


def load_transformers() -> Any:
    load_torch()
    try:
        with quiet():
            import transformers
            import transformers.utils.logging as log
    except ImportError as error:
        raise Unsupported("transformers is not installed", "pip install 'modeldyno[torch]'") from error
    log.set_verbosity_error()
    log.disable_progress_bar()
    return transformers


def load_diffusers() -> Any:
    load_transformers()
    try:
        with quiet():
            import diffusers
    except ImportError as error:
        raise Unsupported("diffusers is not installed", "pip install 'modeldyno[diffusion]'") from error
    return diffusers


def is_diffusers(config: Mapping[str, Any]) -> bool:
    return "_class_name" in config


def configuration(config: Mapping[str, Any]) -> Any:
    """The library's own configuration with all defaults filled in; for diffusers the plain mapping."""
    content = copy.deepcopy(dict(config))
    if is_diffusers(config):
        return content
    transformers = load_transformers()
    kind = content.get("model_type")
    with quiet():
        from transformers.models.auto.configuration_auto import CONFIG_MAPPING

        if kind not in CONFIG_MAPPING:
            raise InputError(
                f"transformers {transformers.__version__} does not know the model_type {kind!r}; "
                "install a version that does."
            )
        try:
            return CONFIG_MAPPING[kind].from_dict(content)
        except Exception as error:
            raise InputError(f"transformers refuses this {kind} configuration: {first_line(error)}") from error


def model_class(config: Mapping[str, Any], architecture: Architecture) -> Any:
    """The class the configuration names, else what the architecture falls back on."""
    if is_diffusers(config):
        return _named(load_diffusers(), str(config["_class_name"]))
    transformers = load_transformers()
    names = config.get("architectures") or []
    with quiet():
        for name in names:
            if found := getattr(transformers, name, None):
                return found
        return _fallback(getattr(transformers, architecture.auto_class), configuration(config))


def _named(library: Any, name: str) -> Any:
    with quiet():
        found = getattr(library, name, None)
    if found is None:
        raise InputError(f"{library.__name__} {library.__version__} has no class {name}; install a version that does.")
    return found


def _fallback(auto: Any, config: Any) -> Any:
    mapping = getattr(auto, "_model_mapping", None)
    if mapping is None:
        return auto
    try:
        found = mapping[type(config)]
    except KeyError as error:
        raise InputError(
            f"The configuration names no class, and {auto.__name__} knows none for it; "
            "add 'architectures' to its config.json."
        ) from error
    return found[0] if isinstance(found, tuple) else found


def construct(cls: Any, config: Mapping[str, Any], **options: Any) -> Any:
    """A new model of `cls`, with whatever weights its constructor leaves."""
    with quiet():
        if is_diffusers(config):
            return cls.from_config(configuration(config))
        return cls._from_config(configuration(config), dtype=load_torch().float32, **options)


def without_initialising() -> AbstractContextManager[None]:
    """Skip the library's own filling of weights, which takes longer than everything else together."""
    load_transformers()
    with quiet():
        try:
            from transformers.initialization import no_init_weights
        except ImportError:  # transformers before 5.0 kept it elsewhere
            from transformers.modeling_utils import no_init_weights
    context: AbstractContextManager[None] = no_init_weights()
    return context


def accepted(cls: Any, arrays: Arrays) -> Arrays:
    """The inputs that this class takes: a task's class may need fewer than its architecture offers."""
    parameters = inspect.signature(cls.forward).parameters
    return {name: array for name, array in arrays.items() if name in parameters}


def takes(model: Any, name: str) -> bool:
    """Whether calls of this model may have an argument of this name."""
    return name in inspect.signature(model.forward).parameters


def first_line(error: BaseException) -> str:
    """What went wrong, in the one line a reason has room for."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}"[:300]
