"""The price table: shipped with date and source, replaceable, and exact about which device it means."""

from __future__ import annotations

from pathlib import Path

import pytest

from modeldyno.advise.prices import hourly, read_prices
from modeldyno.core.errors import InputError
from modeldyno.core.types import Device

ROW = "prices: [{device: Chip, names: [chip], per_hour: 2, date: 2026-01-01, source: me}]"


@pytest.mark.parametrize(
    ("name", "row"),
    [
        ("NVIDIA A10G", "NVIDIA A10G"),
        ("NVIDIA A10", "NVIDIA A10"),
        ("NVIDIA A100-SXM4-40GB", "NVIDIA A100 40GB"),
        ("NVIDIA A100-SXM4-80GB", "NVIDIA A100 80GB SXM"),
        ("NVIDIA A100 80GB PCIe", "NVIDIA A100 80GB PCIe"),
        ("NVIDIA H100 80GB HBM3", "NVIDIA H100 SXM"),
        ("NVIDIA H100 PCIe", "NVIDIA H100 PCIe"),
        ("NVIDIA GH200 480GB", "NVIDIA GH200"),
        ("NVIDIA GB200", None),
        ("NVIDIA L40S", None),
        ("Intel(R) Xeon(R) Processor", None),
    ],
)
def test_a_device_gets_its_own_row(name: str, row: str | None) -> None:
    found = hourly(read_prices().prices, name)
    assert (found.row and found.row.device) == row
    assert (found.amount is None) == (row is None)


def test_every_row_says_when_and_where() -> None:
    rows = read_prices().prices
    assert len(rows) > 10
    assert all("https://" in row.source for row in rows)


def test_a_processor_of_unknown_size_has_no_price() -> None:
    name = "Intel(R) Xeon(R) Platinum 8488C"
    sized = Device(platform="cpu", index=0, name=name, details={"logical_cores": 8})
    assert hourly(read_prices().prices, name, sized).amount == pytest.approx(8 * 0.04463)
    assert "core" in str(hourly(read_prices().prices, name).why_not)


def test_a_table_of_ones_own(tmp_path: Path) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(ROW)
    assert hourly(read_prices(path).prices, "Chip 3000").amount == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2]", "mapping"),
        ("prices: [", "mend the YAML"),
        ("rows: []", "'rows'|'prices'"),
        (ROW.replace("2,", "-2,", 1), "prices.0.per_hour"),
        (ROW.replace("2026-01-01", "someday"), "prices.0.date"),
        (ROW.replace("source: me", "currency: EUR"), "prices.0"),
        ("currency: EUR\n" + ROW, "currency"),
    ],
)
def test_a_broken_table_is_said_where(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "prices.yaml"
    path.write_text(text)
    with pytest.raises(InputError, match=said):
        read_prices(path)
