"""One device: its measured peaks, and the models that ran on it."""

from __future__ import annotations

from modeldyno.core.types import Status
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.store.words import real
from modeldyno.web import charts
from modeldyno.web.pages._lists import EXPORTED, MOST, Later
from modeldyno.web.pages.explore import bars
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

CHARTED = 24
HARDWARE = "hardware"


def make(ask: Ask) -> Sheet:
    device_id = ask.places["device_id"]
    device = next((row for row in ask.snapshot.devices() if row["device_id"] == device_id), None)
    if device is None:
        raise NotThere(f"No device has the fingerprint {device_id[:64]}; see /dashboard/devices for all.")
    everything = real(Filter(device=(device["name"],)))
    probes = real(Filter(workload=(HARDWARE,)))
    # Without any, a filter by no workload would choose all of them.
    workloads = tuple(name for name, _ in ask.snapshot.facet("workload", everything) if name != HARDWARE) or ("none",)
    models = real(Filter(workload=workloads))
    good = real(Filter(workload=("inference",), status=(Status.OK,)))
    results, by_time = ask.snapshot.results, Order()
    fastest = results(good, Order("throughput_per_s", True), CHARTED, newest=True, device_id=device_id)
    return Sheet(
        device["name"],
        {
            "device": device,
            "peaks": results(probes, Order("model", False), MOST, newest=True, device_id=device_id),
            "peaks_of": ask.snapshot.count(probes, newest=True, device_id=device_id),
            "rows": results(models, by_time, MOST, newest=True, device_id=device_id),
            "rows_of": ask.snapshot.count(models, newest=True, device_id=device_id),
            "_workloads": workloads,
            "_chart": charts.bars(bars(fastest, "throughput_per_s"), f"Throughput on {device['name']}"),
        },
        Later(lambda: results(everything, by_time, EXPORTED, newest=True, device_id=device_id)),
    )


MEMBER = Page("/dashboard/devices/{device_id}", make)
