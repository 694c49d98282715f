"""`dyno db stats`: how much of what is in the store."""

from __future__ import annotations

from typing import Any

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli._store import open_store


def stats(json: JsonOption = False, store: StoreOption = None) -> None:
    """Count what the store holds: by table, platform, status and provenance; its time span and size."""
    from modeldyno.store.maintenance import stats as count

    document = count(open_store(store))
    if json:
        print_json(document)
    else:
        _print(document)


def _print(document: dict[str, Any]) -> None:
    from modeldyno.cli._tables import new_table
    from modeldyno.core.spoken import size_text

    rows = new_table("Rows", ["table", "rows"])
    for table, number in sorted(document["tables"].items()):
        rows.add_row(table, str(number))
    records = new_table("Records", ["by", "value", "records"])
    for name, counts in document["records"].items():
        for value, number in counts.items():
            records.add_row(name, value, str(number))
    print_table(rows, records)
    if document["first"]:
        print_line(f"From {document['first']} to {document['last']}.")
    spool = document["spool"]
    print_line(f"{document['store']} has schema {document['schema']} and takes {size_text(document['bytes'])}.")
    print_line(f"In the spool: {spool['waiting']} waiting, {spool['torn']} torn, {spool['partial']} partial files.")
