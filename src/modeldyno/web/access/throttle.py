"""Slows down who guesses passwords; nobody is refused for what other addresses did."""

from __future__ import annotations

import ipaddress
import sqlite3
from collections.abc import Sequence

from modeldyno.web.access.server_file import ServerFile

WINDOW_S = 15 * 60.0
"""How long a failure counts."""
FIRST_S = 30.0
"""How long to wait when the limit is reached; each failure more doubles it."""
LONGEST_S = 15 * 60.0
OF_PAIR = 5
"""Failures of one name from one address: somebody elsewhere cannot use them up."""
OF_NAME = 50
"""Failures of one name from everywhere: many addresses, one victim. From then on one failure of the pair is enough."""
OF_ADDRESS = 50
"""Failures from one address with any name: one password, many victims."""


def wait_s(failures: Sequence[float], now: float, allowed: int) -> float:
    """How long until the next attempt, after failures at these moments within the window."""
    if len(failures) < allowed:
        return 0.0
    doublings = min(len(failures) - allowed, 20)
    return max(0.0, max(failures) + min(LONGEST_S, FIRST_S * 2.0**doublings) - now)


class Throttle:
    """Attempts, kept in the server's file so that a restart forgets none."""

    def __init__(self, file: ServerFile) -> None:
        self._file = file

    def admit(self, name: str, address: str) -> float:
        """Seconds to wait; 0 lets the attempt through and counts it as failed until `clear`.

        Counted before the password is looked at: many attempts at the same time must not all slip through."""
        place, now = network(address), self._file.now()
        with self._file.write() as connection:
            connection.execute("DELETE FROM attempts WHERE at <= ?", (now - WINDOW_S,))
            wait = _longest_wait(connection, name, place, now)
            if not wait:
                connection.execute("INSERT INTO attempts VALUES (?, ?, ?)", (name, place, now))
        return wait

    def clear(self, name: str, address: str) -> None:
        """After a success; failures with other names, or from elsewhere, stay counted."""
        with self._file.write() as connection:
            connection.execute("DELETE FROM attempts WHERE name = ? AND address = ?", (name, network(address)))


def _longest_wait(connection: sqlite3.Connection, name: str, place: str, now: float) -> float:
    rows = connection.execute("SELECT * FROM attempts WHERE name = ? OR address = ?", (name, place)).fetchall()
    named = [row for row in rows if row["name"] == name]
    placed = [row["at"] for row in rows if row["address"] == place]
    both = [row["at"] for row in rows if row["name"] == name and row["address"] == place]
    allowed = OF_PAIR if len(named) < OF_NAME else 1  # not 0: the owner's first attempt from elsewhere has to pass
    return max(wait_s(both, now, allowed), wait_s(placed, now, OF_ADDRESS))


def network(address: str) -> str:
    """Who has one address of IPv6 has 2^64 of them."""
    try:
        parsed = ipaddress.ip_address(address.split("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))
