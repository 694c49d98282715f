"""Suites: lists multiply, names are checked before anything runs, errors name file and line or key."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import DynoError, InputError, UnknownName
from modeldyno.core.types import Precision
from modeldyno.runner.suite import Block, expand, read_suite


def write(folder: Path, text: str, name: str = "suite.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_lists_multiply_and_repeats_fall_out(tmp_path: Path) -> None:
    suite = read_suite(
        write(tmp_path, "on: cpu\nbatch: [1, 4]\nblocks:\n- model: [tiny-bert, tiny-vit]\n- model: tiny-bert\n")
    )
    assert suite.name == "suite"
    assert [(case.model, case.batch) for case in suite.cases()] == [
        ("tiny-bert", 1), ("tiny-bert", 4), ("tiny-vit", 1), ("tiny-vit", 4),
    ]  # fmt: skip


def test_a_key_called_on_is_not_a_truth_value(tmp_path: Path) -> None:
    """YAML 1.1 reads the bare word `on` as true."""
    (case,) = read_suite(write(tmp_path, "model: tiny-vit\non: cpu\n")).cases()
    assert case.platform == "cpu"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("s.toml", 'model = "tiny-bert"\non = "cpu"\nseq = [8, 16]\n'),
        ("s.json", '{"model": "tiny-bert", "on": "cpu", "seq": "8,16"}'),
        ("s.yaml", "model: tiny-bert\non: cpu\nshape: {seq: [8, 16]}\n"),
    ],
)
def test_three_notations_say_the_same(tmp_path: Path, name: str, text: str) -> None:
    cases = read_suite(write(tmp_path, text, name)).cases()
    assert [case.shape for case in cases] == [{"seq": 8}, {"seq": 16}]


def test_axes_a_model_does_not_have_are_left_out_for_it() -> None:
    block = Block(model=["tiny-vit", "tiny-bert"], on=["cpu"], shape={"seq": [8, 16]})
    assert [(case.model, case.shape) for case in dict.fromkeys(expand(block))] == [
        ("tiny-vit", {}), ("tiny-bert", {"seq": 8}), ("tiny-bert", {"seq": 16}),
    ]  # fmt: skip


def test_options_multiply_too() -> None:
    block = Block(model=["tiny-vit"], on=["cpu"], options={"threads": [1, 2], "io_binding": True})
    assert [case.options for case in expand(block)] == [
        {"threads": 1, "io_binding": True}, {"threads": 2, "io_binding": True},
    ]  # fmt: skip


def test_auto_all_and_addresses() -> None:
    targets = [case.target for case in expand(Block(model=["tiny-vit"], on=["cuda:1", "all"]))]
    assert targets[0] == "cuda:1"
    assert {"cpu:0", "rocm:0", "webgpu:0"} <= set(targets)
    assert "cpu:0" in {case.target for case in expand(Block(model=["tiny-vit"], on=["auto"]))}
    runtimes = [case.runtime for case in expand(Block(model=["tiny-vit"], on=["cpu"], runtime=["all"]))]
    assert runtimes[0] == "torch"
    assert "onnxruntime" in runtimes


def test_files_with_benchmarks_keep_entries_of_the_same_name_apart(tmp_path: Path) -> None:
    text = """{"name": "old", "benchmarks": [
        {"name": "m", "params": {"model": "tiny-bert", "hardware": "cpu", "batch_size": 1}},
        {"name": "m", "params": {"model": "tiny-bert", "hardware": "cpu", "batch_size": [2, 4]}}]}"""
    assert [case.batch for case in read_suite(write(tmp_path, text, "s.json")).cases()] == [1, 2, 4]


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("s.yaml", "model: [tiny-bert\nbatch: 1", "line 2"),
        ("s.json", '{"model": \n oops}', "line 2"),
        ("s.toml", "model = \nbatch = 1", "line 1"),
        ("s.yaml", "- just a list", "mapping"),
        ("s.yaml", "batch: 1", "key 'model'"),
        ("s.yaml", "model: tiny-bert\nbatchs: 2", "did you mean 'batch'"),
        ("s.yaml", "model: tiny-bert\nbatch: [1, many]", "key 'batch.1'"),
        ("s.yaml", "model: tiny-bert\nbatch: 0", "greater than or equal to 1"),
        ("s.yaml", "model: tiny-bert\nblocks: {a: 1}", "list of mappings"),
        ("s.json", '{"benchmarks": [{"name": "x"}]}', "names no model"),
        ("s.json", '{"benchmarks": [{"name": "x", "params": 3}]}', "must be a mapping"),
    ],
)
def test_a_malformed_suite_is_a_sentence_that_names_the_place(tmp_path: Path, name: str, text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_suite(write(tmp_path, text, name))
    assert words in str(caught.value)
    assert name in str(caught.value)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"model": ["tiny-brt"]}, "did you mean 'tiny-bert'"),
        ({"on": ["cpuu"]}, "did you mean 'cpu'"),
        ({"on": ["cpu:first"]}, "such as cpu:0"),
        ({"runtime": ["onnx"]}, "onnxruntime"),
        ({"precision": ["fp8"]}, "bf16, fp16, fp32, int8"),
        ({"workload": ["inferense"]}, "did you mean 'inference'"),
    ],
)
def test_unknown_names_are_caught_before_anything_runs(change: dict[str, list[str]], words: str) -> None:
    block = Block.model_validate({"model": ["tiny-bert"], "on": ["cpu"], **change})
    with pytest.raises(InputError) as caught:
        list(expand(block))
    assert words in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_whatever_a_file_holds_is_a_suite_or_a_sentence(
    tmp_path_factory: pytest.TempPathFactory, value: object
) -> None:
    import json

    path = tmp_path_factory.getbasetemp() / "any.json"
    path.write_text(json.dumps(value))
    try:
        read_suite(path)
    except DynoError as error:
        assert str(error)


def test_precision_names_are_the_types() -> None:
    (case,) = expand(Block(model=["tiny-vit"], on=["cpu"], precision=["int8"]))
    assert case.precision == Precision.INT8
    assert issubclass(UnknownName, InputError)
