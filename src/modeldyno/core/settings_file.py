"""Reads what a user wrote into a YAML, JSON or TOML file; what is wrong with it is said with its line."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import yaml

from modeldyno.core.errors import InputError


class _Yaml(yaml.SafeLoader):
    """YAML 1.2's truth values: in 1.1 the key `on` would read as true."""


_BOOLEAN = "tag:yaml.org,2002:bool"
_Yaml.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != _BOOLEAN]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Yaml.add_implicit_resolver(_BOOLEAN, re.compile(r"^(?:true|True|TRUE|false|False|FALSE)$"), list("tTfF"))


def read_settings(path: Path, what: str) -> Any:
    """What the file holds, by its ending; `what` it should be is named where it cannot be read."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"Cannot read the {what} {path}: {error}; check the path.") from None
    try:
        if path.suffix == ".json":
            return json.loads(text)
        if path.suffix == ".toml":
            return tomllib.loads(text)
        return yaml.load(text, _Yaml)
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: {error.msg}; mend the JSON.") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: {error}; mend the TOML.") from None
    except (yaml.YAMLError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        line = f", line {mark.line + 1}" if mark else ""
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise InputError(f"{path}{line}: {problem}; mend the YAML.") from None
