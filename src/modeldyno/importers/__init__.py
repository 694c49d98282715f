"""Results from elsewhere: one file per format, recognised by shape. The folder is the registry."""

from __future__ import annotations

from modeldyno.core.registry import Registry
from modeldyno.importers._importer import Importer

IMPORTERS: Registry[Importer] = Registry("modeldyno.importers", "format")
