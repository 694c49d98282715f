"""Generated files compile, lint and say what was asked; budgets come from results; names cannot break out."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from advise_world import H100, L4, XEON, device, later, record, store_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modeldyno.advise.generate import KINDS, Generated, Wanted, generate
from modeldyno.advise.generate.quote import plain, python_text, slug, yaml_text
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.policy import GATE
from modeldyno.core.types import Host, Provenance, Record, Run, Verdict
from modeldyno.models import ARCHITECTURES, resolve
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.suite import read_suite
from modeldyno.workloads import WORKLOADS

TINY = [next(entry.name for entry in one.entries if entry.tiny) for one in ARCHITECTURES.all()]
KINDS_OF_WORK = [name for name in WORKLOADS.names() if name != "hardware"]
RULES = "E,F,W,I,UP,B,C4,SIM,PIE,RET,TID,ARG,PTH,PERF,RUF,BLE,C90"
CUDA = Wanted("tiny-bert", "cuda")


def budgets(tmp_path: Path, *records: Record, wanted: Wanted = CUDA) -> dict[str, tuple[str, float]]:
    made = generate("test", wanted, store_of(tmp_path, records))
    return {one.metric: (one.side, one.limit) for one in made.budgets}


def constant(text: str, name: str) -> Any:
    """The value of a name at the top of a program."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise KeyError(name)


def test_every_architecture_platform_and_workload_gives_files_that_compile_and_lint(tmp_path: Path) -> None:
    for number, model in enumerate(TINY):
        for platform in PLATFORMS.names():
            for workload in (KINDS_OF_WORK[number % len(KINDS_OF_WORK)], "inference"):
                _write(tmp_path, generate("test", Wanted(model, platform, workload)))
            _write(tmp_path, generate("skill", Wanted(model, platform)))
            suite = _write(tmp_path, generate("suite", Wanted(model, platform, batch=2)))
            cases = read_suite(suite).cases()
            assert [case.batch for case in cases] == [1, 2, 4, 16]
            assert {(case.model, case.platform) for case in cases} == {(model, platform)}
    programs = list(tmp_path.glob("*.py"))
    assert len(programs) > 2 * len(TINY) * 8
    for program in programs:
        compile(program.read_text(), program.name, "exec")
    _lint(tmp_path)


def test_programs_for_every_runtime_and_with_budgets_lint_too(tmp_path: Path) -> None:
    for platform in PLATFORMS.all():
        for runtime in platform.runtimes:
            _write(tmp_path, generate("skill", Wanted("tiny-bert", platform.name, runtime=runtime)))
    store = store_of(tmp_path, [record(H100, 2.0, numbers={"memory_peak_mb": 12.0})])
    _write(tmp_path, generate("test", CUDA, store))
    _lint(tmp_path)


def _write(folder: Path, made: Generated) -> Path:
    assert re.fullmatch(r"[a-z0-9_]+\.(py|yaml)", made.name)
    path = folder / made.name
    path.write_text(made.text, encoding="utf-8")
    return path


def _lint(folder: Path) -> None:
    ruff = [sys.executable, "-m", "ruff"]
    for words in (
        ["check", "--isolated"],
        ["check", "--isolated", "--line-length", "120", "--select", RULES],
        ["format", "--isolated", "--line-length", "120", "--diff"],
    ):
        done = subprocess.run(
            [*ruff, *words, "--no-cache", "."], cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[:3000] + done.stderr[:3000]


@pytest.mark.parametrize("model", TINY)
def test_the_test_names_what_its_architecture_takes_in_and_puts_out(model: str) -> None:
    text = generate("test", Wanted(model, "cpu")).text
    member = resolve(model).member
    assert member is not None
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    told = ast.get_docstring(next(one for one in functions if one.name == "test_the_outputs_are_right")) or ""
    assert f"{member.name}: " in told
    assert told.endswith(" out.") or "out, " in told


@pytest.mark.parametrize("workload", KINDS_OF_WORK)
def test_each_workload_has_a_test_of_its_own(workload: str) -> None:
    own = {
        "inference": "test_the_outputs_are_right",
        "generation": "test_it_writes_tokens",
        "serving": "test_queries_are_answered",
        "training": "test_the_loss_falls",
        "pool": "test_the_model_is_loaded_once_for_all",
    }
    assert f"def {own[workload]}(" in generate("test", Wanted("tiny-opt", "cpu", workload)).text


def test_without_a_result_no_budget_is_asserted_and_the_way_to_one_is_named(tmp_path: Path) -> None:
    for store in (None, store_of(tmp_path, [])):
        made = generate("test", Wanted("tiny-bert", "cuda", batch=8, shape={"seq": 64}), store)
        assert made.budgets == ()
        assert "BUDGETS" not in made.text
        command = "dyno run tiny-bert --on cuda:0 --workload inference --runtime torch --precision fp32 --batch 8"
        assert f"{command} --shape seq=64" in made.notes[-1]
        assert "dyno run tiny-bert --on cuda:0" in made.text


def test_a_budget_is_the_worst_end_of_the_last_results_and_a_margin(tmp_path: Path) -> None:
    old = record(H100, 3.0, half=0.1, numbers={"memory_peak_mb": 100.0})
    new = later(record(H100, 2.0, half=0.1, numbers={"memory_peak_mb": 110.0}))
    made = generate("test", CUDA, store_of(tmp_path, [old, new]))
    assert constant(made.text, "BUDGETS") == {"latency_ms": ("at most", 3.96), "memory_peak_mb": ("at most", 132.0)}
    assert constant(made.text, "DEVICE") == H100.name
    first = made.budgets[0]
    assert (first.record_id, first.records, first.margin, first.trusted) == (old.record_id, 2, 0.2, True)
    assert all(f"in record {one.record_id}" in made.text for one in (old, new)), "each budget names its own"


def test_a_rate_is_bounded_from_below(tmp_path: Path) -> None:
    served = record(H100, 2.0, half=0.0, workload="serving")
    found = budgets(tmp_path, served, wanted=Wanted("tiny-bert", "cuda", "serving"))
    assert found["throughput_per_s"] == ("at least", 416.7)


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": Provenance.PREDICTED},
        {"provenance": Provenance.SIMULATED},
        {"status": "failed", "reason": "it broke"},
        {"shape": {"seq": 64}},
        {"batch": 2},
        {"runtime": "torch-compile"},
        {"precision": "bf16"},
        {"workload": "training"},
        {"options": {"threads": 1}},
        {"model": "tiny-opt"},
    ],
    ids=str,
)
def test_what_is_not_the_same_case_or_not_real_gives_no_budget(tmp_path: Path, changes: dict[str, Any]) -> None:
    assert budgets(tmp_path, record(H100, 2.0, **changes)) == {}


