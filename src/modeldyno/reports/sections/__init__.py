"""One file per section: each makes one of what the material holds, or none where it holds nothing for it."""

from __future__ import annotations

from typing import Protocol

from modeldyno.core.registry import Registry
from modeldyno.reports.document import Section
from modeldyno.reports.material import Material
from modeldyno.reports.template import Part


class Maker(Protocol):
    def __call__(self, material: Material, part: Part) -> Section | None: ...


SECTIONS: Registry[Maker] = Registry(__name__, "section")
