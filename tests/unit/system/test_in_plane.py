"""Planar systems: runs by the rows of the plane are those of the spatial model, and what leaves the plane is refused by name."""

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.system.in_plane import model_in_plane
from joints import CJ, RJ, SJ, TJ, UJ, Coupling, Distance, Gear, PointOnCurve, RackPinion, RotationDriver, Screw

NORMAL = {"xz": (0, -1, 0), "xy": (0, 0, 1), "yz": (1, 0, 0), "zx": (0, 1, 0)}


class Drawing:
    """A mechanism in a plane, drawn in its two coordinates."""

    def __init__(self, planar, name="drawing", *, flat=True):
        self.planar, self.e = planar, [np.eye(3)["xyz".index(axis)] for axis in planar]
        self.n = np.array(NORMAL[planar], dtype=float)
        self.system = mbd.System(name, gravity=-9.81 * self.e[1], planar=planar if flat else None)
        self.add, self.ground = self.system.add, self.system.ground

    def at(self, a, b):
        return a * self.e[0] + b * self.e[1]

    def bar(self, name, first, second, m=1.0, J=0.02):
        a, b = np.array(first), np.array(second)
        return self.add(mbd.Body.in_plane(name, m, J, q=(*(a + b) / 2, np.arctan2(*(b - a)[::-1])), planar=self.planar))

    def pin(self, name, i, j, where):
        return self.add(RJ(name, i, j, point=self.at(*where), axis=self.n))


def four_bar(d):
    places = [(0.0, 0.0), (0.2, 0.3), (1.0, 0.6), (0.8, 0.0)]
    bars = [d.ground, *(d.bar(f"bar {k}", places[k], places[k + 1], 1.0 + k) for k in range(3)), d.ground]
    pins = [d.pin(f"pin {k}", bars[k], bars[k + 1], places[k]) for k in range(4)]
    d.add(mbd.TSDA("spring", d.ground, bars[2], point_i=d.at(0.0, 1.0), point_j=d.at(0.6, 0.45), k=30.0, c=1.0, l0=0.5))
    d.add(mbd.Motor("motor", pins[0], torque=mbd.Expression("2 * sin(3 * t)")))


def engine(d):
    crank, rod = d.bar("crank", (0.0, 0.0), (0.1, 0.05)), d.bar("rod", (0.1, 0.05), (0.5, 0.0))
    piston = d.bar("piston", (0.45, 0.0), (0.55, 0.0))
    first = d.pin("main", d.ground, crank, (0.0, 0.0))
    d.pin("crank pin", crank, rod, (0.1, 0.05))
    d.pin("wrist", rod, piston, (0.5, 0.0))
    rail = d.add(TJ("cylinder", d.ground, piston, point=d.at(0.5, 0.0), axis=d.at(1.0, 0.0)))
    d.add(mbd.JointSpring("gas", rail, k=200.0))
    wheel = d.bar("wheel", (-0.35, 0.0), (-0.15, 0.0))
    d.add(Gear("mesh", first, d.pin("axle", d.ground, wheel, (-0.25, 0.0)), ratio=-2.0))


def other_joints(d):
    """Joints of several freedoms are pins and slides of the plane."""
    a, b = d.bar("a", (0.0, 0.0), (0.3, 0.1)), d.bar("b", (0.3, 0.1), (0.6, 0.3))
    c, e = d.bar("c", (0.6, 0.3), (0.9, 0.0)), d.bar("e", (0.9, -0.3), (1.1, -0.3))
    d.add(SJ("ball", d.ground, a, point=d.at(0.0, 0.0)))
    d.add(UJ("cross", a, b, point=d.at(0.3, 0.1), axis_i=d.n, axis_j=d.at(1.0, 0.2)))
    d.add(CJ("bush", b, c, point=d.at(0.6, 0.3), axis=d.n))
    d.add(Distance("link", d.ground, c, point_i=d.at(1.0, 0.6), point_j=d.at(0.9, 0.0)))
    rack = d.bar("rack", (0.0, -0.5), (0.2, -0.5))
    pin, rail = d.pin("pin", d.ground, e, (1.0, -0.3)), d.add(TJ("rail", d.ground, rack, point=rack.r, axis=d.at(1.0, 0.3)))
    d.add(RackPinion("teeth", pin, rail, radius=0.1))
    curve = d.at(1.0, -0.3) + np.array([d.at(x, 0.1 * x**2) for x in np.linspace(-1.0, 1.0, 9)])
    d.add(PointOnCurve("slot", d.ground, d.bar("bead", (0.9, -0.3), (1.1, -0.3), 0.2), curve=curve, point=d.at(1.0, -0.3)))