def test_an_emulator_gives_no_budget(tmp_path: Path) -> None:
    assert budgets(tmp_path, record(device("cuda", "soft", emulated=True), 2.0)) == {}


def test_imported_results_under_another_name_of_the_model_count(tmp_path: Path) -> None:
    known = record(H100, 2.0, model="google-bert/bert-base-uncased", provenance=Provenance.IMPORTED)
    assert budgets(tmp_path, known, wanted=Wanted("bert-base-uncased", "cuda"))["latency_ms"] == ("at most", 2.424)


def test_the_device_that_is_here_goes_before_a_newer_result_of_another(tmp_path: Path) -> None:
    here = PLATFORMS.get("cpu").probe().devices[0]
    mine, other = record(here, 5.0, half=0), later(record(XEON, 1.0, half=0))
    made = generate("test", Wanted("tiny-bert", "cpu"), store_of(tmp_path, [mine, other]))
    assert (made.budgets[0].device, made.budgets[0].limit) == (here.name, 6.0)


def test_without_one_here_the_newest_device_counts_and_only_that(tmp_path: Path) -> None:
    assert budgets(tmp_path, record(H100, 1.0, half=0), later(record(L4, 4.0, half=0)))["latency_ms"][1] == 4.8


def test_what_is_not_real_does_not_count_beside_what_is(tmp_path: Path) -> None:
    made_up = later(record(H100, 9.0, half=0, provenance=Provenance.SIMULATED))
    assert budgets(tmp_path, record(H100, 1.0, half=0), made_up)["latency_ms"][1] == 1.2


def test_gates_are_no_history(tmp_path: Path) -> None:
    gate = Run(host=Host(host_id="h"), command="c", version="0", effort=GATE)
    store = store_of(tmp_path, [record(H100, 1.0, half=0)])
    store.add([gate, later(record(H100, 9.0, half=0), run_id=gate.run_id)])
    assert generate("test", CUDA, store).budgets[0].limit == 1.2


def test_results_in_doubt_count_only_where_there_are_no_others(tmp_path: Path) -> None:
    doubtful = later(record(H100, 9.0, half=0, verdict=Verdict.AMBIGUOUS))
    assert budgets(tmp_path / "both", record(H100, 1.0, half=0), doubtful)["latency_ms"][1] == 1.2
    made = generate("test", CUDA, store_of(tmp_path / "one", [doubtful]))
    assert made.budgets[0].limit == 10.8
    assert not made.budgets[0].trusted
    assert "was not quiet" in made.text
    assert "in quiet" in made.notes[-1]


def test_only_the_last_results_of_a_series_count(tmp_path: Path) -> None:
    series = [record(H100, 50.0, half=0)]
    for _ in range(5):
        series.append(later(series[-1], metrics=record(H100, 1.0, half=0).metrics))
    assert budgets(tmp_path, *series)["latency_ms"][1] == 1.2


def test_a_suite_leaves_out_batches_that_failed(tmp_path: Path) -> None:
    store = store_of(tmp_path, [record(H100, 1.0, batch=16, status="failed", reason="out of\nmemory: # x", metrics={})])
    made = generate("suite", CUDA, store)
    assert yaml.safe_load(made.text)["batch"] == [1, 4]
    assert "Batch 16 is left out" in made.notes[-1]
    asked = generate("suite", Wanted("tiny-bert", "cuda", batch=16), store)
    assert 16 in yaml.safe_load(asked.text)["batch"]


