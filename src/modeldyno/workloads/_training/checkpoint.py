"""Checkpoints: whole or not there at all, known by case, step and content, and verified before they are used.

The name of the file has the hash of its content, so a damaged one is never taken for a good one.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from modeldyno.core.errors import InputError
from modeldyno.core.identity import digest
from modeldyno.datasets import DATASETS
from modeldyno.datasets._folder import image_files, text_files
from modeldyno.workloads._training.settings import MOST_STEPS, OPTIONS, what_decides
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.trainer import Trainer

_NAME = re.compile(r"(?P<identity>[0-9a-f]+)-step(?P<step>\d+)-(?P<content>[0-9a-f]{64})\.pt")
_BLOCK = 2**20


def identity_of(setup: Setup) -> str:
    """Equal for cases whose training goes through the same states."""
    case = setup.case
    same = case.model_dump(mode="json", exclude={"index", "options"})
    of_others = {name: value for name, value in case.options.items() if name not in OPTIONS}  # threads, for one
    examples = _files_of(setup.settings.dataset)
    model = setup.source.info.fingerprint
    return digest([same, what_decides(setup.settings), model, of_others, setup.software, examples])


def _files_of(dataset: str | None) -> list[tuple[str, int, int]]:
    """Name, size and time of each file of a folder of the user's own; none for what is made from the seed."""
    if dataset is None or dataset in DATASETS.names():
        return []
    folder = Path(dataset).expanduser()
    files = text_files(folder) or [file for of_class in image_files(folder).values() for file in of_class]
    told = ((file, file.stat()) for file in files)
    return [(str(file.relative_to(folder)), stat.st_size, stat.st_mtime_ns) for file, stat in told]


def shelf_of(setup: Setup) -> Checkpoints | None:
    """Where the checkpoints of a case lie, where it keeps any."""
    settings = setup.settings
    if settings.checkpoint is None:
        return None
    return Checkpoints(settings.checkpoint, identity_of(setup), settings.cap or MOST_STEPS)


@dataclass(frozen=True)
class Checkpoints:
    """Those of one case in a folder, which cases may share; only the newest is kept."""

    folder: Path
    identity: str
    cap: int = MOST_STEPS
    """The last step of the case. Its result does not follow from a state beyond it."""

    def save(self, trainer: Trainer, step: int, course: Mapping[str, Any]) -> None:
        """Written beside, brought to the disk, then renamed: a kill at any moment leaves the one before."""
        import torch

        content = {
            "identity": self.identity,
            "step": step,
            "course": dict(course),
            "values": {name: value.detach() for name, value in _values(trainer).items()},
            "optimizer": trainer.optimizer.state_dict(),
            "scaler": trainer.scaler.state_dict(),
        }
        before = self._files()
        draft = self.folder / f".{self.identity}-{os.getpid()}.draft"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with draft.open("wb") as file:
                hashed = _Hashed(file)
                torch.save(content, hashed)
                file.flush()
                os.fsync(file.fileno())
            draft.rename(self.folder / f"{self.identity}-step{step:07d}-{hashed.sha256.hexdigest()}.pt")
        except OSError as error:
            draft.unlink(missing_ok=True)
            raise InputError(f"The checkpoint cannot be written: {error}; give another folder.") from error
        for old in before:
            old.unlink(missing_ok=True)

    def restore(self, trainer: Trainer) -> dict[str, Any] | None:
        """Bring a trainer to the newest checkpoint; gives back its course, or None where there is none."""
        import torch

        for draft in self.folder.glob(f".{self.identity}-*.draft"):  # of runs that were killed
            draft.unlink(missing_ok=True)
        newest = self.newest()
        if newest is None:
            return None
        content = torch.load(newest, map_location=trainer.site.address, weights_only=True)
        values = _values(trainer)
        if content["identity"] != self.identity or content["values"].keys() != values.keys():
            raise InputError(f"{newest} is a checkpoint of another case; delete it or use another folder.")
        with torch.no_grad():
            for name, value in values.items():
                value.copy_(content["values"][name])
        trainer.optimizer.load_state_dict(content["optimizer"])
        trainer.scaler.load_state_dict(content["scaler"])
        return dict(content["course"])

    def newest(self) -> Path | None:
        """The file to go on from, verified. Raises InputError for one that is damaged or beyond the last step."""
        files = self._files()
        if not files:
            return None
        newest = files[-1]
        step = _step_of(newest)
        if step > self.cap:
            raise InputError(
                f"The checkpoint {newest} is at step {step}, beyond the {self.cap} steps asked for; "
                f"give steps={step} or more, or another folder."
            )
        _verify(newest)
        return newest

    def _files(self) -> list[Path]:
        """In the order of their steps."""
        found = self.folder.glob(f"{self.identity}-step*.pt") if self.folder.is_dir() else ()
        return sorted((file for file in found if _NAME.fullmatch(file.name)), key=_step_of)


def _step_of(file: Path) -> int:
    named = _NAME.fullmatch(file.name)
    assert named is not None
    return int(named["step"])


class _Hashed:
    """A file that knows the hash of what was written."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()


def _verify(file: Path) -> None:
    with file.open("rb") as stream:
        content = hashlib.file_digest(stream, "sha256").hexdigest()
    if not file.stem.endswith(content):
        raise InputError(f"The checkpoint {file} is damaged; delete it, and training begins anew.")


def _values(trainer: Trainer) -> dict[str, Any]:
    """What training changes: the trained parameters and the statistics of norms; the rest is as it was built."""
    return {**trainer.trained, **dict(trainer.model.named_buffers())}
