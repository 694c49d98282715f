"""The GitHub Actions workflow that a project starts with."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from importlib.resources import files

from modeldyno import __version__
from modeldyno.core.errors import InputError


@dataclass(frozen=True)
class Workflow:
    """What differs from project to project. All of it ends up in YAML and in a shell, so each has few letters."""

    name: str = "modeldyno.yml"
    """Of the file in `.github/workflows`."""
    suite: str = "suites/default.yaml"
    """Path in the repository."""
    install: str = f"modeldyno[cpu]=={__version__}"
    """What pip installs to measure; without its extras, to tell."""
    runner: str = "ubuntu-latest"
    pages: bool = True
    """Whether results are published to GitHub Pages."""

    def __post_init__(self) -> None:
        _fits("--output", self.name, r"[\w.-]+\.ya?ml", "a file that ends in .yml or .yaml")
        _fits("--suite", self.suite, r"(?!.*\.\.)[\w.][\w./ -]*", "a path inside of the repository")
        _fits("--install", self.install, r"[\w.][\w.\[\],=<>~!+/ @:-]*", "one requirement as pip takes it")
        _fits("--runner", self.runner, r"\w[\w.-]*", "one label of a runner")

    def render(self) -> str:
        """The text of the file."""
        parts = ["workflow.yml", "pages.yml"] if self.pages else ["workflow.yml"]
        text = "".join(files("modeldyno.ci").joinpath("templates", part).read_text("utf-8") for part in parts)
        values = {
            "VERSION": __version__,
            "SUITE": json.dumps(self.suite),
            "INSTALL": json.dumps(self.install),
            "BARE": json.dumps(re.sub(r"\[[^\]]*\]", "", self.install)),
            "REPORT": json.dumps(_with_extra(self.install, "report")),
            "RUNNER": self.runner,
            "FILE": f".github/workflows/{self.name}",
        }
        return re.sub(r"@([A-Z]+)@", lambda found: values[found[1]], text)


def _with_extra(requirement: str, extra: str) -> str:
    """The same package with this extra in place of its own: `.[cpu]` as `.[report]`."""
    return re.sub(r"^([\w./:+-]+)(\[[^\]]*\])?", rf"\1[{extra}]", requirement)


def _fits(option: str, value: str, pattern: str, wanted: str) -> None:
    if not re.fullmatch(pattern, value, re.ASCII):
        raise InputError(f"{option} cannot be '{value}'; give {wanted}, in plain letters.")
