"""The folder is the registry: a module without a leading underscore is a member, imported only on use."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from typing import Generic, TypeVar, cast

from modeldyno.core.errors import JobError, UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Members of one package: its own modules, each with a `MEMBER`, and entry points of the same group name."""

    def __init__(self, package: str, kind: str) -> None:
        self._package = package
        self._kind = kind

    def names(self) -> tuple[str, ...]:
        return tuple(sorted({*self._modules(), *self._entry_points()}))

    def get(self, name: str) -> T:
        """The member called `name`; an unknown name lists the known ones and suggests the nearest."""
        if module := self._modules().get(name):
            return cast("T", importlib.import_module(module).MEMBER)
        if entry := self._entry_points().get(name):
            return self._load(entry)
        raise UnknownName(self._kind, name, self.names())

    def all(self) -> tuple[T, ...]:
        return tuple(self.get(name) for name in self.names())

    def _modules(self) -> dict[str, str]:
        return _modules(self._package, tuple(importlib.import_module(self._package).__path__))

    def _entry_points(self) -> dict[str, EntryPoint]:
        return _entry_points(self._package, tuple(sys.path))

    def _load(self, entry: EntryPoint) -> T:
        try:
            return cast("T", entry.load())
        except Exception as error:
            raise JobError(
                f"The {self._kind} plug-in '{entry.name}' ({entry.value}) does not load: {error}; "
                "mend or uninstall the package that brings it."
            ) from error


@lru_cache(maxsize=256)
def _modules(package: str, path: tuple[str, ...]) -> dict[str, str]:
    """Looked for once for each path: a server asks for names many times a second."""
    found = (info.name for info in pkgutil.iter_modules(path) if not info.name.startswith("_"))
    return {name.replace("_", "-"): f"{package}.{name}" for name in found}


@lru_cache(maxsize=256)
def _entry_points(group: str, _path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """Likewise; what is installed depends on where Python looks."""
    return {entry.name: entry for entry in entry_points(group=group)}
