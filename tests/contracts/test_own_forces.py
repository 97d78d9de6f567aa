"""A force element of a class of one's own, in plain Python or with a compiled kernel, is an equal citizen: what runs, saves and shows those
of the library takes it at first sight, or refuses it by name with the remedy."""

from __future__ import annotations

import pickle

import numba
import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.modelfile import at_state
from joints import RJ
from tests.support.with_contacts import simulate_with

TIGHT = 1e-11  # rounding of one formula in another order, over a few hundred evaluations
H = 1e-2


class Cord(mbd.ForceElement):
    """A linear cord between two centres of mass, with a damper on the whole relative velocity; plain Python."""

    variable = {"k": ((),)}

    def __init__(self, name, i, j, *, k, c=0.0):
        super().__init__(name)
        self.i, self.j, self.k, self.c = i, j, k, c

    def bodies(self):
        return (self.i, self.j)

    def forces(self, t, r, p, v, omega_bar):
        F = self.k * (r[1] - r[0]) + self.c * (v[1] - v[0])
        return np.vstack([np.hstack([F, np.zeros(3)]), np.hstack([-F, np.zeros(3)])])

    def potential(self, t, r, p):
        return 0.5 * self.k * np.sum((r[1] - r[0]) ** 2)

    def dissipated(self, t, r, p, v, omega_bar):
        return self.c * np.sum((v[1] - v[0]) ** 2)


class CompiledCord(Cord):
    """The same, compiled."""

    forces = None

    def numbers(self):
        return (self.k, self.c)

    @staticmethod
    @numba.njit
    def kernel(t, r, p, v, omega_bar, x):
        Q = np.zeros((2, 6))
        for a in range(3):
            F = x[0] * (r[1, a] - r[0, a]) + x[1] * (v[1, a] - v[0, a])
            Q[0, a] = F
            Q[1, a] = -F
        return Q


class StiffCord(Cord):
    """The same, with its tangent."""

    def tangent(self, t, r, p, v, omega_bar):
        D = np.zeros((2, 6, 2, 3))
        for a in range(3):
            D[0, a, :, a] = -1.0, 1.0
            D[1, a, :, a] = 1.0, -1.0
        return self.k * D, 0, self.c * D, 0


class Wind(mbd.ForceElement):
    """Arguments of many kinds: a body, numbers, an array, a text, a flag, nothing, a driver, a function, a shape, several bodies."""

    def __init__(self, name, body, *, area, flow, side="both", on=True, extra=None, gust=0.0, law=np.sqrt, shape=None, others=()):
        super().__init__(name)
        self.body, self.area, self.flow, self.side = body, area, flow, side
        self.on, self.extra, self.gust, self.law, self.shape, self.others = on, extra, gust, law, shape, others

    def bodies(self):
        return (self.body,)

    def forces(self, t, r, p, v, omega_bar):
        return np.hstack([self.area * (self.flow - v[0]) * self.law(1.0 + t), np.zeros(3)])[None]


CORDS = (Cord, CompiledCord, StiffCord)


def two(kind=None, k=50.0, c=0.0):
    """Two bodies, one on a pin, with a cord; without a class the TSDA that is the same without damping."""
    system = mbd.System("two", gravity=(0, 0, -9.81))
    a = system.add(mbd.Body("a", 1.0, (0.1, 0.2, 0.3), r=(1, 0, 0)))
    b = system.add(mbd.Body("b", 2.0, (0.1, 0.2, 0.3), r=(2, 0, 0.5)))
    system.add(RJ("pin", system.ground, a, point=(0, 0, 0), axis=(0, 1, 0)))
    if kind is None:
        system.add(mbd.TSDA("cord", a, b, point_i=a.r, point_j=b.r, k=k, l0=0.0))
    else:
        system.add(kind("cord", a, b, k=k, c=c))
    return system


RUNS = {
    "fixed": lambda system: mbd.simulate(system, 0.2, h=H).y[-1],
    "adaptive": lambda system: mbd.simulate(system, 0.2, integrator=mbd.DormandPrince(rtol=1e-12, atol=1e-13)).y[-1],
    "implicit": lambda system: mbd.simulate(system, 0.1, integrator=mbd.GeneralizedAlpha(h=H)).y[-1],
    "another formulation": lambda system: mbd.simulate(system, 0.1, h=H, formulation=mbd.NullSpace()).y[-1],
    "impacts": lambda system: simulate_with(
        system,
        0.3,
        h=H,
        contacts=[
            mbd.Contact("floor", system.ground, system.bodies[2], point=(2, 0, 0.5), normal=(0, 0, 1), plane_point=(0, 0, 0.3))
        ],
    ).y[-1],
    "batch": lambda system: mbd.batch(system.compile(), parameters={"cord.k": np.array([10.0, 50.0])}).v_dot[1].ravel(),
    "equilibrium": lambda system: mbd.equilibrium(system).state.r.ravel(),
}
CLOSE = {"implicit": 1e-8, "equilibrium": 1e-8, "adaptive": 1e-9}
"""Newton's iterations end at their own tolerance; steps of an adaptive method differ in the last digits of its error estimate."""


