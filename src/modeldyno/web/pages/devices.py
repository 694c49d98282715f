"""Devices: what is on this machine, and all that results are of."""

from __future__ import annotations

from modeldyno.web.sheet import Ask, Page, Sheet


def make(ask: Ask) -> Sheet:
    rows = ask.snapshot.devices()
    return Sheet("Devices", {"rows": rows, "probes": ask.house.probes}, rows)


MEMBER = Page("/dashboard/devices", make, nav="Devices", place=4)
