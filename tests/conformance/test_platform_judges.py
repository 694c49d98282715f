"""The judges themselves: a platform that is right passes, each that is wrong in one way is found out."""

import pytest

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import EnergyReading, Lap
from modeldyno.core.types import Check, Device, MetricValue, Probe, Verdict
from modeldyno.platforms._host_session import HostSession
from modeldyno.testing import check_platform


class GoodSession(HostSession):
    def state(self):
        return {"clock_mhz": 1.0}

    def checks(self, before, after):
        return (Check(name="clock_mhz", value=after["clock_mhz"]),) if after else ()


class GoodPlatform:
    name = "toy"
    runtimes = ("torch",)
    session = GoodSession
    devices = (Device(platform="toy", index=0, name="A toy"),)

    def probe(self):
        return Probe(platform="toy", devices=self.devices)

    def refuses(self, case):
        return None if case.runtime in self.runtimes else f"a toy does not run {case.runtime}"

    def open(self, index):
        if index != 0:
            raise Unsupported(f"there is no device toy:{index} here", "choose toy:0")
        return self.session(self.devices[0])


def test_a_right_platform_passes():
    assert check_platform(GoodPlatform()) == []


class Raises(GoodPlatform):
    def probe(self):
        raise OSError("no such library")


class Unexplained(GoodPlatform):
    devices = ()

    def open(self, index):
        raise Unsupported(f"there is no device toy:{index} here", "buy one")


class Forgetful(GoodPlatform):
    def __init__(self):
        self.looks = 0

    def probe(self):
        self.looks += 1
        return Probe(platform="toy", devices=(Device(platform="toy", index=0, name=f"A toy {self.looks}"),))


class Misnumbered(GoodPlatform):
    devices = (Device(platform="toy", index=1, name="A toy"),)


class OpensAnything(GoodPlatform):
    def open(self, index):
        return self.session(self.devices[0])


class RunsAnything(GoodPlatform):
    def refuses(self, case):
        return None


class Heavy(GoodPlatform):
    devices = ()

    def probe(self):
        import onnxruntime  # noqa: F401

        return Probe(platform="toy", reason="no toy was found here", remedy="buy a toy and plug it in")


def with_session(**methods):
    session = type("BadSession", (GoodSession,), methods)
    return type("BadPlatform", (GoodPlatform,), {"session": session})


def lap_of_one(self, step, count):
    return HostSession.lap(self, step, 1)


class CountsDown:
    def __init__(self):
        self.joules = 9.0

    def __call__(self):
        self.joules -= 1
        return EnergyReading(joules=self.joules, source="counter")


class BadMeter:
    def reset(self):
        pass

    def sample(self):
        return 0.0

    def metrics(self):
        return {"memory_of_an_elephant": MetricValue(value=1.0)}


def doubt_without_advice(self, before, after):
    return (Check(name="clock", value=1, verdict=Verdict.AMBIGUOUS),) if after else ()


@pytest.mark.parametrize(
    ("platform", "complaint"),
    [
        (Raises, "no such library"),
        (Unexplained, "absent without a reason"),
        (Forgetful, "different fingerprints"),
        (Misnumbered, "indexes"),
        (OpensAnything, "opens a device that the probe does not list"),
        (RunsAnything, "is not refused"),
        (Heavy, "loads ['onnxruntime'"),
        (with_session(lap=lap_of_one), "lap(step, 7) runs it 1 times"),
        (with_session(lap=lambda self, step, count: Lap(host_ns=7)), "by the stopwatch"),
        (with_session(energy=staticmethod(CountsDown())), "energy falls"),
        (with_session(memory_meter=lambda self: BadMeter()), "memory_of_an_elephant"),
        (with_session(checks=doubt_without_advice), "without advice"),
        (with_session(ort_provider=lambda self: ("CUDA", {})), "no execution provider"),
    ],
)
def test_a_wrong_platform_is_found_out(platform, complaint):
    complaints = check_platform(platform())
    assert any(complaint in line for line in complaints), complaints
