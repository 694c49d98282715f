"""Hardware: what the device itself can do, as peaks that models are held against."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Bench, Reference, RunsTorch, Step
from modeldyno.core.types import (
    MetricValue,
    Outcome,
    OutputCheck,
    Passport,
    Placement,
    Precision,
    Status,
)
from modeldyno.workloads._hardware.place import Place, Ready
from modeldyno.workloads._hardware.probes import PROBES
from modeldyno.workloads._judged import judged
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._placement import proven
from modeldyno.workloads._sampled import sampled

RUNTIME = "torch"
PRECISIONS: dict[str, str] = {Precision.FP32: "float32", Precision.BF16: "bfloat16", Precision.FP16: "float16"}


class Hardware:
    """Rates of products, memory, copies and sums over devices, launch latency: each a probe in place of a model."""

    name = "hardware"
    options = frozenset({"threads"})
    probes: Mapping[str, Mapping[str, tuple[int, ...]]] = {
        name: {probe.axis: probe.sizes} for name, probe in PROBES.items()
    }
    """What stands in place of a model, with its axes and the sizes to measure when none are asked for."""
    shows = ("latency_ms", "compute_rate_gflops", "bandwidth_gb_per_s", "launch_us")
    """The metrics that say most about its records."""
    ranked = False
    """Its records are no alternatives to each other."""

    def run(self, bench: Bench) -> Outcome:
        place = _place(bench)
        probe = PROBES[bench.case.model]
        bench.note("preparing")
        with place.torch.inference_mode():
            ready = probe.make(place, bench.case.shape[probe.axis])
        step = _without_gradients(place.torch, ready.step)
        first_ms = bench.session.lap(step, 1).host_ns / 1e6
        check = _checked(place, ready, bench.case.precision)
        if not check.passed:
            return _invalid(bench, check)
        bench.note("measuring")
        samples, trust = sampled(bench, step)
        trust = Passport.of((*trust.checks, *ready.checks))
        return judged(
            trust,
            device=bench.session.device,
            placement=proven(_placement(place, ready), bench.case.precision),
            check=check,
            metrics={
                "first_ms": MetricValue(value=first_ms),
                "error_rel_l2": MetricValue(value=check.rel_l2, n=check.compared),
                **{name: MetricValue(value=amount) for name, amount in ready.work.items()},
            },
            samples=samples,
            software={"torch": version("torch")},
        )


def _place(bench: Bench) -> Place:
    case = bench.case
    if not isinstance(bench.session, RunsTorch):
        raise Unsupported(
            f"PyTorch, which runs the probes, cannot address a device of platform {case.platform}",
            f"leave {case.platform} out",
        )
    if case.runtime != RUNTIME:
        raise Unsupported(f"the probes run in eager PyTorch, not in {case.runtime}", f"use --runtime {RUNTIME}")
    if case.precision not in PRECISIONS:
        raise Unsupported(f"there are no probes in {case.precision}", f"use --precision {','.join(PRECISIONS)}")
    import torch

    if threads := case.options.get("threads"):
        torch.set_num_threads(int(threads))
    torch.manual_seed(0)
    # In the words that a tensor uses, so that asked and actual can be compared.
    address = str(torch.empty(0, device=bench.session.torch_device()).device)
    return Place(torch, bench.session, address, getattr(torch, PRECISIONS[case.precision]))


def _without_gradients(torch: Any, step: Step) -> Step:
    """As models run in inference; without it every launch would pay for the bookkeeping of gradients."""

    def quiet() -> None:
        with torch.inference_mode():
            step()

    return quiet


def _checked(place: Place, ready: Ready, precision: str) -> OutputCheck:
    """A fast wrong answer is no result, of a device neither."""
    reference = Reference("the same worked out on the host", ready.expected, dict.fromkeys(ready.expected, 1))
    with place.torch.inference_mode():
        return check_outputs(ready.outputs(), reference, precision, {})


def _placement(place: Place, ready: Ready) -> Placement:
    return Placement(
        asked=place.address,
        device=str(ready.result.device),
        compute_precision=str(ready.result.dtype).removeprefix("torch."),
        threads=place.torch.get_num_threads(),
        details=dict(ready.details),
    )


def _invalid(bench: Bench, check: OutputCheck) -> Outcome:
    error = "not finite" if check.rel_l2 is None else f"off by {check.rel_l2:.2g} (limit {check.tolerance:g})"
    return Outcome(
        status=Status.INVALID,
        reason=f"the result of the probe is {error}",
        remedy="mend the driver or the build of PyTorch: this device computes wrongly",
        device=bench.session.device,
        check=check,
        software={"torch": version("torch")},
    )


MEMBER = Hardware()
