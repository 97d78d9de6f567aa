"""Friction where redundant rows share the load by the stiffness of bearings: against unique joints, least energy, and bushings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.spatial.transform import Rotation

import haugmbd as mbd
from joints import CJ, RJ, SJ, TJ

G, Y, K = 9.81, (0, 1, 0), 1e9
R, L, TH = 0.2, 0.6, 0.7
A = np.array([R * np.cos(TH), 0, R * np.sin(TH)])
B = np.array([A[0] + np.sqrt(L * L - A[2] ** 2), 0, 0])
POINT = {"o": np.zeros(3), "a": A, "b": B, "guide": B}
LENGTH, RADIUS, HALF_GUIDE = 0.05, 0.03, 0.02
HALF = {"o": LENGTH / 2, "a": LENGTH / 2, "b": LENGTH / 2, "guide": HALF_GUIDE}
TILTED = mbd.Coulomb(0.2)


def bars(side=0.0, gravity=G):
    """The bodies of a press, planar in x and z, with a load in its plane and one across it."""
    system = mbd.System("press", gravity=(0, 0, -gravity))
    crank = system.add(mbd.Body("crank", 2.0, (0.01, 0.02, 0.02), r=A / 2))
    rod = system.add(mbd.Body("rod", 1.0, (0.01, 0.03, 0.03), r=(A + B) / 2))
    ram = system.add(mbd.Body("ram", 1.5, (0.01, 0.01, 0.01), r=B))
    if side:
        system.add(mbd.PointForce("side", rod, point=(0, 0, 0), force=(0, side, 0)))
    pairs = {"o": (system.ground, crank), "a": (crank, rod), "b": (rod, ram), "guide": (system.ground, ram)}
    return system, pairs


def press(*, redundant=True, stiffness=K, law=TILTED, side=0.0, lengths=True, torque=-6.0, rigid=(), gravity=G):
    """A slider-crank with friction in all joints."""
    system, pairs = bars(side, gravity)
    kinds = {"o": RJ, "a": RJ, "b": RJ, "guide": TJ} if redundant else {"o": RJ, "a": SJ, "b": CJ, "guide": TJ}
    for name, kind in kinds.items():
        axis = {} if kind is SJ else {"axis": (1, 0, 0) if name == "guide" else Y}
        system.add(kind(name, *pairs[name], point=POINT[name], **axis))
    for name in kinds:
        more = {"radius": HALF_GUIDE} if name == "guide" else {"radius": RADIUS}
        if lengths and name != "guide" and redundant:
            more["length"] = LENGTH
        if stiffness and redundant and name not in rigid:
            more["bearing_stiffness"] = stiffness
        system.add(mbd.JointFriction(f"rub {name}", system[name], law, **more))
    system.add(mbd.Torque("motor", pairs["o"][1], torque=(0, torque, 0)))
    return system


def strains(model, system, lam):
    """Return sqrt(C) of the wrenches of all bearings at their points, by the multipliers."""
    Phi_q, parts = mbd.evaluate(model).Phi_q.toarray(), []
    for name, half in HALF.items():
        entry, own, body = model.joints[name], np.zeros(model.nc), system[name].j
        own[entry.rows] = lam[entry.rows]
        wrench = -Phi_q[:, 6 * entry.j - 6 : 6 * entry.j].T @ own
        F = wrench[:3]
        M = wrench[3:] - np.cross(POINT[name] - body.r, F)
        parts += [F, M / half]
    return np.concatenate(parts)


@pytest.mark.slow
@pytest.mark.parametrize("law", [TILTED, mbd.BrownMcPhee(0.2, 0.15, 0.01)], ids=["exact", "smooth"])
def test_loads_in_the_plane_give_the_friction_of_joints_that_share_nothing(law):
    fine = {"rtol": 1e-9, "atol": 1e-11, "t_eval": np.linspace(0, 0.2, 11)}
    one = mbd.simulate(press(law=law, lengths=False), 0.2, **fine)
    other = mbd.simulate(press(law=law, redundant=False), 0.2, **fine)
    assert np.abs(one["ram"].r - other["ram"].r).max() < 1e-10
    assert np.abs(one.load("rub guide").force - other.load("rub guide").force).max() < 1e-8
    assert np.abs(one["ram"].r[-1] - one["ram"].r[0]).max() > 0.05
    assert np.abs(one.energy().drift).max() < 1e-6


def test_a_load_across_the_plane_is_that_of_least_energy():
    system = press(side=50.0, torque=-40.0)
    model = system.compile()
    found = mbd.accelerations(model)
    assert np.abs(found.v_dot).max() > 1.0
    free, carried = null_space(mbd.evaluate(model).Phi_q.toarray().T), strains(model, system, found.lam)
    assert free.shape[1] == 3
    for n in free.T:
        assert abs(strains(model, system, n) @ carried) < 1e-12 * np.linalg.norm(carried)
    for formulation in (mbd.NullSpace(), mbd.UdwadiaKalaba(), mbd.RangeSpace(), mbd.AugmentedLagrangian()):
        other = mbd.accelerations(model, formulation=formulation)
        assert np.abs(other.lam - found.lam).max() < 1e-9 * np.abs(found.lam).max()
        assert np.abs(other.v_dot - found.v_dot).max() < 1e-9 * np.abs(found.v_dot).max()


@pytest.mark.slow
def test_a_turned_mechanism_has_the_same_friction():
    p = np.array([0.9, 0.3, -0.2, 0.24]) / np.linalg.norm([0.9, 0.3, -0.2, 0.24])
    whole = mbd.System("turned", gravity=Rotation.from_quat(p, scalar_first=True).apply((0, 0, -G)))
    whole.add(press(side=50.0, torque=-40.0, gravity=0.0), prefix="", at=((0.1, 0.2, 0.3), p))
    one, other = (mbd.simulate(system, 0.02, h=1e-3) for system in (press(side=50.0, torque=-40.0), whole))
    for name in HALF:
        for quantity in ("normal_force", "limit"):
            a, b = (getattr(result.load(f"rub {name}"), quantity) for result in (one, other))
            assert np.abs(a - b).max() < 1e-9 * np.abs(a).max()
    assert np.abs(one.energy().drift).max() < 1e-6


@pytest.mark.slow
def test_bushings_of_the_same_stiffness_carry_the_same():
    side, wall = 50.0, B + np.array([0.3, 0, 0])

    def held(system, ram):
        system.add(mbd.TSDA("spring", system.ground, ram, point_i=wall, point_j=B, k=1e5, l0=0.3))
        return system

    exact, pairs = bars(side)
    for name, kind in {"o": RJ, "a": RJ, "b": RJ, "guide": TJ}.items():
        exact.add(kind(name, *pairs[name], point=POINT[name], axis=(1, 0, 0) if name == "guide" else Y))
    rest = mbd.equilibrium(held(exact, pairs["guide"][1])).state
    rubs = press(law=mbd.Coulomb(1e-12), side=side, torque=0.0)
    model = held(rubs, rubs["ram"]).compile()
    carried = mbd.reactions(model, model.state().replace(r=rest.r, p=rest.p))

    loose, pairs = bars(side)
    for name, half in HALF.items():
        stiff = np.array([K, K, K, *(3 * [K * half**2])])
        stiff[0 if name == "guide" else 4] = 0.0
        loose.add(mbd.Bushing(name, *pairs[name], point=POINT[name], K=stiff))
    held(loose, pairs["guide"][1])
    bent = mbd.equilibrium(loose, state=loose.compile().state().replace(r=rest.r, p=rest.p)).state
    bodies = ["ground", "crank", "rod", "ram"]
    for name, (i, j) in pairs.items():
        places = []
        for body in (i, j):
            k = bodies.index(body.name)
            places.append(bent.r[k] + Rotation.from_quat(bent.p[k], scalar_first=True).apply(POINT[name] - body.r))
        force = K * (places[0] - places[1])
        along = np.array([0.0, 1, 1]) if name == "guide" else np.ones(3)
        assert np.abs((force - carried[name].force) * along).max() < 1e-4 * side


def test_a_result_says_on_what_it_rests_and_a_file_keeps_it(tmp_path):
    system = press(side=50.0, stiffness=(K, 1e5))
    one = mbd.simulate(system, 0.005, h=1e-3)
    (note,) = [note for note in map(str, one.warnings) if "bearing_stiffness" in note]
    assert all(f"'rub {name}'" in note for name in HALF)
    read = mbd.load_model(system.save(tmp_path / "press.json"))
    assert read["rub a"].bearing_stiffness == (K, 1e5)
    other = mbd.simulate(read, 0.005, h=1e-3)
    assert np.array_equal(one.r, other.r)
    one.save(tmp_path / "run.npz")
    back = mbd.load(tmp_path / "run.npz")
    assert list(map(str, back.warnings)) == list(map(str, one.warnings))
    assert np.array_equal(back.load("rub a").normal_force, one.load("rub a").normal_force)


def test_what_bearings_do_not_decide_is_refused_by_name():
    with pytest.raises(mbd.ModelError, match=r"'rub guide'.*'guide' carries is not unique"):
        press(rigid=("o", "a", "b", "guide")).compile()
    press(rigid=("guide", "o")).compile()
    for arguments, words in (
        ({"stiffness": -K}, "positive stiffnesses"),
        ({"stiffness": (K, 1.0, 2.0)}, "shape"),
        ({"stiffness": np.inf}, "bearing_stiffness"),
        ({"stiffness": "stiff"}, "not a number"),
        ({"law": mbd.Viscous(0.1), "lengths": False}, "does not depend on the reaction"),
    ):
        with pytest.raises(mbd.ModelError) as raised:
            press(**arguments).compile()
        assert "'rub a'" in str(raised.value)
        assert words in str(raised.value)
    for run in (
        lambda: press().compile(redundancy=mbd.MinimumNorm()),
        lambda: mbd.simulate(press(), 0.01, h=1e-3, redundancy=mbd.MinimumNorm()),
    ):
        with pytest.raises(mbd.ModelError, match="Leave out one of them"):
            run()


@pytest.mark.slow
def test_methods_with_their_own_multipliers_take_loads_in_the_plane_alone():
    law = mbd.BrownMcPhee(0.2, 0.15, 0.01)
    fine = mbd.simulate(press(law=law), 0.01, h=1e-4)
    implicit = mbd.simulate(press(law=law), 0.01, h=1e-4, integrator=mbd.RadauIIA())
    assert np.abs(fine["ram"].r[-1] - implicit["ram"].r[-1]).max() < 1e-8
    with pytest.raises(mbd.SimulationError, match="does not know how such rows share"):
        mbd.simulate(press(law=law, side=50.0), 0.01, h=1e-3, integrator=mbd.HHT())
