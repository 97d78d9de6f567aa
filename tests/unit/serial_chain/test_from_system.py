"""From a System to the chain that it is, and what is said where it is none."""

from __future__ import annotations

import re

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Body, SerialChain, System, gallery
from haugmbd.constraints.freedoms import G_J, H_I, Side, ball, slide, turn
from haugmbd.gallery import indexing_cam, rolling_disc
from haugmbd.math.euler_parameters import normalized
from haugmbd.serial_chain import random_motion
from joints import CJ, RJ, SJ, TJ, UJ, Fixed, Planar, PointOnLine, RotationDriver, TranslationDriver
from tests.support.seeds import seeds

J = (0.1, 0.15, 0.2)


def accelerations_agree(system: System, chain: SerialChain, tol: float = 1e-12) -> None:
    """aba of the chain at the modelled pose, and the augmented system, without loads."""
    bare = System(system.name, gravity=system.gravity)
    bare.bodies, bare.ground, bare.joints = system.bodies, system.ground, system.joints
    model = bare.compile()
    q, qd = chain.coordinates(model.state())
    motion = mbd.link_motion(chain, q, qd, mbd.aba(chain, q, qd))
    found, rows = mbd.accelerations(model), list(chain.order)
    scale = max(9.81, abs(motion.v_dot).max())
    assert [link.name for link in chain.links] == [model.body_names[k] for k in rows]
    assert abs(motion.r - model.state().r[rows]).max() <= 1e-12
    assert abs(motion.v - model.state().v[rows]).max() <= 1e-12
    assert abs(found.v_dot[rows] - motion.v_dot).max() <= tol * scale
    omega_bar_dot = np.einsum("nab,na->nb", motion.A, motion.omega_dot)
    assert abs(found.omega_bar_dot[rows] - omega_bar_dot).max() <= tol * max(scale, abs(omega_bar_dot).max())


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", seeds(3))
def test_a_chain_its_twin_and_the_chain_of_that(seed, free):
    chain = mbd.random_chain(10, seed, free_base=free)
    q, qd, _ = random_motion(chain, seed)
    twin = chain.to_system(q=q, qd=qd)
    again = SerialChain.from_system(twin)
    assert [link.kind for link in again.links] == [link.kind for link in chain.links]
    assert again.name == chain.name
    assert np.array_equal(again.gravity, chain.gravity)
    accelerations_agree(twin, again)
    if not free:  # a free link has its handle at the centre of mass
        q_1, qd_1 = chain.coordinates(twin.compile().state())
        q_2, qd_2 = again.coordinates(twin.compile().state())
        assert abs(q_2 - q_1).max() <= 1e-12
        assert abs(qd_2 - qd_1).max() <= 1e-12
    second = again.to_system(q=again.coordinates(twin.compile().state())[0], qd=again.coordinates(twin.compile().state())[1])
    there, here = mbd.accelerations(second.compile()), mbd.accelerations(twin.compile())
    assert abs(there.v_dot - here.v_dot).max() <= 1e-11 * abs(here.v_dot).max()


