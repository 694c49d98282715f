"""`dyno db migrate`: bring the store's schema up to date."""

from __future__ import annotations

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


def migrate(json: JsonOption = False, store: StoreOption = None) -> None:
    """Bring the schema up to date, as every command does on its own; the old file is kept beside the new one."""
    from modeldyno.store.maintenance import migrate as bring_up
    from modeldyno.store.store import Store

    done = bring_up(Store.at(store))
    opened = open_store(store)
    if json:
        kept = str(done.backup) if done.backup else None
        print_json({"store": str(opened.path), "from": done.before, "to": done.after, "backup": kept})
    elif done.before == done.after:
        print_line(f"The store {opened.path} has schema {done.after}, the newest; there is nothing to do.")
    else:
        print_line(f"The store {opened.path} went from schema {done.before} to {done.after}.")
        print_line(f"The old file is kept as {done.backup}.")
