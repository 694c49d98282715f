"""One file per hardware platform."""

from modeldyno.core.protocols import Platform
from modeldyno.core.registry import Registry

PLATFORMS: Registry[Platform] = Registry(__name__, "platform")
