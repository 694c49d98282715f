"""What one GPU needs for training, part by part, in bytes; docs/plan.md says where each comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from modeldyno.advise._layout import Layout

if TYPE_CHECKING:
    from modeldyno.advise._share import Share, Workshop

GB = 10**9
WEIGHT = 4
"""Bytes of a parameter, and of its gradient: weights are kept in fp32 whatever products are computed in."""
STATE = {"adamw": 8, "sgd": 0}
"""Bytes per parameter: two moments in fp32; nothing without momentum."""
COMPUTE = {"bf16": 2, "fp16": 2, "fp32": 4}
CONTEXT = 830 * 2**20
"""Driver, libraries and their workspaces: what a process held beyond its allocator on an H200."""
SLACK = 0.10
"""Of what comes and goes: assumed to be lost between the allocator's pieces."""
CHANNELS = 2 * 32 * 4 * 2**20
"""Per group of GPUs that talk: NCCL's buffers of 4 MiB, for sending and receiving, with 32 channels assumed."""


@dataclass(frozen=True)
class Memory:
    """Of the GPU that needs most."""

    parameters: int
    gradients: int
    optimizer: int
    activations: int
    """With what operations need only for themselves; of a pipeline, of all micro-batches under way."""
    buffers: int
    """Gathered blocks and messages."""
    overhead: int
    host: int = 0
    """Of one GPU's share in the host's memory."""

    @property
    def total(self) -> int:
        return self.parameters + self.gradients + self.optimizer + self.passing + self.overhead

    @property
    def passing(self) -> int:
        """What comes and goes, however many GPUs share the rest."""
        return self.activations + self.buffers


@dataclass(frozen=True)
class Books:
    """Adds up memory for one model, precision and optimizer."""

    workshop: Workshop
    precision: str
    optimizer: str

    def memory(self, layout: Layout, micro_batch: int, accumulate: int) -> Memory:
        """Of a pipeline the first stage holds most micro-batches and the last one the scores of all words."""
        stages = sorted({0, layout.pipeline - 1})
        made = [self._of_stage(layout, stage, micro_batch, accumulate) for stage in stages]
        return max(made, key=lambda memory: memory.total)

    def all_learn(self, layout: Layout, micro_batch: int) -> bool:
        return self._share(layout, 0, micro_batch).rehearsal.all_learn

    def _share(self, layout: Layout, stage: int, micro_batch: int) -> Share:
        return self.workshop.share(layout.cut(stage, self.precision != "fp32"), layout.pipeline, micro_batch)

    def _of_stage(self, layout: Layout, stage: int, micro_batch: int, accumulate: int) -> Memory:
        share = self._share(layout, stage, micro_batch)
        under_way = min(layout.pipeline - stage, accumulate)
        activations = (under_way - 1) * share.rehearsal.kept + share.rehearsal.peak
        buffers = self._gathered(layout, share) + CHANNELS * layout.groups
        held = share.parameters / (layout.data if layout.sharded else 1)
        weights, state = round(WEIGHT * held), round(STATE[self.optimizer] * held)
        here = not layout.offload
        return Memory(
            parameters=weights * here + self.workshop.anatomy.buffers,
            gradients=weights * here,
            optimizer=state * here,
            activations=activations,
            buffers=buffers,
            overhead=CONTEXT + round(SLACK * (activations + buffers)),
            host=(2 * weights + state) * layout.offload,
        )

    def _gathered(self, layout: Layout, share: Share) -> int:
        """FSDP computes with whole blocks: this one and the next with the message it comes in; then the gradient of
        one, and the same in fp32 as a message. What is in no block stays whole until the step's end."""
        if not layout.sharded:
            return 0
        each = COMPUTE[self.precision]
        return 2 * each * share.outside + (4 * each + WEIGHT) * share.largest
