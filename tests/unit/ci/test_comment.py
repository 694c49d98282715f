"""What the comment says of a report, in which order, and how much of it fits."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gate_reports import gate_report, slower, verdict
from modeldyno.analysis.verdict import Change
from modeldyno.ci.comment import LONGEST, marker, pull_request, render
from modeldyno.ci.report import CaseVerdict, ControlResult, GateReport, Ratio
from modeldyno.core.errors import InputError

PARSER = MarkdownIt("commonmark").enable("table")
HOSTILE = "a | b <script>alert(1)</script> @everyone `x` ``y\n\n# title\n| c |\n</details> [x](http://evil.test) \\|"


def tables(text: str) -> list[list[str]]:
    """The rows of all tables, each as its cells."""
    rows: list[list[str]] = []
    inside = False
    for token in PARSER.parse(text):
        if token.type == "tr_open":
            rows.append([])
        inside = token.type in ("td_open", "th_open") or (inside and token.type == "inline")
        if token.type == "inline" and inside:
            rows[-1].append("".join(c.content for c in token.children or [] if c.type != "html_inline"))
    return rows


def test_the_verdict_comes_first_then_what_changed_then_the_rest() -> None:
    report = gate_report(
        verdict("alpha"), verdict("beta", "better", 0.9), slower("gamma"), verdict("delta", "ambiguous", 1.02)
    )
    text = render(report)
    lines = text.splitlines()
    assert lines[0] == marker("gate")
    assert lines[1] == "**Regression: 1 of 4 measurements got worse, `def5678` against `abc1234`.**"
    assert [row[0] for row in tables(text)] == ["case", "gamma", "beta", "case", "delta", "alpha"]
    assert tables(text)[1][2:] == ["10 ms", "10.5 ms", "+5.0 % (+4.0 % to +6.0 %)", "slower, confirmed"]
    assert text.index("beta") < text.index("<details><summary>The other 2</summary>") < text.index("alpha")


def test_how_sure_it_is() -> None:
    text = render(gate_report(verdict(), verdict(metric="memory_peak_mb", margin=0.01)))
    assert "No regression in 2 measurements" in text
    assert "7 blocks of fresh processes. Host: `runner-7`, `Fast CPU`, `8 cores`, `Linux`. It took 12 min." in text
    assert "beyond the margin: `latency_ms` 2 %, `memory_peak_mb` 1 %." in text
    assert "Control: the baseline against itself is within 1.3 % of no change." in text
    # log(1.01 / 0.99) / 2 is 1 %: with margins of 2 and 1 % an estimate must reach 3.03 and 2.02 %
    assert "would have counted: 2.52 % in the middle case, 3.03 % in the noisiest." in text
    assert "```\ndyno gate suites/default.yaml --a commit=abc1234 --b commit=def5678\n```" in text


def test_what_is_not_known_is_not_said() -> None:
    bare = CaseVerdict(case="x", case_key="x", metric="own", margin=0.02, change=Change.AMBIGUOUS, note="too few")
    text = render(gate_report(bare, host=None, control=None, command=None))
    assert text.splitlines()[1].startswith("**Undecided: 1 of 1 measurements are not clear")
    assert tables(text)[1] == ["x", "own", "-", "-", "-", "ambiguous: too few"]
    for word in ("Control", "Host", "would have counted", "The same again", "None"):
        assert word not in text
    assert "Nothing was compared" in render(gate_report())


def test_a_noisy_host_and_an_unconfirmed_change_are_said() -> None:
    doubtful = verdict("x", "worse", 1.05)
    text = render(gate_report(doubtful, slower("y", confirmed=False), control=ControlResult(noise=0.05, widened=True)))
    assert "within 5 % of no change, more than a margin, which was widened to it" in text
    assert [row[5] for row in tables(text)[1:]] == ["slower, not confirmed", "slower, not counted"]
    assert "held against its own history" in render(gate_report(doubtful, kind="history"))


def test_hostile_labels_do_no_harm() -> None:
    report = gate_report(
        slower(HOSTILE, note=HOSTILE, metric=HOSTILE), verdict(HOSTILE), baseline=HOSTILE, command=HOSTILE
    )
    tokens = PARSER.parse(render(report))
    assert {len(row) for row in tables(render(report))} == {6}
    blocks = [token.content for token in tokens if token.type == "html_block"]
    assert [text.split(">")[0] for text in blocks] == ["<!-- modeldyno:comment:gate --", *["<details", "</details"] * 2]
    children = [child for token in tokens for child in token.children or []]
    assert {c.content for c in children if c.type == "html_inline"} <= {"<code>", "</code>"}
    assert not any(child.type in ("link_open", "image", "heading_open") for child in (*children, *tokens))


def test_a_huge_report_is_cut_with_a_word_on_it() -> None:
    many = [slower(f"{number} {HOSTILE * 9}") for number in range(300)]
    text = render(gate_report(*many, *(verdict(f"{number} {HOSTILE * 9}") for number in range(3000))))
    assert len(text) <= LONGEST
    rows = tables(text)
    assert rows[1][0].startswith("0 a")
    assert f"\n{300 - (len(rows) - 1)} more are left out" in text
    assert "\n3000 more are left out" in text
    assert "The same again" in text
    little = render(gate_report(slower(), *(verdict(f"case {number}") for number in range(3000))))
    assert LONGEST - 1000 < len(little) <= LONGEST
    assert f"{3000 - (len(tables(little)) - 3)} more are left out" in little


finite = st.floats(allow_nan=False, allow_infinity=False)
maybe = st.none() | finite
share = st.floats(0, allow_infinity=False)
VERDICTS = st.builds(
    CaseVerdict,
    case=st.text(),
    case_key=st.text(),
    metric=st.sampled_from(["latency_ms", "throughput_per_s", "memory_peak_mb"]) | st.text(),
    baseline=maybe,
    candidate=maybe,
    ratio=st.builds(Ratio, value=maybe, low=maybe, high=maybe),
    margin=share,
    change=st.sampled_from(Change),
    p_value=st.none() | st.floats(0, 1),
    regression=st.booleans(),
    confirmed=st.booleans(),
    note=st.none() | st.text(),
)


@settings(deadline=None)
@given(st.lists(VERDICTS, max_size=6), share, st.none() | st.builds(ControlResult, noise=share, widened=st.booleans()))
def test_any_report_has_a_comment_of_whole_tables(
    cases: list[CaseVerdict], duration_s: float, control: ControlResult | None
) -> None:
    report = gate_report(*cases, duration_s=duration_s, control=control)
    text = render(report)
    assert len(text) <= LONGEST
    assert {len(row) for row in tables(text)} <= {6}
    numbers = " ".join(cell for row in tables(text) for cell in row[2:5])
    assert "inf" not in numbers
    assert "nan" not in numbers
    assert GateReport.model_validate_json(report.model_dump_json()) == report


def test_which_pull_request(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 12}}))
    merge = {"GITHUB_REF": "refs/pull/34/merge"}
    assert pull_request({"GITHUB_EVENT_PATH": str(event), **merge}) == 12
    assert pull_request({"GITHUB_EVENT_PATH": str(tmp_path / "no"), **merge}) == 34
    for odd in ("[]", "{}", "null", "not JSON", '{"pull_request": {"number": "x"}}'):
        event.write_text(odd)
        assert pull_request({"GITHUB_EVENT_PATH": str(event), **merge}) == 34
    assert pull_request({"GITHUB_REF": "refs/heads/main"}) is None
    assert pull_request({}) is None


@pytest.mark.parametrize("name", ["", "a b", "x-->", "a--b", "é", "n" * 51])
def test_a_name_that_cannot_be_hidden_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="--name"):
        marker(name)
