"""How the server is set up: a file, then the environment, then options, each going before the one before it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from modeldyno.core.errors import InputError
from modeldyno.core.settings_file import read_settings
from modeldyno.core.types import Frozen
from modeldyno.store.store import Store

PREFIX = "DYNO_SERVE_"


class Settings(Frozen):
    """All of it has a default."""

    store: Path = Path("dyno.duckdb")
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    """0 takes any free one."""
    webhook: str | None = Field(default=None, pattern=r"^https?://")
    """Alerts are posted there."""
    webhook_secret: str | None = None
    """They are signed with it."""
    public_url: str | None = Field(default=None, pattern=r"^https?://")
    """How others reach the server, for links in alerts."""
    largest_body_mb: float = Field(default=64.0, gt=0, le=4096)
    slowest_body_s: float = Field(default=60.0, gt=0, le=3600)
    """A request must have arrived after so long."""
    sql_timeout_s: float = Field(default=10.0, gt=0, le=600)
    log: str = Field(default="text", pattern="^(text|json)$")
    jobs: bool = True
    """Whether jobs are carried out here."""


def read(file: Path | None, options: Mapping[str, Any]) -> Settings:
    """An unknown or wrong key is an error that names where it stands."""
    told: dict[str, Any] = {"store": Store.at(None).path} | _of_file(file)
    known = {PREFIX + name.upper(): name for name in Settings.model_fields}
    if wrong := next((name for name in os.environ if name.startswith(PREFIX) and name not in known), None):
        raise InputError(f"{wrong} is none of the server's variables; known: {', '.join(sorted(known))}.")
    told |= {field: os.environ[name] for name, field in known.items() if name in os.environ}
    told |= {name: value for name, value in options.items() if value is not None}
    try:
        return Settings.model_validate(told)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        raise InputError(f"The server's setting {name} is wrong ({first['msg']}); see docs/server.md.") from None


def _of_file(file: Path | None) -> dict[str, Any]:
    told = read_settings(file, "settings file") if file else None
    if told is not None and not isinstance(told, dict):
        raise InputError(f"{file} is no mapping; write lines such as port: 8000.")
    return told or {}
