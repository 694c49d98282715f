"""One file per hardware platform."""

from modeldyno.core.protocols import Platform
from modeldyno.core.registry import Registry

PLATFORMS: Registry[Platform] = Registry(__name__, "platform")


def baseline() -> str:
    """The platform that every host has, and that people mean by a speed-up."""
    return next(platform.name for platform in PLATFORMS.all() if getattr(platform, "baseline", False))
