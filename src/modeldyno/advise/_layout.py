"""The ways to spread training over GPUs, the simplest first."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError

if TYPE_CHECKING:
    from modeldyno.advise._anatomy import Anatomy


@dataclass(frozen=True)
class Cut:
    """Which share of a model, and how it is trained."""

    tensor: int = 1
    first: bool = True
    """Whether it has the first stage of a pipeline."""
    last: bool = True
    checkpointing: bool = False
    autocast: bool = False
    """Weights in fp32 and matrix products in the lower format; else all in that format."""

    @property
    def whole(self) -> bool:
        return self.first and self.last


@dataclass(frozen=True)
class Layout:
    """How many GPUs each way to divide has; their product is the number of GPUs."""

    data: int
    tensor: int = 1
    pipeline: int = 1
    sharded: bool = True
    """Whether the GPUs of the data dimension share parameters, gradients and optimizer state (ZeRO-3)."""
    checkpointing: bool = False
    offload: bool = False
    """Whether parameters, gradients and optimizer state lie in the host's memory between uses."""

    @property
    def name(self) -> str:
        ways = [f"{way} {count}" for way, count in self._degrees() if count > 1]
        extras = [word for word, wanted in (("checkpointing", self.checkpointing), ("offload", self.offload)) if wanted]
        return ", ".join([" x ".join(ways) or "one GPU", *extras])

    def _degrees(self) -> list[tuple[str, int]]:
        kind = "FSDP" if self.sharded else "DDP"
        return [("pipeline", self.pipeline), ("tensor", self.tensor), (kind, self.data)]

    def cut(self, stage: int, lower: bool) -> Cut:
        """What a GPU of this stage has; `lower` where products are computed in a lower format than fp32."""
        ends = stage == 0, stage == self.pipeline - 1
        return Cut(self.tensor, *ends, self.checkpointing, autocast=lower and not self.sharded)

    @property
    def groups(self) -> int:
        """Sets of GPUs that one GPU talks to."""
        return sum(count > 1 for _, count in self._degrees())


@dataclass(frozen=True)
class Impossible:
    """A way that this model cannot go."""

    name: str
    reason: str


@dataclass(frozen=True)
class Cluster:
    """The GPUs there are, and the degrees that were asked for."""

    gpus: int
    """Of one node."""
    nodes: int = 1
    tensor: int | None = None
    pipeline: int | None = None

    @property
    def world(self) -> int:
        return self.gpus * self.nodes

    def check(self, anatomy: Anatomy) -> None:
        """Raises InputError where a degree that was asked for does not divide what it must."""
        if self.tensor is not None:
            _check("--tensor", self.tensor, _tensors(anatomy, self), anatomy.no_tensor)
        if self.pipeline is not None:
            _check("--pipeline", self.pipeline, _pipelines(anatomy, self), anatomy.no_pipeline)
        together = (self.tensor or 1) * (self.pipeline or 1)
        if self.world % together:
            raise InputError(
                f"--tensor {self.tensor or 1} times --pipeline {self.pipeline or 1} is {together}, which does not "
                f"divide {self.world} GPUs; ask for others."
            )


def _check(option: str, wanted: int, possible: list[int], never: str | None) -> None:
    if wanted == 1 or wanted in possible:
        return
    if never:
        raise InputError(f"{option} {wanted} cannot be: {never}; leave {option} out.")
    what = "heads and the GPUs of a node" if option == "--tensor" else "layers and the number of GPUs"
    known = ", ".join(map(str, [1, *possible]))
    raise InputError(f"{option} {wanted} does not divide the model's {what}; use one of {known}.")


def _tensors(anatomy: Anatomy, cluster: Cluster) -> list[int]:
    """Degrees within one node: across nodes the messages after each layer would take most of the time."""
    if anatomy.no_tensor:
        return []
    return [n for n in _divisors(cluster.gpus) if anatomy.heads % n == 0]


def _pipelines(anatomy: Anatomy, cluster: Cluster) -> list[int]:
    if anatomy.no_pipeline:
        return []
    return [n for n in _divisors(cluster.world) if anatomy.layers % n == 0]


def _divisors(number: int) -> list[int]:
    """But for 1."""
    return [n for n in range(2, number + 1) if number % n == 0]


def layouts(anatomy: Anatomy, cluster: Cluster) -> Iterator[Layout | Impossible]:
    """All that can be tried, the simplest first. What was asked for is not left out."""
    plain = (cluster.tensor or 1) == (cluster.pipeline or 1) == 1
    free = cluster.tensor is None and cluster.pipeline is None
    if plain:
        yield from _plain(anatomy, cluster.world)
    if cluster.world > 1 and (free or not plain):
        yield from _mixed(anatomy, cluster)
    if plain:
        yield _least(anatomy, cluster.world)


def _plain(anatomy: Anatomy, world: int) -> Iterator[Layout]:
    yield Layout(world, sharded=False)
    if world > 1:
        yield Layout(world)
    if not anatomy.no_checkpointing:
        yield Layout(world, checkpointing=True, sharded=world > 1)


def _least(anatomy: Anatomy, world: int) -> Layout:
    return Layout(world, checkpointing=not anatomy.no_checkpointing, offload=True)


def _mixed(anatomy: Anatomy, cluster: Cluster) -> Iterator[Layout | Impossible]:
    """One way more, then two; within each the smaller degrees first."""
    tensors = [cluster.tensor] if cluster.tensor else [1, *_tensors(anatomy, cluster)]
    pipelines = [cluster.pipeline] if cluster.pipeline else [1, *_pipelines(anatomy, cluster)]
    pairs = [(t, p) for t in tensors for p in pipelines if t * p > 1 and cluster.world % (t * p) == 0]
    for tensor, pipeline in sorted(pairs, key=lambda pair: ((pair[0] > 1) + (pair[1] > 1), pair[1], pair[0])):
        yield Layout(cluster.world // (tensor * pipeline), tensor, pipeline)
    for name, reason in (("tensor", anatomy.no_tensor), ("pipeline", anatomy.no_pipeline)):
        if reason:
            yield Impossible(name, reason)
