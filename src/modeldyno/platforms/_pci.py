"""Display and accelerator cards on the PCI bus, seen even when no driver is loaded (Linux only)."""

from __future__ import annotations

from pathlib import Path

from modeldyno.platforms._host_cpu import read_text

_DISPLAY, _ACCELERATOR = "0x03", "0x12"


def cards(vendor: str, root: Path = Path("/")) -> tuple[str, ...]:
    """Addresses of the cards of a vendor id such as 0x10de."""
    return tuple(
        device.name
        for device in sorted((root / "sys/bus/pci/devices").glob("*"))
        if read_text(device / "vendor") == vendor
        and (read_text(device / "class") or "").startswith((_DISPLAY, _ACCELERATOR))
    )
