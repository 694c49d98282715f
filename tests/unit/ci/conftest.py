"""A fake GitHub, and a client whose sleeping is only written down."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from fake_github import REPOSITORY, TOKEN, FakeGitHub, fake_github
from modeldyno.ci.github import GitHub

Connect = Callable[..., GitHub]
START = 1_800_000_000.0


class Clock:
    """Time that passes only by sleeping."""

    def __init__(self) -> None:
        self.time = START
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.time += seconds

    def now(self) -> float:
        return self.time


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with fake_github() as running:
        yield running


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def connect(hub: FakeGitHub, clock: Clock) -> Connect:
    def make(token: str = TOKEN, timeout_s: float = 5.0) -> GitHub:
        return GitHub(REPOSITORY, token, hub.url, timeout_s=timeout_s, sleep=clock.sleep, now=clock.now)

    return make
