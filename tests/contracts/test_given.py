"""Questions about a model take a System as well, and say what to give where they get something else."""

from __future__ import annotations

import re

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.formulations.python_formulation import kkt_system_of
from joints import RJ

QUESTIONS = {
    "accelerations": lambda given: mbd.accelerations(given).lam,
    "evaluate": lambda given: mbd.evaluate(given).gamma,
    "impulse": lambda given: mbd.impulse(given).Lam,
    "ode_function": lambda given: mbd.ode_function(given)(0.0, Y0),
    "reaction": lambda given: mbd.reaction(given, None, "pin").force,
    "motion_subspace": lambda given: mbd.motion_subspace(given, None, "pin"),
    "constraint_wrenches": lambda given: mbd.constraint_wrenches(given, None, "pin"),
}


def swing(J_bar=(0.1, 0.2, 0.3)):
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    rod = system.add(mbd.Body("rod", 2.0, J_bar, r=(1.0, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


Y0 = swing().compile().state().y


@pytest.mark.slow
@pytest.mark.parametrize("ask", QUESTIONS.values(), ids=QUESTIONS)
def test_a_system_is_compiled_and_anything_else_refused_by_name(ask, request):
    np.testing.assert_array_equal(ask(swing()), ask(swing().compile()))
    name = request.node.callspec.id
    for wrong in (None, 3, re, mbd.System, swing().bodies[1]):
        with pytest.raises(mbd.UsageError, match=rf"{name} needs a compiled Model or a System, got .*Give system\.compile\(\)"):
            ask(wrong)


def test_all_formulations_that_need_inertia_refuse_a_massless_axis_in_the_same_words():
    """Asked as a whole, or for a single solution."""
    model, refused = swing(J_bar=(0.0, 0.2, 0.2)).compile(), set()
    for kind in FORMULATIONS:
        if kind.massless:
            continue
        refused.add(kind.__name__)
        for ask in (lambda by: mbd.accelerations(model, formulation=by), lambda by: by.solve(kkt_system_of(by, model))):
            with pytest.raises(mbd.ModelError, match="body 'rod': .* divides by the inertia, and J_bar is zero about an axis"):
                ask(kind())
    assert refused == {"RangeSpace", "UdwadiaKalaba"}


CHAIN = mbd.random_chain(2, seed=3)


@pytest.mark.parametrize(
    "ask",
    [
        mbd.mobility,
        mbd.equilibrium,
        mbd.linearize,
        mbd.assemble,
        mbd.accelerations,
        lambda given: mbd.kinematics(given, [0.0]),
        lambda given: mbd.compare(given, [mbd.Method()], 0.1),
        lambda given: mbd.convergence(given, [mbd.Method(integrator=mbd.RK4())], 0.1, h=[0.1, 0.05]),
        lambda given: mbd.gain_map(given, alpha=[1.0], beta=[1.0], h=0.1, t_end=0.2),
        lambda given: mbd.batch(given, parameters={}),
        mbd.picture,
    ],
)
def test_a_chain_is_refused_with_the_system_that_it_is(ask):
    with pytest.raises(mbd.UsageError, match=r"SerialChain.*to_system\(\)"):
        ask(CHAIN)
