"""The order that a form or an address asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.web.jobs.order import Order, read_order

_LISTS = {"model": "model", "on": "on", "runtime": "runtime", "precision": "precision", "workload": "workload"}


def order_of(given: Mapping[str, Sequence[str]]) -> Order:
    """Lists given several times or with commas; what is left out has its usual value."""
    block: dict[str, Any] = {field: words for name, field in _LISTS.items() if (words := _words(given, name))}
    if batches := _words(given, "batch"):
        block["batch"] = [_whole("batch", text) for text in batches]
    if sizes := _words(given, "seq"):
        block["shape"] = {"seq": [_whole("seq", text) for text in sizes]}
    document: dict[str, Any] = {"blocks": [block]}
    for name in ("effort", "title"):
        if word := _first(given, name):
            document[name] = word
    for name in ("samples", "processes"):
        if word := _first(given, name):
            document[name] = _whole(name, word)
    return read_order(document)


def _words(given: Mapping[str, Sequence[str]], name: str) -> list[str]:
    return [part.strip() for text in given.get(name, ()) for part in text.split(",") if part.strip()]


def _first(given: Mapping[str, Sequence[str]], name: str) -> str:
    return next((text.strip() for text in given.get(name, ()) if text.strip()), "")


def _whole(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 12 or not 0 < int(text) < 2**31:
        raise InputError(f"{name} cannot be '{text[:40]}'; write a whole number, such as 8.")
    return int(text)
