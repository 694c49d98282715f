"""How to train a model on many GPUs: every way with what it takes of each, and the simplest that fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import ceil
from typing import TYPE_CHECKING

from modeldyno import models
from modeldyno.advise._layout import Cluster, Impossible, Layout, layouts
from modeldyno.advise._memory import COMPUTE, GB, STATE, Books, Memory
from modeldyno.core.errors import DynoError, InputError, JobError, UnknownName, Unsupported
from modeldyno.models import ModelSpec

if TYPE_CHECKING:
    from modeldyno.advise._anatomy import Anatomy

EACH_GPU = 8
"""Examples per GPU and step where nobody says how many a step should learn from."""
MOST = 10**6
"""Of anything that is counted."""
DTYPES = {"fp32": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True)
class Request:
    """What is to be trained, and on what."""

    model: str
    max_memory_gb: float
    """Of one GPU."""
    precision: str = "bf16"
    optimizer: str = "adamw"
    shape: Mapping[str, int] = field(default_factory=dict, hash=False)
    gpus: int = 1
    """Of one node."""
    nodes: int = 1
    tensor: int | None = None
    """A degree that is asked for; None for any."""
    pipeline: int | None = None
    global_batch: int | None = None
    """Examples that one step learns from."""
    micro_batch: int | None = None
    """Examples that one GPU takes at once; else as many as fit."""

    def __post_init__(self) -> None:
        counted = {"--gpus": self.gpus, "--nodes": self.nodes, "--tensor": self.tensor, "--pipeline": self.pipeline}
        batches = {"--global-batch": self.global_batch, "--micro-batch": self.micro_batch}
        for option, count in (counted | batches).items():
            if count is not None and not 1 <= count <= MOST:
                raise InputError(f"{option} {count} cannot be; give a number from 1 to {MOST:,}.")
        for kind, name, known in (("precision", self.precision, COMPUTE), ("optimizer", self.optimizer, STATE)):
            if name not in known:
                raise UnknownName(kind, name, known)
        if not 0 < self.max_memory_gb < MOST:
            raise InputError(f"--max-memory-gb {self.max_memory_gb:g} is no memory of a GPU; give GB, such as 24.")

    @property
    def cluster(self) -> Cluster:
        return Cluster(self.gpus, self.nodes, self.tensor, self.pipeline)

    @property
    def batch(self) -> int:
        return self.global_batch or max(EACH_GPU, self.micro_batch or 1) * self.cluster.world

    @property
    def room(self) -> int:
        return round(self.max_memory_gb * GB)


@dataclass(frozen=True)
class Candidate:
    """One way to train."""

    name: str
    layout: Layout | None = None
    micro_batch: int | None = None
    accumulate: int | None = None
    """Micro-batches whose gradients make one step."""
    memory: Memory | None = None
    reason: str | None = None
    """Why it cannot be, or why nothing can be said."""
    failure: DynoError | None = field(default=None, compare=False)

    def fits(self, room: int) -> bool:
        return self.memory is not None and self.memory.total <= room


@dataclass(frozen=True)
class Plan:
    """The chosen way and all that were looked at."""

    request: Request
    spec: ModelSpec
    shape: Mapping[str, int] = field(hash=False)
    anatomy: Anatomy
    candidates: tuple[Candidate, ...]
    chosen: Candidate
    all_learn: bool
    """False where some parameters get no gradient, which DDP has to be told."""

    @property
    def why(self) -> str:
        """One sentence."""
        memory, room = self.chosen.memory, self.request.max_memory_gb
        assert memory is not None
        said = f"{self.chosen.name} needs {memory.total / GB:.1f} of {room:g} GB"
        simpler = self.candidates[: self.candidates.index(self.chosen)]
        if not simpler:
            return f"{said}, and nothing is simpler."
        if needed := [one.memory.total for one in simpler if one.memory]:
            return f"{said}; what is simpler needs {min(needed) / GB:.1f} GB or more."
        return f"{said}; what is simpler cannot be: {simpler[0].reason}."


def make_plan(request: Request) -> Plan:
    """Raises JobError where nothing fits, with what would."""
    spec = models.resolve(request.model)
    try:
        models.lesson(spec, None, 2, request.shape, 0)
    except Unsupported as error:  # no job went wrong; something was asked for that cannot be
        raise InputError(str(error)) from error
    from modeldyno.advise._share import Workshop  # needs PyTorch, which is there now

    workshop = Workshop(spec, request.shape, DTYPES[request.precision])
    request.cluster.check(workshop.anatomy)
    if request.micro_batch and request.micro_batch < workshop.least:
        raise InputError(f"'{request.model}' learns from {workshop.least} examples or more; raise --micro-batch.")
    books = Books(workshop, request.precision, request.optimizer)
    candidates = tuple(_candidates(request, books))
    chosen = next((one for one in candidates if one.fits(request.room)), None)
    if chosen is None or chosen.layout is None or chosen.micro_batch is None:
        raise _nothing_fits(request, books, candidates)
    all_learn = books.all_learn(chosen.layout, chosen.micro_batch)
    return Plan(request, spec, workshop.shape, workshop.anatomy, candidates, chosen, all_learn)


def _candidates(request: Request, books: Books) -> Iterator[Candidate]:
    """The first that fits takes the largest micro-batch; those behind it are shown with the same, where it fits."""
    most: int | None = None
    for layout in layouts(books.workshop.anatomy, request.cluster):
        found = _candidate(request, books, layout, most)
        if most is None and found.fits(request.room):
            most = found.micro_batch
        yield found


def _candidate(request: Request, books: Books, layout: Layout | Impossible, most: int | None) -> Candidate:
    if isinstance(layout, Impossible):
        return Candidate(layout.name, reason=layout.reason)
    if layout.pipeline > 1 and request.precision == "fp16":
        return Candidate(layout.name, reason="gradients of fp16 are not scaled in a pipeline; use bf16")
    try:
        return _with_checkpointing_if_needed(request, books, layout, most)
    except (JobError, Unsupported) as error:
        known = error.reason if isinstance(error, Unsupported) else "its memory cannot be told without running it"
        return Candidate(layout.name, reason=known, failure=error)


def _with_checkpointing_if_needed(request: Request, books: Books, layout: Layout, most: int | None) -> Candidate:
    found = _with_best_size(request, books, layout, most)
    mixed = layout.tensor * layout.pipeline > 1  # these are not listed with and without checkpointing
    if not mixed or found.reason or found.fits(request.room) or books.workshop.anatomy.no_checkpointing:
        return found
    return _with_best_size(request, books, replace(layout, checkpointing=True), most)


def _with_best_size(request: Request, books: Books, layout: Layout, most: int | None) -> Candidate:
    """With the largest micro-batch that fits; where none does, with the smallest."""
    sizes = _micro_batches(request, layout, books.workshop.least)
    if not sizes:
        wanted = f"{layout.data} replicas" + (f" and {layout.pipeline} stages" if layout.pipeline > 1 else "")
        size = f" in micro-batches of {request.micro_batch}" if request.micro_batch else ""
        return Candidate(layout.name, reason=f"a batch of {request.batch}{size} cannot be spread over {wanted}")
    if most:
        sizes = sorted({sizes[0], max((size for size in sizes if size <= most), default=sizes[0])})
    tried = (_with_size(request, books, layout, size) for size in sizes)
    fitting = list(takewhile(lambda one: one.fits(request.room), tried))
    return fitting[-1] if fitting else _with_size(request, books, layout, sizes[0])


def _with_size(request: Request, books: Books, layout: Layout, size: int) -> Candidate:
    accumulate = request.batch // layout.data // size
    return Candidate(layout.name, layout, size, accumulate, books.memory(layout, size, accumulate))


def _micro_batches(request: Request, layout: Layout, least: int) -> list[int]:
    """Those that divide what a replica gets, doubling; a pipeline needs one per stage to be filled."""
    share, rest = divmod(request.batch, layout.data)
    if rest:
        return []
    wanted = [request.micro_batch] if request.micro_batch else [least * 2**n for n in range(20)]
    return [size for size in wanted if size >= least and share % size == 0 and share // size >= layout.pipeline]


def _nothing_fits(request: Request, books: Books, candidates: tuple[Candidate, ...]) -> Exception:
    tried = [one for one in candidates if one.memory]
    if not tried:
        failures = [one.failure for one in candidates if one.failure]
        reason = candidates[0].reason
        return (
            failures[0] if failures else InputError(f"{reason}; change --global-batch or --micro-batch.".capitalize())
        )
    best = min(tried, key=lambda one: one.memory.total if one.memory else 0)
    assert best.memory is not None
    needed = best.memory.total / GB
    said = f"'{request.model}' does not fit: {best.name} needs least, {needed:.1f} of {request.max_memory_gb:g} GB"
    enough = _enough_gpus(request, books)
    more = f"it needs at least {enough} GPUs of this size, or {request.cluster.world}" if enough else "it needs GPUs"
    return JobError(f"{said}; {more} of {ceil(needed)} GB, or smaller examples (--seq, --shape).")


def _enough_gpus(request: Request, books: Books) -> int | None:
    """In whole nodes; None where what cannot be shared is too much already."""
    layout = Layout(2, checkpointing=not books.workshop.anatomy.no_checkpointing)
    memory = books.memory(layout, request.micro_batch or books.workshop.least, 1)
    room = request.room - memory.passing - memory.overhead
    if room <= 0:
        return None
    shared = 2 * (memory.total - memory.passing - memory.overhead)
    gpus = request.cluster.gpus
    return ceil(ceil(shared / room) / gpus) * gpus
