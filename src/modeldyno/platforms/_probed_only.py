"""Platforms that are looked for but cannot be run on yet; their cases are skipped with the true reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case, Probe
from modeldyno.platforms._probing import absent, refuse_runtime, safely


class ProbedOnly(ABC):
    name: str
    runtimes: tuple[str, ...]

    def probe(self) -> Probe:
        return safely(self.name, self._look)

    def refuses(self, case: Case) -> str | None:
        if why := refuse_runtime(self.name, self.runtimes, case):
            return why
        return f"this version of modeldyno cannot run on {self.name} yet"

    def open(self, index: int) -> NoReturn:
        probe = self.probe()
        raise Unsupported(f"{self.name}:{index} cannot be opened: {probe.reason}", probe.remedy)

    @abstractmethod
    def found_here(self) -> str:
        """What there is and is not of this platform, as the first half of a sentence."""

    @abstractmethod
    def needs(self) -> str:
        """What running will take, beyond a version that can."""

    def _look(self) -> Probe:
        name = self.name
        return absent(
            name,
            f"{self.found_here()}; this version of modeldyno looks for {name} but cannot run on it yet",
            f"choose another platform (`dyno detect` lists them); running on {name} will need {self.needs()}",
        )
