"""Masses over nine, twelve and eighteen orders: no regular system is called singular, and no acceleration is wrong, by any solver.

The reference is an elimination with 60 digits, see `tests.support.stiff_masses`.  True dead centres are refused with any masses, by all
solvers alike.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.kkt.registry import SOLVERS
from joints import CJ, RJ, SJ
from tests.support.seeds import seeds
from tests.support.stiff_masses import error_on_own_scale, exact_accelerations, stiff_system

RIGHT = 1e-9
"""Accelerations relative to each body's own: 1e-10 is seen."""

LOOPS = [name for name in SOLVERS if not name.startswith("tree")]


def models(system: mbd.System) -> dict[str, mbd.Model]:
    """The model compiled for its own solver, and for each one that serves it."""
    found = {"own": system.compile()}
    for name in SOLVERS:
        try:
            found[name] = system.compile(solver=name)
        except mbd.UsageError:
            assert name not in LOOPS
    return found


@pytest.mark.slow
@pytest.mark.parametrize("orders", [9.0, 12.0, 18.0])
@pytest.mark.parametrize("seed", seeds(5))
def test_all_solvers_agree_with_exact_arithmetic(seed, orders):
    """Trees and loops, planar and spatial."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exact = {}
        for name, model in models(stiff_system(seed, orders, most=5)).items():
            kept = model.redundancy.dropped
            exact[kept] = exact[kept] if kept in exact else exact_accelerations(model)
            assert error_on_own_scale(mbd.accelerations(model), exact[kept]) < RIGHT, name


@pytest.mark.slow
@pytest.mark.parametrize(
    "formulation",
    [
        mbd.RangeSpace(),
        mbd.NullSpace(),
        mbd.UdwadiaKalaba(),
        mbd.UdwadiaPhohomsiri(),
        mbd.CoordinatePartitioning(),
        mbd.EulerParameters(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_all_formulations_agree_with_exact_arithmetic(formulation):
    """Formulations that square masses correct their solutions by the residuals."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in range(4):
            model = stiff_system(seed, 9.0, most=4).compile()
            found = mbd.accelerations(model, formulation=formulation)
            assert error_on_own_scale(found, exact_accelerations(model)) < RIGHT, seed


def polar_arm(mass: float, where: int, n: int = 3) -> mbd.System:
    """An arm that turns about a column and slides along itself, with one link of this mass and of inertia in proportion."""
    system, body = mbd.System("polar arm", gravity=(0.3, -9.81, 1.1)), None
    for k in range(n):
        m = mass if k == where else 1.0 + k
        link = system.add(mbd.Body(f"link {k}", m, m * np.array([0.1, 0.2, 0.15]), r=(k + 0.5, 0.1, 0.2)))
        axis, kind = ((0, 0, 1), RJ) if k == 0 else ((1, 0.1, 0), CJ) if k == 1 else ((0.2, 1, 0.1), RJ)
        system.add(kind(f"joint {k}", body or system.ground, link, point=(k, 0, 0), axis=axis))
        body = link
    return system


@pytest.mark.parametrize("where", [0, 1, 2], ids=["at the column", "in the middle", "at the tip"])
@pytest.mark.parametrize("mass", [1e-9, 1e-12])
def test_a_light_link_of_an_arm_is_regular(mass, where):
    """Pivots are measured on each body's own scale."""
    system = polar_arm(mass, where)
    exact = exact_accelerations(system.compile())
    for name, model in models(system).items():
        assert error_on_own_scale(mbd.accelerations(model), exact) < RIGHT, name


def parallelogram(angle: float, masses: tuple[float, float, float], *, redundant: bool) -> mbd.System:
    """Two cranks of 1 m and a coupler of 2 m; flat at the angle 0."""
    system, body = mbd.System("parallelogram", gravity=(0, 0, -9.81)), None
    up = np.array([np.cos(angle), 0.0, np.sin(angle)])
    pins = [np.zeros(3), up, up + (2, 0, 0), np.array([2.0, 0, 0])]
    for k, mass in enumerate(masses):
        along = pins[k + 1] - pins[k]
        turn = -0.5 * np.arctan2(along[2], along[0])
        J_bar = mass * (along @ along) / 12.0 * np.array([0.01, 1.0, 1.0])
        bar = mbd.Body(f"bar {k}", mass, J_bar, r=0.5 * (pins[k] + pins[k + 1]), p=(np.cos(turn), 0, np.sin(turn), 0))
        before, body = body or system.ground, system.add(bar)
        if k and not redundant:
            ball = SJ(f"pin {k}", before, body, point=pins[k])
            system.add(ball if k == 1 else CJ(f"pin {k}", before, body, point=pins[k], axis=(0, 1, 0)))
        else:
            system.add(RJ(f"pin {k}", before, body, point=pins[k], axis=(0, 1, 0)))
    system.add(RJ("pin 3", body, system.ground, point=pins[3], axis=(0, 1, 0)))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("redundant", [True, False])
@pytest.mark.parametrize("masses", [(1, 1, 1), (1, 1e-9, 1), (1e-9, 1, 1), (1, 1, 1e-12), (1e-12, 1, 1e-9)])
def test_a_dead_centre_is_refused_with_any_masses(masses, redundant):
    """The rounding of light bodies hides no pivot that is zero; off the dead centre nothing is refused."""
    for solver in LOOPS:
        model = parallelogram(1.0, masses, redundant=redundant).compile(solver=solver)
        for angle in (0.0, 0.01):
            pose = parallelogram(angle, masses, redundant=redundant)
            y = model.state().y.copy().reshape(-1, 13)
            y[1:, :7] = [np.concatenate([body.r, body.p]) for body in pose.bodies if body.name.startswith("bar")]
            state = type(model.state()).from_y(0.0, y.ravel(), model.nb + 1)
            if angle:
                assert np.isfinite(mbd.accelerations(model, state).v_dot).all()
            else:
                with pytest.raises(mbd.SingularKKTError, match="depend"):
                    mbd.accelerations(model, state)
