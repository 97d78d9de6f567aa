"""Numbers near the ends of what a float can hold are refused with a unit to check, or used: no error of linear algebra comes out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ, UJ, Distance, Fixed, Planar, PointOnLine

EXTREME = (1e308, -1e308, 1e51, 1e49, -1e20, 1e-90, -1e-200, 1e-320, 0.0)
SHARE = 0.04
"""Part of all numbers that is extreme: about one in a model."""

ASK = {
    "compile": lambda system: system.compile(),
    "assemble": mbd.assemble,
    "mobility": lambda system: str(mbd.mobility(system)),
    "simulate": lambda system: mbd.simulate(system, 0.02, h=0.01).energy(),
}


def random_system(seed: int) -> mbd.System:
    """Two bodies, a joint of some kind and a load, of numbers about one, of which a few are extreme."""
    rng = np.random.default_rng(seed)

    def number() -> float:
        return float(rng.choice(EXTREME)) if rng.random() < SHARE else float(rng.normal())

    def three() -> tuple[float, ...]:
        return number(), number(), number()

    system = mbd.System("extreme", gravity=three())
    a = system.add(mbd.Body("a", abs(number()), np.abs(three()) + 2.0, r=three(), v=three()))
    b = system.add(mbd.Body("b", 1.0, (1.0, 1.0, 1.0), r=three()))
    P, axis, ground = three(), three(), system.ground
    kinds = (
        lambda: RJ("joint", ground, a, point=P, axis=axis),
        lambda: SJ("joint", ground, a, point=P),
        lambda: UJ("joint", a, b, point=P, axis_i=(0, 0, 1), axis_j=(axis[0], axis[1], 0.0)),
        lambda: Distance("joint", a, b, point_i=P, point_j=three()),
        lambda: TJ("joint", ground, a, point=P, axis=axis),
        lambda: CJ("joint", ground, b, point=P, axis=axis),
        lambda: Fixed("joint", a, b, point=P),
        lambda: Planar("joint", a, b, point=P, normal=axis),
        lambda: PointOnLine("joint", a, b, point=P, axis=axis),
    )
    system.add(kinds[seed % len(kinds)]())
    loads = (
        lambda: mbd.TSDA("load", a, b, point_i=three(), point_j=three(), k=abs(number()), c=abs(number()), l0=abs(number())),
        lambda: mbd.PointForce("load", a, point=three(), force=three()),
        lambda: mbd.Bushing("load", a, b, point=three(), K=np.abs((*three(), *three())), C=np.abs((*three(), *three()))),
    )
    system.add(loads[seed % len(loads)]())
    return system


@pytest.mark.slow
@pytest.mark.parametrize("ask", ASK.values(), ids=ASK)
def test_extreme_numbers_give_an_answer_or_one_of_our_errors(ask):
    refused = 0
    for seed in range(36):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                ask(random_system(seed))
            except mbd.HaugmbdError:
                refused += 1
    assert refused < 36


@pytest.mark.parametrize("number", [1e308, -1e60, np.float64(2e50)])
def test_a_number_beyond_all_mechanisms_is_a_fault_with_its_unit(number):
    system = mbd.System("large")
    crank = system.add(mbd.Body("crank", abs(float(number)), (1.0, 1.0, 1.0), r=(0.0, number, 0.0)))
    mass, place = (str(fault) for fault in system.faults())
    for text, unit in ((mass, "kg"), (place, "m")):
        assert "body 'crank'" in text
        assert f"beyond 1e+50 {unit}" in text
        assert "Check the unit" in text
    far = mbd.System("far")
    rod = far.add(mbd.Body("rod", 1.0, (1.0, 1.0, 1.0)))
    far.add(SJ.from_vectors("pin", far.ground, (number, 0.0, 0.0), rod, (number, 0.0, 0.0)))
    (fault,) = far.faults()
    assert "joint 'pin'" in str(fault)
    assert "Check the unit" in str(fault)
    (inertia,) = mbd.Body("crank", 1.0, (1.0, 1e308, 1.0)).faults()
    assert "J_bar" in inertia.what
    assert crank.faults() == ()