def catalogue_system(seed: int, free: bool) -> System:
    """A chain of catalogue joints with bodies and joints in any order, any body first in a joint."""
    rng = np.random.default_rng(seed)
    system = System("mixed", gravity=(0.3, -0.2, -9.81))
    bodies = [Body(f"b{k}", 1.0 + k, J, r=rng.normal(size=3), p=normalized(rng.normal(size=4))) for k in range(7)]
    for k in rng.permutation(7):
        system.add(bodies[k])
    pairs = list(zip([system.ground, *bodies[:-1]], bodies, strict=True))[1 if free else 0 :]
    kinds = rng.permutation([RJ, TJ, CJ, UJ, SJ, Fixed, RJ])[: len(pairs)]
    for k in rng.permutation(len(pairs)):
        i, j = pairs[k] if rng.random() < 0.5 else pairs[k][::-1]
        point, (a, b) = rng.normal(size=3), rng.normal(size=(2, 3))
        geometry = {UJ: {"axis_i": a, "axis_j": np.cross(a, b)}, SJ: {}, Fixed: {}}.get(kinds[k], {"axis": a})
        system.add(kinds[k](f"joint {k}", i, j, point=point, **geometry))
    return system


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", seeds(4))
def test_any_order_of_bodies_and_joints_and_any_side(seed, free):
    system = catalogue_system(seed, free)
    chain = SerialChain.from_system(system)
    names = [link.name for link in chain.links]
    assert names in ([f"b{k}" for k in range(7)], [f"b{k}" for k in range(6, -1, -1)])
    assert free or names[0] == "b0"
    accelerations_agree(system, chain)
    q, qd, tau = random_motion(chain, seed)
    assert mbd.crosscheck(chain, q, qd, tau).worst <= 1e-10
    model = system.compile()
    state = chain.state(model, q, qd)  # of the system's own model, far from its modelled pose
    rows = mbd.evaluate(model, state)
    assert abs(rows.Phi).max() <= 1e-12
    motion, order = mbd.link_motion(chain, q, qd, mbd.aba(chain, q, qd)), list(chain.order)
    assert abs(mbd.accelerations(model, state).v_dot[order] - motion.v_dot).max() <= 1e-11 * abs(motion.v_dot).max()
    assert abs(chain.coordinates(state)[1] - qd).max() <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("make", [lambda: gallery.chain(6), gallery.double_pendulum, gallery.pendulum, gallery.heavy_top])
def test_the_gallery(make):
    system = make()
    accelerations_agree(system, SerialChain.from_system(system))
    assert SerialChain.from_system(system.compile()).order == SerialChain.from_system(system).order


def test_the_modelled_pose_has_zero_angles_and_the_modelled_velocities():
    system = gallery.double_pendulum()
    chain = SerialChain.from_system(system)
    q, qd = chain.coordinates(system.compile().state())
    assert q.tolist() == [0.0, 0.0]
    assert qd.tolist() == [0.0, 0.0]


@pytest.mark.slow
def test_a_long_chain():
    chain = SerialChain.from_system(gallery.chain(1100))  # deeper than Python's recursion
    assert chain.nv == 1100


def row_of(*names: str) -> tuple[System, dict[str, Body]]:
    """A system with bodies along x, 1 m apart."""
    system = System("row", gravity=(0.0, 0.0, -9.81))
    bodies = {name: system.add(Body(name, 1.0, J, r=(k + 0.5, 0.0, 0.0))) for k, name in enumerate(names)}
    return system, {"ground": system.ground, **bodies}


def pin(system: System, bodies: dict[str, Body], i: str, j: str, name: str | None = None) -> RJ:
    """An RJ between two bodies, about y."""
    return system.add(RJ(name or f"{i}-{j}", bodies[i], bodies[j], point=(0.5 * (bodies[i].r + bodies[j].r)), axis=(0, 1, 0)))


def told(system: System, **options: bool) -> list[str]:
    """The faults, as texts."""
    with pytest.raises(mbd.ModelError) as error:
        SerialChain.from_system(system, **options)
    return [str(fault) for fault in error.value.faults]


def test_a_branch():
    system, b = row_of("x", "a", "b")
    for i, j in (("ground", "x"), ("x", "a"), ("b", "x")):
        pin(system, b, i, j)
    (fault,) = told(system)
    assert fault.startswith("body 'x': the system branches there, to 'a' and 'b'. ")


def test_a_branch_at_the_ground():
    system, b = row_of("x", "y")
    pin(system, b, "ground", "x")
    pin(system, b, "ground", "y")
    (fault,) = told(system)
    assert fault.startswith("body 'ground': the system branches there, to 'x' and 'y'. ")


def test_a_loop():
    (fault,) = told(gallery.four_bar())
    assert fault.startswith("loop through 'ground', 'crank', 'coupler' and 'rocker': joint 'D' closes it. ")


def test_a_loop_without_ground():
    system, b = row_of("x", "y", "z")
    for i, j in (("x", "y"), ("y", "z"), ("z", "x")):
        pin(system, b, i, j)
    (fault,) = told(system)
    assert fault.startswith("loop through 'x', 'y' and 'z': joint 'z-x' closes it. ")


