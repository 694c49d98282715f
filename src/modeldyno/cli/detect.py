"""`dyno detect`: which platforms and devices are here, and for each absent one why and what to install."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.core.types import Probe


def detect(
    platform: Annotated[str | None, typer.Option("--on", help="Only these platforms.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Show the platforms and devices here; for each absent one why, and what to install."""
    from modeldyno.core.spoken import comma_list
    from modeldyno.platforms import PLATFORMS

    probes = [PLATFORMS.get(name).probe() for name in comma_list(platform) or PLATFORMS.names()]
    if json:
        print_json({"platforms": [_document(probe) for probe in probes]})
        return
    if any(probe.present for probe in probes):
        print_table(_here(probes))
    if not all(probe.present for probe in probes):
        print_table(_absent(probes))


def _document(probe: Probe) -> dict[str, object]:
    devices = [{**device.model_dump(mode="json"), "fingerprint": device.fingerprint} for device in probe.devices]
    return {**probe.model_dump(mode="json"), "present": probe.present, "devices": devices}


def _here(probes: list[Probe]) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table("Here", ["device", "name", "memory", "driver", "capability", "fingerprint"])
    for device in (device for probe in probes for device in probe.devices):
        memory = "-" if device.memory_mb is None else f"{device.memory_mb / 1024:.1f} GB"
        name = f"{device.name} (emulated)" if device.emulated else device.name
        cells = [device.address, name, memory, device.driver or "-", device.capability or "-"]
        table.add_row(*cells, device.fingerprint)
    return table


def _absent(probes: list[Probe]) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table("Not here", ["platform", "why", "what to do"])
    for probe in probes:
        if not probe.present:
            table.add_row(probe.platform, probe.reason or "-", probe.remedy or "-")
    return table
