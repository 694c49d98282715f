"""Which results an address chooses: the words of the command line, given once or several times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.core.spoken import FILTERS
from modeldyno.store.query import Filter, naive_utc
from modeldyno.store.words import filter_of, real

WHOLE = {"architecture": "architecture", "device": "device", "run": "run_id", "series": "series_id"}
"""Words that are taken as they are, commas and all, and the field of the filter that each is for."""
WORDS = (*FILTERS, *WHOLE)
LONGEST = 200
MOST = 50


def chosen(query: Mapping[str, Sequence[str]], everything: bool = False) -> Filter:
    """Measured and imported results, unless others are asked for or `everything` is meant."""
    given = {name: [text for text in query.get(name, ()) if text] for name in WORDS}
    for name, texts in given.items():
        if len(texts) > MOST or any(len(text) > LONGEST for text in texts):
            raise InputError(f"The filter {name} is too long; give at most {MOST} values of {LONGEST} letters.")
    found = filter_of({name: ",".join(given[name]) for name in FILTERS if given[name]})
    _check_reach(found)
    whole: dict[str, Any] = {field: tuple(given[name]) for name, field in WHOLE.items()}
    found = replace(found, **whole)
    return found if everything else real(found)


def _check_reach(found: Filter) -> None:
    """Moments at the edge of the calendar have no counterpart in UTC."""
    try:
        for moment in (found.since, found.until):
            if moment is not None:
                naive_utc(moment)
    except OverflowError:
        raise InputError("That moment lies outside of the calendar; write one like 2026-11-15.") from None
