"""BLAS and LAPACK on one thread: the limit holds inside the blocks, and the process gets its threads back after the last of them."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event, Thread

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import haugmbd as mbd
from haugmbd.math import blas_threads
from haugmbd.math.blas_threads import one_blas_thread
from haugmbd.simulation.recorded_result import MANY_BODIES
from joints import RJ

TWO = 2
"""Threads that the process has before."""


def threads() -> set[int]:
    return {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    with one_blas_thread():
        pass  # the libraries are loaded
    with threadpool_limits(limits=TWO, user_api="blas"):
        yield


def test_the_limit_holds_in_nested_blocks_and_ends_with_the_outer_one() -> None:
    with one_blas_thread():
        with one_blas_thread():
            assert threads() == {1}
        assert threads() == {1}
    assert threads() == {TWO}


def test_nothing_is_limited_where_nothing_is_asked_for() -> None:
    with one_blas_thread(False):
        assert threads() == {TWO}


def test_an_error_gives_the_threads_back() -> None:
    with pytest.raises(ValueError, match="inside"), one_blas_thread():
        raise ValueError("inside")
    assert threads() == {TWO}


def test_blocks_of_two_threads_overlap() -> None:
    """The one that began first ends first, and gives the threads back; the other one leaves them as they are."""
    begun, first_ended, seen = Event(), Event(), list[set[int]]()

    def second() -> None:
        with one_blas_thread():
            seen.append(threads())
            begun.set()
            first_ended.wait()
            seen.append(threads())

    beside = Thread(target=second)
    with one_blas_thread():
        beside.start()
        begun.wait()
    first_ended.set()
    beside.join()
    assert seen == [{1}, {TWO}]
    assert threads() == {TWO}


def test_without_threadpoolctl_nothing_is_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blas_threads, "_libraries", lambda: None)
    with one_blas_thread():
        assert threads() == {TWO}
    assert threads() == {TWO}


def chain(n: int) -> mbd.System:
    """Links that hang down, and slide nowhere."""
    system = mbd.System("chain", gravity=(0, 0, -9.81))
    before = system.ground
    for k in range(n):
        body = system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.1, 0.02), r=(0, 0, -0.5 - k)))
        system.add(RJ(f"pin {k}", before, body, point=(0, 0, -k), axis=(0, 1, 0)))
        before = body
    return system


class Spy(mbd.NullSpace):
    """It notes how many threads BLAS has when it solves."""

    seen: set[int]

    def solve(self, kkt):  # type: ignore[no-untyped-def]
        type(self).seen = threads()
        return super().solve(kkt)


@pytest.mark.parametrize(("bodies", "inside"), [(1, TWO), (MANY_BODIES, 1)])
def test_runs_of_dense_formulations_limit_threads_where_matrices_are_large(bodies: int, inside: int) -> None:
    mbd.simulate(chain(bodies), t_end=0.001, h=0.001, formulation=Spy())
    assert Spy.seen == {inside}
    assert threads() == {TWO}


def test_analyses_limit_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, eigh = list[set[int]](), np.linalg.eigh

    def spy(*arguments):  # type: ignore[no-untyped-def]
        seen.append(threads())
        return eigh(*arguments)

    model = chain(2).compile()
    monkeypatch.setattr(np.linalg, "eigh", spy)
    mbd.linearize(mbd.equilibrium(model))
    assert seen
    assert set().union(*seen) == {1}
    assert threads() == {TWO}
