"""Is modeldyno at least twice as fast as optimum-benchmark for the same cells, and no less repeatable?

    python benchmarks/versus_optimum.py [--repeats 3] [--samples 30] [--seq 64] [--json FILE]

One BERT-base with random weights, saved once, goes through both tools: torch and onnxruntime, batch 1, 2 and 4, fp32,
all cores, processes of their own, the same number of timed iterations. Repeats alternate (peer, ours, ours, peer).
Whole wall time counts: start-up, loading, export. Ours gets an empty cache each time; a warm one is run once, apart.

The peer lives in its own environment, made on the first run and not timed. Its onnxruntime backend imports a table
that optimum 2.x no longer has, and 1.24 to 1.27 do not import or export with these versions of torch and transformers.
So that one import of the peer is patched after the install. It exports in every cell, as for any user.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

CACHE = Path(__file__).resolve().parents[1] / ".cache"
CORES = len(os.sched_getaffinity(0))
RUNTIMES = ("torch", "onnxruntime")
BATCHES = (1, 2, 4)
CELLS = tuple((runtime, batch) for runtime in RUNTIMES for batch in BATCHES)
WALL_CLAIM = 0.5
LOG_TAIL = 3000

PINS = (
    "torch==2.13.0",
    "transformers==4.57.6",
    "datasets==4.8.5",
    "huggingface-hub==0.36.2",
    "optimum-benchmark==0.6.0",
    "optimum==2.1.0",
    "optimum-onnx==0.1.0",
    "onnxruntime==1.31.1",
    "onnx==1.23.2",
)
MISSING_TABLE = "from optimum.pipelines import ORT_SUPPORTED_TASKS\n"
TABLE = (
    "from optimum.onnxruntime import ORTModelForMaskedLM\n\n"
    'ORT_SUPPORTED_TASKS = {"fill-mask": {"class": (ORTModelForMaskedLM,)}}\n'
)

SAVE_MODEL = """
import sys

import torch
from transformers import BertConfig, BertForMaskedLM

torch.manual_seed(0)
BertForMaskedLM(BertConfig()).eval().save_pretrained(sys.argv[1])
"""

# Its children import this file again, so only what they need stands at the top.
PEER_DRIVER = """
import json
import sys
import traceback
from importlib.metadata import version
from pathlib import Path

from optimum_benchmark import (
    Benchmark, BenchmarkConfig, InferenceConfig, InlineConfig, ORTConfig, ProcessConfig, PyTorchConfig
)


def backend(job, runtime):
    common = dict(model=job["model"], task="fill-mask", library="transformers", model_type="bert", device="cpu")
    threads = job["threads"]
    if runtime == "torch":
        # 0.6.0 hands this one to torch.set_num_threads, which are the intra-op threads.
        return PyTorchConfig(inter_op_num_threads=threads, **common)
    return ORTConfig(session_options={"intra_op_num_threads": threads}, **common)


def measure(job, runtime, batch):
    scenario = InferenceConfig(
        iterations=job["samples"],
        duration=0,
        warmup_runs=job["warmup"],
        input_shapes={"batch_size": batch, "sequence_length": job["seq"]},
    )
    launcher = ProcessConfig() if job["launcher"] == "process" else InlineConfig()
    config = BenchmarkConfig(
        name=f"{runtime}-{batch}", backend=backend(job, runtime), scenario=scenario, launcher=launcher
    )
    return [1e3 * seconds for seconds in Benchmark.launch(config).forward.latency.values]


def main():
    job = json.loads(Path(sys.argv[1]).read_text())
    cells = []
    for runtime, batch in job["cells"]:
        cell = {"runtime": runtime, "batch": batch, "ms": [], "problem": None}
        try:
            cell["ms"] = measure(job, runtime, batch)
        except Exception:
            cell["problem"] = traceback.format_exc()
        cells.append(cell)
    names = ("optimum-benchmark", "torch", "transformers", "onnxruntime", "optimum-onnx")
    Path(sys.argv[2]).write_text(json.dumps({"cells": cells, "versions": {name: version(name) for name in names}}))


if __name__ == "__main__":
    main()
