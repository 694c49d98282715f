"""A benchmark of one's own: register a class, run it, keep the result in the store.

Run it with `python examples/model_benchmark.py`; `dyno show` then shows the record.
"""

from __future__ import annotations

import time

import numpy as np

from modeldyno import BenchmarkBase, BenchmarkRegistry, BenchmarkRunner


@BenchmarkRegistry.register(name="matrix_product", category="inference", hardware=["cpu", "cuda"])
class MatrixProduct(BenchmarkBase):
    """Times a matrix product; stands for whatever you want to measure."""

    def setup(self):
        rng = np.random.default_rng(0)
        size = int(self.params.get("size", 256))
        self.left = rng.standard_normal((size, size), dtype=np.float32)
        self.right = rng.standard_normal((size, size), dtype=np.float32)

    def execute(self):
        samples = []
        for _ in range(50):
            begin = time.perf_counter()
            self.left @ self.right
            samples.append((time.perf_counter() - begin) * 1e3)
        return samples

    def process_results(self, raw_results):
        return {"latency_ms": raw_results[10:]}


if __name__ == "__main__":
    runner = BenchmarkRunner()
    result = runner.execute("matrix_product", {"hardware": "cpu", "size": 512})
    print(result.status, result.metrics)
    print("saved to", runner.save_results())
