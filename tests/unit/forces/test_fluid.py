"""Drag against closed forms and silhouettes, buoyancy against Archimedes, quadrature and the frequency of a floating ball."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from haugmbd import inertia

ROUNDING = 1e-12
DOWN = (0.0, 0.0, -9.81)


def falling(*loads, v=(0.0, 0.0, 0.0), mass=2.0, gravity=(0.0, 0.0, 0.0)):
    system = mbd.System("fall", gravity=gravity)
    ball = system.add(mbd.Body("ball", mass, (0.1, 0.1, 0.1), v=v))
    for load in loads:
        system.add(load(ball))
    return system


def test_a_ball_in_still_air_slows_down_as_the_closed_form():
    """v = v0 / (1 + v0 b t / m),  b = rho C_d pi r^2 / 2; what it loses is dissipated."""
    drag = lambda body: mbd.Drag("air", body, mbd.Sphere(0.1), density=1.2, coefficient=0.47)  # noqa: E731
    result = mbd.simulate(falling(drag, v=(30.0, 0, 0)), 5.0, rtol=1e-10)
    b = 0.5 * 1.2 * 0.47 * np.pi * 0.01
    np.testing.assert_allclose(result["ball"].v[:, 0], 30.0 / (1.0 + 30.0 * b * result.t / 2.0), rtol=1e-8)
    assert abs(result.energy().drift).max() < 1e-5  # the losses, summed over steps of the error control
    assert (result.load("air").power <= 0.0).all()


def test_in_a_flow_a_ball_falls_at_its_terminal_speed_and_drifts_with_the_flow():
    drag = lambda body: mbd.Drag("air", body, mbd.Sphere(0.5), density=1.2, coefficient=0.5, flow=(3.0, 0, 0))  # noqa: E731
    result = mbd.simulate(falling(drag, gravity=DOWN), 40.0, rtol=1e-9)
    speed = np.sqrt(2.0 * 9.81 / (0.5 * 1.2 * 0.5 * np.pi * 0.25))
    np.testing.assert_allclose(result["ball"].v[-1], (3.0, 0.0, -speed), atol=1e-6)


SOLIDS = {
    "Box": (mbd.Box((0.3, 0.5, 0.8), p=Rotation.from_rotvec((0.2, 0.5, -0.3)).as_quat(scalar_first=True)), 1e-12),
    "Cylinder": (mbd.Cylinder(0.3, 0.8, axis=(1, 2, -1)), 1e-5),  # a rim of 2000 corners
    "Sphere": (mbd.Sphere(0.4), 1e-3),  # a ball of 40000 points
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", SOLIDS)
def test_the_area_is_that_of_the_silhouette(kind, rng):
    """The force along any direction is rho C_d A v^2 / 2 with the area of the convex hull of the projected points."""
    shape, tolerance = SOLIDS[kind]
    if kind == "Box":
        points = 0.5 * shape.edges * np.array(np.meshgrid(*[(-1, 1)] * 3)).reshape(3, -1).T
    elif kind == "Cylinder":
        phi = np.linspace(0.0, 2.0 * np.pi, 2000, endpoint=False)
        points = np.concatenate([np.stack([0.3 * np.cos(phi), 0.3 * np.sin(phi), 0.0 * phi + z], axis=1) for z in (-0.4, 0.4)])
    else:
        points = rng.normal(size=(40000, 3))
        points *= 0.4 / np.linalg.norm(points, axis=1)[:, None]
    points = points @ mbd.Body("x", 1.0, (1, 1, 1), p=shape.p).A.T
    system = falling(lambda body: mbd.Drag("water", body, shape, density=1000.0, coefficient=1.1), mass=3.0)
    model = system.compile()
    for _ in range(3):
        v = rng.normal(size=3)
        state = model.state()
        everything = state.v.copy()
        everything[1] = v
        a = mbd.accelerations(model, state.replace(v=everything)).v_dot[1]
        across = Rotation.align_vectors([[0, 0, 1]], [v])[0].apply(points)[:, :2]
        area = ConvexHull(across).volume
        np.testing.assert_allclose(a, -550.0 * area * np.linalg.norm(v) * v / 3.0, rtol=tolerance)


def test_a_submerged_cone_is_lifted_by_the_fluid_that_it_displaces():
    """F = rho V |g| upwards at a quarter of the height above the base, with the torque about the centre of mass."""
    cone = mbd.Cone(0.3, 0.8, center=(0.1, 0.0, 0.05), axis=(1, 0, 0))
    system = falling(lambda body: mbd.Buoyancy("water", body, cone, density=1000.0, gravity=DOWN))
    found = mbd.accelerations(system)
    lift = 1000.0 * np.pi * 0.09 * 0.8 / 3.0 * 9.81
    np.testing.assert_allclose(found.v_dot[1], (0, 0, lift / 2.0), rtol=ROUNDING)
    arm = np.array([0.1 - 0.2, 0.0, 0.05])
    np.testing.assert_allclose(found.omega_bar_dot[1], np.cross(arm, (0, 0, lift)) / 0.1, rtol=ROUNDING)


@pytest.mark.parametrize("height", [-2.0, -0.5, -0.2, 0.0, 0.3, 0.49, 0.7])
def test_the_submerged_volume_of_a_ball_is_the_integral_of_its_sections(height):
    surface, r = 0.25, 0.5
    system = mbd.System("float")
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.3, 0.2, height + surface)))
    system.add(mbd.Buoyancy("water", ball, mbd.Sphere(r), density=800.0, gravity=DOWN, surface=surface))
    top = np.clip(-height, -r, r)
    volume = quad(lambda z: np.pi * (r * r - z * z), -r, top)[0]
    a = mbd.accelerations(system).v_dot[1]
    np.testing.assert_allclose(a, (0.0, 0.0, 800.0 * 9.81 * volume), atol=1e-9)


def test_a_floating_ball_rests_and_swings_as_archimedes_says_and_keeps_its_energy():
    """Half as dense as the fluid: its centre is at the surface, omega^2 = rho g pi r^2 / m = 3 g / 2 r."""
    r = 0.4
    system = mbd.System("float", gravity=DOWN)
    ball = system.add(mbd.Body("ball", *inertia.sphere(r, density=500.0), r=(0, 0, 1.1)))
    system.add(mbd.Buoyancy("water", ball, mbd.Sphere(r), density=1000.0, gravity=DOWN, surface=0.5))
    result = mbd.simulate(system, 3.0, rtol=1e-10)
    assert result["ball"].r[:, 2].min() < 0.1 < 0.9 < result["ball"].r[:, 2].max()
    assert abs(result.energy().drift).max() < 1e-4  # of 1300 J
    small = mbd.System("small", gravity=DOWN)
    ball = small.add(mbd.Body("ball", *inertia.sphere(r, density=500.0), r=(0, 0, 0.5001)))
    small.add(mbd.Buoyancy("water", ball, mbd.Sphere(r), density=1000.0, gravity=DOWN, surface=0.5))
    period = 2.0 * np.pi / np.sqrt(1.5 * 9.81 / r)
    heave = mbd.simulate(small, period, integrator=mbd.GeneralizedAlpha(period / 500.0, rho=1.0))["ball"].r[-1, 2]
    assert heave == pytest.approx(0.5001, abs=1e-8)


@pytest.mark.slow
def test_elements_are_verified_and_model_files_hold_them_bit_by_bit(tmp_path):
    system = falling(
        lambda body: mbd.Drag("air", body, mbd.Cylinder(0.3, 0.8, axis=(1, 2, -1)), density=1.2, coefficient=1.1, flow=(1, 2, 3)),
        lambda body: mbd.Buoyancy("ball", body, mbd.Sphere(0.3, center=(0.1, 0, 0)), density=1000.0, gravity=DOWN, surface=0.1),
        lambda body: mbd.Buoyancy("block", body, mbd.Box((0.1, 0.2, 0.3), center=(0.1, 0, 0)), density=1000.0, gravity=DOWN),
        v=(1.0, 0.5, 0.2),
    )
    for load in system.loads:
        assert mbd.verify(load).ok
    path = system.save(tmp_path / "model.json")
    again = mbd.load_model(path)
    assert again.save(tmp_path / "again.json").read_bytes() == path.read_bytes()
    np.testing.assert_array_equal(mbd.simulate(again, 0.2, h=1e-2).y, mbd.simulate(system, 0.2, h=1e-2).y)


def test_a_stiff_drag_has_its_tangent_in_implicit_methods():
    """Its rate 2 b v / m is 1.6e7 / s at the start, 1.6e4 times what a step without the tangent could take."""
    drag = lambda body: mbd.Drag("oil", body, mbd.Sphere(1.0), density=1e6, coefficient=1.0)  # noqa: E731
    result = mbd.simulate(falling(drag, v=(10.0, 0, 0), gravity=DOWN), 0.05, integrator=mbd.BDF(1e-3))
    assert result.counters.projections < 15 * result.counters.steps
    assert 0.0 < result["ball"].v[-1, 0] < 0.1


WRONG = {
    "density": (lambda b: mbd.Drag("f", b, mbd.Sphere(1.0), density=0.0, coefficient=1.0), "density is 0 kg/m3, must be positive"),
    "drag": (lambda b: mbd.Drag("f", b, mbd.Sphere(1.0), density=1.0, coefficient=-1.0), "coefficient is -1, must not be negative"),
    "gravity": (lambda b: mbd.Buoyancy("f", b, mbd.Sphere(1.0), density=1.0, gravity=(0, 0, 0)), "gravity is zero"),
    "surface": (
        lambda b: mbd.Buoyancy("f", b, mbd.Box((1, 1, 1)), density=1.0, gravity=DOWN, surface=0.0),
        "it has a surface, and its shape is a Box",
    ),
    "plate": (lambda b: mbd.Buoyancy("f", b, mbd.Box((1, 1, 0)), density=1.0, gravity=DOWN), "the shape has no volume"),
}


@pytest.mark.parametrize("case", WRONG)
def test_bad_input_names_the_element(case):
    make, words = WRONG[case]
    with pytest.raises(mbd.ModelError, match=words):
        falling(make).compile()


def test_what_is_no_shape_or_no_body_is_refused():
    body = mbd.Body("b", 1.0, (1, 1, 1))
    with pytest.raises(mbd.UsageError, match="Drag 'f' needs a Sphere, Box or Cylinder, got"):
        mbd.Drag("f", body, mbd.Cone(1.0, 1.0), density=1.0, coefficient=1.0)
    with pytest.raises(mbd.UsageError, match="Buoyancy 'f' needs a body, got 'b'"):
        mbd.Buoyancy("f", "b", mbd.Sphere(1.0), density=1.0, gravity=DOWN)
