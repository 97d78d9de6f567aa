"""Faults act as their fingerprints say, in one model, while their block lasts, and nowhere else."""

from __future__ import annotations

import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.faults.broken_model import BrokenModel
from haugmbd.faults.fingerprint import DIAGNOSTICS, example
from haugmbd.gallery import double_pendulum, four_bar, pendulum, slider_crank

ROUNDING = 1e-12  # of accelerations of size 10, from two ways to the same number


@pytest.fixture(scope="module")
def pair():
    return example()


def u_dot(model, state, formulation=None):
    found = mbd.accelerations(model, state, formulation=formulation)
    return np.hstack([found.v_dot, found.omega_bar_dot])


@pytest.mark.slow
@pytest.mark.parametrize("name", mbd.faults.FAULTS)
def test_the_fingerprint_is_what_a_run_shows(name):
    found = mbd.faults.fingerprint(name)
    assert (found.sees, found.blocks) == mbd.faults.FINGERPRINTS[name]
    for seen in found.diagnostics:
        assert seen.sees == (seen.error > 1e3 * seen.healthy)
        if not seen.sees and seen.name != "acceleration":
            assert 3.0 < seen.order < 5.0  # RK4; accelerations without the fault are exact up to rounding
    assert name in str(found)


def test_the_table_of_the_documentation_is_that_of_the_fingerprints():
    page = (Path(mbd.__file__).parents[1] / "docs" / "faults-and-checks.md").read_text()
    for name, (sees, blocks) in mbd.faults.FINGERPRINTS.items():
        (line,) = (line for line in page.splitlines() if line.startswith(f"| `{name}`"))
        columns = [cell.strip() for cell in line.split("|")[3:-1]]
        assert columns == [*("x" if d in sees else "" for d in DIAGNOSTICS), ", ".join(blocks)]


def test_there_is_a_fingerprint_for_each_fault():
    assert mbd.faults.FINGERPRINTS.keys() == mbd.faults.FAULTS.keys()


@pytest.mark.parametrize("name", mbd.faults.FAULTS)
def test_a_fault_ends_with_its_block_and_after_an_exception(name, pair):
    model, state = pair
    right, tables = u_dot(model, state), (model.tables.ints.copy(), model.tables.reals.copy())
    seen = []

    def use():
        with mbd.faults.FAULTS[name](model) as broken:
            copy = broken.with_redundancy(mbd.MinimumNorm())
            seen.extend([broken, copy, u_dot(broken, state), u_dot(copy, state), u_dot(model, state)])
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        use()
    broken, copy, wrong, wrong_copy, own = seen
    assert np.abs(wrong - right).max() > 1e-2  # 1e-3 of |p|, times accelerations of size 10
    assert np.abs(wrong_copy - right).max() > 1e-2
    assert (own == right).all()  # of the model itself, in the block
    for each in (model, broken, copy):
        assert (u_dot(each, state) == right).all()
    assert (model.tables.ints == tables[0]).all()
    assert (model.tables.reals == tables[1]).all()
    assert "right again" in repr(broken)


def test_other_threads_and_other_models_stay_right(pair):
    model, state = pair
    other = double_pendulum().compile()
    right, right_of_other = u_dot(model, state), u_dot(other, other.state())
    inside, go_on, found = threading.Event(), threading.Event(), {}

    def fault():
        with mbd.faults.no_gyroscopic_term(model) as broken:
            inside.set()
            go_on.wait(60.0)
            found["broken"] = u_dot(broken, state)

    thread = threading.Thread(target=fault)
    thread.start()
    assert inside.wait(60.0)
    found["model"], found["other"] = u_dot(model, state), u_dot(other, other.state())
    with mbd.faults.wrong_gamma_sign(model) as another:
        found["another"] = u_dot(another, state)
    go_on.set()
    thread.join()
    assert (found["model"] == right).all()
    assert (found["other"] == right_of_other).all()
    assert np.abs(found["broken"] - right).max() > 1e-2
    assert np.abs(found["another"] - found["broken"]).max() > 1e-2


