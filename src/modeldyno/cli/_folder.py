"""The folder is the command: a module brings a function of its own name, or an `app` with commands of its own."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType

import typer


def add_commands(app: typer.Typer, package: ModuleType) -> None:
    """All modules of the package as commands of the app; `import_` is the command `import`."""
    for name in sorted(info.name for info in pkgutil.iter_modules(package.__path__) if not info.name.startswith("_")):
        module = importlib.import_module(f"{package.__name__}.{name}")
        command = name.rstrip("_")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=command)
        else:
            app.command(command)(getattr(module, name))