def test_bodies_that_are_left_over():
    system, b = row_of("x", "alone", "p", "q")
    pin(system, b, "ground", "x")
    pin(system, b, "p", "q")
    alone, pair = told(system)
    assert alone.startswith("body 'alone': it is connected to nothing. ")
    assert pair.startswith("bodies 'p' and 'q': they are connected to one another, but not to 'ground'. ")


def test_two_free_bodies():
    system, _ = row_of("x", "y")
    (fault,) = told(system)
    assert fault.startswith("body 'y': it is connected to nothing. ")


def test_two_joints_between_two_bodies():
    system, b = row_of("x")
    pin(system, b, "ground", "x", "left")
    pin(system, b, "x", "ground", "right")
    (fault,) = told(system)
    assert fault.startswith("bodies 'ground' and 'x': 2 joints stand between them: 'left' and 'right'. ")


@pytest.mark.parametrize("side", ["i", "j"])
@pytest.mark.parametrize("kind", [Planar, PointOnLine])
def test_joints_that_have_no_place(kind, side):
    system, b = row_of("x")
    ends = (system.ground, b["x"]) if side == "j" else (b["x"], system.ground)
    option = "normal" if kind is Planar else "axis"
    system.add(kind("sheet", *ends, point=(0, 0, 0), **{option: (0, 0, 1)}))
    (fault,) = told(system)
    assert fault.startswith(f"joint 'sheet' ({kind.__name__}): a joint of this kind has no place in a chain. A chain has revolute")


class Own(RJ):
    """A joint of one's own."""


@pytest.mark.parametrize(
    "freedoms", [(turn(H_I), turn(G_J), turn(H_I)), (slide(H_I), turn(G_J)), (turn(G_J), turn(H_I)), (turn(H_I), *ball(Side.J))]
)
def test_freedoms_that_no_link_has(freedoms):
    system, b = row_of("x")
    pin(system, b, "ground", "x").__class__ = type("Own", (Own,), {"freedoms": freedoms})
    (fault,) = told(system)
    assert "has no place in a chain" in fault


def test_a_joint_that_does_not_say_what_it_leaves_free():
    system, b = row_of("x")
    pin(system, b, "ground", "x").__class__ = type("Hinge", (Own,), {"freedoms": None})
    (fault,) = told(system)
    assert fault.startswith("joint 'ground-x' (Hinge): it does not say what it leaves free. Declare `freedoms`")


@pytest.mark.parametrize("make", [rolling_disc, indexing_cam])
def test_joints_that_no_chain_has_name_the_way_out(make):
    """A rolling joint and a cam are joints of the catalogue: declaring their freedoms is no remedy."""
    with pytest.raises(mbd.ModelError, match=r"take NewtonEuler or another formulation") as caught:
        mbd.simulate(make(), 0.1, h=0.01, formulation=mbd.ReducedChain())
    assert "Declare `freedoms`" not in str(caught.value)
    assert mbd.simulate(make(), 0.02, h=0.01, formulation=mbd.NewtonEuler()).success


def test_drivers():
    system, b = row_of("x", "y", "z")
    system.add(RotationDriver("turn", pin(system, b, "ground", "x"), lambda t: 0.3 * t))
    slider = system.add(TJ("rail", b["x"], b["y"], point=(1, 0, 0), axis=(1, 0, 0)))
    system.add(TranslationDriver("push", slider, lambda t: 0.1 * t * t))
    system.add(RotationDriver("lock", pin(system, b, "y", "z"), 0.0))
    faults = told(system)
    assert [re.match(r"joint '(\w+)'", fault)[1] for fault in faults] == ["turn", "push", "lock"]
    assert all("it prescribes a motion, and a chain is moved by tau" in fault for fault in faults)
    with pytest.raises(mbd.ModelError, match="it prescribes a motion"):
        SerialChain.from_system(system.compile())


def loaded() -> System:
    system, b = row_of("x", "y")
    pin(system, b, "ground", "x")
    elbow = pin(system, b, "x", "y")
    system.add(mbd.TSDA("spring", system.ground, b["y"], point_i=(0, 0, 1), point_j=(1.5, 0, 0), k=10.0, l0=1.0))
    system.add(mbd.RSDA("coil", elbow, k=3.0))
    system.add(mbd.PointForce("push", b["x"], force=(0, 0, 1)))
    return system