"""


@dataclass
class Cell:
    """What a tool says of one cell in one run."""

    runtime: str
    batch: int
    ms: list[float] = field(default_factory=list)
    problem: str | None = None

    @property
    def key(self) -> tuple[str, int]:
        return self.runtime, self.batch

    @property
    def median(self) -> float | None:
        return statistics.median(self.ms) if self.ms else None


@dataclass
class ToolRun:
    """One whole command of one tool."""

    tool: str
    repeat: int
    wall_s: float
    cpu_s: float
    load: float
    """Load average at its start."""
    cells: list[Cell]
    versions: dict[str, str]


def prepare_peer(venv: Path) -> Path:
    """The peer's Python, with everything installed and the one import mended."""
    python = venv / "bin" / "python"
    constraints = venv / "constraints.txt"
    wanted = "\n".join(PINS) + "\n"
    done = venv / "installed.txt"
    if not python.exists():
        _checked([sys.executable, "-m", "venv", str(venv)])
    if not done.exists() or done.read_text() != wanted:
        print(f"installing the peer in {venv} (not timed)", flush=True)
        constraints.write_text(wanted)
        _checked([str(python), "-m", "pip", "install", "-q", "-c", str(constraints), *PINS])
        done.write_text(wanted)
    [tasks] = venv.glob("lib/python*/site-packages/optimum_benchmark/backends/onnxruntime/utils.py")
    if MISSING_TABLE in (text := tasks.read_text()):
        tasks.write_text(text.replace(MISSING_TABLE, TABLE))
    return python


def prepare_model(python: Path, folder: Path) -> Path:
    """A random BERT-base that both versions of transformers load."""
    if not (folder / "config.json").exists():
        print(f"saving a random BERT-base in {folder} (not timed)", flush=True)
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        _checked([str(python), "-c", SAVE_MODEL, str(unfinished)])
        unfinished.rename(folder)
    return folder


def read_ahead(python: Path, model: Path) -> None:
    """Bring libraries and weights into the page cache, so that whoever goes first does not pay for the other."""
    _checked([str(python), "-c", "from optimum_benchmark.backends.onnxruntime import backend; import torch._dynamo"])
    _checked([sys.executable, "-c", "import modeldyno.cli, onnx, onnxruntime, onnxscript, torch._dynamo, transformers"])
    for file in model.iterdir():
        file.read_bytes()


def run_peer(python: Path, options: argparse.Namespace, model: Path, work: Path, repeat: int) -> ToolRun:
    job, result, driver = work / "job.json", work / "result.json", work / "peer_driver.py"
    settings = {"model": str(model), "threads": CORES, "cells": CELLS, "launcher": options.peer_launcher}
    settings |= {"samples": options.samples, "warmup": options.peer_warmup, "seq": options.seq}
    job.write_text(json.dumps(settings))
    driver.write_text(PEER_DRIVER)
    result.unlink(missing_ok=True)
    wall, cpu, load, ended = _timed([str(python), str(driver), str(job), str(result)], work, {})
    if result.exists():
        told = json.loads(result.read_text())
        cells, versions = [Cell(**cell) for cell in told["cells"]], told["versions"]
    else:
        cells, versions = _all_failed(ended), {}
    return ToolRun("peer", repeat, wall, cpu, load, cells, versions)


def run_ours(options: argparse.Namespace, model: Path, work: Path, cache: Path, repeat: int) -> ToolRun:
    command = [sys.executable, "-m", "modeldyno", "run", str(model), "--on", "cpu", "--runtime", ",".join(RUNTIMES)]
    command += ["--batch", ",".join(map(str, BATCHES)), "--seq", str(options.seq), "--option", f"threads={CORES}"]
    command += ["--samples", str(options.samples), "--processes", "1", "--quick", "--json"]
    command += ["--store", str(work / f"{time.time_ns()}.duckdb")]
    wall, cpu, load, ended = _timed(command, work, {"DYNO_CACHE": str(cache)})
    try:
        records = json.loads(ended.stdout)["records"]
    except ValueError:
        return ToolRun("ours", repeat, wall, cpu, load, _all_failed(ended), {})
    versions = {name: number for record in records for name, number in record["software"].items()}
    return ToolRun("ours", repeat, wall, cpu, load, [_our_cell(record) for record in records], versions)


