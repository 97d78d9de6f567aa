"""Tableaus that a user writes: what cannot be the method that it says is refused where it is written."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

import haugmbd as mbd
from haugmbd.gallery import pendulum
from haugmbd.integrators.explicit.runge_kutta import RungeKutta
from haugmbd.integrators.explicit.tableau import tableau
from haugmbd.integrators.explicit.tableau import tableau as rows


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (((0.0,), (2 / 3, 2 / 3), (0.25, 0.25)), r"the weights b sum to 0.5, and must sum to 1"),
        (((0.0,), (2 / 3, 0.5), (0.25, 0.75)), r"row 2: the weights sum to 0.5, and must sum to c = 0.666667"),
        (((0.0,), (2 / 3,), (0.25, 0.75)), r"row 2 has 1 number, and needs 2: c, and a weight for each stage before"),
        (((0.0,), (2 / 3, 2 / 3, 0.0), (0.25, 0.75)), r"row 2 has 3 numbers, and needs 2"),
        (((0.0,), (2 / 3, 2 / 3), (1.0,)), r"b has 1 number, and needs 2: one for each stage"),
        (((0.0,), (2 / 3, float("nan")), (0.25, 0.75)), r"row 2: \(0.666\d*, nan\) must be finite"),
        (((0.0,), ("2/3", 2 / 3), (0.25, 0.75)), r"row 2: .* must be finite numbers"),
        (((0.1,), (2 / 3, 2 / 3), (0.25, 0.75)), r"row 1: the weights sum to 0, and must sum to c = 0.1"),
        (((1.0,),), r"needs a row for each stage, and the weights b"),
        ((), r"needs a row for each stage, and the weights b"),
    ],
)
def test_rows_that_are_no_tableau_are_refused(given, text):
    with pytest.raises(mbd.UsageError, match=f"tableau.*{text}"):
        tableau(*given)


TWO = ((0.0,), (2 / 3, 2 / 3), (1 / 4, 3 / 4))
THREE = ((0.0,), (1 / 3, 1 / 3), (2 / 3, 0.0, 2 / 3), (1 / 4, 0.0, 3 / 4))


@pytest.mark.parametrize(("given", "claimed", "true"), [(TWO, 3, 2), (TWO, 4, 2), (THREE, 4, 3), (((0.0,), (1.0,)), 2, 1)])
def test_an_order_that_the_tableau_does_not_have_is_refused(given, claimed, true):
    with pytest.raises(mbd.UsageError, match=f"Wrong: order = {claimed}, and its tableau has the order {true}"):

        @dataclass(frozen=True)
        class Wrong(RungeKutta):
            order = claimed
            tableau = rows(*given)


def test_a_right_tableau_of_ones_own_has_its_order():
    @dataclass(frozen=True)
    class Kutta38(RungeKutta):
        order = 4
        tableau = rows((0.0,), (1 / 3, 1 / 3), (2 / 3, -1 / 3, 1.0), (1.0, 1.0, -1.0, 1.0), (1 / 8, 3 / 8, 3 / 8, 1 / 8))

    exact = mbd.simulate(pendulum(), 0.5, rtol=1e-12, atol=1e-14).r[-1]
    errors = [abs(mbd.simulate(pendulum(), 0.5, integrator=Kutta38(h=h)).r[-1] - exact).max() for h in (0.05, 0.025)]
    assert 12.0 < errors[0] / errors[1] < 20.0
