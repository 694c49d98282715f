"""Small files of the shapes that other tools write, made by hand."""

from __future__ import annotations

import json
from typing import Any

OPTIMUM_REPORT: dict[str, Any] = {
    "load_model": {
        "memory": None,
        "latency": {
            "unit": "s",
            "values": [1.5],
            "count": 1,
            "total": 1.5,
            "mean": 1.5,
            "p50": 1.5,
            "p90": 1.5,
            "p95": 1.5,
            "p99": 1.5,
            "stdev": 0,
            "stdev_": 0,
        },
        "throughput": None,
        "energy": None,
        "efficiency": None,
    },
    "first_forward": {
        "memory": None,
        "latency": {"unit": "s", "values": [0.25], "mean": 0.25, "p50": 0.25},
        "throughput": None,
        "energy": None,
        "efficiency": None,
    },
    "forward": {
        "memory": {
            "unit": "MB",
            "max_ram": 1048.576,
            "max_global_vram": 4194.304,
            "max_process_vram": 2097.152,
            "max_reserved": 524.288,
            "max_allocated": 262.144,
        },
        "latency": {
            "unit": "s",
            "values": [0.01, 0.02, 0.03],
            "count": 3,
            "total": 0.06,
            "mean": 0.02,
            "p50": 0.02,
            "p90": 0.028,
            "p95": 0.029,
            "p99": 0.0298,
            "stdev": 0.008,
            "stdev_": 40.0,
        },
        "throughput": {"unit": "samples/s", "value": 200.0},
        "energy": {"unit": "kWh", "cpu": 1e-7, "ram": 1e-7, "gpu": 3e-7, "total": 5e-7},
        "efficiency": {"unit": "samples/kWh", "value": 8e6},
    },
}
OPTIMUM: dict[str, Any] = {
    "config": {
        "name": "cuda_bert",
        "backend": {
            "name": "pytorch",
            "version": "2.5.1",
            "_target_": "optimum_benchmark.backends.pytorch.backend.PyTorchBackend",
            "task": "fill-mask",
            "model": "google-bert/bert-base-uncased",
            "device": "cuda",
            "device_ids": "0",
            "torch_dtype": "float16",
            "torch_compile": False,
            "quantization_scheme": None,
            "quantization_config": {},
        },
        "scenario": {
            "name": "inference",
            "input_shapes": {"batch_size": 4, "sequence_length": 128, "num_choices": 2},
        },
        "launcher": {"name": "process"},
        "environment": {
            "cpu": " AMD EPYC 7R32",
            "cpu_count": 16,
            "cpu_ram_mb": 66697.26,
            "system": "Linux",
            "python_version": "3.10.14",
            "gpu": ["NVIDIA A10G"],
            "gpu_count": 1,
            "gpu_vram_mb": 24146608128,
            "optimum_benchmark_version": "0.6.0",
            "transformers_version": "4.47.0",
            "timm_version": None,
        },
    },
    "report": OPTIMUM_REPORT,
}
PYTEST: dict[str, Any] = {
    "machine_info": {
        "node": "builder",
        "processor": "x86_64",
        "machine": "x86_64",
        "python_version": "3.11.7",
        "system": "Linux",
        "cpu": {"brand_raw": "Intel(R) Xeon(R) Processor", "count": 2},
    },
    "commit_info": {"id": "a" * 40, "time": "2025-01-01T00:00:00Z", "dirty": False, "project": "p", "branch": "main"},
    "benchmarks": [
        {
            "group": None,
            "name": "test_sort[100]",
            "fullname": "tests/test_x.py::test_sort[100]",
            "params": {"size": 100},
            "param": "100",
            "extra_info": {},
            "options": {"timer": "perf_counter", "min_rounds": 5},
            "stats": {
                "min": 0.001,
                "max": 0.004,
                "mean": 0.002,
                "stddev": 0.0005,
                "rounds": 3,
                "median": 0.0015,
                "ops": 500.0,
                "total": 0.0065,
                "data": [0.001, 0.0015, 0.004],
                "iterations": 1,
            },
        },
        {
            "group": None,
            "name": "test_bert",
            "fullname": "tests/test_x.py::test_bert",
            "params": {"batch": 8},
            "param": "8",
            "extra_info": {
                "model": "bert-base-uncased",
                "platform": "cuda:0",
                "precision": "float16",
                "runtime": "torch",
            },
            "options": {},
            "stats": {"median": 0.5, "mean": 0.5, "min": 0.5, "max": 0.5, "stddev": 0, "rounds": 1, "iterations": 1},
        },
    ],
    "datetime": "2025-06-15T14:23:07.123456+00:00",
    "version": "5.1.0",
}


