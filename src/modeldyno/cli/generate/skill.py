"""`dyno generate skill`: an inference script for a model on one platform."""

from __future__ import annotations

from modeldyno.cli.generate._asked import Asked, asking, produce


@asking
def skill(asked: Asked) -> None:
    """Write an inference script for a model on one platform."""
    produce("skill", asked)
