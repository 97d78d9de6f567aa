"""Formulations that a user writes: what `solve` may return, and what it may not change."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import RangeSpace
from haugmbd.formulations.base import KKTSolution
from haugmbd.formulations.python_formulation import PythonFormulation
from haugmbd.gallery import pendulum

NEEDS = r"must return KKTSolution\(u, lam\) with u \(6,\) and lam \(5,\), .*: it returned "


def returning(change):
    """The formulation whose solutions a function changes."""

    @dataclass(frozen=True)
    class Mine(PythonFormulation):
        def solve(self, kkt):
            return change(kkt, RangeSpace().solve(kkt))

    return Mine()


@pytest.mark.parametrize(
    ("change", "text"),
    [
        (lambda kkt, x: (x.u, x.lam), "tuple"),
        (lambda kkt, x: None, "None"),
        (lambda kkt, x: x._replace(u=x.u[:3]), r"u of shape \(3,\)"),
        (lambda kkt, x: x._replace(lam=x.lam[:, None]), r"lam of shape \(5, 1\)"),
        (lambda kkt, x: KKTSolution(x.u, None), "lam that is no array of numbers"),
        (lambda kkt, x: x._replace(u=1j * x.u), "u that is no array of numbers"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda f: mbd.accelerations(pendulum().compile(), formulation=f),
        lambda f: mbd.simulate(pendulum(), 0.02, h=0.01, formulation=f),
        mbd.verify,
    ],
    ids=["accelerations", "simulate", "verify"],
)
def test_what_is_no_solution_is_refused_with_the_name_of_the_formulation(call, change, text):
    expected = NEEDS + text if call is not mbd.verify else rf"formulation Mine: solve must return KKTSolution.*: it returned {text}"
    with pytest.raises(mbd.UsageError, match=expected):
        call(returning(change))


def test_lists_are_arrays():
    found = mbd.accelerations(pendulum().compile(), formulation=returning(lambda kkt, x: KKTSolution(list(x.u), x.lam.tolist())))
    np.testing.assert_allclose(found.v_dot, mbd.accelerations(pendulum().compile()).v_dot, atol=1e-12)


@pytest.mark.parametrize("name", ["M", "Phi_q"])
def test_matrices_that_are_kept_for_other_solutions_cannot_be_changed(name):
    def spoil(kkt, x):
        getattr(kkt, name)[:] *= 2.0
        return x

    with pytest.raises(ValueError, match="read-only"):
        mbd.accelerations(pendulum().compile(), formulation=returning(spoil))


def test_methods_of_ones_own_need_no_reference(tmp_path):
    """A report of a comparison gives the sources of its methods, after all of them have run."""

    @dataclass(frozen=True)
    class Still(mbd.Baumgarte):
        reference = None

    mine = returning(lambda kkt, x: x)
    assert mbd.cite(mine, mbd.RK4(), Still(1.0, 1.0)).lines[1:] == (
        ("Mine", "no reference given"),
        ("RK4", mbd.RK4.reference),
        ("Still", "no reference given"),
    )
    method = mbd.Method(formulation=mine, integrator=mbd.RK4(0.05), label="mine")
    page = mbd.compare(pendulum(), [method], 0.1, repeats=1).report(tmp_path / "mine.html")
    assert "no reference given" in page.read_text(encoding="utf-8")
