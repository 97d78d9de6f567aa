"""The numbers and the algebra that `make bench` shares among the tools, each a second way, without measuring anything."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from tests.benchmarks import diagram, loops, squeezer, top, windows
from tests.benchmarks.ours_precision import framed, looped, spinning
from tests.benchmarks.precision import Curve, Method


def curve(seconds, errors, name="RK4"):
    return Curve(Method("haugmbd", name, (), dict), list(seconds), list(seconds), list(seconds), list(errors), [], {})


@pytest.mark.parametrize("n", windows.END)
def test_the_end_of_the_windows_is_that_of_one_angle(n):
    factor = windows.GRAVITY * ((n + 1) / 2 + n) / ((n + 1) / 3 + n)
    span = (0.0, windows.T_END)
    phi = solve_ivp(lambda t, x: [x[1], factor * np.sin(x[0])], span, [0.0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[0, -1]
    assert abs(phi - windows.END[n]) < 1e-9


def kinetic(model, v, omega_bar):
    """T [J], of (nb + 1, 3) each."""
    return 0.5 * (model.mass * (v**2).sum(1)).sum() + 0.5 * np.einsum("bi,bij,bj", omega_bar, model.J_bar, omega_bar)


def test_energies_are_those_of_the_library():
    """Of windows at their start, and of loops there with any velocities, from the numbers alone."""
    rods, model = windows.windows(2), framed(2)
    energy = windows.energies(rods.r[None], rods.v[None], rods.rate[None])[0]
    state, weight = model.state(), model.mass * windows.GRAVITY
    assert abs(energy - kinetic(model, state.v, state.omega_bar) - weight @ state.r[:, 2]) < 1e-12
    rng = np.random.default_rng(3)
    for name, make in loops.LOOPS.items():
        loop, model = make(), looped(name)
        v, omega_bar = rng.normal(size=(2, model.nb + 1, 3))
        v[0] = omega_bar[0] = 0.0
        potential = -(model.mass @ model.state().r) @ model.tables["GRAVITY"][0]
        energy = loops.energies(loop, loop.r[None], v[None, 1:], omega_bar[None, 1:])[0]
        assert abs(energy - kinetic(model, v, omega_bar) - potential) < 1e-12


def test_loops_are_closed_and_where_the_library_has_them():
    for name, make in loops.LOOPS.items():
        r = make().r[None]
        assert loops.gaps(make(), r, np.broadcast_to(np.eye(3), (1, r.shape[1], 3, 3))).max() < 1e-12
        assert np.abs(looped(name).state().r[1:] - r[0]).max() < 1e-15


def test_the_top_of_the_numbers_is_that_of_the_gallery():
    state, model = spinning().state(), spinning()
    np.testing.assert_allclose(state.r[1], top.CENTRE, atol=1e-15)
    np.testing.assert_allclose(state.v[1], top.VELOCITY, atol=1e-12)
    np.testing.assert_allclose(state.omega_bar[1], top.OMEGA, atol=1e-15)
    np.testing.assert_allclose(np.diag(model.J_bar[1]), top.MOMENTS, atol=1e-15)
    assert model.mass[1] == top.MASS
    assert squeezer.END > 15.0


def test_least_work_and_work_at_an_error():
    found = curve((1.0, 2.0, 4.0), (1e-2, 1e-4, 1e-6))
    assert found.least(1e-4) == 2.0
    assert found.least(1e-9) is None
    assert abs(found.at(1e-5) - np.sqrt(8.0)) < 1e-12  # half the way between logarithms
    assert found.at(1e-7) is None


@pytest.mark.slow
def test_a_diagram_names_every_line(tmp_path, monkeypatch):
    matplotlib = pytest.importorskip("matplotlib.figure")
    figures = []
    monkeypatch.setattr(diagram, "FOLDER", tmp_path)
    plain = matplotlib.Figure.savefig
    monkeypatch.setattr(matplotlib.Figure, "savefig", lambda self, *a, **k: (figures.append(self), plain(self, *a, **k)))
    curves = [curve((1e-3 * k, 2e-3 * k), (1e-3, 1e-5), name) for k, name in enumerate(("RK4", "RKMK4", "BDF"), start=1)]
    place = diagram.draw("title", "some.png", "error [m]", 1e-4, curves)
    assert place == tmp_path / "some.png"
    assert place.stat().st_size > 10_000
    (ax,) = figures[0].axes
    assert {"haugmbd, RK4", "haugmbd, RKMK4", "haugmbd, BDF", "wanted: 0.0001"} <= {text.get_text() for text in ax.texts}
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")