def google_row(real_time: float, **more: Any) -> dict[str, Any]:
    row = {"name": "BM_Copy/64", "run_name": "BM_Copy/64", "run_type": "iteration", "repetitions": 3, "threads": 1}
    row |= {"iterations": 1000, "real_time": real_time, "cpu_time": real_time / 2, "time_unit": "ns"}
    return row | {"items_per_second": 64e9 / real_time} | more


def google_aggregate(name: str, real_time: float) -> dict[str, Any]:
    return google_row(real_time, name=f"BM_Copy/64_{name}", run_type="aggregate", aggregate_name=name, iterations=3)


GOOGLE: dict[str, Any] = {
    "context": {
        "date": "2025-06-15T14:23:07+02:00",
        "host_name": "build-server",
        "executable": "./my_benchmarks",
        "num_cpus": 8,
        "mhz_per_cpu": 3200,
        "cpu_scaling_enabled": False,
        "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}],
        "load_avg": [1.23, 0.98, 0.87],
        "library_version": "v1.9.1",
        "library_build_type": "release",
        "json_schema_version": 1,
    },
    "benchmarks": [
        google_row(5000.0, repetition_index=0),
        google_row(7000.0, repetition_index=1),
        google_row(9000.0, repetition_index=2),
        google_aggregate("mean", 7000.0),
        google_aggregate("median", 7000.0),
        google_aggregate("stddev", 2000.0),
        google_aggregate("cv", 0.28),
        {
            "name": "BM_Serialize",
            "run_name": "BM_Serialize",
            "run_type": "iteration",
            "repetitions": 1,
            "threads": 1,
            "iterations": 890432,
            "real_time": 2.5,
            "cpu_time": 2.25,
            "time_unit": "us",
        },
        {
            "name": "BM_Broken",
            "run_name": "BM_Broken",
            "run_type": "iteration",
            "error_occurred": True,
            "error_message": "no data",
            "iterations": 0,
            "real_time": 0.0,
            "cpu_time": 0.0,
            "time_unit": "ns",
        },
        {
            "name": "BM_Skipped",
            "run_name": "BM_Skipped",
            "run_type": "iteration",
            "skipped": True,
            "skip_message": "old",
        },
        {
            "name": "BM_Fit_BigO",
            "run_name": "BM_Fit",
            "run_type": "aggregate",
            "aggregate_name": "BigO",
            "big_o": "N",
            "cpu_coefficient": 1.0,
            "real_coefficient": 1.0,
            "time_unit": "ns",
        },
        {"name": "BM_Fit_RMS", "run_name": "BM_Fit", "run_type": "aggregate", "aggregate_name": "RMS", "rms": 0.01},
    ],
}
_ASV_PARAMS = {
    "arch": "x86_64",
    "cpu": "Intel Xeon",
    "machine": "vm",
    "num_cpu": "2",
    "os": "Linux 6.1",
    "python": "3.11",
}
ASV: dict[str, Any] = {
    "commit_hash": "b" * 40,
    "env_name": "virtualenv-py3.11-numpy",
    "date": 1700000000000,
    "params": {**_ASV_PARAMS, "ram": "17179869184", "numpy": ""},
    "python": "3.11",
    "requirements": {"numpy": "2.0"},
    "env_vars": {},
    "result_columns": [
        "result",
        "params",
        "version",
        "started_at",
        "duration",
        "stats_ci_99_a",
        "stats_ci_99_b",
        "stats_q_25",
        "stats_q_75",
        "stats_number",
        "stats_repeat",
        "samples",
        "profile",
    ],
    "results": {
        "bench.Suite.time_range": [
            [0.001, float("nan"), 0.003, None],
            [["10", "100"], ["'a'", "'b'"]],
            "0123",
            1700000100000,
            2.5,
            *[[0.001, None, 0.003, None]] * 4,
            [10, None, 10, None],
            [2, None, 2, None],
            [[0.0005, 0.0015], None, [0.003, 0.003], None],
        ],
        "bench.peakmem_list": [[104857600], [], "4567", 1700000200000, 1.0],
        "bench.track_size": [[42], [], "89ab", 1700000300000, 1.0],
    },
    "durations": {"<build>": 12.0},
    "version": 2,
}
ASV_1: dict[str, Any] = {
    "commit_hash": "c" * 40,
    "date": 1400000000000,
    "params": _ASV_PARAMS,
    "python": "2.7",
    "requirements": {},
    "profiles": {},
    "results": {
        "time_old": 0.002,
        "time_params": {"params": [["1", "2"]], "result": [0.004, 0.005]},
        "time_stats": {"result": [0.006], "stats": [{"ci_99": [0.005, 0.007]}], "samples": [[0.006, 0.006]]},
        "time_failed": None,
    },
    "started_at": {"time_old": 1400000100000},
    "version": 1,
}


