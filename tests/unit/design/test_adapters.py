"""The adapters of the page on design, for optimizers that are installed: each finds what a closed form says."""

import numpy as np
import pytest
from scipy.optimize import minimize

import haugmbd as mbd
from tests.unit.design.test_design import spring

P = mbd.Parameters(k=mbd.Parameter(6.0, lower=2.0, upper=20.0))
WANTED = 0.8


def fun_and_grad(x):
    """Return the square of x(1/2) - 0.8 of a mass on a spring, and its gradient."""
    g = mbd.gradient(spring, P.at(x), lambda z: (z[0] - WANTED) ** 2, outputs=["body.body.r[0]"], t_end=0.5, h=1e-2)
    return g.value, g.gradient


def place(k):
    """Return x(1/2) = 0.6 + 0.4 cos(w / 2)."""
    return 0.6 + 0.4 * np.cos(0.5 * np.sqrt(k / 2.0))


def scipy(x0):
    return minimize(fun_and_grad, x0, jac=True, bounds=[(2.0, 20.0)], method="L-BFGS-B", options={"ftol": 1e-14}).x


def cyipopt(x0):
    return pytest.importorskip("cyipopt").minimize_ipopt(fun_and_grad, x0, jac=True, bounds=[(2.0, 20.0)]).x


def optuna(x0):
    study = pytest.importorskip("optuna").create_study()
    study.optimize(lambda trial: fun_and_grad([trial.suggest_float(name, 2.0, 20.0) for name in P.names])[0], n_trials=60)
    return np.array([study.best_params[name] for name in P.names])


def lmfit(x0):
    module = pytest.importorskip("lmfit")
    start = module.create_params(**dict(zip(P.names, x0, strict=True)))
    found = module.minimize(lambda q: place(q["k"].value) - WANTED, start)
    return np.array([found.params[name].value for name in P.names])


@pytest.mark.slow
@pytest.mark.parametrize("adapter", [scipy, cyipopt, optuna, lmfit], ids=lambda f: f.__name__)
def test_an_optimizer_finds_the_spring_that_brings_the_mass_to_its_place(adapter):
    (k,) = adapter(P.values_array)
    assert abs(place(k) - WANTED) < (1e-2 if adapter is optuna else 1e-5)


def test_the_morris_method_of_salib_ranks_by_the_slopes():
    sample, analyze = (pytest.importorskip(f"SALib.{part}.morris") for part in ("sample", "analyze"))
    problem = {"num_vars": 1, "names": list(P.names), "bounds": [[5.0, 7.0]]}
    X = sample.sample(problem, 4)
    found = analyze.analyze(problem, X, np.array([fun_and_grad(x)[0] for x in X]))
    assert found["mu_star"][0] > 0.0