def _our_cell(record: dict[str, Any]) -> Cell:
    times = [ms for samples in record["samples"] for ms in samples["host_ms"]]
    problem = None
    if record["status"] != "ok":
        problem = "\n".join(filter(None, (f"{record['status']}: {record['reason']}", record["log"])))
    return Cell(record["case"]["runtime"], record["case"]["batch"], times, problem)


def _all_failed(ended: subprocess.CompletedProcess[str]) -> list[Cell]:
    problem = f"exit code {ended.returncode}\n{ended.stderr[-LOG_TAIL:]}"
    return [Cell(*cell, problem=problem) for cell in CELLS]


def _timed(
    command: list[str], work: Path, more: dict[str, str]
) -> tuple[float, float, float, subprocess.CompletedProcess[str]]:
    """Wall seconds, CPU seconds of all its processes, the load before, and how it ended."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", **more}
    load, cpu, begin = os.getloadavg()[0], _children_cpu_s(), time.perf_counter()
    ended = subprocess.run(command, cwd=work, env=environment, capture_output=True, text=True, check=False)
    return time.perf_counter() - begin, _children_cpu_s() - cpu, load, ended


def _children_cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _checked(command: list[str]) -> None:
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SystemExit(f"{' '.join(command)[:200]}\nended with {ended.returncode}:\n{ended.stderr[-LOG_TAIL:]}")


def run_all(python: Path, options: argparse.Namespace, model: Path, work: Path) -> tuple[list[ToolRun], ToolRun]:
    """The alternating runs, then ours once more with the cache its last run left."""
    cache = work / "cache"
    runs: list[ToolRun] = []
    for repeat in range(options.repeats):
        tools: list[Callable[[], ToolRun]] = [
            functools.partial(run_peer, python, options, model, work, repeat),
            functools.partial(_run_ours_cold, options, model, work, cache, repeat),
        ]
        runs += [_told(run()) for run in (tools if repeat % 2 == 0 else reversed(tools))]
    return runs, _told(run_ours(options, model, work, cache, options.repeats), " (warm cache)")


def _run_ours_cold(options: argparse.Namespace, model: Path, work: Path, cache: Path, repeat: int) -> ToolRun:
    shutil.rmtree(cache, ignore_errors=True)
    return run_ours(options, model, work, cache, repeat)


def _told(run: ToolRun, remark: str = "") -> ToolRun:
    """Progress, and every problem in the tool's own words."""
    print(f"{run.tool}{remark}: {run.wall_s:.1f} s wall, {run.cpu_s:.1f} s CPU, load {run.load:.1f} before", flush=True)
    for cell in run.cells:
        if cell.problem:
            print(f"  {cell.runtime} batch {cell.batch}: {cell.problem.strip()}", flush=True)
    return run


def spread(medians: Sequence[float]) -> float | None:
    return (max(medians) - min(medians)) / statistics.median(medians) if len(medians) > 1 else None


def compare_cells(runs: list[ToolRun]) -> list[dict[str, Any]]:
    rows = []
    for runtime, batch in CELLS:
        row: dict[str, Any] = {"runtime": runtime, "batch": batch}
        for tool in ("peer", "ours"):
            cells = [cell for run in runs if run.tool == tool for cell in run.cells if cell.key == (runtime, batch)]
            medians = [cell.median for cell in cells if cell.median is not None]
            row[f"{tool}_median_ms"] = statistics.median(medians) if medians else None
            row[f"{tool}_spread"] = spread(medians)
            row[f"{tool}_iterations"] = [len(cell.ms) for cell in cells]
        rows.append(row)
    return rows


def compare_walls(runs: list[ToolRun]) -> dict[str, Any]:
    peer = [run.wall_s for run in runs if run.tool == "peer"]
    ours = [run.wall_s for run in runs if run.tool == "ours"]
    ratios = [mine / theirs for mine, theirs in zip(ours, peer, strict=True)]
    ratio = statistics.median(ours) / statistics.median(peer)
    return {"peer_s": peer, "ours_s": ours, "ratios": ratios, "ratio_of_medians": ratio}