@pytest.mark.slow
@pytest.mark.parametrize("road", RUNS)
def test_every_road_gives_what_the_same_law_of_the_library_gives(road):
    wanted = RUNS[road](two())
    for kind in CORDS:
        np.testing.assert_allclose(RUNS[road](two(kind)), wanted, rtol=0.0, atol=CLOSE.get(road, TIGHT))


@pytest.mark.slow
def test_it_is_linearized_and_swept():
    wanted = sorted(np.abs(mbd.linearize(two(), mbd.equilibrium(two()).state).eigenvalues))
    for kind in CORDS:
        found = mbd.linearize(two(kind), mbd.equilibrium(two(kind)).state).eigenvalues
        np.testing.assert_allclose(sorted(np.abs(found)), wanted, atol=1e-4)  # differences of a force, and a root of them
    table = mbd.sweep(
        lambda k: two(Cord, k=k),
        {"k": [1.0, 2.0]},
        lambda system: {"z": mbd.simulate(system, 0.05, h=H).y[-1, 2]},
        executor="serial",
    )
    assert [row.status for row in table.rows] == ["ok", "ok"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORDS)
def test_ledger_history_and_checks(kind, tmp_path):
    result = mbd.simulate(two(kind, c=1.0), 0.3, h=1e-3)
    energy, load = result.energy(), result.load("cord")
    assert abs(energy.drift).max() < 1e-8 * abs(energy.kinetic).max()
    assert energy.dissipated_work[-1] > 0.01
    assert load.kind == kind.__name__
    assert load.force.shape == (len(result), 2, 3)
    np.testing.assert_allclose(load.force[:, 0], -load.force[:, 1])
    assert mbd.verify(result.model.loads[0].load).ok
    assert abs(mbd.simulate(two(kind), 0.2, h=1e-3).energy().drift).max() < 1e-8
    assert "cord" in mbd.picture(two(kind)).html
    assert "cord" in result.animate(tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("kind", CORDS)
def test_files_and_copies_give_the_same_run_bit_by_bit(kind, tmp_path):
    system = two(kind, c=1.0)
    wanted = mbd.simulate(system, 0.1, h=H)
    system.save(tmp_path / "two.json")
    with pytest.raises(mbd.ModelFileError, match=f"{kind.__name__}.*allow_code=True"):
        mbd.load_model(tmp_path / "two.json")
    again = mbd.load_model(tmp_path / "two.json", allow_code=True)
    assert (mbd.simulate(again, 0.1, h=H).y == wanted.y).all()
    assert (mbd.simulate(pickle.loads(pickle.dumps(system.compile())), 0.1, h=H).y == wanted.y).all()
    wanted.save(tmp_path / "run.npz")
    assert (mbd.load(tmp_path / "run.npz", allow_code=True).energy().total == wanted.energy().total).all()
    with pytest.raises(mbd.UsageError, match="law of .*'cord'"):
        mbd.load(tmp_path / "run.npz", model=two(kind, k=51.0, c=1.0).compile())


def test_arguments_of_every_kind_are_kept(tmp_path):
    system = two(Cord)
    pipe = mbd.Cylinder(0.1, 2.0, axis=(1, 0, 0))
    flow, gust = np.array([1.0, 0.0, 0.5]), mbd.Expression("2 * sin(t)")
    system.add(
        Wind("wind", system.bodies[1], area=2, flow=flow, side="left", gust=gust, shape=pipe, others=tuple(system.bodies[1:]))
    )
    system.save(tmp_path / "wind.json")
    again = mbd.load_model(tmp_path / "wind.json", allow_code=True)
    wind = again.loads[1]
    assert (wind.area, wind.side, wind.on, wind.extra, wind.law) == (2, "left", True, None, np.sqrt)
    np.testing.assert_array_equal(wind.flow, flow)
    assert str(wind.gust) == "2 * sin(t)"
    assert wind.shape.length == 2.0
    assert wind.others == tuple(again.bodies[1:])
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "wind.json").read_bytes()


class Forgets(Cord):
    def __init__(self, name, i, j, *, factor):
        super().__init__(name, i, j, k=2.0 * factor)


def test_what_a_file_cannot_hold_is_refused_with_the_argument_or_the_class(tmp_path):
    class Local(Cord):
        pass

    for make, said in (
        (lambda i, j: Local("own", i, j, k=1.0), "'own': its class is a class inside a function"),
        (lambda i, j: Forgets("own", i, j, factor=1.0), "'own': its argument 'factor' is not kept: write self.factor = factor"),
        (lambda i, j: Wind("own", i, area=1.0, flow=1.0, extra=object()), "'own': its argument 'extra' is a object"),
        (lambda i, j: Wind("own", i, area=1.0, flow=1.0, law=lambda x: x), "'own': its function is a lambda"),
    ):
        system = two()
        system.add(make(*system.bodies[1:]))
        with pytest.raises(mbd.ModelFileError, match=said):
            system.save(tmp_path / "x.json")


