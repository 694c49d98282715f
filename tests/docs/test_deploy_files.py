"""Files for operators say what the server understands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from modeldyno.cli._reference import PAGES
from modeldyno.web.settings import PREFIX, Settings, read

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"


def _options_of_serve() -> set[str]:
    section = PAGES["cli.md"]().partition("## `dyno serve`")[2].partition("\n## ")[0]
    return set(re.findall(r"`(--[a-z-]+)`", section))


def _known(words: list[str]) -> bool:
    return {word for word in words if word.startswith("--")} <= _options_of_serve()


def test_the_example_settings_are_accepted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DYNO_STORE", raising=False)
    settings = read(DEPLOY / "server.yaml", {})
    assert settings.host == "127.0.0.1"
    assert settings.log == "json"


def test_the_keys_that_are_commented_out_would_be_accepted(tmp_path: Path) -> None:
    text = (DEPLOY / "server.yaml").read_text()
    file = tmp_path / "server.yaml"
    file.write_text(re.sub(r"^# (\w+: )", r"\1", text, flags=re.MULTILINE))
    assert read(file, {}).public_url == "https://dyno.example.org"


def test_the_unit_starts_the_server_with_options_it_has() -> None:
    started = re.findall(r"^ExecStart=(.*)$", (DEPLOY / "modeldyno.service").read_text(), re.MULTILINE)
    assert len(started) == 1
    program, command, *words = shlex.split(started[0])
    assert Path(program).name == "dyno"
    assert command == "serve"
    assert _known(words)


def test_the_container_starts_the_server_with_options_it_has() -> None:
    (started,) = re.findall(r"^CMD \[(.*)\]$", (DEPLOY / "Containerfile").read_text(), re.MULTILINE)
    program, command, *words = re.findall(r'"([^"]*)"', started)
    assert [program, command] == ["dyno", "serve"]
    assert _known(words)


def test_the_container_has_the_pinned_torch() -> None:
    (pinned,) = re.findall(r"^torch==.*$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned in (DEPLOY / "Containerfile").read_text()


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "server.md").read_text()
    rows = {name: f"| `{name}` | `{PREFIX}{name.upper()}` |" for name in Settings.model_fields}
    assert [name for name, row in rows.items() if row not in text] == []