def mlperf(scenario: str, head: str, verdict: str = "VALID", stats: str = "", per_query: int = 1) -> str:
    rule = "=" * 48
    satisfied = "Yes" if verdict == "VALID" else "NO"
    return f"""{rule}
MLPerf Results Summary
{rule}
SUT name : PySUT
Scenario : {scenario}
Mode     : PerformanceOnly
{head}
Result is : {verdict}
  Min duration satisfied : {satisfied}
  Min queries satisfied : Yes
  Early stopping satisfied: Yes

{rule}
Additional Stats
{rule}
{stats}
Min latency (ns)                : 1000000
Max latency (ns)                : 9000000
Mean latency (ns)               : 2500000
50.00 percentile latency (ns)   : 2000000
90.00 percentile latency (ns)   : 3000000
95.00 percentile latency (ns)   : 4000000
97.00 percentile latency (ns)   : 5000000
99.00 percentile latency (ns)   : 6000000
99.90 percentile latency (ns)   : 8000000

{rule}
Test Parameters Used
{rule}
samples_per_query : {per_query}
target_qps : 1000
target_latency (ns): 0
max_async_queries : 1
min_duration (ms): 60000

No warnings encountered during test.

No errors encountered during test.
"""


SINGLE_QPS = "QPS w/ loadgen overhead         : 399.00\nQPS w/o loadgen overhead        : 400.00\n"
MLPERF = mlperf("SingleStream", "90th percentile latency (ns) : 3000000", stats=SINGLE_QPS)