def test_wrong_accelerations_are_those_of_the_wrong_equations(pair):
    """By dense algebra on the right rows and forces, with the fault written in NumPy."""
    model, state = pair
    rows, n = mbd.evaluate(model, state), 6 * model.nb
    Phi_q, J_bar, w = rows.Phi_q.toarray(), model.J_bar[1:], state.omega_bar[1:]
    A = mbd.Body("a", 1, (1, 1, 1), p=state.p[1]).A, mbd.Body("b", 1, (1, 1, 1), p=state.p[2]).A

    def solved(J, gamma, torque):
        K, weight = np.zeros((n + model.nc, n + model.nc)), model.mass[1:, None] * model.gravity
        for k in range(model.nb):
            K[6 * k : 6 * k + 3, 6 * k : 6 * k + 3], K[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = (
                model.mass[k + 1] * np.eye(3),
                J[k],
            )
        K[n:, :n], K[:n, n:] = Phi_q, Phi_q.T
        return np.linalg.solve(K, np.concatenate([np.hstack([weight, torque]).ravel(), gamma]))[:n].reshape(-1, 6)

    def gyroscopic(J):
        return -np.cross(w, np.einsum("nij,nj->ni", J, w))

    world = np.array([a @ J @ a.T for a, J in zip(A, J_bar, strict=True)])
    wanted = {
        "wrong_gamma_sign": solved(J_bar, -rows.gamma, gyroscopic(J_bar)),
        "no_gyroscopic_term": solved(J_bar, rows.gamma, 0.0 * w),
        "world_inertia": solved(world, rows.gamma, gyroscopic(world)),
    }
    for name, u in wanted.items():
        with mbd.faults.FAULTS[name](model) as broken:
            found = u_dot(broken, state)[1:]
        assert np.abs(found - u).max() < 1e2 * ROUNDING * np.abs(u).max(), name


def test_evaluate_stays_right_so_that_runs_begin(pair):
    model, state = pair
    with mbd.faults.transposed_A(model) as broken:
        assert (mbd.evaluate(broken, state).Phi == mbd.evaluate(model, state).Phi).all()
        result = mbd.simulate(broken, 0.01, h=1e-3, state=state, stabilization=None)
    assert len(result.t) == 11


def test_formulations_see_the_same_fault_and_python_refuses_another_mass_matrix(pair):
    model, state = pair
    with mbd.faults.wrong_gamma_sign(model) as broken:
        assert np.abs(u_dot(broken, state, mbd.NullSpace()) - u_dot(broken, state)).max() < 1e-9
    with mbd.faults.wrong_gamma_sign(model) as broken, pytest.raises(mbd.UsageError, match="would stay broken after the block"):
        broken.evaluator()
    with mbd.faults.world_inertia(model) as broken, pytest.raises(mbd.UsageError, match=r"world_inertia changes M .*NewtonEuler"):
        u_dot(broken, state, mbd.NullSpace())


@pytest.mark.parametrize("integrator", [mbd.GeneralizedAlpha(h=1e-3), mbd.RATTLE(h=1e-3)], ids=repr)
def test_implicit_and_symplectic_methods_run_with_a_fault(integrator, pair):
    model, state = pair
    right = mbd.simulate(model, 0.02, integrator=integrator, state=state)
    with mbd.faults.no_gyroscopic_term(model) as broken:
        wrong = mbd.simulate(broken, 0.02, integrator=integrator, state=state)
    assert 1e-6 < np.abs(wrong.r[-1] - right.r[-1]).max() < 1e-1


def test_a_fault_that_changes_nothing_is_refused_with_the_reason():
    ball = mbd.System("ball", gravity=(0, 0, -9.81))
    ball.add(mbd.Body("ball", 1.0, (1.0, 1.0, 1.0)))
    with pytest.raises(mbd.UsageError, match=r"wrong_gamma_sign changes nothing in model 'ball': it has no constraints"):
        with mbd.faults.wrong_gamma_sign(ball):
            pass
    with pytest.raises(mbd.UsageError, match="spheres"), mbd.faults.no_gyroscopic_term(ball):
        pass
    with pytest.raises(mbd.UsageError, match="gamma has a mixed product in D"), mbd.faults.missing_factor_2(pendulum()):
        pass
    with pytest.raises(mbd.UsageError, match="length = 1.0"), mbd.faults.forgotten_normalization(pendulum(), length=1.0):
        pass
    with mbd.faults.wrong_PiBar(slider_crank()) as broken, pytest.raises(mbd.UsageError, match="broken already, by wrong_PiBar"):
        with mbd.faults.transposed_A(broken):
            pass
    with pytest.raises(mbd.UsageError, match="did you mean 'wrong_gamma_sign'"):
        mbd.faults.fingerprint("wrong_gama_sign")
    assert isinstance(broken, BrokenModel)


@pytest.mark.slow
def test_a_model_of_ones_own_has_a_fingerprint():
    found = mbd.faults.fingerprint("wrong_gamma_sign", slider_crank(driven=True), t_end=0.05, h=1e-3)
    assert found.blocks == ("gamma",)
    assert {"position", "velocity", "acceleration"} <= set(found.sees)


def test_a_diagnostic_that_is_zero_throughout_sees_nothing():
    """A planar mechanism has no angular momentum about the vertical axis in its plane."""
    found = mbd.faults.fingerprint("wrong_gamma_sign", four_bar(), t_end=0.05, h=5e-3)
    momentum = next(one for one in found.diagnostics if one.name == "momentum")
    assert momentum.error == momentum.healthy == 0.0
    assert not momentum.sees
    assert {"velocity", "acceleration"} <= set(found.sees)
    assert "nan" not in str(found)


@pytest.mark.parametrize("name", ["simulate", "verify"])
def test_after_ctrl_c_there_is_no_fingerprint_of_a_part_of_a_run(monkeypatch, name):
    """Both functions return what they have after Ctrl-C: it was taken for the whole."""
    module = sys.modules["haugmbd.faults.fingerprint"]  # the package has a function of this name
    function = getattr(module, name)

    def struck(*given, **more):
        found = function(*given, **more)
        if name == "verify":
            return replace(found, interrupted=True)
        return replace(found, outcome=found.outcome._replace(status=mbd.RunStatus.INTERRUPTED))

    monkeypatch.setattr(module, name, struck)
    with pytest.raises(KeyboardInterrupt):
        mbd.faults.fingerprint("wrong_gamma_sign", pendulum(), t_end=0.02, h=1e-3)
