"""The examples run, write their pictures, and say what their heads promise."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import minimize

import haugmbd as mbd
from haugmbd.gallery import four_bar
from tests.support.pictures import coarse_pictures

pyplot = pytest.importorskip("matplotlib.pyplot")

pytestmark = pytest.mark.slow  # every example runs

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))


class Returned(dict):
    """What `main` of each example returns, and the folder of its pictures, by name; an example runs when it is first wanted."""

    def __init__(self, new_folder):
        super().__init__()
        self.new_folder = new_folder

    def __missing__(self, name):
        (example,) = [example for example in EXAMPLES if example.stem == name]
        folder = self.new_folder(name)
        with coarse_pictures():
            self[name] = runpy.run_path(str(example))["main"](folder), folder
        pyplot.close("all")
        return self[name]


@pytest.fixture(scope="module")
def returned(tmp_path_factory):
    return Returned(tmp_path_factory.mktemp)


@pytest.mark.parametrize("name", [example.stem for example in EXAMPLES])
def test_every_example_writes_its_picture(name, returned):
    _, folder = returned[name]
    assert (folder / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_four_bar_agrees_with_the_adaptive_integrator_and_closes_its_loop(returned):
    result, _ = returned["four_bar"]
    other = mbd.simulate(four_bar(), 5.0, rtol=1e-10, atol=1e-12, t_eval=[5.0])
    assert abs(result.r[-1] - other.r[-1]).max() <= 1e-6  # RK4 at h = 1e-3; 1e-7 measured
    assert abs(result.energy().drift).max() <= 1e-6
    # The reactions at A and D carry weight and mass times acceleration of all three links.
    forces = result.reaction("A").force + result.reaction("D").force
    mass = result.model.mass[:, None]
    assert np.allclose(forces, (mass * (result.v_dot - np.array([0.0, 0.0, -9.81]))).sum(axis=1), rtol=0.0, atol=1e-9)


def test_the_torque_of_the_drive_is_that_of_the_power(returned):
    result, _ = returned["slider_crank"]
    energy = result.energy()
    from_power = np.gradient(energy.kinetic + energy.potential, result.t, edge_order=2) / (2.0 * np.pi)
    assert abs(result.reaction("drive").torque[:, 0] - from_power).max() <= 5e-5  # of h^2, the difference quotient


def test_all_formulations_move_alike_and_penalties_keep_their_law(returned):
    (results, errors, iterations), _ = returned["formulations"]
    reference = results.pop("NewtonEuler")
    for name, result in results.items():
        coarse = name in ("Penalty", "CoordinatePartitioning")  # 1 / alpha; another way back to the constraints, h^4
        assert abs(result.y[-1] - reference.y[-1]).max() < (1e-6 if coarse else 1e-9), name
    assert np.allclose(np.divide(errors[2:6], errors[3:7]), 10.0, rtol=0.1)
    assert errors[-1] > min(errors)
    assert iterations[0] > iterations[3] > iterations[6]


def test_projection_keeps_the_pin_and_baumgarte_does_not_get_better_with_larger_gains(returned):
    results, _ = returned["pendulum_drift"]
    gaps = {name: abs(result.violation("position")).max() for name, result in results.items()}
    assert gaps["Projection()"] <= 1e-13 * results["Projection()"].model.length
    assert gaps["Baumgarte(5, 5)"] < gaps["none"] < gaps["Baumgarte(50, 50)"]


def test_the_ball_comes_to_rest_when_all_its_bounces_are_over_and_is_lifted_when_the_force_is_its_weight(returned):
    results, _ = returned["bouncing"]
    floor = results["ball"].contact("floor")
    rest = np.sqrt(2.0 / 9.81) * 1.7 / 0.3
    assert rest - 5e-6 <= floor.t[floor.closed][0] <= rest
    assert abs(floor.t[floor.closed][-1] - 4.0) <= 1e-9
    assert floor.force[floor.closed][0] == pytest.approx(9.81 * results["ball"].segments[0].model.mass[1], rel=1e-12)
    assert max(abs(results["box"].contact(name).gap[-1]) for name in "abcd") <= 1e-11


def test_the_slider_of_the_governor_hangs_where_the_effective_potential_is_least(returned):
    """V - omega^2 I / 2 over the angle of the arms and the height of the slider, by a minimizer that knows nothing of bodies."""
    results, _ = returned["governor"]

    def potential(x, omega):
        alpha, s = x
        length = np.hypot(0.15 * np.sin(alpha), 0.5 - 0.15 * np.cos(alpha) - s)
        weights = 1.0 * 9.81 * s - 2.0 * 0.8 * 9.81 * 0.3 * np.cos(alpha)
        return weights + 400.0 * (length - 0.14) ** 2 - omega**2 * 0.8 * (0.02 + 0.3 * np.sin(alpha)) ** 2

    for k, omega in ((0, 2.0), (-1, 14.0)):
        least = minimize(potential, [0.4, 0.2], args=(omega,), method="Nelder-Mead", options={"xatol": 1e-10, "fatol": 1e-14})
        assert results["height"][k] == pytest.approx(least.x[1], abs=1e-6)
    assert (np.diff(results["height"]) > 0.0).all()


def test_order_pays_and_a_symplectic_method_keeps_its_energy(returned):
    (work, energy), _ = returned["integrators"]
    evaluations = {
        name: np.interp(8.0, -np.log10(points[:, 1]), points[:, 0]) for name, points in work.items() if points[-1, 1] < 1e-8
    }
    assert evaluations["DOP853"] < 0.5 * evaluations["DormandPrince"]
    for name, order in (("Heun", 2.0), ("RK4", 4.0), ("HEM4", 4.0), ("RATTLE", 2.0), ("GeneralizedAlpha", 2.0)):
        assert np.polyfit(np.log2([1.0, 2.0, 4.0, 8.0]), -np.log2(work[name][:, 1]), 1)[0] == pytest.approx(order, abs=0.3)
    halves = {name: (abs(drift[t < 15.0]).max(), abs(drift[t >= 15.0]).max()) for name, (t, drift) in energy.items()}
    assert halves["RATTLE"][1] < 1.05 * halves["RATTLE"][0]
    assert min(halves[name][1] / halves[name][0] for name in ("RK4", "GeneralizedAlpha")) > 1.5


def test_heun_drifts_gains_have_their_limit_and_rattle_loses_an_order_of_its_multipliers(returned):
    found, _ = returned["violation_studies"]
    assert found["drift"].law == "quadratic"
    stable, gains = found["gains"].stable, found["gains"].alpha
    assert not stable[gains * 1e-2 > 2.7853].any()
    assert stable[(gains * 1e-2 < 1.39)][:, gains * 1e-2 < 1.5].all()  # within |R| <= 1 for all of these pairs
    assert found["orders"].order("RATTLE", "multipliers") == pytest.approx(1.0, abs=0.3)
    assert found["joints"].worst == "pin 2"


def test_the_pole_on_a_crank_comes_to_rest_upright(returned):
    (t, angles), _ = returned["cart_pole"]
    assert t[-1] >= 6.0
    assert 0.01 < np.abs(angles[:, 1]).max() < 0.2
    assert np.abs(angles[-1]).max() < 1e-2 * np.abs(angles).max()


def test_the_designs_of_the_synthesis_are_better_than_their_starts(returned):
    results, _ = returned["synthesis"]
    line, toe, torque = results["line"], results["toe"], results["torque"]
    assert line.success
    assert toe.success
    assert torque.success
    off = max(np.abs(values).max() for values in line.residuals.values())
    assert off < 0.02  # m, along a line of 0.4 m at constant speed; across it less
    assert np.abs(list(line.residuals.values())[1]).max() < 2e-3
    assert toe.value < 1e-4 * toe.history[0].value  # mrad^2
    assert torque.value < 0.9 * torque.history[0].value