def verdicts(rows: list[dict[str, Any]], walls: dict[str, Any], samples: int) -> list[str]:
    uneven = [row for row in rows for tool in ("peer", "ours") if set(row[f"{tool}_iterations"]) != {samples}]
    if uneven:
        return [f"undecided: {len(uneven)} of {2 * len(rows)} cells have not {samples} iterations in every run"]
    ratio = walls["ratio_of_medians"]
    lines = [f"wall time: ours / peer {ratio:.2f}, claim at most {WALL_CLAIM:.2f}: {_holds(ratio <= WALL_CLAIM)}"]
    if any(row["ours_spread"] is None for row in rows):
        return [*lines, "spread: undecided, it takes two repeats or more"]
    for name, pick in (("median of the cells", statistics.median), ("worst cell", max)):
        ours, peer = pick([row["ours_spread"] for row in rows]), pick([row["peer_spread"] for row in rows])
        lines.append(f"spread, {name}: ours {ours:.1%}, peer {peer:.1%}, claim no larger: {_holds(ours <= peer)}")
    smaller = sum(row["ours_spread"] <= row["peer_spread"] for row in rows)
    return [*lines, f"spread, cell by cell: ours no larger in {smaller} of {len(rows)}"]


def _holds(truth: bool) -> str:
    return "holds" if truth else "does not hold"


def show(rows: list[dict[str, Any]], walls: dict[str, Any], warm: ToolRun, lines: list[str]) -> None:
    print(f"\n{'cell':24}{'peer ms':>10}{'ours ms':>10}{'peer spread':>13}{'ours spread':>13}")
    for row in rows:
        times = "".join(f"{_figure(row[f'{tool}_median_ms'], '.1f'):>10}" for tool in ("peer", "ours"))
        spreads = "".join(f"{_figure(row[f'{tool}_spread'], '.1%'):>13}" for tool in ("peer", "ours"))
        print(f"{row['runtime'] + ', batch ' + str(row['batch']):24}{times}{spreads}")
    print(f"\n{'whole wall time':24}{'peer s':>10}{'ours s':>10}{'ours / peer':>13}")
    for number, (peer, ours, ratio) in enumerate(
        zip(walls["peer_s"], walls["ours_s"], walls["ratios"], strict=True), start=1
    ):
        print(f"{f'repeat {number}':24}{peer:>10.1f}{ours:>10.1f}{ratio:>13.2f}")
    ratio = warm.wall_s / statistics.median(walls["peer_s"])
    print(f"{'ours, warm cache':24}{'':>10}{warm.wall_s:>10.1f}{ratio:>13.2f}")
    print("", *lines, sep="\n")


def _figure(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--samples", type=int, default=30, help="timed iterations per cell, for both")
    parser.add_argument("--seq", type=int, default=64)
    parser.add_argument("--peer-venv", type=Path, default=CACHE / "peer")
    parser.add_argument("--peer-warmup", type=int, default=10, help="warm-up runs of the peer; 10 is its default")
    parser.add_argument(
        "--peer-launcher",
        choices=("process", "inline"),
        default="process",
        help="inline has no isolation, but no parent that polls its pipe without a pause (one core) either",
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    return parser.parse_args()


def main() -> None:
    options = _options()
    CACHE.mkdir(exist_ok=True)
    python = prepare_peer(options.peer_venv.resolve())
    model = prepare_model(python, CACHE / "bert-base-random")
    read_ahead(python, model)
    print(f"{len(CELLS)} cells, {options.samples} iterations each, sequence {options.seq}, {CORES} threads", flush=True)
    with tempfile.TemporaryDirectory(prefix="versus-") as folder:
        runs, warm = run_all(python, options, model, Path(folder))
    rows, walls = compare_cells(runs), compare_walls(runs)
    lines = verdicts(rows, walls, options.samples)
    for run in runs[:2]:
        print(f"{run.tool}: {', '.join(f'{name} {number}' for name, number in run.versions.items())}")
    show(rows, walls, warm, lines)
    if options.json:
        settings = {name: str(value) if isinstance(value, Path) else value for name, value in vars(options).items()}
        figures = {"settings": {**settings, "threads": CORES}, "cells": rows, "walls": walls, "verdicts": lines}
        figures |= {"runs": [asdict(run) for run in runs], "warm": asdict(warm)}
        options.json.write_text(json.dumps(figures, indent=2) + "\n")


if __name__ == "__main__":
    main()
