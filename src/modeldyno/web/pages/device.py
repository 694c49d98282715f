"""One device: its measured peaks, and the models that ran on it."""

from __future__ import annotations

from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order, Row, Snapshot
from modeldyno.store.words import real
from modeldyno.web import charts
from modeldyno.web.pages.explore import bars
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

MOST = 120
CHARTED = 24


def make(ask: Ask) -> Sheet:
    device_id = ask.places["device_id"]
    device = next((row for row in ask.snapshot.devices() if row["device_id"] == device_id), None)
    if device is None:
        raise NotThere(f"No device has the fingerprint {device_id[:64]}; see /dashboard/devices for all.")
    rows = [row for row in _newest(ask.snapshot, device["name"]) if row["device_id"] == device_id]
    probes = [row for row in rows if row["workload"] == "hardware"]
    good = [row for row in rows if row["workload"] == "inference" and row["status"] == "ok" and row["latency_ms"]]
    fastest = bars(sorted(good, key=lambda row: -(row["throughput_per_s"] or 0.0))[:CHARTED], "throughput_per_s")
    return Sheet(
        device["name"],
        {
            "device": device,
            "peaks": probes,
            "rows": [row for row in rows if row["workload"] != "hardware"],
            "_chart": charts.bars(fastest, f"Throughput on {device['name']}"),
        },
        rows,
    )


def _newest(snapshot: Snapshot, name: str) -> list[Row]:
    return snapshot.results(real(Filter(device=(name,))), Order("model", False), MOST, None, newest=True)


MEMBER = Page("/dashboard/devices/{device_id}", make)
