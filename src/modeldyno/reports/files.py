"""Where the files of a report go, and how they get there."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from modeldyno.core.errors import InputError, JobError
from modeldyno.reports.document import Document
from modeldyno.reports.formats import FORMATS
from modeldyno.store.durable import PARTIAL

_OF_FILES = (".html", ".htm", ".md", ".pdf", ".json", ".zip", ".csv")
"""Endings by which an output is meant to be a file and not a folder."""
_LONGEST_STEM = 150
"""Bytes; file systems take 255."""


def targets(formats: Sequence[str], output: Path, *names: str) -> dict[str, Path]:
    """A path for each format: the output itself where it is a file, else one in it that is called by these names."""
    if not formats:
        raise InputError(f"Name a format; there are: {', '.join(FORMATS.names())}.")
    endings = {name: FORMATS.get(name).ending for name in dict.fromkeys(formats)}
    if output.is_dir() or output.suffix.lower() not in _OF_FILES:
        return {name: output / f"{_stem(names)}{ending}" for name, ending in endings.items()}
    if len(endings) > 1:
        raise InputError(f"{output} is one file, and {len(endings)} formats were asked for; give a folder as --output.")
    ((name, ending),) = endings.items()
    if output.suffix.lower() != ending:
        raise InputError(f"The format {name} ends in {ending}; write --output {output.with_suffix(ending)}.")
    return {name: output}


def _stem(names: Sequence[str]) -> str:
    """A name that does not lead out of the folder, and is not too long for one."""
    plain = re.sub(r"[^\w.-]+", "-", "-".join(names))
    return plain.encode()[:_LONGEST_STEM].decode(errors="ignore").strip(".-") or "report"


def make_folder(folder: Path) -> None:
    """There and to be written into, or an error, before any work."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"Cannot write into {folder} ({error.strerror}); choose another --output.") from None


@contextmanager
def needing_packages() -> Iterator[None]:
    """Charts and formats come with an extra."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise JobError(
            f"Reports need the package {error.name}; install it with: pip install 'modeldyno[report]'"
        ) from None


def rendered(
    document: Document, places: Mapping[str, Path], watch: Callable[[int, int, str], None]
) -> dict[Path, bytes]:
    """The content of each file; `watch` is told before each format."""
    files: dict[Path, bytes] = {}
    for number, (name, path) in enumerate(places.items(), start=1):
        watch(number, len(places), name)
        made = FORMATS.get(name).render(document, path.stem)
        files |= {path.parent / file: content for file, content in made.items()}
    return files


def write(files: Mapping[Path, bytes]) -> None:
    """Each file whole or not at all."""
    for path, content in files.items():
        partial = path.with_name(path.name + PARTIAL)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            partial.write_bytes(content)
            partial.replace(path)
        except OSError as error:
            partial.unlink(missing_ok=True)
            raise InputError(f"Cannot write {path} ({error.strerror}); choose another --output.") from None
