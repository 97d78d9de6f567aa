"""Methods: labels, legal and refused combinations, steps and tolerances."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import heavy_top, pendulum
from haugmbd.integrators import Unstabilized
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators
from haugmbd.study.method_text import method_from


def test_a_label_names_the_parts_and_what_differs_from_their_defaults():
    for method, label in (
        (mbd.Method(), "DormandPrince, Projection"),
        (mbd.Method(integrator=mbd.RK4(h=1e-3)), "RK4(h=0.001), Projection"),
        (mbd.Method(integrator=mbd.RK4(), stabilization=mbd.Baumgarte(5, 5)), "RK4, Baumgarte(alpha=5, beta=5)"),
        (mbd.Method(integrator=mbd.RK4(), stabilization=None), "RK4, no stabilization"),
        (mbd.Method(integrator=mbd.RadauIIA(h=0.01)), "RadauIIA(h=0.01)"),
        (mbd.Method(integrator=mbd.BDF(constraint_form=mbd.Index2())), "BDF(constraint_form=Index2)"),
        (
            mbd.Method(formulation=mbd.NullSpace(by=mbd.SVD()), integrator=mbd.RK4()),
            "NullSpace(by=SVD), RK4, Projection",
        ),
        (
            mbd.Method(integrator=mbd.RK4(), stabilization=mbd.Baumgarte.scaled(0.1, 0.2)),
            "RK4, Baumgarte.scaled(alpha_h=0.1, beta_h=0.2)",
        ),
        (mbd.Method(integrator=mbd.SciPySolver(method="LSODA")), "SciPySolver(method='LSODA'), no stabilization"),
        (mbd.Method(integrator=mbd.RK4(), label="mine"), "mine"),
    ):
        assert str(method) == method.label == label


@pytest.mark.slow
def test_methods_are_all_combinations_and_the_refused_ones_say_why():
    formulations = (mbd.NewtonEuler(), mbd.NullSpace(), mbd.Penalty())
    rules = (None, mbd.Projection(), mbd.Baumgarte(1.0, 2.0))
    found = mbd.methods(formulations=formulations, integrators="all", stabilizations=rules)
    assert len(found.legal) + len(found.refused) == len(formulations) * len(integrators()) * len(rules)
    assert len(found) == len(found.legal) == len(list(found))
    for method in found:
        assert not incompatibility(method.formulation, method.integrator, method.stabilization or STABILIZATIONS["None"])
    for one in found.refused:
        assert incompatibility(one.formulation, one.integrator, one.stabilization or STABILIZATIONS["None"]) in one.reason
        with pytest.raises(mbd.UsageError) as raised:
            mbd.Method(
                formulation=one.formulation, integrator=one.integrator, stabilization=one.stabilization or STABILIZATIONS["None"]
            )
        assert str(raised.value) == one.reason
    assert "refused:" in repr(found)


def test_sets_of_methods_are_joined_each_once():
    rk4 = [mbd.RK4()]
    every = mbd.methods(formulations="all", integrators=rk4) + mbd.methods(integrators="all")
    every += mbd.methods(integrators=rk4, stabilizations="all")
    assert {type(m.formulation) for m in every} == set(FORMULATIONS)
    assert {type(m.integrator) for m in every} == {type(one) for one in integrators().values()}
    assert {type(m.stabilization) for m in every} >= {type(one) for one in STABILIZATIONS.values()} - {Unstabilized}
    assert len(every + every) == len(every) == len({m.label for m in every})


def test_a_method_runs_as_simulate_does():
    system, method = (
        pendulum(),
        mbd.Method(formulation=mbd.RangeSpace(), integrator=mbd.RK4(h=0.01), stabilization=mbd.Baumgarte(5, 5)),
    )
    own = method.run(system, 0.1, store_every=5)
    parts = {"formulation": method.formulation, "integrator": method.integrator, "stabilization": method.stabilization}
    same = mbd.simulate(system, 0.1, store_every=5, **parts)
    assert np.array_equal(own.y, same.y)
    assert own.settings == same.settings
    implicit = pickle.loads(pickle.dumps(mbd.Method(integrator=mbd.RATTLE(h=1e-3))))
    assert implicit.run(heavy_top(), 5e-3).counters.steps == 5


def test_steps_and_tolerances_are_completed_and_changed():
    rk4, bdf, radau, dopri = (mbd.Method(integrator=kind()) for kind in (mbd.RK4, mbd.BDF, mbd.RadauIIA, mbd.DormandPrince))
    assert rk4.completed(h=0.1, rtol=1e-3).integrator == mbd.RK4(h=0.1)
    assert rk4.completed(rtol=1e-3) is rk4
    assert mbd.Method(integrator=mbd.RK4(h=0.2)).completed(h=0.1).integrator.h == 0.2
    assert dopri.completed(h=0.1, rtol=1e-3).integrator.rtol == 1e-3
    assert mbd.Method(integrator=mbd.DormandPrince(rtol=1e-5)).completed(rtol=1e-3, atol=1e-4).integrator.tolerances == (1e-5, 1e-4)
    for method in (bdf, radau):
        assert method.completed(h=0.1).integrator.step == 0.1
        both = method.completed(h=0.1, rtol=1e-3).integrator
        assert both.adaptive == method.integrator.adaptive_by_default
        assert method.completed(h=0.1).with_tolerances(1e-4).integrator.adaptive
        assert method.completed(rtol=1e-4).with_step(0.1).integrator.step == 0.1
    assert rk4.with_step(0.1).label == "RK4(h=0.1), Projection"
    assert mbd.Method(integrator=mbd.RK4(), label="mine").with_step(0.1).label == "mine"
    with pytest.raises(mbd.UsageError, match="chooses its own steps"):
        dopri.with_step(0.1)
    with pytest.raises(mbd.UsageError, match="no error control"):
        rk4.with_tolerances(1e-3)


def test_what_is_no_object_is_refused():
    with pytest.raises(mbd.UsageError, match="integrator = 'RK4' must be an object"):
        mbd.Method(integrator="RK4")
    with pytest.raises(mbd.UsageError, match="stabilization = <class"):
        mbd.Method(stabilization=mbd.Projection)
    with pytest.raises(mbd.UsageError, match="formulation = None must be an object"):
        mbd.Method(formulation=None)
    with pytest.raises(mbd.UsageError, match="label = 3 must be a string"):
        mbd.Method(label=3)
    with pytest.raises(mbd.UsageError, match='must be a list of objects, or "all"'):
        mbd.methods(formulations=mbd.NullSpace())
    with pytest.raises(mbd.UsageError, match="integrators is empty"):
        mbd.methods(integrators=[])
    with pytest.raises(mbd.UsageError, match="integrator = 'RK4' must be an object"):
        mbd.methods(integrators=["RK4"])


@pytest.mark.parametrize("text", ["rk4", "rk-4", "rk_4", "Rk4", "RK 4"])
def test_a_text_or_a_class_in_place_of_an_object_is_understood(text):
    system = mbd.System("empty")
    for call in (
        lambda: mbd.simulate(system, 0.1, h=1e-2, integrator=text),
        lambda: mbd.Method(integrator=text),
        lambda: method_from(text),
    ):
        with pytest.raises(mbd.UsageError, match="did you mean .?RK4"):
            call()
    with pytest.raises(mbd.UsageError, match=r"write RK4\(\)"):
        mbd.simulate(system, 0.1, h=1e-2, integrator=mbd.RK4)
    for keyword, given in (("formulation", "newton-euler"), ("stabilization", "baumgarte")):
        with pytest.raises(mbd.UsageError, match="did you mean"):
            mbd.Method(**{keyword: given})


@pytest.mark.parametrize("given", ["rk-4", "RK4", "rk4", mbd.RK4, mbd.RK4()])
@pytest.mark.parametrize(
    ("function", "options"),
    [(mbd.compare, {}), (mbd.convergence, {"h": [0.1, 0.05]}), (mbd.work_precision, {"rtol": [1e-3, 1e-6]})],
)
def test_what_is_given_in_place_of_a_method_is_told_how_to_write(function, options, given):
    with pytest.raises(mbd.UsageError, match=r"is not a Method: give mbd\.Method\(integrator=.*RK4\("):
        function(pendulum(), [given], t_end=1.0, **options)