def driven(d):
    places = [(0.0, 0.0), (0.2, 0.3), (1.0, 0.6), (0.8, 0.0)]
    bars = [d.ground, *(d.bar(f"bar {k}", places[k], places[k + 1]) for k in range(3)), d.ground]
    pins = [d.pin(f"pin {k}", bars[k], bars[k + 1], places[k]) for k in range(4)]
    d.add(RotationDriver("drive", pins[0], lambda t: 0.3 * np.sin(2.0 * t) ** 2))


MECHANISMS = [four_bar, engine, other_joints, driven]


def both(make, planar):
    """Return the model of the plane and the spatial one."""
    found = []
    for flat in (True, False):
        drawing = Drawing(planar, flat=flat)
        make(drawing)
        found.append(drawing.system.compile())
    return found


@pytest.mark.parametrize("make", MECHANISMS)
@pytest.mark.parametrize("planar", ["xz", "yz"])
def test_runs_are_those_of_the_spatial_model(make, planar):
    flat, spatial = both(make, planar)
    rows = model_in_plane(flat)
    assert rows is not None
    assert rows.nc < 0.6 * spatial.nc
    assert not rows.redundancy.dropped
    one, other = (mbd.simulate(model, 0.3, h=5e-3) for model in (flat, spatial))
    size = np.abs(other.lam).max()
    assert np.abs(one.y - other.y).max() < 1e-12 * max(1.0, np.abs(other.y).max())
    assert np.abs(one.lam - other.lam).max() < 1e-10 * max(1.0, size)
    assert one.model.nc == spatial.nc
    assert np.array_equal(one.lam.shape, other.lam.shape)
    assert all(
        abs(x) < 1e-15 for x in one["bar 0" if make in (four_bar, driven) else flat.body_names[1]].r @ np.array(NORMAL[planar])
    )


@pytest.mark.parametrize(
    "options",
    [
        {"rtol": 1e-8},
        {"integrator": mbd.GeneralizedAlpha(h=5e-3)},
        {"h": 5e-3, "formulation": mbd.NullSpace()},
        {"h": 5e-3, "stabilization": mbd.Baumgarte(5.0, 5.0)},
        {"h": 5e-3, "record_method": True},
        {"rtol": 1e-8, "t_eval": np.linspace(0.0, 0.3, 7), "events": [mbd.Event("low", lambda t, state: state.v[1, 2])]},
    ],
    ids=["adaptive", "implicit", "null space", "Baumgarte", "recorded", "events"],
)
def test_every_family_of_methods_makes_it(options):
    flat, spatial = both(four_bar, "xz")
    one, other = (mbd.simulate(model, 0.3, **options) for model in (flat, spatial))
    assert len(one.t) == len(other.t)
    assert np.abs(one.y[-1] - other.y[-1]).max() < 1e-10  # adaptive steps have their lengths to rounding of an error
    assert [event.t for event in one.events] == pytest.approx([event.t for event in other.events], abs=1e-10)


def test_coordinates_of_the_plane_have_the_equations_of_the_plane():
    drawing = Drawing("xz")
    x, z = 0.5 * np.cos(0.4), 0.5 * np.sin(0.4)
    bar = drawing.add(mbd.Body.in_plane("bar", 2.0, 0.15, q=(x, z, 0.4), u=(-z, x, 1.0)))
    drawing.pin("pin", drawing.ground, bar, (0.0, 0.0))
    history = mbd.simulate(drawing.system, 3.0, rtol=1e-10)["bar"].in_plane("xz")
    assert history.u_dot[:, 2] == pytest.approx(-2.0 * 9.81 * 0.5 * np.cos(history.phi) / (0.15 + 0.5), abs=1e-8)
    assert history.q[:, :2] == pytest.approx(0.5 * np.column_stack([np.cos(history.phi), np.sin(history.phi)]), abs=1e-9)
    assert np.abs(np.diff(history.phi)).max() < 1.0
    assert history.u[0] == pytest.approx([-z, x, 1.0])
    with pytest.raises(mbd.UsageError, match="out of the plane 'xy'"):
        mbd.simulate(drawing.system, 0.1, h=1e-2)["bar"].in_plane("xy")


def test_it_is_saved_loaded_copied_and_continued(tmp_path):
    drawing = Drawing("xz")
    four_bar(drawing)
    system = mbd.load_model(drawing.system.save(tmp_path / "four-bar.json"))
    assert system.planar == "xz"
    whole, first = mbd.simulate(system, 0.2, h=5e-3), mbd.simulate(drawing.system, 0.1, h=5e-3)
    first.save(tmp_path / "run.npz")
    again = mbd.load(tmp_path / "run.npz")
    assert again.model.planar == "xz"
    rest = mbd.simulate(again.model, 0.2, h=5e-3, state=again.state())
    assert np.abs(rest.y[-1] - whole.y[-1]).max() < 1e-13


