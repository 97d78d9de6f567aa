"""No integrator is without a test of its order on the heavy top, the double pendulum and closed loops: one that is forgotten fails here."""

from __future__ import annotations

from tests.integrators import test_explicit, test_implicit_order, test_scipy, test_symplectic
from tests.integrators.implicit import classes_below

MECHANISMS = {"double pendulum", "heavy top", "slider-crank"}


def test_every_integrator_is_put_to_a_test_of_its_order():
    explicit = set(test_explicit.METHODS.values())
    implicit = {type(method) for _, method in test_implicit_order.FIXED.values()} | {
        kind for kind, _ in test_implicit_order.ADAPTIVE
    }
    others = {kind for _, kind, _ in test_symplectic.METHODS.values()} | {test_scipy.SciPySolver}
    assert explicit | implicit | others == classes_below()


def test_on_every_mechanism():
    for cases in (test_explicit.SEEN, test_implicit_order.CASES, test_symplectic.CASES, *(c for _, c in test_scipy.SEEN.values())):
        assert cases.keys() >= MECHANISMS
    for cases in (test_explicit.SEEN, test_implicit_order.CASES, test_symplectic.CASES):
        assert len(cases.keys() - MECHANISMS) == 1  # a planar loop
    for cases in test_explicit.SEEN.values():
        assert cases.keys() >= {kind.order for kind in test_explicit.METHODS.values()}
