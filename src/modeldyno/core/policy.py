"""How much effort to put into a measurement: the numbers behind `--quick`, the default and `--publish`."""

from __future__ import annotations

from modeldyno.core.errors import UnknownName
from modeldyno.core.types import Frozen


class Policy(Frozen):
    """Rules for warm-up, sampling and the extra passes; MEASURING's figures are the defaults."""

    name: str
    processes: int
    relative_width: float
    """Stop when the half-width of the 95 % interval of the median is at most this share of it."""
    min_samples: int = 10
    min_time_s: float = 0.5
    max_time_s: float
    """Cap on sampling; past it the record says so."""
    warmup_max_s: float
    samples: int | None = None
    """Exactly this many samples instead of the stop rule, for side-by-side comparisons."""
    memory_steps: int = 5
    energy_window_s: float = 5.0
    energy_windows: int = 3
    """No energy pass with 0 windows."""
    profile: bool = True
    preload: bool = False
    """Fork workers from a process that has imported the runtime; only where one process per case is asked for."""


GATE = "gate"
"""The effort of a gate's runs: samples in turns with others, of versions that may never come. They are no history."""
POLICIES: dict[str, Policy] = {
    policy.name: policy
    for policy in (
        Policy(
            name="quick", processes=1, relative_width=0.03, max_time_s=4, warmup_max_s=4, energy_windows=0, preload=True
        ),
        Policy(name="default", processes=3, relative_width=0.01, max_time_s=15, warmup_max_s=15),
        Policy(name="publish", processes=5, relative_width=0.01, max_time_s=60, warmup_max_s=30),
    )
}


def policy(name: str) -> Policy:
    try:
        return POLICIES[name]
    except KeyError:
        raise UnknownName("effort", name, POLICIES) from None
