"""Which formulation, integrator and stabilization go together: legal triples run, others say what would; the table is the code's."""

from __future__ import annotations

import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import double_pendulum, heavy_top
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators, table
from tests.support.with_contacts import simulate_with

METHODS = integrators()
FEW = {name: METHODS[name] for name in ("RK4", "DOP853", "SciPySolver Radau, BDF, LSODA", "GeneralizedAlpha", "BDF", "HEM4")}


def run(method, rule, formulation=None):
    """Four steps, or an adaptive run as short; RATTLE needs inertia about all axes, which rods do not have."""
    make = heavy_top if isinstance(method, mbd.RATTLE) else double_pendulum
    numbers = {"h": 1e-3} if method.takes_step else {"rtol": 1e-6, "atol": 1e-6}
    asked = {} if formulation is None else {"formulation": formulation}
    given = None if rule is STABILIZATIONS["None"] else rule
    return mbd.simulate(make(), 0.004, integrator=method, stabilization=given, **asked, **numbers)


def test_a_method_of_ones_own_does_not_take_the_place_of_its_base():
    class Mine(mbd.RK4):
        pass

    assert issubclass(Mine, mbd.RK4)
    assert integrators().keys() == METHODS.keys()
    assert "RK4" in METHODS


def test_every_stabilization_is_in_the_table():
    def below(kind):
        return {kind} | {k for sub in kind.__subclasses__() for k in below(sub)}

    own = {kind for kind in below(Stabilization) if kind.__module__.startswith("haugmbd.")} - {Stabilization}
    assert {type(rule) for rule in STABILIZATIONS.values()} == own


@pytest.mark.slow
@pytest.mark.parametrize("rule", STABILIZATIONS.values(), ids=STABILIZATIONS)
@pytest.mark.parametrize("method", METHODS.values(), ids=METHODS)
def test_legal_pairs_run_and_others_are_refused(method, rule):
    told = method if method.takes_step else method.with_arguments(None, 1e-6, 1e-6)
    wrong = incompatibility(mbd.NewtonEuler(), told, rule)
    if not wrong:
        assert run(method, rule).t[-1] == 0.004
        return
    with pytest.raises(mbd.UsageError) as caught:
        run(method, rule)
    assert str(caught.value).startswith(wrong)
    assert "goes with" in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize("kind", FORMULATIONS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", FEW)
def test_formulations(kind, name):
    for rule in STABILIZATIONS.values():
        wrong = incompatibility(kind(), FEW[name], rule)
        if wrong:
            with pytest.raises(mbd.UsageError, match="NewtonEuler|goes with"):
                run(FEW[name], rule, kind())
    own = FEW[name].solves_constraints or FEW[name].keeps_factor
    assert (incompatibility(kind(), FEW[name], STABILIZATIONS["None"]) == "") == (kind is mbd.NewtonEuler or not own)


def test_the_sentence_says_what_works():
    with pytest.raises(
        mbd.UsageError, match=r"cannot be corrected .* goes with stabilization None, Baumgarte; Projection goes with .*RK4"
    ):
        run(mbd.SciPySolver(method="BDF"), mbd.Projection())
    with pytest.raises(
        mbd.UsageError, match=r"depends on the step, and the step of DOP853 is not fixed.*ScaledBaumgarte goes with .*RK4"
    ):
        run(mbd.DOP853(), mbd.Baumgarte.scaled(0.1, 0.1))
    with pytest.raises(mbd.UsageError, match=r"needs the block LDL\^T .* RK4 goes with stabilization None.*\(with NullSpace\)"):
        run(mbd.RK4(), mbd.UnweightedProjection(), mbd.NullSpace())


def test_feedback_is_not_ignored():
    with pytest.raises(mbd.UsageError, match=r"Baumgarte.* would have no effect.* HEM4 goes with stabilization None, Projection"):
        run(mbd.HEM4(), mbd.Baumgarte(5.0, 5.0))


def test_the_table_has_every_integrator_and_stabilization():
    lines = table()
    assert len(lines) == 2 + len(METHODS)
    assert all(f"`{name}`" in lines[0] for name in STABILIZATIONS)
    assert all(line.count("|") == lines[0].count("|") for line in lines)


def test_impacts_ask_the_same():
    system = mbd.System("bounce", gravity=(0, 0, -9.81))
    ball = system.add(mbd.Body("ball", mass=2.0, J_bar=(0.008, 0.008, 0.008), r=(0, 0, 1.1)))
    floor = mbd.Contact(
        "floor", system.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), radius=0.1, restitution=0.5
    )
    with pytest.raises(mbd.UsageError, match="cannot be corrected between steps"):
        simulate_with(system, 1.0, contacts=[floor], integrator=mbd.SciPySolver(method="LSODA"), rtol=1e-8)
