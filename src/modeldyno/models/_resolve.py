"""From a name to a model: catalogue, Hugging Face cache, folder, config.json or ONNX file; no heavy import."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.identity import digest
from modeldyno.core.types import Weights
from modeldyno.models import _catalogue, _hub
from modeldyno.models._architecture import Architecture, Entry, config_axes, config_family
from modeldyno.models._detect import architecture_of

_HUB_ID = re.compile(r"[\w.-]+(/[\w.-]+)?")


class SourceKind(StrEnum):
    """Where a model's description comes from."""

    CATALOGUE = "catalogue"
    HUB = "hub"
    FOLDER = "folder"
    CONFIG = "config"
    ONNX = "onnx"


@dataclass(frozen=True)
class ModelSpec:
    """A model that was found, before anything heavy happens."""

    name: str
    kind: SourceKind
    architecture: str | None
    family: str | None
    model_type: str | None
    axes: Mapping[str, int] = field(hash=False)
    """Sizes beyond the batch, with this model's defaults."""
    config: Mapping[str, Any] = field(hash=False, repr=False)
    entry: Entry | None = None
    path: Path | None = None
    """Folder with the checkpoint or configuration, or the ONNX file."""
    parameters: int | None = None
    has_checkpoint: bool = False

    @property
    def member(self) -> Architecture | None:
        return _catalogue.ARCHITECTURES.get(self.architecture) if self.architecture else None

    def uses_checkpoint(self, weights: Weights) -> bool:
        return self.has_checkpoint and weights is not Weights.RANDOM

    def origin(self, weights: Weights) -> str:
        """Where the model a case used came from, for the record."""
        if self.entry and self.uses_checkpoint(weights):
            return self.entry.hf_id or self.entry.name
        return str(self.path) if self.path and self.kind is not SourceKind.HUB and not self.entry else self.name

    def fingerprint(self, weights: Weights, seed: int) -> str:
        """Equal fingerprints compute the same function."""
        if self.kind is SourceKind.ONNX and self.path:
            # External data lies beside the graph, under its name with something added.
            return digest(["onnx", _hub.files_digest(sorted(self.path.parent.glob(f"{self.path.name}*")))])
        if self.uses_checkpoint(weights) and self.path:
            return digest(["pretrained", self.config, _hub.files_digest(_hub.weight_files(self.path))])
        return digest(["random", self.config, seed])


def resolve(name: str) -> ModelSpec:
    """The model called `name`. Raises UnknownName or InputError with what to do."""
    if entry := _catalogue.find(name):
        return _from_entry(entry)
    path = Path(name).expanduser()
    if path.suffix.lower() == ".onnx":
        return _from_onnx(name, path)
    if path.is_dir():
        return _from_folder(name, path, SourceKind.FOLDER)
    if path.suffix == ".json":
        return _from_config(name, path)
    if _HUB_ID.fullmatch(name) and (found := _hub.snapshot(name)):
        return _from_folder(name, found, SourceKind.HUB)
    raise UnknownName("model", name, _catalogue.names())


def _from_entry(entry: Entry) -> ModelSpec:
    architecture = architecture_of(entry.config)
    member = _catalogue.ARCHITECTURES.get(architecture)
    folder = _checkpoint_of(entry)
    return ModelSpec(
        name=entry.name,
        kind=SourceKind.CATALOGUE,
        architecture=architecture,
        family=entry.family,
        model_type=_model_type(entry.config),
        axes={**config_axes(member, entry.config), **entry.axes},
        config=entry.config,
        entry=entry,
        path=folder,
        parameters=entry.parameters,
        has_checkpoint=folder is not None,
    )


def _checkpoint_of(entry: Entry) -> Path | None:
    # Repositories of the first days have no owner: `bert-base-uncased` and `google-bert/bert-base-uncased` are one.
    for repo_id in entry.names if entry.hf_id else ():
        found = _hub.snapshot(repo_id)
        folder = _hub.model_folder(found) if found else None
        if folder and _hub.weight_files(folder):
            return folder
    return None


def _from_folder(name: str, path: Path, kind: SourceKind) -> ModelSpec:
    folder = _hub.model_folder(path)
    if folder is None:
        raise InputError(f"The folder {path} has no config.json; give a folder made by save_pretrained.")
    config = read_config(folder / "config.json")
    return _described(name, kind, config, folder, has_checkpoint=bool(_hub.weight_files(folder)))


def _from_config(name: str, path: Path) -> ModelSpec:
    if not path.is_file():
        raise InputError(f"There is no file {path}; give the path of an existing config.json.")
    return _described(name, SourceKind.CONFIG, read_config(path), path, has_checkpoint=False)


def _from_onnx(name: str, path: Path) -> ModelSpec:
    from modeldyno.models._onnx_file import free_axes

    if not path.is_file():
        raise InputError(f"There is no file {path}; give the path of an existing ONNX file.")
    return ModelSpec(
        name=name,
        kind=SourceKind.ONNX,
        architecture=None,
        family=None,
        model_type=None,
        axes=free_axes(path),
        config={},
        path=path,
        has_checkpoint=True,
    )


def _described(name: str, kind: SourceKind, config: dict[str, Any], path: Path, has_checkpoint: bool) -> ModelSpec:
    architecture = architecture_of(config)
    member = _catalogue.ARCHITECTURES.get(architecture)
    model_type = _model_type(config)
    return ModelSpec(
        name=name,
        kind=kind,
        architecture=architecture,
        family=config_family(member, model_type),
        model_type=model_type,
        axes=config_axes(member, config),
        config=config,
        path=path,
        has_checkpoint=has_checkpoint,
    )


def _model_type(config: Mapping[str, Any]) -> str:
    return str(config.get("_class_name") or config.get("model_type"))


def read_config(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; mend the file or fetch it again.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read: {error}; mend the file or fetch it again.") from error
    if not isinstance(content, dict):
        raise InputError(f"{path} holds no JSON object; use the config.json that came with the model.")
    return content