APP_LOG = """[Step 1/11] Parsing and validating input arguments
[ INFO ] Parsing input parameters
[Step 2/11] Loading OpenVINO Runtime
[ INFO ] OpenVINO:
[ INFO ] Build ................................. 2026.4.1-22982-e213a147257-releases/2026/4
[ INFO ]
[ INFO ] Device info:
[ INFO ] GPU
[ INFO ] Build ................................. 2026.4.1-22982-e213a147257-releases/2026/4
[ INFO ]
[Step 4/11] Reading model files
[ INFO ] Loading model files
[ INFO ] Read model took 10.50 ms
[Step 5/11] Resizing model to match image sizes and given batch
[ INFO ] Model batch size: 8
[Step 7/11] Loading the model to the device
[ INFO ] Compile model took 100.25 ms
[Step 8/11] Querying optimal runtime parameters
[ INFO ] Model:
[ INFO ]   NETWORK_NAME: Model0
[ INFO ]   OPTIMAL_NUMBER_OF_INFER_REQUESTS: 4
[ INFO ]   INFERENCE_PRECISION_HINT: <Type: 'float16'>
[ INFO ]   PERFORMANCE_HINT: THROUGHPUT
[Step 10/11] Measuring performance (Start inference asynchronously, 4 inference requests, limits: 60000 ms duration)
[ INFO ] Benchmarking in inference only mode (inputs filling are not included in measurement loop).
[ INFO ] First inference took 35.00 ms
[Step 11/11] Dumping statistics report
[ INFO ] Execution Devices:['GPU.0']
[ INFO ] Count:            3000 iterations
[ INFO ] Duration:         60000.00 ms
[ INFO ] Latency:
[ INFO ]    Median:        79.50 ms
[ INFO ]    Average:       80.00 ms
[ INFO ]    Min:           60.25 ms
[ INFO ]    Max:           120.00 ms
[ INFO ] Throughput:   400.00 FPS
"""
APP_JSON: dict[str, Any] = {
    "cmd_options": {"-m": "/models/resnet50/openvino_model.xml", "-d": "CPU", "-json_stats": ""},
    "configuration_setup": {
        "topology": "Model1",
        "target device": "CPU",
        "API": "async",
        "inference_only": True,
        "precision": "UNSPECIFIED",
        "batch size": "2",
        "number of iterations": "None",
        "number of parallel infer requests": "2",
        "duration (ms)": "1000",
    },
    "execution_results": {
        "read model time (ms)": "6.90",
        "compile model time (ms)": "31.84",
        "first inference time (ms)": "0.43",
        "total execution time (ms)": "1000.05",
        "total number of iterations": "200",
        "latency (ms)": "9.50",
        "avg latency": "10.00",
        "min latency": "8.00",
        "max latency": "25.00",
        "throughput": "400.00",
    },
}
APP_JSON_CPP: dict[str, Any] = {
    "cmd_options": {"m": r"C:\models\mobilenet.xml", "d": "NPU"},
    "configuration_setup": {"topology": "Model1", "target_device": "NPU", "api": "async", "batch_size": 1, "nireq": 4},
    "execution_results": {
        "execution_time": 1000.0,
        "iterations_num": 800,
        "latency_median": 6.5,
        "percentile_boundary": 90,
        "latency_avg": 5.0,
        "latency_min": 4.0,
        "latency_max": 9.0,
        "throughput": 800.0,
    },
}
APP_CSV = """Command line parameters
-m;squeezenet1.1.xml
-d;CPU
-report_type;no_counters

Configuration setup
topology;Model1
target device;CPU
API;sync
inference_only;True
precision;UNSPECIFIED
batch size;1
number of iterations;None
number of parallel infer requests;1
duration (ms);1000

Execution results
read model time (ms);11.00
compile model time (ms);24.00
first inference time (ms);4.50
total execution time (ms);1000.00
total number of iterations;250
latency (ms);3.90
avg latency;4.00
min latency;3.50
max latency;7.20
throughput;250.00

"""
APP_CSV_CPP = """Command line parameters;
m;squeezenet1.1.xml;
d;CPU;

Configuration setup;
topology;Model1;
target device;CPU;
batch size;1;
number of parallel infer requests;1;

Execution results;
Median latency (ms);3.900000;
Percentile boundary;50;
Average latency (ms);4.000000;
Min latency (ms);3.500000;
Max latency (ms);7.200000;
throughput;250.000000;

"""

FILES: dict[str, tuple[str, str]] = {
    "optimum": ("optimum-benchmark", json.dumps(OPTIMUM)),
    "optimum report": ("optimum-benchmark", json.dumps(OPTIMUM_REPORT)),
    "pytest": ("pytest-benchmark", json.dumps(PYTEST)),
    "google": ("google-benchmark", json.dumps(GOOGLE)),
    "asv": ("asv", json.dumps(ASV)),
    "asv 1": ("asv", json.dumps(ASV_1)),
    "mlperf": ("mlperf", MLPERF),
    "app log": ("benchmark-app", APP_LOG),
    "app json": ("benchmark-app", json.dumps(APP_JSON)),
    "app json cpp": ("benchmark-app", json.dumps(APP_JSON_CPP)),
    "app csv": ("benchmark-app", APP_CSV),
    "app csv cpp": ("benchmark-app", APP_CSV_CPP),
}
"""Each shape with the name of the importer that must recognise it."""
