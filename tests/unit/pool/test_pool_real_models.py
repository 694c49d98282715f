"""The pool with real models on real devices: shared, correct under threads, measured, let go."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
from pool_doubles import case, together

from modeldyno.core.types import Case
from modeldyno.platforms import PLATFORMS
from modeldyno.pool import Loader, NoRoom, Pool
from modeldyno.pool.memory import memory_mb
from modeldyno.runtimes import RUNTIMES

RUNTIMES_ON = [("cpu", "torch"), ("cpu", "onnxruntime"), ("openvino", "openvino")]


def resident_mb() -> float:
    gc.collect()
    return memory_mb(PLATFORMS.get("cpu").open(0))


@pytest.mark.parametrize(("platform", "runtime"), RUNTIMES_ON)
def test_many_threads_share_a_model_and_all_get_its_outputs(platform: str, runtime: str) -> None:
    one = Case(model="tiny-bert", platform=platform, runtime=runtime, options={"threads": 1})
    with Pool() as pool:
        with pool.borrow(one) as loaded:
            alone = loaded.outputs()

        def work(_: int) -> bool:
            good = True
            for _ in range(5):
                with pool.borrow(one) as loaded:
                    loaded.step()
                    here = loaded.outputs()
                    good &= all(np.allclose(here[name], alone[name], atol=1e-5) for name in alone)
            return good

        assert together(8, work) == [True] * 8
        assert pool.state().loads == 1


def test_a_runtime_says_how_many_steps_may_run_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "onnxruntime"):
        monkeypatch.setattr(f"modeldyno.runtimes.{name}.available_cores", lambda: 8)
        one = Case(model="tiny-bert", platform="cpu", runtime=name, options={"threads": 2})
        loaded = Loader().load(one).loaded
        assert loaded.steps_at_once() == 4  # type: ignore[attr-defined]


def test_what_a_model_takes_is_measured_and_given_back_when_it_goes() -> None:
    """In a process of its own: where an allocator has served many others, a model takes other amounts."""
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        alone.submit(take_and_give_back).result()


def take_and_give_back() -> None:
    """bert-tiny has 4.4 million parameters: 16.7 MB in fp32."""
    one, other = case("bert-tiny"), case("bert-tiny", batch=2)
    with Pool() as pool, pool.borrow(one), pool.borrow(other):
        pass  # pays for what the libraries take on first use
    before = resident_mb()
    with Pool(25, patience_s=0.1) as pool:
        with pool.borrow(one):
            assert pool.state().held_mb["host"] == pytest.approx(16.9, abs=2)
            with pytest.raises(NoRoom), pool.borrow(other):
                pass
        with pool.borrow(other):
            assert tuple(pool.state().models) == (other,)
        assert resident_mb() - before < 25
    assert resident_mb() - before < 4


def test_a_model_is_never_booked_as_less_than_its_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other threads free meanwhile hides it; bert-tiny has 4.4 million parameters."""
    monkeypatch.setattr("modeldyno.pool.loading.memory_mb", lambda _: 100.0)
    assert Loader().load(case("bert-tiny")).mb == pytest.approx(16.85, abs=0.01)
    assert Loader().load(case("bert-tiny", precision="bf16")).mb == pytest.approx(8.42, abs=0.01)


def test_copies_are_copies_and_the_runtime_keeps_none() -> None:
    loader = Loader()
    first, second = (loader.load(case("tiny-bert")).loaded for _ in range(2))
    pointers = [next(loaded.module.parameters()).data_ptr() for loaded in (first, second)]  # type: ignore[attr-defined]
    assert pointers[0] != pointers[1]
    assert RUNTIMES.get("torch")._placed is None  # type: ignore[attr-defined]


def test_a_model_in_reference_cycles_is_let_go_at_once() -> None:
    loader = Loader()
    gone = [loader.load(case("tiny-mamba"))]
    weights = weakref.ref(next(gone[0].loaded.module.parameters()))  # type: ignore[attr-defined]
    gc.disable()
    try:
        loader.let_go(gone)
    finally:
        gc.enable()
    assert weights() is None


def test_several_models_run_at_the_same_time() -> None:
    cases = [case("tiny-bert"), case("tiny-vit"), case("tiny-opt"), case("tiny-t5")]
    with Pool() as pool, ThreadPoolExecutor(8) as crew:

        def work(number: int) -> str:
            with pool.borrow(cases[number % 4]) as loaded:
                loaded.step()
                return loaded.case.model

        assert set(crew.map(work, range(32))) == {"tiny-bert", "tiny-vit", "tiny-opt", "tiny-t5"}
        assert pool.state().loads == 4
