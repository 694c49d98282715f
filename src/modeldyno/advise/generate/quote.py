"""Words of users and of stored results as text of a program: as a literal, or with harmless letters only."""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.resources import files

import yaml

_PLACE = re.compile(r"@([A-Z]+)@")
_LONGEST = 60


def python_text(text: str) -> str:
    """A Python literal in plain ASCII, in the quotes that a formatter would choose."""
    mark = "'" if text.count('"') > text.count("'") else '"'
    escaped = text.encode("unicode_escape").decode("ascii")
    return mark + escaped.replace(mark, "\\" + mark) + mark


def python_sizes(sizes: Mapping[str, int]) -> str:
    """A dictionary of sizes as a Python literal."""
    return "{" + ", ".join(f"{python_text(name)}: {int(size)}" for name, size in sizes.items()) + "}"


def yaml_text(text: str) -> str:
    """A quoted scalar on one line."""
    quoted: str = yaml.safe_dump(text, default_style='"', width=2**30)
    return quoted.strip()


def plain(text: str) -> str:
    """For comments and docstrings, from which nothing can break out."""
    return re.sub(r"[^A-Za-z0-9 .,:;()\[\]/_+=%*-]", "_", text.replace("±", "+-"))


def slug(text: str) -> str:
    """For names of files."""
    return re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")[:_LONGEST].strip("_")


def read_template(name: str) -> str:
    return files("modeldyno.advise").joinpath("templates", name).read_text("utf-8")


def has_template(name: str) -> bool:
    return files("modeldyno.advise").joinpath("templates", name).is_file()


def fill(template: str, values: Mapping[str, str]) -> str:
    """In one pass, so that no value can name a place of its own."""
    return _PLACE.sub(lambda found: values[found[1]], template)
