"""Without stabilization, mechanisms with dependent rows drift alike with all formulations that take them."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.bodies.inertia import rod
from joints import RJ
from tests.support.redundant_loops import GRAVITY, J_BAR, bennett, bricard, loop, planar_points

Z = np.array([0.0, 0.0, 1.0])


def doubled() -> mbd.System:
    """A planar four-bar with a second hinge beside its second one."""
    system = loop(planar_points(), [Z] * 4)
    crank, coupler = system.bodies[1:3]
    system.add(RJ("again", crank, coupler, point=planar_points()[1] + 0.7 * Z, axis=Z))
    return system


MECHANISMS = {"Bennett": bennett, "Bricard": bricard, "doubled": doubled, "4R planar": lambda: loop(planar_points(), [Z] * 4)}
OTHERS = {
    "NewtonEuler": mbd.NewtonEuler(),
    "RangeSpace": mbd.RangeSpace(),
    "NullSpace QR": mbd.NullSpace(mbd.QR()),
    "UdwadiaKalaba": mbd.UdwadiaKalaba(),
}
H, END = 1e-2, 1.0


def drift(model: mbd.Model, formulation: mbd.Formulation, h: float = H, **kwargs: object) -> np.ndarray:
    """Largest |Phi| and largest energy error."""
    result = mbd.simulate(model, END, h=h, formulation=formulation, store_every=20, **{"stabilization": None, **kwargs})
    return np.array([np.abs(result.violation()).max(), np.abs(result.energy().drift).max()])


@pytest.mark.slow
@pytest.mark.parametrize("name", MECHANISMS)
def test_all_formulations_drift_alike(name):
    model = MECHANISMS[name]().compile()
    reference = drift(model, mbd.NullSpace(mbd.SVD()))
    for other, formulation in OTHERS.items():
        assert (drift(model, formulation) <= 5.0 * reference).all(), other


@pytest.mark.slow
@pytest.mark.parametrize("by", [mbd.CoordinatePartitioning(), mbd.EulerParameters()], ids=["partitioning", "Euler parameters"])
def test_the_other_formulations_that_take_independent_rows(by):
    model = bennett().compile()
    assert (drift(model, by) <= 5.0 * drift(model, mbd.NewtonEuler())).all()


@pytest.mark.slow
@pytest.mark.parametrize("theta", [0.3, 0.8, 2.0])
def test_drift_of_bennetts_linkage_falls_with_the_order(theta):
    """Kept rows alone left the dropped ones open by tenfold with each change of rows: 0.0001 to 0.6 m in 5 s, whatever the step."""
    model = bennett(theta).compile()
    coarse, fine = (
        np.abs(mbd.simulate(model, 5.0, h=h, stabilization=None, store_every=50).violation()).max() for h in (2e-3, 1e-3)
    )
    assert coarse < 4e-7
    assert fine < coarse / 8.0


@pytest.mark.slow
@pytest.mark.parametrize("length", [1e-6, 1e3])
def test_the_unit_of_length_does_not_matter(length):
    """Rows of different units are compared by their lengths: in mm, unscaled, a run opened by 0.2 of the size of the linkage."""
    metres, scaled = bennett(), mbd.System("scaled", gravity=tuple(length * np.array(GRAVITY)))
    bodies = [scaled.ground]
    for body in metres.bodies[1:]:
        J_bar = length**2 * np.array(J_BAR)
        bodies.append(scaled.add(mbd.Body(body.name, 1.0, J_bar, r=length * body.r)))
    for k, joint in enumerate(metres.joints):
        frame, body = joint.frame_i, joint.i
        point = length * (body.r + body.A @ frame.s_bar)
        scaled.add(RJ(joint.name, bodies[k], bodies[(k + 1) % 4], point=point, axis=(body.A @ frame.A_bar)[:, 2]))
    wanted, found = (mbd.simulate(s, 3.0, h=5e-3, stabilization=None, store_every=50) for s in (metres, scaled))
    np.testing.assert_allclose(found.r / length, wanted.r, rtol=0.0, atol=1e-7)


@pytest.mark.slow
def test_massless_axes_and_baumgarte():
    """A slender coupler, factored with a little inertia and refined; feedback of all rows."""
    model = bennett().compile()
    assert drift(model, mbd.NewtonEuler(), h=5e-3, stabilization=mbd.Baumgarte(20.0, 20.0))[0] < 1e-7
    points = planar_points()
    system = mbd.System("rods", gravity=(0.3, -9.81, 1.0))
    bodies = [system.ground]
    for k in range(3):
        along = points[k + 1] - points[k]
        mass, J = rod(float(np.linalg.norm(along)), density=1.0, axis=along)
        bodies.append(system.add(mbd.Body(f"link {k}", mass, J, r=(points[k] + points[k + 1]) / 2)))
    for k in range(4):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % 4], point=points[k], axis=Z))
    rods = system.compile()
    assert (drift(rods, mbd.NewtonEuler()) <= 5.0 * drift(rods, mbd.NullSpace(mbd.SVD()))).all()