def test_studies_that_count_freedoms_see_the_spatial_model():
    flat, spatial = both(four_bar, "xz")
    assert mbd.mobility(flat).degrees_of_freedom == mbd.mobility(spatial).degrees_of_freedom == 1
    one, other = (mbd.accelerations(model) for model in (flat, spatial))
    assert np.array_equal(one.lam, other.lam)


def test_equations_are_those_of_the_plane():
    pytest.importorskip("sympy")
    drawing = Drawing("xz")
    four_bar(drawing)
    equations = mbd.equations(drawing.system)
    assert equations.planar == "xz"
    assert equations.Phi.shape == (8, 1)
    assert equations.Phi.shape[0] == model_in_plane(drawing.system.compile()).nc


def out_of_plane(d, what):
    """Add what leaves the plane to a bar on a pin."""
    n, given = d.n, {"r": d.at(0.5, 0.0)}
    J = np.diag([0.1, 0.1, 0.1])
    J[0, 1] = J[1, 0] = 0.01
    if what == "tilted":
        given["p"] = (np.cos(0.1), *np.sin(0.1) * d.e[0])
    elif what == "thrown":
        given["v"] = n
    bar = d.add(mbd.Body("bar", 1.0, J if what == "lopsided" else (0.1, 0.1, 0.1), **given))
    other = d.bar("other", (0.0, 0.5), (1.0, 0.5))
    if what == "aslant":
        d.add(RJ("joint", d.ground, bar, point=d.at(0.0, 0.0), axis=n + d.e[0]))
    elif what == "beside":
        d.add(RJ("joint", d.ground, bar, point=d.at(0.0, 0.0) + 0.1 * n, axis=n))
    elif what == "screwed":
        d.add(Screw("joint", d.add(CJ("nut", d.ground, bar, point=d.at(0.5, 0.0), axis=n)), pitch=0.01))
    elif what == "lifted":
        lift = d.add(CJ("nut", d.ground, bar, point=d.at(0.5, 0.0), axis=n))
        d.add(Coupling("joint", {lift.coordinate("displacement"): 1.0}, f=lambda t: 0.1 * np.sin(t)))
    elif what == "pushed":
        d.add(mbd.PointForce("joint", bar, point=d.at(0.5, 0.0), force=n))
    elif what == "twisted":
        d.add(mbd.TSDA("joint", d.ground, bar, point_i=d.at(0.0, 0.0) + n, point_j=d.at(0.5, 0.0), k=10.0, l0=0.1))
    return d.system, other


@pytest.mark.parametrize(
    ("what", "named"),
    [
        ("tilted", "body 'bar': its axes are turned out of the plane 'xz'"),
        ("thrown", "body 'bar': it starts with a velocity out of the plane"),
        ("lopsided", "body 'bar': it has products of inertia"),
        ("aslant", "joint 'joint': its row"),
        ("beside", "joint 'joint': its row"),
        ("screwed", "joint 'joint': its row"),
        ("lifted", "joint 'joint': its row"),
        ("pushed", "forces push body 'bar' across the plane 'xz', with 1 N"),
        ("twisted", "forces push body 'bar' across the plane 'xz'"),
    ],
)
def test_what_leaves_the_plane_is_refused_by_name(what, named):
    with pytest.raises(mbd.ModelError) as caught:
        out_of_plane(Drawing("xz"), what)[0].compile()
    assert named in str(caught.value)


def test_a_force_that_pushes_out_later_ends_the_run():
    drawing = Drawing("xz")
    four_bar(drawing)
    bar = drawing.system["bar 1"]
    drawing.add(mbd.PointForce("gust", bar, point=bar.r, force=lambda t: (0.0, max(0.0, t - 0.1), 0.0)))
    with pytest.raises(mbd.SimulationError, match="body 'bar 1' has left the plane 'xz'"):
        mbd.simulate(drawing.system, 0.2, h=1e-2)


@pytest.mark.parametrize("planar", ["xx", "x", "xyz", 3, "XZ"])
def test_a_plane_is_two_axes(planar):
    with pytest.raises(mbd.UsageError, match="two different axes"):
        mbd.System("s", planar=planar)
    with pytest.raises(mbd.UsageError, match="two different axes"):
        mbd.Body.in_plane("b", 1.0, 1.0, planar=planar)


def test_gravity_lies_in_the_plane():
    system = mbd.System("s", gravity=(0, 0, -9.81), planar="xy")
    system.add(mbd.Body.in_plane("b", 1.0, 1.0, planar="xy"))
    with pytest.raises(mbd.ModelError, match=r"gravity .* is not in the plane 'xy'"):
        system.compile()
