"""How a judge speaks: an AssertionError with a sentence, or that it has nothing to judge here."""

from __future__ import annotations


class NotApplicable(Exception):
    """The judge needs something this platform or host does not have; the sentence says what."""


def require(condition: object, complaint: str) -> None:
    """Plain asserts lose their message where the test runner does not rewrite this package."""
    if not condition:
        raise AssertionError(complaint)
