"""Orders from the web: names only, bounded, and one sentence for what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest

from modeldyno.core.errors import InputError
from modeldyno.web.jobs.order import FOLDERS, MOST_CASES, cases_of, read_order
from modeldyno.workloads._training.settings import Settings


def order(**block: object):
    return read_order({"blocks": [{"model": "tiny-bert", "on": "cpu", **block}]})


def test_lists_multiply_as_in_a_suite_and_each_case_is_there_once() -> None:
    cases = cases_of(order(batch="1,2,2", runtime="torch,onnxruntime", shape={"seq": [8]}))
    assert sorted((case.batch, case.runtime) for case in cases) == [
        (1, "onnxruntime"), (1, "torch"), (2, "onnxruntime"), (2, "torch"),
    ]  # fmt: skip


def test_settings_are_those_of_the_command_line() -> None:
    made = read_order({"blocks": [{"model": "tiny-bert"}], "processes": 2, "samples": 5, "energy": False})
    assert made.settings == {"processes": 2, "preload": False, "samples": 5, "energy_windows": 0}
    assert made.name == "tiny-bert on auto"


@pytest.mark.parametrize(
    "model",
    [
        "/etc/passwd", "../tiny-bert", "./tiny-bert", "~/models", "a/b/c", "model.onnx", "config.json", "suite.yaml",
        "a\\b", "tiny-bert; rm -rf /", "$(id)", "`id`", "tiny-bert|cat", "tiny bert", "tiny-bert\n", "..", "x" * 201,
        "http://host/model", "a//b", "org/../x",
    ],
)  # fmt: skip
def test_no_path_and_no_shell_words_as_a_model(model: str) -> None:
    with pytest.raises(InputError, match="not a model's name"):
        cases_of(read_order({"blocks": [{"model": [model], "on": "cpu"}]}))


def test_a_folder_of_that_name_is_not_a_model_but_does_not_hide_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").mkdir()
    (tmp_path / "tiny-bert").mkdir()
    with pytest.raises(InputError, match="not a model's name"):
        cases_of(order(model="secret"))
    assert cases_of(order())


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"model": "tiny-brt"}, "did you mean 'tiny-bert'"),
        ({"on": "cdua"}, "did you mean 'cuda'"),
        ({"on": "cpu:99999999"}, "makes no case"),
        ({"on": "cpu;id"}, "is no name"),
        ({"runtime": "tensorrt"}, "Unknown runtime"),
        ({"workload": "command"}, "Unknown workload"),
        ({"precision": "fp4"}, "Unknown precision"),
        ({"shape": {"sqe": [8]}}, "Unknown axis"),
        ({"options": {"nonsense": 1}}, "Unknown option"),
        ({"batch": [70_000]}, "too large"),
        ({"shape": {"seq": [10**9]}}, "too large"),
        ({"batch": list(range(1, 502))}, "more than 500"),
        ({"shape": {"seq": list(range(1, 300)), "decoder_seq": list(range(1, 300))}}, "more than 500"),
        ({"batch": list(range(1, 300)), "runtime": "torch,onnxruntime"}, "more than 500"),
        ({"options": {"threads": list(range(600))}}, "more than 500"),
        ({"options": {"threads": 1e300}}, "threads cannot be"),
        ({"workload": "training", "options": {"dataset": "/etc"}}, "dataset cannot be"),
        ({"workload": "training", "options": {"dataset": "folder"}}, "dataset cannot be"),
        ({"workload": "training", "options": {"dataset": "$(id)"}}, "dataset cannot be"),
        ({"workload": "training", "options": {"steps": 5, "checkpoint": "here"}}, "names a folder"),
    ],
)
def test_what_is_wrong_is_one_sentence(
    block: dict[str, object], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError) as wrong:
        cases_of(order(**block))
    assert words in str(wrong.value)
    assert "\n" not in str(wrong.value)


@pytest.mark.parametrize(
    "document",
    [
        None, [], {}, {"blocks": []}, {"blocks": [{"model": "tiny-bert"}], "command": "id"},
        {"blocks": [{"model": "tiny-bert", "command": "id"}]}, {"blocks": [{"model": "tiny-bert"}], "effort": "all"},
        {"blocks": [{"model": "tiny-bert"}], "samples": 10**9}, {"blocks": [{"model": "tiny-bert"}], "timeout_s": 0},
        {"blocks": [{"model": "tiny-bert"}], "title": "a\x1b[31m"}, {"blocks": [{"model": "tiny-bert"}] * 101},
    ],
)  # fmt: skip
def test_documents_of_another_shape_are_refused(document: object) -> None:
    with pytest.raises(InputError, match="The order's"):
        read_order(document)


def test_every_option_of_training_that_is_a_path_is_closed_to_the_web() -> None:
    paths = {name for name, field in Settings.model_fields.items() if Path in get_args(field.annotation)}
    paths |= {name for name, field in Settings.model_fields.items() if "Path" in str(field.annotation)}
    assert paths == FOLDERS


def test_as_many_cases_as_are_allowed() -> None:
    assert len(cases_of(order(batch=list(range(1, MOST_CASES + 1))))) == MOST_CASES
