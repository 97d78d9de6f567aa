import numpy as np
import pytest

import haugmbd as mbd
from joints import SJ
from tests.support.designs import differences, four_bar, worst

EXACT = 1e-8
OUTPUTS = ["body.bob.r[0]", "body.bob.omega[2]"]


def swinging(L, k):
    """Return a body on a ball joint with a spring, that turns about all axes."""
    system = mbd.System("swinging", gravity=(0, -9.81, 1.0))
    bob = system.add(mbd.Body("bob", 1.2, (0.05, 0.07, 0.06), r=(L, 0, 0.1)))
    system.add(SJ("pin", system.ground, bob, point=(0, 0, 0)))
    system.add(mbd.TSDA("spring", system.ground, bob, point_i=(1, 1, 0), point_j=(L, 0, 0.1), k=10 * k, c=0.1, l0=0.5))
    return system


METHODS = {
    "RKMK4": {"integrator": mbd.RKMK4(h=1e-2)},
    "CrouchGrossman3": {"integrator": mbd.CrouchGrossman3(h=1e-2)},
    "HEM4": {"integrator": mbd.HEM4(h=1e-2)},
    "HEM4 without projection": {"integrator": mbd.HEM4(h=1e-2), "stabilization": None},
    "SemiImplicitEuler": {"integrator": mbd.SemiImplicitEuler(h=5e-3)},
    "Baumgarte": {"h": 1e-2, "stabilization": mbd.Baumgarte(5.0, 5.0)},
    "scaled Baumgarte": {"h": 1e-2, "stabilization": mbd.Baumgarte.scaled(0.1, 0.1)},
    "adaptive Baumgarte": {"integrator": mbd.DormandPrince(rtol=1e-11, atol=1e-12), "stabilization": mbd.Baumgarte(5.0, 5.0)},
    "no stabilization": {"h": 1e-2, "stabilization": None},
    "NullSpace": {"h": 1e-2, "formulation": mbd.NullSpace()},
    "RangeSpace": {"h": 1e-2, "formulation": mbd.RangeSpace()},
    "UdwadiaKalaba": {"h": 1e-2, "formulation": mbd.UdwadiaKalaba()},
    "EulerParameters": {"h": 1e-2, "formulation": mbd.EulerParameters()},
    "CoordinatePartitioning": {"h": 1e-2, "formulation": mbd.CoordinatePartitioning()},
    "HHT": {"integrator": mbd.HHT(h=1e-2)},
    "GeneralizedAlpha": {"integrator": mbd.GeneralizedAlpha(h=1e-2)},
    "GGL": {"integrator": mbd.GeneralizedAlpha(h=1e-2, constraint_form=mbd.GGL())},
    "Trapezoidal": {"integrator": mbd.Trapezoidal(h=1e-2)},
    "Newmark": {"integrator": mbd.Newmark(h=1e-2)},
    "RATTLE": {"integrator": mbd.RATTLE(h=1e-2)},
    "RadauIIA": {"integrator": mbd.RadauIIA(h=2e-2)},
    "adaptive RadauIIA": {"integrator": mbd.RadauIIA(rtol=1e-10, atol=1e-11)},
}


def at_end(arguments, build=swinging, outputs=("bob", 0.1)):
    name, t_end = outputs

    def f(**p):
        result = mbd.simulate(build(**p), t_end, **arguments)
        return np.array([result[name].r[-1, 0], result[name].omega[-1, 2]])

    return f


@pytest.mark.slow
@pytest.mark.parametrize("arguments", METHODS.values(), ids=METHODS)
def test_it_is_the_derivative_of_the_discrete_solution_of_every_method(arguments):
    p = {"L": 0.5, "k": 1.5}
    S = mbd.sensitivity(swinging, p, OUTPUTS, t_end=0.1, **arguments)
    assert worst(S.jacobian, differences(at_end(arguments), p)) < EXACT


@pytest.mark.slow
@pytest.mark.parametrize("method", [mbd.HHT(h=1e-2), mbd.RadauIIA(h=2e-2), mbd.RATTLE(h=1e-2)], ids=lambda x: type(x).__name__)
def test_implicit_methods_close_loops_with_redundant_rows(method):
    p, outputs = {"l2": 1.1, "m": 1.0}, ["body.rocker.r[0]", "body.rocker.omega[2]"]
    S = mbd.sensitivity(four_bar, p, outputs, t_end=0.06, integrator=method)
    f = at_end({"integrator": method}, four_bar, ("rocker", 0.06))
    assert worst(S.jacobian, differences(f, p)) < EXACT


REFUSED = {
    "BDF": ({"integrator": mbd.BDF(h=1e-2)}, "BDF.*those before it"),
    "Penalty": ({"h": 1e-2, "formulation": mbd.Penalty()}, "Penalty"),
    "EnergyProjection": ({"h": 1e-2, "stabilization": mbd.EnergyProjection()}, "EnergyProjection"),
    "times": ({"integrator": mbd.HHT(h=1e-2), "t_eval": [0.015, 0.1]}, "between its steps"),
}


@pytest.mark.parametrize(("arguments", "words"), REFUSED.values(), ids=REFUSED)
def test_methods_whose_tangents_are_not_known_are_refused_by_name(arguments, words):
    with pytest.raises(mbd.UsageError, match=words):
        mbd.sensitivity(swinging, {"L": 0.5, "k": 1.5}, OUTPUTS[:1], t_end=0.1, **arguments)
