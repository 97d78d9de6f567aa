"""Functions that compiled code calls by their addresses: an error while addresses are read, such as a Ctrl-C, is the one that is raised."""

from __future__ import annotations

import numba
import pytest

import haugmbd as mbd
from haugmbd.compiled.function_pointers import Routine, function_type, types
from haugmbd.compiled.jit import routine
from haugmbd.gallery import pendulum
from haugmbd.simulation.stepping.run import Run

SIGNATURE = types.int64(types.int64)
pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


class Struck:
    """A function whose address cannot be had, since Ctrl-C arrives there; it counts how often that was tried."""

    def __init__(self):
        self.signature, self.type, self.tried = SIGNATURE, function_type(SIGNATURE), 0

    @property
    def address(self):
        self.tried += 1
        raise KeyboardInterrupt


@numba.extending.typeof_impl.register(Struck)
def _type_of(struck, context):
    return struck.type


@routine
def twice(k):
    return 2 * k


def test_the_first_error_of_a_tuple_is_raised_and_no_further_line_runs():
    @numba.njit
    def number_of(called):
        return len(called)

    first, second = Struck(), Struck()
    with pytest.raises(KeyboardInterrupt):
        number_of((first, second))
    assert (first.tried, second.tried) == (1, 0)


@pytest.mark.slow
def test_an_address_is_an_attribute_once_it_is_known():
    doubled = Routine(twice, SIGNATURE)
    assert "address" not in vars(doubled)
    address = doubled.address
    assert vars(doubled)["address"] == address > 1
    with pytest.raises(AttributeError, match="adress"):
        _ = doubled.adress


def test_ctrl_c_while_a_right_hand_side_is_compiled_ends_the_run_as_an_interruption(monkeypatch):
    begin, struck = Run.run_under, Struck()

    def run_under(run, bar):
        run.problem.rates = struck
        return begin(run, bar)

    monkeypatch.setattr(Run, "run_under", run_under)
    result = mbd.simulate(pendulum(), 0.1, h=0.01, budget=60.0)  # by the loop, as long runs are
    assert result.interrupted
    assert struck.tried == 1
    assert result.t.tolist() == [0.0]
