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
    def run(*cases: CaseVerdict, close_fixed: bool = True, **more: Any) -> list[str]:
        report = gate_report(*cases, **{**SLOW, **more})
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


def test_matching_the_same_baseline_again_closes_on_any_host(hub: FakeGitHub, tell: Callable[..., list[str]]) -> None:
    release = {"kind": "ab", "baseline": "v1.0"}
    tell(slower("one"), **release)
    assert tell(verdict("one", baseline=99.0, candidate=99.0), **release, host=None) == ["closed"]


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
    report = gate_report(slower(evil, note=evil), baseline=evil, host=Host(host_id="h", cpu=evil), command=evil)
    (subject,) = subjects(report)
    text = body(report, subject)
    assert text.splitlines()[0] == subject.marker
    assert text.count("-->") - text.splitlines()[-2].count("-->") - text.splitlines()[-3].count("-->") == 2
    found = yardstick(posted(text))
    assert found is not None
    assert found.baseline.startswith('"} -->')
    assert len(subject.title) <= 200
    assert not set("@`\n") & set(subject.title)


def test_an_issue_is_never_too_long() -> None:
    worst = "`" * 5000
    many = [slower(worst, case_key="k", metric="m", note=worst) for _ in range(500)]
    report: GateReport = gate_report(*many, baseline=worst, candidate=worst, command=worst)
    (subject,) = subjects(report)
    assert len(body(report, subject)) <= LONGEST