def test_loads_are_refused_by_name_or_left_out():
    faults = told(loaded())
    assert [fault.split(":")[0] for fault in faults] == ["TSDA 'spring'", "RSDA 'coil'", "PointForce 'push'"]
    assert all("a chain does not carry it over. Give what it does as tau or wrenches" in fault for fault in faults)
    system = loaded()
    accelerations_agree(system, SerialChain.from_system(system, without_loads=True))


def test_everything_at_once():
    system = loaded()
    b = {body.name: body for body in system.bodies}
    b["w"] = system.add(Body("w", 1.0, J, r=(0, 1, 0)))
    b["v"] = system.add(Body("v", 1.0, J, r=(0, 2, 0)))
    system.add(Planar("sheet", b["x"], b["w"], point=(0, 1, 0), normal=(0, 0, 1)))
    said = "\n".join(told(system))
    for part in (
        "body 'x': the system branches there, to 'y' and 'w'",
        "body 'v': it is connected to nothing",
        "joint 'sheet' (Planar)",
    ):
        assert part in said
    assert said.count("\n") == 5
    assert "TSDA" not in "\n".join(told(system, without_loads=True))


def test_faults_of_the_system_come_first():
    system, b = row_of("x")
    system.add(RJ("pin", system.ground, b["x"], point=(0, 0, 0), axis=(0, 0, 0)))
    with pytest.raises(mbd.ModelError, match=re.escape("axis is (0, 0, 0)")):
        SerialChain.from_system(system)


def test_a_pose_that_is_not_closed():
    system, b = row_of("x", "y")
    system.add(RJ.from_vectors("pin", system.ground, (0, 0, 0), (1, 0, 0), (0, 1, 0), b["x"], (-0.6, 0, 0), (0, 0, 1)))
    pin(system, b, "x", "y")
    with pytest.raises(mbd.ModelError, match=r"joint of link 'x' \(revolute\): its points are 0.1 m apart"):
        SerialChain.from_system(system)


@pytest.mark.parametrize("thing", ["chain", None, mbd.random_chain(2, 1)])
def test_something_else(thing):
    with pytest.raises(mbd.UsageError, match="Give a System, or the Model that it compiles to"):
        SerialChain.from_system(thing)


@pytest.mark.parametrize("sign", [1, -1])
def test_coordinates_of_joints_of_one_freedom_are_those_of_their_histories(sign):
    """They are q0 at the modelled pose; where the link is body i, they have the other sign."""
    system = System("arm", gravity=(0, -9.81, 0))
    arm = system.add(Body("arm", 1.0, J, r=(0.3, 0.1, 0.0)))
    slider = system.add(Body("slider", 2.0, J, r=(0.5, 0.4, 0.2)))
    system.add(RJ("pin", *(system.ground, arm)[::sign], point=(0, 0, 0), axis=(0, 0, 1), q0=0.7))
    system.add(TJ("slot", *(arm, slider)[::sign], point=(0.4, 0.3, 0.2), axis=(1, 2, 0.5), q0=-0.25))
    chain = SerialChain.from_system(system)
    q, _ = chain.coordinates(system.compile().state())
    assert q.tolist() == pytest.approx([sign * 0.7, sign * -0.25], abs=1e-15)
    accelerations_agree(system, chain)
    run = mbd.simulate(system, 0.3, h=0.01)
    q_end, qd_end = chain.coordinates(run.state(-1))
    at_end = [run.joint("pin").angle[-1], run.joint("slot").displacement[-1]]
    assert (sign * q_end).tolist() == pytest.approx(at_end, abs=1e-8)  # the run keeps the joints to 1e-9
    twin = chain.to_system(q=q_end, qd=qd_end).compile()
    for made in (twin.joints["joint of arm"].part, twin.joints["joint of slider"].part):
        assert made.q0 in q_end
    assert SerialChain.from_system(twin).coordinates(twin.state())[0] == pytest.approx(q_end, abs=1e-12)
