"""The choice of the solver: by the predicted times of all; fronts are planned only where they could be the faster ones."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import andrews, four_bar, net, scissor_lift, slider_crank, windows
from haugmbd.kkt import registry
from haugmbd.kkt.elimination_order import ABSOLUTE, EdgeRows, make_schedule
from haugmbd.kkt.registry import choose_solver
from haugmbd.kkt.solver import BLOCK, MULTIFRONTAL, TREE, TREES_ON_BLOCKS
from joints import RJ, SJ, UJ, Gear


@pytest.mark.parametrize("n", range(3, 8))
def test_nets_take_fronts(n):
    """Blocks of 6 x 6 take 1.3 times as long for nine balls, and twelve times for 144."""
    assert net(n).compile().solver == MULTIFRONTAL


@pytest.mark.parametrize("make", [four_bar, slider_crank, andrews, lambda: scissor_lift(8), lambda: windows(10)])
def test_loops_take_blocks_and_plan_no_fronts(make, monkeypatch):
    """Planning loads kernels that a model without meshes does not need."""

    def refuse(*_):
        raise AssertionError("fronts were planned")

    registry._chosen.cache_clear()
    monkeypatch.setattr(registry, "plan_fronts", refuse)
    assert make().compile().solver == BLOCK


@pytest.mark.parametrize("n", [2, 5, 20])
def test_gear_trains_take_the_recursion(n):
    """It takes a third of the time of blocks for twenty gears, and three quarters for two."""
    system, before = mbd.System("train"), None
    for k in range(n):
        wheel = system.add(mbd.Body(f"wheel {k}", 1.0, (0.1, 0.1, 0.2), r=(k, 0, 0)))
        pin = system.add(RJ(f"pin {k}", system.ground, wheel, point=(k, 0, 0), axis=(0, 0, 1)))
        if before is not None:
            system.add(Gear(f"mesh {k}", before, pin, ratio=-1.0))
        before = pin
    assert system.compile().solver == TREE


@pytest.mark.parametrize(("n", "solver"), [(1, BLOCK), (10, TREES_ON_BLOCKS)])
def test_a_loop_with_a_tail(n, solver):
    """A long tail is solved by the recursion, and the loop by blocks."""
    system = mbd.System("loop with a tail")
    pins = np.array([(0, 0, 0), (0, 0.1, 1), (2, 0, 1.6), (3, 0.2, 0)])
    bars = [system.add(mbd.Body(f"bar {k}", 1.0, (0.1, 0.2, 0.15), r=0.5 * (pins[k] + pins[k + 1]))) for k in range(3)]
    system.add(RJ("pin 0", system.ground, bars[0], point=pins[0], axis=(0, 1, 0)))
    system.add(SJ("pin 1", bars[0], bars[1], point=pins[1]))
    system.add(UJ("pin 2", bars[1], bars[2], point=pins[2], axis_i=(1, 0, 0), axis_j=(0, 1, 0)))
    system.add(RJ("pin 3", bars[2], system.ground, point=pins[3], axis=(0, 1, 0)))
    body, at = bars[1], np.array([1.0, 0.0, 1.3])
    for k in range(n):
        link = system.add(mbd.Body(f"link {k}", 1.0, (0.1, 0.2, 0.15), r=at - (0, 0, 0.25)))
        system.add(RJ(f"tail {k}", body, link, point=at, axis=(0.1 * (k % 3), 1, 0.2)))
        body, at = link, at + (0.1, 0, -0.5)
    assert system.compile().solver == solver


def test_an_order_is_continued_only_while_it_is_the_faster_one():
    """`beyond` is asked once, where the first bound is exceeded; the order that results is the same."""
    rng = np.random.default_rng(0)
    pairs = sorted({tuple(sorted(map(int, rng.choice(13, 2, replace=False)))) for _ in range(40)})
    rows, asked = EdgeRows([1] * len(pairs), [ABSOLUTE] * len(pairs)), []

    def more(bound):
        return lambda: (asked.append(bound), bound)[1]

    whole = make_schedule(12, pairs, rows=rows)
    assert make_schedule(12, pairs, rows=rows, most_updates=0.5 * whole.updates, beyond=more(0.9 * whole.updates)) is None
    found = make_schedule(12, pairs, rows=rows, most_updates=0.5 * whole.updates, beyond=more(whole.updates))
    assert found is not None
    assert np.array_equal(found.order, whole.order)
    assert make_schedule(12, pairs, rows=rows, most_updates=whole.updates, beyond=more(0.0)) is not None
    assert len(asked) == 2


def test_the_reason_names_both_predicted_times():
    """Of blocks, and of fronts."""
    chosen = choose_solver(np.random.default_rng(0).normal(size=(65, 3)), *_grid(8))
    assert chosen.name == MULTIFRONTAL
    assert "blocks at least" in chosen.reason


def _grid(n):
    """Edges of one row between the bodies of a square grid."""
    number = np.arange(1, n * n + 1).reshape(n, n)
    pairs = [
        *zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True),
        *zip(number[:-1].ravel(), number[1:].ravel(), strict=True),
    ]
    edges = [(int(i), int(j)) for i, j in pairs]
    return edges, EdgeRows([1] * len(edges), [ABSOLUTE] * len(edges))