@pytest.mark.parametrize("platform", PLATFORMS.names())
def test_what_cannot_run_is_told(platform: str) -> None:
    probe = PLATFORMS.get(platform).probe()
    for kind in KINDS:
        told = generate(kind, Wanted("tiny-bert", platform)).notes
        assert any("cannot run" in note for note in told) == (not probe.present)


@pytest.mark.parametrize(
    ("kind", "wanted", "said"),
    [
        ("poem", Wanted("tiny-bert", "cpu"), "skill"),
        ("test", Wanted("no-such-model", "cpu"), "no-such-model"),
        ("test", Wanted('x"; import os', "cpu"), "import os"),
        ("test", Wanted("hardware", "cpu"), "hardware"),
        ("test", Wanted("tiny-bert", "toaster"), "toaster"),
        ("test", Wanted("tiny-bert", "auto"), "auto"),
        ("test", Wanted("tiny-bert", "cpu:x"), "cpu:0"),
        ("test", Wanted("tiny-bert", "cpu", "dancing"), "dancing"),
        ("test", Wanted("matmul", "cpu", "hardware"), "devices"),
        ("test", Wanted("tiny-bert", "cpu", runtime="openvino"), "onnxruntime"),
        ("test", Wanted("tiny-bert", "cpu", precision="fp7"), "bf16"),
        ("test", Wanted("tiny-bert", "cpu", batch=0), "batch"),
        ("test", Wanted("tiny-bert", "cpu", batch=2**40), "batch"),
        ("test", Wanted("tiny-bert", "cpu", shape={"height": 3}), "seq"),
        ("test", Wanted("tiny-bert", "cpu", shape={'"]); import os': 3}), "seq"),
        ("test", Wanted("tiny-bert", "cpu", shape={"seq": 0}), "seq"),
        ("skill", Wanted("tiny-bert", "cpu", "training"), "inference"),
    ],
)
def test_what_cannot_be_meant_is_an_error_that_says_so(kind: str, wanted: Wanted, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        generate(kind, wanted)


def test_unknown_names_are_of_the_kind_that_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="known: cpu, cuda"):
        generate("suite", Wanted("tiny-bert", "toaster"))


@given(st.text(st.characters()))
def test_a_literal_is_the_text_and_plain_words_are_harmless(text: str) -> None:
    assert ast.literal_eval(python_text(text)) == text
    assert python_text(text).isascii()
    assert not set(plain(text)) & set("\"'\\\n\r#`{}@\0")
    assert re.fullmatch(r"[a-z0-9_]*", slug(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_scalar_of_a_suite_is_the_text(text: str) -> None:
    assert yaml.safe_load(f"model: [{yaml_text(text)}]") == {"model": [text]}
    assert "\n" not in yaml_text(text)


NAMES = st.one_of(
    st.sampled_from(['x"; import os', '"""\nimport os\n"""', "a\n- b: c", "@TITLE@", "\\", "'", "#", "x: [y", "é"]),
    st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=40),
).filter(lambda name: Path(name).suffix.lower() not in (".onnx", ".json") and name not in (".", ".."))


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=NAMES)
def test_no_name_of_a_folder_breaks_out_of_a_file(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "models" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(dict(resolve("tiny-bert").config)))
    model = str(folder)
    for kind in ("test", "skill"):
        made = generate(kind, Wanted(model, "qnn"))
        assert _shape(made.text) == _shape(generate(kind, Wanted("tiny-bert", "qnn")).text)
        assert model in [node.value for node in ast.walk(ast.parse(made.text)) if isinstance(node, ast.Constant)]
        assert re.fullmatch(r"[a-z0-9_]+\.py", made.name)
    suite = yaml.safe_load(generate("suite", Wanted(model, "qnn")).text)
    assert suite["model"] == [model]
    assert len(suite) == 8


def _shape(text: str) -> list[str]:
    """The program without what its literals say."""
    return [type(node).__name__ for node in ast.walk(ast.parse(text))]


@pytest.mark.parametrize("name", ['"); import os; ("', "a\nimport os", '"""'])
def test_a_stored_device_name_or_id_cannot_break_out_either(tmp_path: Path, name: str) -> None:
    bad, good = record(device("cuda", name), 2.0), record(H100, 2.0)
    text = generate("test", CUDA, store_of(tmp_path / "bad", [bad])).text
    assert constant(text, "DEVICE") == name
    assert _shape(text) == _shape(generate("test", CUDA, store_of(tmp_path / "good", [good])).text)


def test_asking_measures_nothing_and_makes_no_store(tmp_path: Path) -> None:
    from modeldyno.store.store import Store

    path = tmp_path / "none.duckdb"
    assert generate("test", CUDA, Store(path)).budgets == ()
    assert not path.exists()
