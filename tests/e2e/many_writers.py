"""Writers that are killed at random, and a reader beside them: what was acknowledged must be stored, once.

python tests/e2e/many_writers.py --rounds 20 --seconds 60
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from modeldyno.core.types import Case, Host, MetricValue, Record, Run, Samples, Status, Stop
from modeldyno.store.database import connect
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

HOST = Host(host_id="h", hostname="box")
CASE = Case(model="m", platform="cpu", runtime="torch")
RECORDS_PER_RUN = 20
PATIENCE_S = 120.0
"""On a busy machine the reader may need longer to come to its first read."""


def write(store: Store, acknowledged: Path) -> None:
    """Run after run, as `dyno run` does it: spool each record, note it once it is durable, fold at the end."""
    with acknowledged.open("a") as notes:
        while True:
            run = Run(host=HOST, command="kill test", version="0")
            writer = store.writer(run)
            writer.append(run)
            for number in range(RECORDS_PER_RUN):
                record = _record(run, number)
                if writer.append(record) is None:
                    notes.write(record.record_id + "\n")
                    notes.flush()
            writer.close()
            store.fold()


def _record(run: Run, number: int) -> Record:
    samples = Samples(host_ms=[float(number)] * 50, stop=Stop.INTERVAL, steady=True)
    metrics = {"latency_ms": MetricValue(value=float(number))}
    return Record(run_id=run.run_id, case=CASE, status=Status.OK, metrics=metrics, samples=(samples,))


def read(store: Store, acknowledged: Path) -> None:
    """Asks again and again, as a server would; every answer must be whole."""
    while True:
        if store.path.exists():
            for record in store.records(Filter(model=("m",)), newest=20):
                assert len(record.samples[0].host_ms) == 50
            with acknowledged.open("a") as notes:
                notes.write("read\n")


@dataclass(frozen=True)
class Outcome:
    acknowledged: int
    stored: int
    kills: int
    reads: int
    lost: int
    doubled: int
    torn: int

    def __str__(self) -> str:
        return (
            f"{self.acknowledged} acknowledged, {self.stored} stored, {self.lost} lost, {self.doubled} doubled; "
            f"{self.kills} kills, {self.reads} reads, {self.torn} torn lines told of"
        )


def one_round(folder: Path, writers: int, seconds: float, seed: int) -> Outcome:
    dice = random.Random(seed)
    store = Store(folder / "dyno.duckdb")
    reader = _start("read", store, folder / "reads")
    crew = [_start("write", store, folder / f"acks-{number}") for number in range(writers)]
    kills, end = 0, time.monotonic() + seconds
    while time.monotonic() < end or (not _reads(folder) and time.monotonic() < end + PATIENCE_S):
        time.sleep(dice.uniform(0.05, 0.6))
        victim = dice.randrange(writers)
        _kill(crew[victim])
        crew[victim] = _start("write", store, folder / f"acks-{victim}")
        kills += 1
    assert reader.poll() is None, "the reader died"
    for process in (reader, *crew):
        _kill(process)
    torn = len(store.fold().torn)
    return _judge(store, folder, kills, torn)


def _judge(store: Store, folder: Path, kills: int, torn: int) -> Outcome:
    acknowledged = [name for path in folder.glob("acks-*") for name in path.read_text().split("\n") if len(name) == 26]
    with connect(store.path, write=False) as connection:
        stored = Counter(row[0] for row in connection.execute("SELECT record_id FROM records").fetchall())
    return Outcome(
        acknowledged=len(acknowledged),
        stored=len(stored),
        kills=kills,
        reads=_reads(folder),
        lost=len(set(acknowledged) - set(stored)),
        doubled=sum(count - 1 for count in stored.values()),
        torn=torn,
    )


def _reads(folder: Path) -> int:
    return (folder / "reads").read_text().count("read") if (folder / "reads").exists() else 0


def _start(task: str, store: Store, notes: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, __file__, task, str(store.path), str(notes)])


def _kill(process: subprocess.Popen[bytes]) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


def main() -> None:
    if len(sys.argv) == 4 and sys.argv[1] in ("read", "write"):
        task = read if sys.argv[1] == "read" else write
        task(Store(Path(sys.argv[2])), Path(sys.argv[3]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--writers", type=int, default=8)
    options = parser.parse_args()
    for number in range(options.rounds):
        with tempfile.TemporaryDirectory(prefix="dyno-kill-") as folder:
            outcome = one_round(Path(folder), options.writers, options.seconds, number)
        print(f"round {number + 1}: {outcome}", flush=True)
        assert not outcome.lost
        assert not outcome.doubled


if __name__ == "__main__":
    main()
