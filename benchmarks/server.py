"""How fast does the server answer? Every page and every list of the API, with 20 clients at once, on a large store.

    python benchmarks/server.py                                # 100,000 results
    python benchmarks/server.py --results 100000,1000000       # and how much slower ten times as many are

The results are made up and live in a scratch folder that goes when the script ends. The real `dyno serve` runs in a
process of its own; clients share the machine's cores with it. Each page is asked for under many addresses (models,
devices, records, filters): first all of them once, by 20 clients at once, while nothing is kept ("new"), then often, at
random. Printed are the times of the server itself (its header Server-Timing), as median and 95th percentile, and
what a client saw. The limits are for the second part; the first is there to be seen. Exits with 1 where one is missed.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import numpy as np

from modeldyno.core.types import Provenance
from modeldyno.store.store import Store
from store import RUN, made_up

CLIENTS, REQUESTS, ADDRESSES = 20, 400, 40
PAGE_MS, LIST_MS, START_S, GROWTH = 200.0, 100.0, 2.0, 2.0
BATCH = 100_000


@dataclass(frozen=True)
class Times:
    server_ms: float
    client_ms: float
    status: int


def fill(path: Path, results: int) -> None:
    store, some = Store(path), made_up(results)
    first: list[Any] = [RUN]
    while batch := list(islice(some, BATCH)):
        store.add([*first, *(one.model_copy(update={"provenance": Provenance.IMPORTED}) for one in batch)])
        first = []


def start(path: Path) -> tuple[subprocess.Popen[str], str, float]:
    """The server, its address, and the seconds until its first page had come."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "modeldyno", "serve", "--port", "0", "--json", "--store", str(path)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout
    text = ""
    while "}" not in text:
        text += process.stdout.readline()
    address = json.loads(text)["address"]
    urllib.request.urlopen(f"{address}/dashboard").read()
    return process, address, time.perf_counter() - begin


def read(address: str, path: str) -> Any:
    with urllib.request.urlopen(address + path) as answer:
        return json.load(answer)


def addresses(address: str) -> dict[str, list[str]]:
    """Each page and list under many addresses that the store has something for."""
    dice = random.Random(1)
    records = read(address, "/api/v1/records?limit=500")["items"]
    some = dice.sample(records, min(ADDRESSES, len(records)))
    models = list(dict.fromkeys(one["model"] for one in some))
    devices = [one["device_id"] for one in read(address, "/api/v1/devices")["items"]]
    chosen = [f"?{urlencode({'model': model})}" for model in models]
    orders = [
        f"?{urlencode({'sort': order, 'on': on})}"
        for order in ("-started_at", "latency_ms", "-throughput_per_s")
        for on in ("cpu", "cuda", "mps", "qnn")
    ]
    return {
        "page overview": [
            "",
            *(f"?show={show}&page={page}" for show in ("speed", "freshness") for page in range(1, 9)),
        ],
        "page explore": [f"/explore{text}" for text in (*chosen, *orders)],
        "page compare": [f"/compare?{urlencode({'by': 'platform', 'model': model})}" for model in models],
        "page models": ["/models", "/models?family=vision", "/models?family=audio"],
        "page model": [f"/models/{quote(model, safe='')}" for model in models],
        "page devices": ["/devices"],
        "page device": [f"/devices/{device}" for device in devices],
        "page runs": ["/runs"],
        "page run": [f"/runs/{one}" for one in {record["run_id"] for record in some}],
        "page record": [f"/records/{one['record_id']}" for one in some],
        "page trends": [f"/trends{text}" for text in ("", *chosen)],
        "page trend": [f"/trends/{one['series_id']}" for one in some],
        "page recommend": [f"/recommend?{urlencode({'model': model})}" for model in models],
        "page run form": ["/run", *(f"/run?{urlencode({'model': m})}" for m in ("tiny-bert", "tiny-vit", "tiny-opt"))],
        "page jobs": ["/jobs"],
        "page generate": [f"/generate?{urlencode({'model': 'tiny-bert', 'on': on})}" for on in ("cpu", "cuda", "qnn")],
        "page training": ["/training"],
        "page reports": ["/reports"],
        "list records": [f"/api/v1/records{text}" for text in (*chosen, *orders)],
        "list models": ["/api/v1/models"],
        "list runs": ["/api/v1/runs"],
        "list series": [f"/api/v1/series{text}" for text in chosen],
        "list series, one": [f"/api/v1/series/{one['series_id']}" for one in some],
    }


