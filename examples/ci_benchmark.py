"""Runs a suite in CI: exits 0 when something was measured, 1 when nothing succeeded.

python examples/ci_benchmark.py --suite examples/performance_suite.json --output-dir ./results
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import model_benchmark  # noqa: F401 - registers the benchmark that the suite names
from modeldyno import BenchmarkRunner


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--suite", type=Path, required=True)
    parser.add_argument("--output-dir", type=Path, default=Path("results"))
    options = parser.parse_args()
    options.output_dir.mkdir(parents=True, exist_ok=True)
    runner = BenchmarkRunner(store=options.output_dir / "dyno.duckdb")
    for record in runner.execute_suite(options.suite):
        print(f"{record.case.label}: {record.status.value} {record.reason or ''}")
    print("saved to", runner.save_results())
    return 0 if any(record.status == "ok" for record in runner.results) else 1


if __name__ == "__main__":
    sys.exit(main())
