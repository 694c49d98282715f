"""One file per hardware platform."""

from modeldyno.core.protocols import Platform
from modeldyno.core.registry import Registry

PLATFORMS: Registry[Platform] = Registry(__name__, "platform")


def baseline() -> str:
    """The platform that every host has, and that people mean by a speed-up."""
    return next(platform.name for platform in PLATFORMS.all() if getattr(platform, "baseline", False))


def in_browsers() -> tuple[str, ...]:
    """The platforms that a page in a browser offers."""
    return tuple(platform.name for platform in PLATFORMS.all() if getattr(platform, "in_browser", False))


UNKNOWN_COLOUR = "#9C8B6E"


def colour(name: str) -> str:
    """The colour of a platform in every chart: told apart by colour-blind readers, on white and on black.

    Platforms of outside packages, and names that came with an import, share one unless they bring their own."""
    known = PLATFORMS.get(name) if name in PLATFORMS.names() else None
    return str(getattr(known, "colour", UNKNOWN_COLOUR))
