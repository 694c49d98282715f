"""One issue for each confirmed regression: opened, kept up to date, closed only when it is really gone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fake_github import FakeGitHub, Fault
from gate_reports import gate_report, slower, verdict
from modeldyno.ci.comment import LONGEST
from modeldyno.ci.github import GitHub, Posted
from modeldyno.ci.issue import body, file_issues, subjects, yardstick
from modeldyno.ci.report import CaseVerdict, GateReport
from modeldyno.core.types import Host

Connect = Callable[..., GitHub]
SLOW = {"kind": "history", "baseline": "history", "candidate": "c2"}


@pytest.fixture
def tell(connect: Connect) -> Callable[..., list[str]]:
    def run(*cases: CaseVerdict, close_fixed: bool = True, device: str | None = "Chip", **more: Any) -> list[str]:
        placed = [case.model_copy(update={"device": case.device or device}) for case in cases]
        report = gate_report(*placed, **{**SLOW, **more})
        return [filed.action for filed in file_issues(connect(), report, ["performance"], close_fixed)]

    return run


def test_one_issue_for_each_regression_that_is_then_kept_up_to_date(
    hub: FakeGitHub, tell: Callable[..., list[str]]
) -> None:
    assert tell(slower("one"), slower("two"), verdict("three"), slower("four", confirmed=False)) == ["opened", "opened"]
    assert [issue["title"] for issue in hub.issues] == [
        "Regression: latency_ms of one",
        "Regression: latency_ms of two",
    ]
    assert hub.issues[0]["labels"] == ["performance"]
    first = hub.issues[0]["body"]
    assert tell(slower("one", 1.07), candidate="c3") == ["updated"]
    assert tell(slower("one", 1.07), candidate="c3") == ["unchanged"]
    assert tell(slower("one", 1.08), candidate="c4") == ["updated"]
    assert len(hub.issues) == 2
    assert hub.issues[0]["body"] == first
    assert "First seen on 2026-11-15 03:17+00:00 in `c2`" in first
    (latest,) = hub.bodies(1)
    assert "in `c4`" in latest
    assert "+8.0 %" in latest


def test_other_metrics_and_pull_requests_are_other_things(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    (subject,) = subjects(gate_report(slower("one")))
    hub.add_issue({"title": "a pull request", "body": subject.marker}, pull_request={"url": "x"})
    hub.add_issue({"title": "without a text", "body": None})
    assert tell(slower("one"), slower("one", metric="memory_peak_mb")) == ["opened", "opened"]


def test_two_equal_devices_share_an_issue(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    twins = (slower("cuda:0", case_key="k"), verdict("cuda:1", case_key="k"))
    assert tell(*twins) == ["opened"]
    assert "cuda:1" in hub.issues[0]["body"]
    assert tell(*twins) == ["updated"]


def test_a_fault_while_opening_leads_to_one_issue(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    hub.faults = [Fault("POST", 502, after=True)]
    assert tell(slower("one")) == ["opened"]
    assert len(hub.issues) == 1


def test_back_where_it_was_closes(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    tell(slower("one"))
    assert tell(verdict("one", ratio=1.01), close_fixed=False) == []
    assert tell(verdict("one", ratio=1.01), candidate="c9") == ["closed"]
    assert (hub.issues[0]["state"], hub.issues[0]["state_reason"]) == ("closed", "completed")
    assert "in `c9`" in hub.bodies(1)[0]
    assert tell(verdict("one", ratio=1.01)) == []
    assert tell(slower("one")) == ["opened"]


@pytest.mark.parametrize(
    ("case", "more"),
    [
        (verdict("one", baseline=10.5, candidate=10.5), {}),  # as slow as yesterday
        (verdict("one", "ambiguous", 1.01), {}),
        (verdict("one", "better", 0.5), {"host": Host(host_id="x", cpu="Another CPU")}),
        (verdict("one", "better", 0.5), {"host": None}),
        (verdict("one", "better", 0.5), {"device": "Another chip"}),
        (verdict("one", "better", 0.5), {"device": None}),
        (verdict("one", candidate=None), {}),
        (verdict("other"), {}),
        (verdict("one", baseline=10.5, candidate=10.5), {"kind": "ab", "baseline": "main"}),
    ],
)
def test_what_does_not_close(
    hub: FakeGitHub, tell: Callable[..., list[str]], case: CaseVerdict, more: dict[str, Any]
) -> None:
    tell(slower("one"))
    assert tell(case, **more) == []
    assert hub.issues[0]["state"] == "open"


AT_MAIN = {"kind": "ab", "baseline": "commit main"}
AS_SLOW = verdict("one", baseline=99.0, candidate=99.0)


def test_matching_the_same_commit_again_closes_on_any_host(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    tell(slower("one"), **AT_MAIN, baseline_commit="a" * 40)
    assert tell(AS_SLOW, kind="ab", baseline_commit="a" * 40, host=None) == ["closed"]


@pytest.mark.parametrize(
    ("then", "now", "device"),
    [
        ("a" * 40, "b" * 40, "Chip"),  # main has moved on, and has the regression in it
        ("a" * 40, None, "Chip"),
        (None, None, "Chip"),
        ("a" * 40, "a" * 40, "Another chip"),
        ("a" * 40, "a" * 40, None),
    ],
)
def test_the_same_words_for_another_commit_or_device_do_not_close(
    hub: FakeGitHub, tell: Callable[..., list[str]], then: str | None, now: str | None, device: str | None
) -> None:
    tell(slower("one"), **AT_MAIN, baseline_commit=then)
    assert tell(AS_SLOW, **AT_MAIN, baseline_commit=now, device=device) == []


def test_a_device_that_is_not_known_never_closes(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    tell(slower("one"), **AT_MAIN, baseline_commit="a" * 40, device=None)
    assert tell(AS_SLOW, **AT_MAIN, baseline_commit="a" * 40, device=None) == []


def test_the_yardstick_is_that_of_the_device_that_got_slower(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    def two(first: CaseVerdict, second: CaseVerdict) -> list[str]:
        return tell(
            first.model_copy(update={"case_key": "k", "device": "Fast chip"}),
            second.model_copy(update={"case_key": "k", "device": "Slow chip"}),
        )

    fast = verdict("one", baseline=1.0, candidate=1.0)
    assert two(fast, slower("one")) == ["opened"]
    assert two(fast, verdict("one", baseline=10.5, candidate=10.5)) == []
    assert two(fast, verdict("one", ratio=1.01)) == ["closed"]


def test_what_had_broken_closes_when_it_runs_again(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    tell(slower("one", baseline=None, candidate=None, ratio=1.0, note="the new side is failed"))
    assert tell(verdict("one")) == ["closed"]


def test_a_text_that_somebody_changed_is_left_alone(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    tell(slower("one"))
    hub.issues[0]["body"] = hub.issues[0]["body"].replace('"margin":0.02', '"margin":-1')
    assert tell(verdict("one")) == []


def posted(text: str) -> Posted:
    return Posted(id=1, html_url="", body=text)


def test_hostile_texts_stay_where_they_are() -> None:
    evil = '"} --> <script>|`@everyone`\n--><b>' * 9
    host = Host(host_id="h", cpu=evil)
    hostile = slower(evil, note=evil, device=evil)
    report = gate_report(hostile, baseline=evil, baseline_commit=evil, host=host, command=evil)
    (subject,) = subjects(report)
    text = body(report, subject)
    assert text.splitlines()[0] == subject.marker
    assert text.count("-->") - text.splitlines()[-2].count("-->") - text.splitlines()[-3].count("-->") == 2
    found = yardstick(posted(text))
    assert found is not None
    assert found.device and found.device.startswith('"} -->')
    assert len(subject.title) <= 200
    assert not set("@`\n") & set(subject.title)


def test_an_issue_is_never_too_long() -> None:
    worst = "`" * 5000
    many = [slower(worst, case_key="k", metric="m", note=worst, device=worst) for _ in range(500)]
    report: GateReport = gate_report(*many, baseline=worst, baseline_commit=worst, candidate=worst, command=worst)
    (subject,) = subjects(report)
    assert len(body(report, subject)) <= LONGEST
