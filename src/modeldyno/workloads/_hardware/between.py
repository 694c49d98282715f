"""Probes of what lies between memories: copies from and to the host, and sums over several devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from modeldyno.core.errors import Unsupported, is_out_of_memory
from modeldyno.core.protocols import Session, SumsTogether
from modeldyno.workloads._hardware.place import Place, Ready, few


def to_device(place: Place, megabytes: int) -> Ready:
    host, pinned = _host_values(place, megabytes)
    target = place.torch.zeros_like(host, device=place.address)
    return _transfer(host, target, target, pinned)


def from_device(place: Place, megabytes: int) -> Ready:
    host, pinned = _host_values(place, megabytes)
    source = place.filled(megabytes, place.address)
    return _transfer(source, host, source, pinned)


def _transfer(source: Any, target: Any, on_device: Any, pinned: bool) -> Ready:
    return Ready(
        step=lambda: target.copy_(source, non_blocking=True),
        work={"moved_gb": source.nbytes / 1e9},
        result=on_device,
        outputs=lambda: {"copy": few(target)},
        expected={"copy": few(source)},
        details={"pinned": pinned},
    )


def _host_values(place: Place, megabytes: int) -> tuple[Any, bool]:
    """Values in the host's memory, in pages that the device can read by itself where there is such a thing."""
    if place.on_host:
        raise Unsupported("the processor has no memory apart from the host's", "use a device with its own memory")
    values = place.filled(megabytes, None)  # the host is where torch works unless told otherwise
    try:
        return values.pin_memory(), True
    except RuntimeError as error:  # not every device has such pages; NotImplementedError is one of these too
        if is_out_of_memory(error):
            raise
        return values, False


def all_reduce(place: Place, megabytes: int) -> Ready:
    """What a device sends at least, and gets: of n devices 2 (n - 1) / n of the values (Patarasuk and Yuan, "Bandwidth
    optimal all-reduce algorithms", Journal of Parallel and Distributed Computing 69(2), 2009)."""
    session, addresses = _several(place.session)
    # Times another number on each, or the seed would give all the same values.
    given = [place.filled(megabytes, address).mul_(nth) for nth, address in enumerate(addresses, 1)]
    sums = [place.torch.zeros_like(values) for values in given]
    count, each = len(given), given[0].nbytes
    return Ready(
        step=lambda: session.all_reduce(given, sums),
        work={"moved_gb": 2 * (count - 1) / count * each / 1e9},
        result=sums[0],
        outputs=lambda: {f"sum {index}": few(values) for index, values in enumerate(sums)},
        expected={f"sum {index}": sum(map(few, given)) for index in range(count)},
        details={"devices": count},
    )


def _several(session: Session) -> tuple[SumsTogether, Sequence[str]]:
    if isinstance(session, SumsTogether) and len(addresses := session.together()) > 1:
        return session, addresses
    raise Unsupported(
        f"no other device of {session.device.platform} is here to add up with", "run it on a host with several of them"
    )
