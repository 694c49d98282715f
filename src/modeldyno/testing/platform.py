"""Judges of a platform: each takes one and raises AssertionError with what is wrong about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.protocols import Platform, Session
from modeldyno.core.types import Case, Precision, Probe
from modeldyno.testing import _session
from modeldyno.testing._verdict import NotApplicable, require

HEAVY = ("torch", "openvino", "onnxruntime", "transformers", "diffusers", "tensorflow", "jax", "onnx", "scipy")
"""Packages whose import costs a noticeable part of a second."""
_PLACEHOLDERS = ("todo", "fixme", "tbd", "xxx", "n/a", "none", "unknown")
_NO_SUCH_RUNTIME = "no-such-runtime"
_IMPORTED_BY_PROBE = """
import importlib, json, sys
module = importlib.import_module({module!r})
loaded = [sorted(set(sys.modules) & set({heavy!r}))]
cls = module
for part in {qualname!r}.split("."):
    cls = getattr(cls, part)
platform = cls()
present = platform.probe().present
loaded.append(sorted(set(sys.modules) & set({heavy!r})))
print(json.dumps([present, loaded]))
"""

Judge = Callable[[Platform], None]


def check_platform(platform: Platform) -> list[str]:
    """All complaints about a platform; an empty list is a pass."""
    complaints = []
    for judge in PLATFORM_JUDGES:
        try:
            judge(platform)
        except NotApplicable:
            continue
        except Exception as error:  # noqa: BLE001 - whatever a plug-in raises is a complaint
            complaints.append(f"{judge.__name__}: {type(error).__name__}: {error}")
    return complaints


def declares_itself(platform: Platform) -> None:
    name = platform.name
    require(name and name == name.strip().lower() and " " not in name, f"name {name!r} is not one lower-case word")
    require(isinstance(platform.runtimes, tuple) and platform.runtimes, "runtimes is not a tuple with a default in it")
    require(len(set(platform.runtimes)) == len(platform.runtimes), "runtimes names one twice")


def probe_is_consistent(platform: Platform) -> None:
    probe = platform.probe()
    require(isinstance(probe, Probe), f"probe() gives {type(probe).__name__}, not a Probe")
    require(probe.platform == platform.name, f"the probe names {probe.platform!r}, the platform {platform.name!r}")
    require(
        [device.index for device in probe.devices] == list(range(len(probe.devices))),
        "indexes do not count from 0 without gaps",
    )
    for device in probe.devices:
        require(device.platform == platform.name, f"{device.address} belongs to another platform")
        require(device.name.strip(), f"{device.address} has no name")
        require(device.memory_mb is None or device.memory_mb > 0, f"{device.address} has memory {device.memory_mb}")
    require(Probe.model_validate_json(probe.model_dump_json()) == probe, "the probe does not survive JSON")


def probe_is_stable(platform: Platform) -> None:
    """A series is keyed by the fingerprint: it must not change from one look to the next."""
    first, second = platform.probe(), platform.probe()
    require(
        [device.fingerprint for device in first.devices] == [device.fingerprint for device in second.devices],
        "two probes give different fingerprints",
    )


def absence_is_explained(platform: Platform) -> None:
    probe = platform.probe()
    if probe.present:
        raise NotApplicable(f"{platform.name} has devices here")
    for what, text in (("reason", probe.reason), ("remedy", probe.remedy)):
        require(text and len(text.strip()) > 10, f"absent without a {what}: {text!r}")
        words = (text or "").lower().strip(" .")
        require(words not in _PLACEHOLDERS and "todo" not in words, f"the {what} is a placeholder: {text!r}")


def probe_imports_nothing_heavy(platform: Platform) -> None:
    """Neither its module nor, where it finds no device, its probe loads a heavy package."""
    cls = type(platform)
    if "<locals>" in cls.__qualname__ or cls.__module__ == "__main__":
        raise NotApplicable("its class cannot be imported in a fresh process")
    script = _IMPORTED_BY_PROBE.format(module=cls.__module__, qualname=cls.__qualname__, heavy=HEAVY)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    require(done.returncode == 0, f"probing in a fresh process fails: {done.stderr[-500:]}")
    present, (by_module, by_probe) = json.loads(done.stdout.splitlines()[-1])
    require(not by_module, f"importing its module loads {by_module}")
    require(present or not by_probe, f"probe() loads {by_probe} although there is no device")


def refusals_are_sentences(platform: Platform) -> None:
    for runtime, precision in product((*platform.runtimes, _NO_SUCH_RUNTIME), Precision):
        case = Case(model="any", platform=platform.name, runtime=runtime, precision=precision, batch=3)
        why = platform.refuses(case)
        require(why is None or (isinstance(why, str) and len(why) > 10), f"refuses({case.label}) gives {why!r}")
        require(runtime != _NO_SUCH_RUNTIME or why, f"a runtime nobody knows is not refused: {case.label}")


def opening_what_is_not_there_is_refused(platform: Platform) -> None:
    missing = (99, -1) if platform.probe().present else (0, 99)
    for index in missing:
        try:
            session = platform.open(index)
        except (Unsupported, InputError) as error:
            require(len(str(error)) > 20, f"open({index}) does not say what to do: {error}")
        else:
            session.close()
            raise AssertionError(f"open({index}) opens a device that the probe does not list")


def session_is_the_probed_device(platform: Platform) -> None:
    with opened(platform) as session:
        probed = platform.probe().devices[0]
        require(session.device.fingerprint == probed.fingerprint, f"{session.device} was opened, {probed} probed")
        require(session.device.index == 0, "the session's device has another index than was asked for")


def closes_twice(platform: Platform) -> None:
    with opened(platform) as session:
        session.close()


@contextmanager
def opened(platform: Platform) -> Iterator[Session]:
    """The first device; not applicable where there is none."""
    probe = platform.probe()
    if not probe.present:
        raise NotApplicable(f"{platform.name} is not here: {probe.reason}")
    session = platform.open(0)
    try:
        yield session
    finally:
        session.close()


def _in_session(judge: Callable[[Session], None]) -> Judge:
    def judge_platform(platform: Platform) -> None:
        with opened(platform) as session:
            judge(session)

    judge_platform.__name__ = judge.__name__
    judge_platform.__doc__ = judge.__doc__
    return judge_platform


PLATFORM_JUDGES: tuple[Judge, ...] = (
    declares_itself,
    probe_is_consistent,
    probe_is_stable,
    absence_is_explained,
    probe_imports_nothing_heavy,
    refusals_are_sentences,
    opening_what_is_not_there_is_refused,
    session_is_the_probed_device,
    closes_twice,
    *map(_in_session, _session.SESSION_JUDGES),
)
