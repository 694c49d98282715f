"""Writes docs/api.md from the OpenAPI document; a test keeps it true: `python -m modeldyno.web.reference docs`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from modeldyno.web.described import groups

PAGE = "api.md"
_BEGIN = """\
# The REST API

Made by `python -m modeldyno.web.reference docs`; a test keeps it true.

`dyno serve` answers at `/api/v1`; the OpenAPI document is at `/api/v1/openapi.json`, and `/docs` shows it.

- Lists come in pages: `{"items": [...], "next": CURSOR}` with a `Link` header; ask again with `cursor=CURSOR` until
  `next` is null. `limit` is at most 1000, `sort=-latency_ms` puts the largest first.
- Results are chosen by the words of the command line: `model`, `on`, `family`, `runtime`, `precision`, `batch`,
  `workload`, `status`, `provenance`, `since`, `until`; also `architecture`, `device`, `run`, `series`. Predicted and
  simulated results are in a list only where `provenance` asks for them.
- Every answer has an `ETag`: with `If-None-Match` an answer that did not change is 304. Answers are packed with gzip
  for clients that say they can unpack.
- Errors are `application/problem+json`; `detail` is a sentence that ends in what to do. A parameter that is not known
  is an error.
- Writing needs a token: `Authorization: Bearer TOKEN`. On an address that only this machine reaches, reading needs
  none.

From Python, `modeldyno.client` needs nothing but the standard library and pydantic:

```python
from modeldyno.client import Client

client = Client("http://127.0.0.1:8000", token="dyno_...")
for result in client.records(model="tiny-bert", on="cpu", status="ok"):
    print(result.record_id, result.latency_ms)
job = client.submit({"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}], "effort": "quick"})
print(client.wait(job.job_id).state)
```
"""
_COMMON = frozenset(
    {"model", "on", "family", "runtime", "precision", "batch", "workload", "status", "provenance", "since", "until"}
    | {"architecture", "device", "run", "series"}
)
"""Told once, for all lists of results."""


def page() -> str:
    """All of it, in Markdown."""
    return "\n".join([_BEGIN, *_resources(document())]).rstrip() + "\n"


def document() -> dict[str, Any]:
    """The OpenAPI document of a server over an empty store."""
    from modeldyno.web.app import create_app
    from modeldyno.web.settings import Settings

    with tempfile.TemporaryDirectory() as folder:
        return create_app(Settings(store=Path(folder) / "dyno.duckdb", jobs=False)).openapi()


def _resources(told: Mapping[str, Any]) -> Iterator[str]:
    for name, operations in groups(told):
        yield from (f"## {name}", "")
        for one in operations:
            yield from _operation(one)


def _operation(one: Mapping[str, Any]) -> Iterator[str]:
    yield from (f"### `{one['method'].upper()} {one['path']}`", "", " ".join(one["description"].split()), "")
    named = {parameter["name"] for parameter in one["parameters"]}
    chosen = named >= _COMMON
    rows = [parameter for parameter in one["parameters"] if not (chosen and parameter["name"] in _COMMON)]
    if rows:
        yield from ("| parameter | in | type | meaning |", "|---|---|---|---|")
        yield from map(_row, rows)
        yield ""
    said = ["It takes the words that choose results."] if chosen else []
    said += [f"Body: {one['body']}."] if one["body"] else []
    yield from (" ".join([*said, f"Answers: {', '.join(status for status, _ in one['responses'])}."]), "")


def _row(parameter: Mapping[str, Any]) -> str:
    need = ", required" if parameter["required"] else ""
    kind, about = (" ".join(parameter[name].split()).replace("|", "\\|") for name in ("type", "description"))
    return f"| `{parameter['name']}` | {parameter['in']}{need} | {kind} | {about} |"


if __name__ == "__main__":
    (Path(sys.argv[1]) / PAGE).write_text(page(), encoding="utf-8")