async def ask(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, path: str) -> Times:
    """One request on a connection that stays."""
    begin = time.perf_counter()
    writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept-Encoding: gzip\r\n\r\n".encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)content-length: (\d+)", head)
    await reader.readexactly(int(length[1]) if length else 0)
    took = (time.perf_counter() - begin) * 1e3
    inside = re.search(r"(?i)server-timing: app;dur=([\d.]+)", head)
    return Times(float(inside[1]) if inside else took, took, int(head.split()[1]))


async def load(port: int, paths: Sequence[str]) -> list[Times]:
    """All clients at once, until every path was asked for."""
    waiting, found = list(paths), []

    async def client() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 24)
        while waiting:
            found.append(await ask(reader, writer, waiting.pop(0)))
        writer.close()

    await asyncio.gather(*(client() for _ in range(CLIENTS)))
    return found


def percentile(times: Sequence[Times], kind: str, share: float) -> float:
    return float(np.percentile([getattr(one, kind) for one in times], share))


def report(name: str, new: Sequence[Times], times: Sequence[Times]) -> tuple[float, bool]:
    """The 95th percentile of the server's time, and whether all is well."""
    p95, limit = percentile(times, "server_ms", 95), LIST_MS if name.startswith("list") else PAGE_MS
    wrong = sorted({one.status for one in (*new, *times)} - {200})
    first, then, client = (
        f"{percentile(some, kind, 50):6.1f} ms, p95 {percentile(some, kind, 95):6.1f}"
        for some, kind in ((new, "server_ms"), (times, "server_ms"), (times, "client_ms"))
    )
    remark = ("  MISSED" if p95 > limit else "") + (f"  answers {wrong}" if wrong else "")
    print(f"{name:18} new {len(new):3} {first}   then {len(times)} {then} (limit {limit:g})   client {client}{remark}")
    return p95, p95 <= limit and not wrong


def examine(path: Path, only: str) -> tuple[dict[str, float], bool]:
    process, address, seconds = start(path)
    try:
        print(f"start to first page {seconds:.2f} s (limit {START_S:g} s){'  MISSED' if seconds > START_S else ''}")
        good, p95 = seconds <= START_S, {}
        for name, paths in addresses(address).items():
            if only in name:
                whole = [one if one.startswith("/api") else f"/dashboard{one}" for one in paths]
                port, dice = int(address.rsplit(":", 1)[1]), random.Random(2)
                new = asyncio.run(load(port, whole))
                p95[name], well = report(name, new, asyncio.run(load(port, dice.choices(whole, k=REQUESTS))))
                good &= well
        return p95, good
    finally:
        process.terminate()
        process.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", default="100000", help="sizes of the store, comma-separated")
    parser.add_argument("--only", default="", help="only pages whose name has this in it")
    parser.add_argument("--store", type=Path, help="an existing store in place of one that is made up")
    options = parser.parse_args()
    found: list[dict[str, float]] = []
    good = True
    for results in map(int, options.results.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            path = options.store or Path(folder) / "dyno.duckdb"
            if not options.store:
                fill(path, results)
            print(f"{results:,} results" if not options.store else str(path))
            p95, well = examine(path, options.only)
            found.append(p95)
            good &= well or len(found) > 1
    for name in found[0] if len(found) > 1 else ():
        growth = found[-1][name] / max(found[0][name], 1.0)
        limit = (LIST_MS if name.startswith("list") else PAGE_MS) * GROWTH
        missed = found[-1][name] > limit
        good &= not missed
        print(f"{name:18} {growth:5.2f} times the time at the first size{'  MISSED' if missed else ''}")
    sys.exit(int(not good))


if __name__ == "__main__":
    main()
