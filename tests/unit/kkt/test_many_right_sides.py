"""Sixteen right-hand sides in one sweep give what sixteen sweeps give, with wide and narrow edges."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.compiled.jit import entry, kernel
from haugmbd.formulations.newton_euler import factorize
from haugmbd.kkt.block_ldl import backward, forward
from haugmbd.kkt.block_solver import factor_of, steps_of
from haugmbd.kkt.many_right_sides import LANES, solve_many
from haugmbd.model.evaluate import prepare
from joints import RJ, SJ, Distance, Gear

ROUNDING = 1e-12
"""Of sums in another order, relative to the largest value; 1e-14 is seen."""


@kernel
def copy_lane(X, k, x, out):
    """Copy column k of X to x, or back."""
    for i in range(x.shape[0]):
        for a in range(6):
            if out:
                x[i, a] = X[i, a, k]
            else:
                X[i, a, k] = x[i, a]


@entry
def one_by_one(P, X, x):
    """Solve for each column of X (nn, 6, LANES) by itself, in x (nn, 6)."""
    s, f = steps_of(P), factor_of(P)
    for k in range(X.shape[2]):
        copy_lane(X, k, x, True)
        forward(s, f, x, False)
        backward(s, f, x, False)
        copy_lane(X, k, x, False)


@entry
def together(P, X):
    """Solve for all columns at once."""
    solve_many(steps_of(P), factor_of(P), X)


@entry
def factored(P, t, y):
    """Factor the matrix at a state."""
    code = prepare(P, t, y)
    return factorize(P) if code == 0 else code


def train(n):
    """Wheels in a row, each geared to the next, that carry balls on rods; a single one carries its ball in a joint."""
    system = mbd.System("train", gravity=(0, 0, -9.81))
    before = None
    for k in range(n):
        wheel = system.add(mbd.Body(f"wheel {k}", 1.0 + k, (0.1, 0.1, 0.2), r=(k, 0, 0)))
        axle = system.add(RJ(f"axle {k}", system.ground, wheel, point=(k, 0, 0), axis=(0.1, 0.2, 1.0)))
        if before is not None:
            system.add(Gear(f"gear {k}", before, axle, ratio=-1.0 - 0.1 * k))
        ball = system.add(mbd.Body(f"ball {k}", 1.0, (0.1, 0.2, 0.2), r=(k, 1, 0)))
        if n > 1:
            system.add(Distance(f"rod {k}", wheel, ball, point_i=(k, 0.3, 0), point_j=(k, 1, 0)))
        if k % 2 or n == 1:
            system.add(SJ(f"ball joint {k}", ball, wheel, point=(k, 0.5, 0.2)))
        before = axle
    return system


@pytest.mark.parametrize("n", [1, 2, 5])
def test_many_right_hand_sides_are_solved_as_one(n):
    model = train(n).compile(solver="block LDL^T")
    assert bool(len(model.tables["NARROW_EDGES"])) == (n > 1)
    P, y = model.pack(), model.state().y
    assert factored(P, 0.0, y.copy()) == 0
    nodes = model.nb + 1 + len(model.tables["EDGES"])
    X = np.random.default_rng(n).normal(size=(nodes, 6, LANES))
    one, all_at_once = X.copy(), X.copy()
    one_by_one(P, one, np.empty((nodes, 6)))
    together(P, all_at_once)
    eliminated = model.tables["ORDER"][:, 0]
    gap = np.abs(one - all_at_once)[eliminated]
    assert gap.max() < ROUNDING * np.abs(one[eliminated]).max()
