"""Which sections a report has: a small YAML file, shipped for the usual kinds or written by a user."""

from __future__ import annotations

import base64
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.metrics import metric
from modeldyno.core.settings_file import read_settings
from modeldyno.core.types import Frozen
from modeldyno.reports.document import Logo
from modeldyno.store.words import filter_of

SHIPPED = Path(__file__).parent / "kinds"
ENDINGS = (".yaml", ".yml")
_LARGEST_LOGO = 1_000_000
_MEDIA: dict[str, Literal["image/svg+xml", "image/png", "image/jpeg"]] = {
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
}


def _by_name(given: Any) -> Any:
    return {"section": given} if isinstance(given, str) else given


def _as_text(given: Any) -> Any:
    """A number, a date or a list, as an option would say it."""
    if isinstance(given, list):
        return ",".join(str(_as_text(part)) for part in given)
    if isinstance(given, date):
        return given.isoformat()
    return str(given) if isinstance(given, int | float) else given


Words = dict[str, Annotated[str, BeforeValidator(_as_text)]]


class Part(Frozen):
    """One section of a report, and what it is asked."""

    section: str
    title: str | None = None
    """In place of the section's own."""
    text: str | None = None
    """A paragraph before all else."""
    metric: str = "latency_ms"
    by: Literal["platform", "runtime", "precision", "batch", "model", "run"] = "platform"
    filters: Words = {}
    """Narrower than those of the report."""


class Template(Frozen):
    """A kind of report."""

    name: str
    about: str = ""
    """A line for the list of kinds."""
    title: str
    intro: str | None = None
    subject: Literal["model", "run"] | None = None
    """What has to be named beside the kind."""
    logo: str | None = None
    """A picture beside the file: SVG, PNG or JPEG."""
    filters: Words = {}
    """By the name of the option that does the same."""
    sections: tuple[Annotated[Part, BeforeValidator(_by_name)], ...] = Field(min_length=1)
    folder: Path = SHIPPED

    def check(self) -> None:
        """Say what would be said only when it is used."""
        for part in self.sections:
            metric(part.metric)
            filter_of(part.filters)
        self.picture()

    def picture(self) -> Logo | None:
        """The logo itself."""
        if self.logo is None:
            return None
        path = (self.folder / self.logo).resolve()
        if not path.is_relative_to(self.folder.resolve()):
            raise InputError(f"The logo {self.logo} lies outside of the template's folder; put it beside the template.")
        media = _MEDIA.get(path.suffix.lower())
        if media is None or not path.is_file():
            raise InputError(f"The logo {self.logo} is no SVG, PNG or JPEG file; put one beside the template.")
        content = path.read_bytes()
        if len(content) > _LARGEST_LOGO:
            raise InputError(f"The logo {self.logo} has more than 1 MB; make it smaller.")
        return Logo(media_type=media, base64=base64.b64encode(content).decode(), alt=f"{self.title}: logo")


def find_template(name: str, folder: Path | None) -> Template:
    """A kind that is shipped, one of the user's folder, or a file."""
    path = Path(name)
    if path.suffix in ENDINGS:
        return read_template(path)
    known = kinds(folder)
    if name not in known:
        raise UnknownName("kind of report", name, known)
    return read_template(known[name])


def kinds(folder: Path | None) -> dict[str, Path]:
    """All kinds by name; those of the user's folder go before shipped ones of the same name."""
    if folder is not None and not folder.is_dir():
        raise InputError(f"There is no template folder {folder}; give one that holds YAML files.")
    folders = [SHIPPED, *([folder] if folder else [])]
    return {path.stem: path for each in folders for path in sorted(each.iterdir()) if path.suffix in ENDINGS}


def read_template(path: Path) -> Template:
    """The template in a file; what is wrong with it is said in a sentence."""
    told = read_settings(path, "template")
    if not isinstance(told, dict):
        raise InputError(f"The template {path} is no mapping; write title and sections into it.")
    try:
        return Template.model_validate({"title": path.stem, **told, "name": path.stem, "folder": path.parent})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise InputError(f"The template {path} is wrong at {place} ({first['msg']}); see docs/reports.md.") from None
