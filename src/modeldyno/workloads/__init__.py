"""One file per kind of benchmark."""

from modeldyno.core.protocols import Workload
from modeldyno.core.registry import Registry

WORKLOADS: Registry[Workload] = Registry(__name__, "workload")
