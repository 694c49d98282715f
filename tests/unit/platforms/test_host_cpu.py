from types import SimpleNamespace

import pytest

from modeldyno.core.types import Verdict
from modeldyno.platforms import _host_cpu, _host_state, _pci, _rapl
from modeldyno.platforms.cpu import MEMBER


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{text}\n")


def fill_cpufreq(root, khz=3_000_000, governor="performance", no_turbo=1, throttles=0):
    cpus = "sys/devices/system/cpu"
    for core in _host_cpu.usable_cores():
        write(root, f"{cpus}/cpu{core}/cpufreq/scaling_cur_freq", khz)
        write(root, f"{cpus}/cpu{core}/cpufreq/scaling_governor", governor)
        write(root, f"{cpus}/cpu{core}/thermal_throttle/core_throttle_count", throttles)
    write(root, f"{cpus}/intel_pstate/no_turbo", no_turbo)


def test_describes_this_host():
    host = _host_cpu.describe()
    assert host.name
    assert host.memory_mb > 100
    assert host.details["logical_cores"] == len(_host_cpu.usable_cores())


def test_without_proc_the_name_comes_from_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setattr(_host_cpu.platform, "system", lambda: "Darwin")
    monkeypatch.setattr(_host_cpu.platform, "machine", lambda: "arm64")
    answer = SimpleNamespace(stdout="Apple M3 Max\n")
    monkeypatch.setattr(_host_cpu.subprocess, "run", lambda *args, **kwargs: answer)
    host = _host_cpu.describe(tmp_path)
    assert host.name == "Apple M3 Max"
    assert host.instruction_sets == ("neon",)


class TestRapl:
    def zone(self, root, name, kind, energy, limit=1000_000_000):
        folder = f"sys/class/powercap/{name}"
        write(root, f"{folder}/name", kind)
        write(root, f"{folder}/energy_uj", energy)
        write(root, f"{folder}/max_energy_range_uj", limit)

    def test_sums_packages_and_memory_but_not_their_parts(self, tmp_path):
        self.zone(tmp_path, "intel-rapl:0", "package-0", 100)
        self.zone(tmp_path, "intel-rapl:0:0", "core", 100)
        self.zone(tmp_path, "intel-rapl:0:1", "dram", 100)
        self.zone(tmp_path, "intel-rapl:1", "psys", 100)
        counter = _rapl.RaplCounter(tmp_path)
        assert counter.read().joules == 0
        self.zone(tmp_path, "intel-rapl:0", "package-0", 5_000_100)
        self.zone(tmp_path, "intel-rapl:0:0", "core", 4_000_100)
        self.zone(tmp_path, "intel-rapl:0:1", "dram", 1_000_100)
        self.zone(tmp_path, "intel-rapl:1", "psys", 9_000_100)
        reading = counter.read()
        assert reading.joules == pytest.approx(6.0)
        assert reading.source == "counter"

    def test_a_wrapped_counter_goes_on(self, tmp_path):
        self.zone(tmp_path, "intel-rapl:0", "package-0", 9_000_000, limit=10_000_000)
        counter = _rapl.RaplCounter(tmp_path)
        counter.read()
        self.zone(tmp_path, "intel-rapl:0", "package-0", 2_000_000, limit=10_000_000)
        assert counter.read().joules == pytest.approx(3.0)

    def test_none_where_there_is_no_counter(self, tmp_path):
        assert _rapl.RaplCounter(tmp_path).read() is None


class TestState:
    def test_reads_what_is_there(self, tmp_path, monkeypatch):
        fill_cpufreq(tmp_path, throttles=2)
        monkeypatch.setattr(
            _host_state.psutil, "sensors_battery", lambda: SimpleNamespace(power_plugged=False), raising=False
        )
        state = _host_state.read_state(tmp_path)
        assert state == {
            "clock_mhz": 3000,
            "governor": "performance",
            "turbo": False,
            "thermal_throttles": 2 * len(_host_cpu.usable_cores()),
            "on_battery": True,
        }

    def test_a_host_that_tells_nothing_is_not_judged(self, tmp_path, monkeypatch):
        monkeypatch.setattr(_host_state.psutil, "sensors_battery", lambda: None, raising=False)
        assert _host_state.read_state(tmp_path) == {}
        assert _host_state.judge({}, {}) == ()

    @pytest.mark.parametrize(
        ("before", "after", "name"),
        [
            ({"governor": "powersave"}, {"governor": "powersave"}, "governor"),
            ({"clock_mhz": 3000}, {"clock_mhz": 2900}, "clock_variation"),
            ({"thermal_throttles": 3}, {"thermal_throttles": 4}, "thermal_throttles"),
            ({"on_battery": True}, {"on_battery": False}, "on_battery"),
        ],
    )
    def test_doubts(self, before, after, name):
        (check,) = _host_state.judge(before, after)
        assert (check.name, check.verdict) == (name, Verdict.AMBIGUOUS)
        assert check.advice

    def test_a_quiet_host_is_valid(self):
        quiet = {
            "governor": "performance",
            "clock_mhz": 3000,
            "turbo": False,
            "thermal_throttles": 3,
            "on_battery": False,
        }
        checks = _host_state.judge(quiet, quiet | {"clock_mhz": 2990})
        assert len(checks) == 5
        assert {check.verdict for check in checks} == {Verdict.VALID}


def test_session_addresses():
    session = MEMBER.open(0)
    assert session.torch_device() == "cpu"
    assert session.ort_provider() == ("CPUExecutionProvider", {})


def test_pci_cards_by_vendor_and_class(tmp_path):
    for address, vendor, kind in [("0000:01:00.0", "0x10de", "0x030200"), ("0000:02:00.0", "0x10de", "0x040300")]:
        write(tmp_path, f"sys/bus/pci/devices/{address}/vendor", vendor)
        write(tmp_path, f"sys/bus/pci/devices/{address}/class", kind)
    assert _pci.cards("0x10de", tmp_path) == ("0000:01:00.0",)
    assert _pci.cards("0x1002", tmp_path) == ()
