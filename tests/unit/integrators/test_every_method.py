"""No integrator is without a test of its order on the heavy top, the double pendulum and closed loops: one that is forgotten fails here."""

from __future__ import annotations

from haugmbd import SciPySolver
from tests.support import explicit_cases, implicit_cases, scipy_cases, symplectic_cases
from tests.support.implicit import classes_below

MECHANISMS = {"double pendulum", "heavy top", "slider-crank"}


def test_every_integrator_is_put_to_a_test_of_its_order():
    explicit = set(explicit_cases.METHODS.values())
    implicit = {type(method) for _, method in implicit_cases.FIXED.values()} | {kind for kind, _ in implicit_cases.ADAPTIVE}
    others = {kind for _, kind, _ in symplectic_cases.METHODS.values()} | {SciPySolver}
    assert explicit | implicit | others == classes_below()


def test_on_every_mechanism():
    for cases in (explicit_cases.SEEN, implicit_cases.CASES, symplectic_cases.CASES, *(c for _, c in scipy_cases.SEEN.values())):
        assert cases.keys() >= MECHANISMS
    for cases in (explicit_cases.SEEN, implicit_cases.CASES, symplectic_cases.CASES):
        assert len(cases.keys() - MECHANISMS) == 1  # a planar loop
    for cases in explicit_cases.SEEN.values():
        assert cases.keys() >= {kind.order for kind in explicit_cases.METHODS.values()}
