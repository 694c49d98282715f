"""`dyno generate suite`: a suite file for a model on one platform."""

from __future__ import annotations

from modeldyno.cli.generate._asked import Asked, asking, produce


@asking
def suite(asked: Asked) -> None:
    """Write a suite of a case at a few batch sizes, for dyno run."""
    produce("suite", asked)
