"""What AMD's management library tells of a GPU; what a card or driver does not tell is None."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from modeldyno.platforms._probing import MB


@dataclass(frozen=True)
class AmdGpu:
    """The lasting facts of one card."""

    name: str
    driver: str | None
    bdf: str | None
    """PCI address, e.g. `0000:c1:00.0`."""
    power_limit_w: float | None


def start() -> Any:
    """The amdsmi module, initialised; without its C library the import itself raises whatever it likes."""
    import amdsmi

    amdsmi.amdsmi_init()
    return amdsmi


def stop(smi: Any) -> None:
    _ask(smi, "amdsmi_shut_down")


def readers(smi: Any) -> list[GpuReader]:
    return [GpuReader(smi, handle) for handle in smi.amdsmi_get_processor_handles()]


class GpuReader:
    def __init__(self, smi: Any, handle: Any) -> None:
        self._smi = smi
        self._handle = handle

    def facts(self) -> AmdGpu:
        asic = self._read("amdsmi_get_gpu_asic_info") or {}
        driver = self._read("amdsmi_get_gpu_driver_info") or {}
        power = self._read("amdsmi_get_power_info") or {}
        bdf = self._read("amdsmi_get_gpu_device_bdf")
        return AmdGpu(
            name=str(asic.get("market_name") or "AMD GPU"),
            driver=str(driver["driver_version"]) if driver.get("driver_version") else None,
            bdf=None if bdf is None else str(bdf),
            power_limit_w=_watts(power.get("power_limit")),
        )

    def bus(self) -> int | None:
        """The middle number of the PCI address, which torch tells too."""
        parts = (self.facts().bdf or "").split(":")
        return int(parts[1], 16) if len(parts) == 3 else None

    def energy_j(self) -> float | None:
        """Counts times resolution, which is in microjoules; amdsmi before 6.4 called the counts `power`."""
        count = self._read("amdsmi_get_energy_count") or {}
        counts = _number(count.get("energy_accumulator", count.get("power")))
        resolution = _number(count.get("counter_resolution"))
        return counts * resolution / 1e6 if counts and resolution else None

    def power_w(self) -> float | None:
        power = self._read("amdsmi_get_power_info") or {}
        now = _number(power.get("current_socket_power"))
        return now if now is not None else _number(power.get("average_socket_power"))

    def temperature_c(self) -> float | None:
        """At the hottest spot, which decides about throttling."""
        kinds, metric = self._smi.AmdSmiTemperatureType, self._smi.AmdSmiTemperatureMetric.CURRENT
        spot = getattr(kinds, "HOTSPOT", getattr(kinds, "JUNCTION", kinds.EDGE))
        return _number(self._read("amdsmi_get_temp_metric", spot, metric))

    def clocks_mhz(self) -> tuple[float | None, float | None]:
        """Now, and at most; older versions say `cur_clk`."""
        clocks = self._read("amdsmi_get_clock_info", self._smi.AmdSmiClkType.GFX) or {}
        return _number(clocks.get("clk", clocks.get("cur_clk"))), _number(clocks.get("max_clk"))

    def throttle_reasons(self) -> set[str] | None:
        """AMD tells whether, in most versions not why."""
        metrics = self._read("amdsmi_get_gpu_metrics_info") or {}
        status = _number(metrics.get("throttle_status"))
        return None if status is None else ({"throttled"} if status else set())

    def process_mb(self) -> float | None:
        mine = [process for process in self._processes() or () if process.get("pid") == os.getpid()]
        used = _number((mine[0].get("memory_usage") or {}).get("vram_mem")) if mine else None
        return None if used is None else used / MB

    def foreign_processes(self) -> int | None:
        processes = self._processes()
        if processes is None:
            return None
        return len([process for process in processes if process.get("pid") != os.getpid()])

    def _processes(self) -> list[dict[str, Any]] | None:
        found = self._read("amdsmi_get_gpu_process_list")
        return None if found is None else [process for process in found if isinstance(process, dict)]

    def _read(self, function: str, *args: Any) -> Any:
        return _ask(self._smi, function, self._handle, *args)


def _ask(smi: Any, function: str, *args: Any) -> Any:
    """None where this binding, driver or card does not have it."""
    call = getattr(smi, function, None)
    if call is None:
        return None
    try:
        return call(*args)
    except smi.AmdSmiException:
        return None


def _number(value: Any) -> float | None:
    """amdsmi writes `N/A` for what it does not know."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _watts(value: Any) -> float | None:
    """Watts up to amdsmi 6, microwatts after."""
    number = _number(value)
    return number / 1e6 if number is not None and number > 1e5 else number
