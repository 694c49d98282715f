"""Tokens made with graphs have the scores that PyTorch computes without keeping anything."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from modeldyno import models
from modeldyno.core.decoding import Decoder, DecodingSource
from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Case
from modeldyno.models import named_scores, relative_distance
from modeldyno.platforms import PLATFORMS
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._generation_step import scores_along
from modeldyno.workloads._outputs import TOLERANCE

pytestmark = pytest.mark.slow

NEW_TOKENS = 5
MODELS = ["tiny-opt", "tiny-llama", "tiny-qwen3", "tiny-t5", "tiny-whisper"]
RUNNERS = [("onnxruntime", "cpu"), ("openvino", "openvino")]
runners = pytest.mark.parametrize(("runtime", "platform"), RUNNERS)


@dataclass(frozen=True)
class Writer:
    source: DecodingSource
    decoder: Decoder
    case: Case

    def distances(self) -> dict[str, float | None]:
        reference = self.source.reference()
        scores = named_scores(scores_along(self.decoder, self.source.path()))
        return {name: relative_distance(scores[name], reference, name) for name in reference.values}


def load(model: str, runtime: str, platform: str, batch: int = 1, precision: str = "fp32", **options: int) -> Writer:
    case = Case(
        model=model,
        platform=platform,
        runtime=runtime,
        batch=batch,
        precision=precision,
        shape=shape_of(model),
        options=options,
    )
    source = models.prepare_decoding(models.resolve(model), batch, case.shape)
    session, member = PLATFORMS.get(platform).open(0), RUNTIMES.get(runtime)
    member.prepare_decoder(source, precision)
    return Writer(source, member.load_decoder(source, session, case), case)


def shape_of(model: str) -> dict[str, int]:
    prompt = {"seq": 7} if "seq" in models.resolve(model).axes else {}
    return {**prompt, "new_tokens": NEW_TOKENS}


@runners
@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("model", MODELS)
def test_scores_along_a_path_are_those_of_pytorch(model: str, batch: int, runtime: str, platform: str) -> None:
    distances = load(model, runtime, platform, batch).distances()
    assert set(distances) == {"first_token", "next_tokens"}
    assert all(distance is not None and distance < 1e-3 for distance in distances.values()), distances


@runners
def test_the_likeliest_token_is_chosen_and_a_prompt_read_again_begins_anew(runtime: str, platform: str) -> None:
    decoder = load("tiny-llama", runtime, platform, 3).decoder

    def write() -> list[list[int]]:
        return [list(step()) for step in (decoder.prefill, *[decoder.decode] * (NEW_TOKENS - 1))]

    first = write()
    assert first[-1] == decoder.scores().argmax(-1).tolist()
    assert write() == first


@runners
def test_a_token_that_is_forced_is_the_one_read_next(runtime: str, platform: str) -> None:
    decoder = load("tiny-llama", runtime, platform).decoder

    def next_after(token: int) -> list[float]:
        decoder.prefill()
        decoder.force([token])
        decoder.decode()
        scores: list[float] = decoder.scores().tolist()
        return scores

    assert next_after(5) != next_after(6)
    assert next_after(5) == next_after(5)


@runners
def test_each_token_adds_its_keys_and_values_to_what_is_kept(runtime: str, platform: str) -> None:
    writer = load("tiny-opt", runtime, platform, 3)
    config = writer.source.torch_model().config
    token_mb = 2 * config.num_hidden_layers * 3 * config.hidden_size * 4 / 2**20
    writer.decoder.prefill()
    assert writer.decoder.cache_mb() == pytest.approx(7 * token_mb)
    writer.decoder.decode()
    assert writer.decoder.cache_mb() == pytest.approx(8 * token_mb)


@runners
def test_what_the_encoder_said_is_kept_once(runtime: str, platform: str) -> None:
    decoder = load("tiny-t5", runtime, platform).decoder
    sizes = []
    for step in (decoder.prefill, decoder.decode, decoder.decode):
        step()
        sizes.append(decoder.cache_mb())
    # 7 tokens were read and 1 begun with: 8 parts, and one more with each token.
    assert sizes == pytest.approx([sizes[0], sizes[0] * 9 / 8, sizes[0] * 10 / 8])


def test_all_batch_sizes_and_numbers_of_tokens_share_one_export() -> None:
    def folder(batch: int, new_tokens: int) -> Path:
        shape = {**shape_of("tiny-opt"), "new_tokens": new_tokens}
        return models.prepare_decoding(models.resolve("tiny-opt"), batch, shape).graphs().decode.parent

    assert folder(1, NEW_TOKENS) == folder(4, NEW_TOKENS + 1)


@pytest.mark.parametrize(
    ("runtime", "platform", "precision", "computed"),
    [
        ("onnxruntime", "cpu", "fp32", "float32"),
        ("onnxruntime", "cpu", "int8", "int8"),
        ("onnxruntime", "cpu", "fp16", None),  # its processor kernels may cast, and then say so
        ("openvino", "openvino", "fp32", "f32"),
        ("openvino", "openvino", "bf16", None),  # only where the processor has it
    ],
)
def test_a_precision_is_used_and_proven(runtime: str, platform: str, precision: str, computed: str | None) -> None:
    writer = load("tiny-opt", runtime, platform, 3, precision, threads=1)
    assert all(distance < TOLERANCE[precision] for distance in writer.distances().values())
    placement = writer.decoder.placement()
    assert placement.asked == placement.device
    assert not placement.fallback
    assert placement.threads == 1
    assert placement.compute_precision == (computed or placement.compute_precision)


@pytest.mark.parametrize("model", ["tiny-llama", "tiny-t5", "tiny-whisper"])
def test_in_fp16_what_is_kept_takes_half_the_room(model: str) -> None:
    sizes = {}
    for precision in ("fp32", "fp16"):
        writer = load(model, "onnxruntime", "cpu", precision=precision)
        assert all(distance < TOLERANCE[precision] for distance in writer.distances().values())
        sizes[precision] = writer.decoder.cache_mb()
    assert sizes["fp16"] == sizes["fp32"] / 2


@pytest.mark.parametrize(("runtime", "precision"), [("onnxruntime", "bf16"), ("openvino", "int8")])
def test_a_precision_that_cannot_be_had_is_refused(runtime: str, precision: str) -> None:
    source = models.prepare_decoding(models.resolve("tiny-opt"), 1, shape_of("tiny-opt"))
    with pytest.raises(Unsupported, match="use --precision"):
        RUNTIMES.get(runtime).prepare_decoder(source, precision)


@runners
def test_what_was_prepared_is_loaded_without_the_model_libraries(runtime: str, platform: str) -> None:
    load("tiny-opt", runtime, platform)
    code = f"""
import sys
sys.path.insert(0, {__file__.rpartition("/")[0]!r})
from test_graph_decoders import RUNTIMES, PLATFORMS, Case, models, shape_of
case = Case(model="tiny-opt", platform={platform!r}, runtime={runtime!r}, shape=shape_of("tiny-opt"))
source = models.prepare_decoding(models.resolve("tiny-opt"), 1, case.shape)
decoder = RUNTIMES.get(case.runtime).load_decoder(source, PLATFORMS.get(case.platform).open(0), case)
decoder.prefill(), decoder.decode()
print([name for name in ("torch", "transformers") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[]", done.stderr
