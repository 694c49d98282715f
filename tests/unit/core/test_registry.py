"""The folder is the registry."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from modeldyno.core.errors import JobError, UnknownName
from modeldyno.core.registry import Registry


@pytest.fixture
def rooms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry[str]:
    package = tmp_path / "rooms_under_test"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "big_one.py").write_text("MEMBER = 'big'")
    (package / "_hidden.py").write_text("raise RuntimeError('support code is no member')")
    monkeypatch.syspath_prepend(tmp_path)
    yield Registry("rooms_under_test", "room")
    for name in [name for name in sys.modules if name.startswith("rooms_under_test")]:
        del sys.modules[name]


def test_modules_without_underscore_are_members(rooms: Registry[str]) -> None:
    assert rooms.names() == ("big-one",)
    assert rooms.get("big-one") == "big"


def test_unknown_member_lists_the_known(rooms: Registry[str]) -> None:
    with pytest.raises(UnknownName, match="did you mean 'big-one'"):
        rooms.get("big-on")


def test_outside_packages_join_by_entry_point(
    rooms: Registry[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[rooms_under_test]\nouter = outside_mod:THING\nbroken = nowhere:X\n")
    (tmp_path / "outside_mod.py").write_text("THING = 'outer'")
    assert rooms.names() == ("big-one", "broken", "outer")
    assert rooms.get("outer") == "outer"
    with pytest.raises(JobError, match="plug-in 'broken'"):
        rooms.get("broken")


def test_help_and_light_commands_import_nothing_heavy() -> None:
    """Start-up stays fast: no torch, duckdb, pandas or numpy for help texts and the model list."""
    for arguments in (["--help"], ["detect", "--help"], ["run", "--help"], ["plan", "--help"], ["models", "list"]):
        script = textwrap.dedent(f"""
            import sys
            sys.argv = ["dyno", *{arguments!r}]
            from modeldyno.cli import main
            try:
                main()
            except SystemExit:
                pass
            heavy = {{"torch", "duckdb", "pandas", "transformers", "openvino", "onnxruntime"}} & set(sys.modules)
            sys.exit(f"imported {{heavy}}" if heavy else 0)
        """)
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
