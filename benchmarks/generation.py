"""Is the loop by hand as fast as transformers' own `generate`, and do its parts make up the whole?

    python benchmarks/generation.py [MODEL ...] [--device cpu] [--seq 128] [--new-tokens 32] [--batch 1] [--rounds 5]

Both write with one model in one process, greedily and to a fixed length, in turns; each pair of neighbours gives a
ratio, so that whatever slows the machine for a second slows both alike. Printed are the tokens per second of each, the
median ratio (above 1: the loop by hand is faster), and how far the time until the first token plus the typical gap for
each further one is from the whole. Threads are OMP_NUM_THREADS.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch

from modeldyno import models
from modeldyno.core.types import Weights
from modeldyno.platforms import PLATFORMS
from modeldyno.runtimes._torch_decoder import TorchDecoder, Writing
from modeldyno.workloads._generation_step import BETWEEN, FIRST, Generation

MODELS = ("opt-125m", "Qwen2-0.5B", "t5-small", "whisper-tiny")
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
PAIRS = 6


class Contest:
    """Both ways to write, with one model on one device."""

    def __init__(self, name: str, options: argparse.Namespace) -> None:
        self.session = PLATFORMS.get(options.device).open(0)
        self.device = torch.device(self.session.torch_device())
        self.tokens = options.batch * options.new_tokens
        self.new_tokens = options.new_tokens
        spec = models.resolve(name)
        shape = {"new_tokens": options.new_tokens} | ({"seq": options.seq} if "seq" in spec.axes else {})
        source = models.prepare_decoding(spec, options.batch, shape, Weights.RANDOM)
        dtype = DTYPES[options.precision]
        self.model = source.torch_model().to(self.device, dtype)
        arrays = {key: torch.from_numpy(array).to(self.device) for key, array in source.prompt().items()}
        self.prompt = {key: t.to(dtype) if t.is_floating_point() else t for key, t in arrays.items()}
        writing = Writing(
            self.model, self.prompt, self.new_tokens, options.cache, options.precision, str(self.device), 0.0
        )
        self.decoder = TorchDecoder(writing, self.model)
        self.step = Generation(self.session, self.decoder, self.new_tokens)
        self.rules = _rules(self.model, self.new_tokens, options.cache)

    def ours(self) -> list[list[int]]:
        written = [self.decoder.prefill(), *(self.decoder.decode() for _ in range(self.new_tokens - 1))]
        return [list(sequence) for sequence in zip(*written, strict=True)]

    def theirs(self) -> list[list[int]]:
        """Of every model the method that all share: Whisper's own one cuts sound into windows and tries again."""
        from transformers import GenerationMixin

        whole = GenerationMixin.generate(self.model, **self.prompt, generation_config=self.rules)
        return whole[:, -self.new_tokens :].tolist()

    def pair(self, ours_first: bool) -> tuple[float, float]:
        """Seconds of the loop by hand, as the workload takes its samples, and of `generate`."""
        if ours_first:
            return self._time_ours(), self._time(self.theirs)
        theirs = self._time(self.theirs)
        return self._time_ours(), theirs

    def _time_ours(self) -> float:
        return self.session.lap(self.step, 1).host_ns / 1e9

    def _time(self, write: Callable[[], Any]) -> float:
        begin = time.perf_counter()
        write()  # ends with the tokens on the host, so the device is done
        return time.perf_counter() - begin


def _rules(model: Any, new_tokens: int, cache: str) -> Any:
    """Greedy, of fixed length, with nothing that ends it or changes scores."""
    from transformers import GenerationConfig

    own = model.generation_config
    begin = getattr(own, "decoder_start_token_id", None) or getattr(model.config, "decoder_start_token_id", None)
    return GenerationConfig(
        max_new_tokens=new_tokens,
        do_sample=False,
        eos_token_id=None,
        pad_token_id=0,
        decoder_start_token_id=begin if begin is not None else 0,
        cache_implementation=cache,
        disable_compile=True,
    )


def contest(name: str, options: argparse.Namespace) -> None:
    both = Contest(name, options)
    same = both.ours() == both.theirs()
    both.pair(True)
    both.step.read()
    ratios, ours, theirs = [], [], []
    for number in range(options.rounds):
        pairs = [both.pair(ours_first=index % 2 == 0) for index in range(PAIRS)]
        ours += [pair[0] for pair in pairs]
        theirs += [pair[1] for pair in pairs]
        ratios.append(statistics.median(pair[1] / pair[0] for pair in pairs))
        print(f"{name} round {number + 1}: ratio {ratios[-1]:.3f}", flush=True)
    parts, median = both.step.read(), statistics.median
    told = median(parts[FIRST]) + (both.new_tokens - 1) * median(parts[BETWEEN] or [0.0])
    apart = told / (median(ours) * 1e3) - 1
    print(
        f"{name} {options.precision} on {both.device}, {options.cache} cache: "
        f"by hand {both.tokens / median(ours):.1f} tokens/s, generate {both.tokens / median(theirs):.1f} tokens/s, "
        f"median ratio {median(ratios):.3f}; first {median(parts[FIRST]):.2f} ms, between "
        f"{median(parts[BETWEEN] or [0.0]):.2f} ms, parts {apart:+.2%} of the whole; "
        f"{'the same tokens' if same else 'OTHER TOKENS'}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--precision", choices=DTYPES, default="fp32")
    parser.add_argument("--cache", choices=("dynamic", "static"), default="dynamic")
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--new-tokens", type=int, default=32)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    for name in options.models:
        contest(name, options)
        models.release()


if __name__ == "__main__":
    main()
