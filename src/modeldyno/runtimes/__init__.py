"""One file per runtime."""

from modeldyno.core.protocols import Runtime
from modeldyno.core.registry import Registry

RUNTIMES: Registry[Runtime] = Registry(__name__, "runtime")