def test_a_system_at_another_pose_is_refused_if_the_class_may_have_read_the_pose():
    system = two(Cord)
    state = system.compile().state()
    assert [load.name for load in at_state(system, state).loads] == ["cord"]
    r = state.r.copy()
    r[2] += 0.1
    with pytest.raises(
        mbd.ModelFileError, match="'cord': the constructor of its class Cord may read the modelled pose, and body 'b'"
    ):
        at_state(system, state.replace(r=r))


def faulty(**members):
    """A class of cords with other members."""
    return type("Faulty", (Cord,), members)


class NoLaw(mbd.ForceElement):
    def __init__(self, name, i, j, *, k):
        super().__init__(name)
        self.i, self.j = i, j

    def bodies(self):
        return (self.i, self.j)


FAULTY = {
    "no law": (lambda: NoLaw, "its class NoLaw has no law.*Define forces"),
    "two laws": (lambda: faulty(kernel=CompiledCord.kernel), "defines both forces and kernel"),
    "a kernel that is not compiled": (
        lambda: faulty(forces=None, kernel=staticmethod(lambda t, r, p, v, w, x: None)),
        "numba.njit",
    ),
    "wrong arguments": (lambda: faulty(forces=lambda self, t, r: None), r"forces is a function of 2 arguments.*forces\(t, r, p"),
    "wrong potential": (
        lambda: faulty(potential=lambda self, t: 0.0),
        r"potential is a function of 1 argument.*potential\(t, r, p\)",
    ),
    "wrong shape": (lambda: faulty(forces=lambda self, t, r, p, v, w: np.zeros(6)), r"forces\(.*\) returns .* shape \(2, 6\)"),
    "raises": (lambda: faulty(forces=lambda self, t, r, p, v, w: r[7]), "raises IndexError"),
    "no bodies": (lambda: faulty(bodies=lambda self: ()), "acts on no body"),
    "bodies twice": (lambda: faulty(bodies=lambda self: (self.i, self.i)), "body 'a' occurs 2 times"),
    "states": (lambda: faulty(states=lambda self: (0.0,)), "defines states.*Block"),
    "coordinates": (lambda: faulty(coordinates=lambda self: ()), "defines coordinates.*JointForce"),
    "an angle": (lambda: faulty(angles=1), "defines angles.*Block"),
    "a wrong tangent": (lambda: faulty(tangent=lambda self, t, r, p, v, w: (0, 0, 0, 0)), "jacobian"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_a_class_that_cannot_run_is_refused_by_name(name):
    make, said = FAULTY[name]
    system = two()
    system.loads.clear()
    system.add(make()("gust", *system.bodies[1:], k=1.0))
    for ask in (mbd.System.compile, mbd.verify):
        with pytest.raises(mbd.ModelError, match=rf"(?s)'gust'.*{said}"):
            ask(system)


def test_bodies_that_are_none_are_refused_at_once():
    with pytest.raises(mbd.UsageError, match=r"Faulty 'gust': bodies\(\) returns .*Return a tuple of bodies"):
        faulty(bodies=lambda self: ("a", "b"))("gust", *two().bodies[1:], k=1.0)


def test_a_law_beside_inherited_kernels_is_refused():
    kind = type("Faulty", (mbd.TSDA,), {"forces": Cord.forces})
    system = two()
    system.loads.clear()
    system.add(kind("gust", *system.bodies[1:], point_i=(1, 0, 0), point_j=(2, 0, 0.5), k=1.0, l0=0.0))
    with pytest.raises(mbd.ModelError, match="'gust': its class Faulty has a law of its own, and inherits.*mbd.ForceElement"):
        system.compile()


@pytest.mark.slow
def test_verify_finds_energy_that_is_wrong_and_a_law_that_remembers():
    class Remembers(Cord):
        _calls = [0]

        def forces(self, t, r, p, v, omega_bar):
            self._calls[0] += 1
            return super().forces(t, r, p, v, omega_bar) * (1.0 + 1e-3 * self._calls[0])

    wrong = faulty(potential=lambda self, t, r, p: 0.6 * self.k * np.sum((r[1] - r[0]) ** 2))
    bodies = two().bodies[1:]
    assert list(mbd.verify(wrong("own", *bodies, k=2.0)).wrong) == ["energy"]
    assert "repeated" in mbd.verify(Remembers("own", *bodies, k=2.0)).wrong


def test_a_chain_refuses_it_with_the_remedy():
    with pytest.raises(mbd.ModelError, match=r"(?s)'cord'.*without_loads=True"):
        mbd.SerialChain.from_system(two(Cord))
