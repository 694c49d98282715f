"""`dyno generate test`: a pytest file for a model on one platform."""

from __future__ import annotations

from modeldyno.cli.generate._asked import Asked, asking, produce


@asking
def test(asked: Asked) -> None:
    """Write a pytest file: right outputs, the right device, budgets from the store's results."""
    produce("test", asked)
