"""An import taken back: all that came with one file leaves the store, and the file can be imported anew."""

from __future__ import annotations

from collections import Counter

from modeldyno.core.elsewhere import Import
from modeldyno.core.errors import InputError
from modeldyno.store.ask import quoted
from modeldyno.store.database import connect
from modeldyno.store.purge import count_going, what_stays
from modeldyno.store.rewrite import rewrite
from modeldyno.store.store import Store


def find_import(store: Store, name: str) -> Import:
    """An import by its file, the end of the file's path, or the beginning of its id."""
    imports = store.imports()
    found = [done for done in imports if done.import_id.startswith(name) or f"/{done.file}".endswith(f"/{name}")]
    if len(found) == 1:
        return found[0]
    if not found:
        latest = ", ".join(done.file for done in imports[-5:]) or "none"
        raise InputError(f"No import is called '{name}'; the latest are: {latest}.")
    ids = ", ".join(f"{done.import_id[:12]} ({done.file})" for done in found[:5])
    raise InputError(f"{len(found)} imports are called '{name}'; name one by its id: {ids}.")


def would_forget(store: Store, done: Import) -> Counter[str]:
    """How many records, tests and runs came with it."""
    with store.reading() as connection:
        return count_going(connection, _kept(done))


def forget(store: Store, done: Import) -> Counter[str]:
    """Remove them, and the import itself. An interruption leaves all of it in the store."""
    kept = _kept(done)
    with connect(store.existing(), write=True) as connection:
        going = count_going(connection, kept)
        rewrite(connection, store.path, kept)
    return going


def _kept(done: Import) -> dict[str, str]:
    other = f"import_id IS DISTINCT FROM {quoted(done.import_id)}"
    of_others = f"run_id IN (SELECT run_id FROM runs WHERE {other})"
    return what_stays(of_others, of_others, other) | {"main.imports": other, "main.rejections": other}
