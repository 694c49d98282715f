"""Options are told apart by whether they say what is done or how."""

from __future__ import annotations

from modeldyno.core.options import HOW, options_of_work
from modeldyno.core.types import Case
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads import WORKLOADS


def test_what_is_done_is_known_of_workloads_that_are_not_installed() -> None:
    options = {"threads": 2, "scenario": "offline", "anything": 1}
    case = Case(workload="of-a-plug-in", model="m", platform="cpu", runtime="torch", options=options)
    assert options_of_work(case) == (("anything", 1), ("scenario", "offline"))


def test_every_option_of_a_runtime_says_how() -> None:
    assert frozenset().union(*(runtime.options for runtime in RUNTIMES.all())) <= HOW


def test_of_the_options_of_workloads_only_these_say_how() -> None:
    own = frozenset().union(*(getattr(workload, "options", ()) for workload in WORKLOADS.all()))
    assert own & HOW == {"threads", "cache"}
