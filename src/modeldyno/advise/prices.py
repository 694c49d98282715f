"""What an hour on a device costs: a table with date and source that a user can replace. Nothing in it is guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from modeldyno.core.errors import InputError
from modeldyno.core.names import occurs
from modeldyno.core.settings_file import read_settings
from modeldyno.core.types import Device, Frozen

SHIPPED = Path(__file__).parent / "prices.yaml"
Name = Annotated[str, Field(min_length=1)]


class Price(Frozen):
    """One row of the table."""

    device: Name
    names: tuple[Name, ...] = Field(min_length=1)
    """How results call it, in whole words; the longest that occurs in a device's name counts."""
    per_hour: float = Field(gt=0, allow_inf_nan=False)
    per: Literal["device", "core"] = "device"
    date: date
    """The day for which it was told."""
    source: Name


class Prices(Frozen):
    """The table."""

    currency: Literal["USD"] = "USD"
    prices: tuple[Price, ...]


@dataclass(frozen=True)
class Hourly:
    """The price of one device, or why it is not known."""

    amount: float | None
    row: Price | None = None
    why_not: str | None = None


def read_prices(path: Path | None = None) -> Prices:
    """The user's table, else the shipped one; errors name the file and the key."""
    read = read_settings(path or SHIPPED, "price table")
    if not isinstance(read, dict):
        raise InputError(f"{path}: a price table is a mapping with the key 'prices'; see docs/recommend.md.")
    try:
        return Prices.model_validate(read)
    except ValidationError as error:
        first = error.errors()[0]
        key = ".".join(map(str, first["loc"])) or "prices"
        raise InputError(f"{path}: key '{key}': {first['msg']}; see docs/recommend.md.") from None


def hourly(prices: Sequence[Price], name: str, device: Device | None = None) -> Hourly:
    """The price of the device of this name; of one that is sold by the core, `device` says how many it has."""
    found = [(len(word), row) for row in prices for word in row.names if occurs(word, name)]
    if not found:
        return Hourly(None, why_not=f"no price is known for {name}; add it to a table for --prices")
    row = max(found, key=lambda pair: pair[0])[1]
    if row.per == "device":
        return Hourly(row.per_hour, row)
    cores = device.details.get("logical_cores") if device else None
    if not cores:
        return Hourly(None, row, f"{row.device} is priced by the core, and how many there are is not known")
    return Hourly(row.per_hour * float(cores), row)
