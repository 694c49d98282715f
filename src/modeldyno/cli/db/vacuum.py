"""`dyno db vacuum`: write the database compactly."""

from __future__ import annotations

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


def vacuum(json: JsonOption = False, store: StoreOption = None) -> None:
    """Write the database anew and compactly; it is read back before it takes the place of the old one."""
    from modeldyno.core.spoken import size_text
    from modeldyno.store.maintenance import vacuum as pack

    opened = open_store(store)
    before, after = pack(opened)
    if json:
        print_json({"store": str(opened.path), "bytes_before": before, "bytes_after": after})
        return
    print_line(f"The store {opened.path} took {size_text(before)} and now takes {size_text(after)}.")
