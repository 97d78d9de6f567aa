"""The twin of a chain in maximal coordinates: its rows, its loads, and states mapped both ways."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Link, SerialChain
from haugmbd.math.euler_parameters import normalized
from haugmbd.serial_chain import random_motion
from joints import CJ, RJ, SJ, TJ, UJ, Fixed

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed")
REMOVED = {"revolute": 5, "prismatic": 5, "cylindrical": 4, "universal": 4, "spherical": 3, "fixed": 6, "free": 0}
J = (0.1, 0.15, 0.2)
ROUNDING = 1e-13
"""Lengths of a few metres, angles of a few radians, about a hundred operations each."""


def mixed(seed: int, free: bool) -> SerialChain:
    return mbd.random_chain(12, seed, free_base=free)


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_rows_are_those_of_the_joints_and_independent(seed, free):
    chain = mixed(seed, free)
    q, qd, _ = random_motion(chain, seed)
    model = chain.to_system(q=q, qd=qd).compile()
    assert model.nc == sum(REMOVED[link.kind] for link in chain.links) == 6 * chain.n - chain.nv
    rows = mbd.evaluate(model)
    assert np.linalg.matrix_rank(rows.Phi_q.toarray()) == model.nc
    assert abs(rows.Phi).max() <= ROUNDING
    assert abs(rows.Phi_q @ np.hstack([model.state().v, model.state().omega_bar])[1:].ravel() - rows.nu).max() <= 1e-12
    assert set(model.joints) == {f"joint of {link.name}" for link in chain.links if link.kind != "free"}


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_states_go_both_ways(seed, free):
    chain = mixed(seed, free)
    q, qd, _ = random_motion(chain, seed)
    q[[k for k, size in enumerate(abs(q)) if size > 3.0]] = 0.5  # an angle comes back in (-pi, pi]
    model = chain.to_system().compile()
    state = chain.state(model, q, qd, t=2.5)
    assert state.t == 2.5
    q_back, qd_back = chain.coordinates(state)
    assert abs(qd_back - qd).max() <= ROUNDING
    again = chain.state(model, q_back, qd_back)
    for name in ("r", "p", "v", "omega_bar"):
        assert abs(getattr(again, name) - getattr(state, name)).max() <= ROUNDING
    for link, (_, n, at) in zip(chain.links, chain.tables["LINKS"], strict=True):
        part, back = q[at : at + link.nq].copy(), q_back[at : at + link.nq]
        if link.nq > n:
            part[-4:] = normalized(part[-4:]) * np.sign(part[-4])
            assert back[-4] >= 0.0
        assert abs(back - part).max(initial=0.0) <= ROUNDING, link


def test_an_angle_comes_back_in_one_turn_and_half_a_turn_is_positive():
    chain = SerialChain([Link.revolute("a", 1.0, J)])
    model = chain.to_system().compile()
    for angle, back in ((7.0, 7.0 - 2.0 * np.pi), (-4.0, 2.0 * np.pi - 4.0), (np.pi, np.pi), (3.0, 3.0)):
        assert chain.coordinates(chain.state(model, [angle]))[0] == pytest.approx([back], abs=1e-14)


def test_the_modelled_state_is_that_of_q_and_qd_and_by_default_zero():
    chain = mixed(3, True)
    q, qd, _ = random_motion(chain, 3)
    at_pose = chain.to_system(q=q, qd=qd).compile().state()
    elsewhere = chain.state(chain.to_system().compile(), q, qd)
    assert abs(at_pose.y - elsewhere.y).max() <= ROUNDING
    q_0, qd_0 = chain.coordinates(chain.to_system().compile().state())
    assert abs(q_0 - chain.q_zero()).max() <= ROUNDING
    assert abs(qd_0).max() == 0.0


def catalogue_joint(kind: str, joint: mbd.Joint) -> mbd.Joint:
    """The catalogue's joint in the same frames."""
    a, b = joint.frame_i, joint.frame_j
    book = (a.body, a.s_bar, a.f, a.g, b.body, b.s_bar, b.h)
    if kind == "universal":
        return UJ.from_vectors("book", a.body, a.s_bar, a.f, b.body, b.s_bar, b.g)
    if kind == "spherical":
        return SJ.from_vectors("book", a.body, a.s_bar, b.body, b.s_bar)
    if kind in ("prismatic", "fixed"):
        return {"prismatic": TJ, "fixed": Fixed}[kind].from_vectors("book", *book, b.g, 0.0)
    return {"revolute": RJ, "cylindrical": CJ}[kind].from_vectors("book", *book)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_the_rows_are_the_catalogues(kind):
    chain = mbd.random_chain(3, 11, kinds=[kind])
    q, qd, _ = random_motion(chain, 5)
    ours = chain.to_system(q=q, qd=qd)
    book = mbd.System("book", gravity=ours.gravity)
    ours_rows = mbd.evaluate(ours.compile())
    theirs = []
    for joint in ours.joints:
        theirs.append(catalogue_joint(kind, joint))
        assert [type(p) for p in theirs[-1].primitives()] == [type(p) for p in joint.primitives()]
        theirs[-1].name = joint.name
    book.bodies, book.ground, book.joints = ours.bodies, ours.ground, theirs
    rows = mbd.evaluate(book.compile())
    for name in ("Phi", "nu", "gamma", "Phi_r", "PiBar"):
        assert abs(getattr(rows, name) - getattr(ours_rows, name)).max() <= 1e-15


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("kind", [*KINDS, "mixed"])
def test_generalized_forces_and_wrenches_become_loads(kind, free):
    chain = mbd.random_chain(5, 21, kinds=KINDS if kind == "mixed" else [kind], free_base=free)
    q, qd, tau = random_motion(chain, 22)
    wrenches = np.random.default_rng(23).normal(size=(5, 6))
    model = chain.to_system(tau, wrenches, q=q, qd=qd).compile()
    found = mbd.accelerations(model)
    motion = mbd.link_motion(chain, q, qd, mbd.aba(chain, q, qd, tau, wrenches=wrenches))
    assert abs(found.v_dot[1:] - motion.v_dot).max() <= 1e-12 * max(1.0, abs(motion.v_dot).max())
    omega_bar_dot = np.einsum("nab,na->nb", motion.A, motion.omega_dot)
    assert abs(found.omega_bar_dot[1:] - omega_bar_dot).max() <= 1e-12 * max(1.0, abs(motion.omega_dot).max())


def test_a_pair_of_loads_adds_nothing_to_the_momentum_of_a_free_chain():
    chain = mbd.random_chain(6, 4, free_base=True, gravity=(0.0, 0.0, 0.0))
    q, qd, tau = random_motion(chain, 4)
    tau[:6] = 0.0
    result = mbd.simulate(chain.to_system(tau, q=q, qd=0.1 * qd), t_end=0.05, h=5e-3)
    momentum = result.momentum()
    assert abs(momentum.linear - momentum.linear[0]).max() <= 1e-12
    assert abs(momentum.angular - momentum.angular[0]).max() <= 1e-6  # RK4 at this step


def test_tau_follows_the_bodies_when_the_chain_moves():
    chain = mbd.random_chain(4, 8, kinds=["universal", "spherical", "revolute", "prismatic"])
    q, qd, tau = random_motion(chain, 9)
    model = chain.to_system(tau).compile()  # modelled at zero
    found = mbd.accelerations(model, chain.state(model, q, qd))
    motion = mbd.link_motion(chain, q, qd, mbd.aba(chain, q, qd, tau))
    assert abs(found.v_dot[1:] - motion.v_dot).max() <= 1e-12 * abs(motion.v_dot).max()


def test_arms_of_a_cross_that_are_nearly_at_right_angles_are_straightened():
    link = Link.universal("cross", 1.0, J, axis_1=(1, 0, 0), axis_2=(5e-7, 1, 0), c=(0.3, 0.1, 0.2))
    assert [axis.tolist() for _, axis in link.ways] == [[1, 0, 0], [0, 1, 0]]
    chain = SerialChain([Link.revolute("base", 1.0, J), link])
    q, qd, tau = np.array([0.3, 0.5, -0.7]), np.array([0.2, -0.4, 0.6]), np.array([0.1, 0.7, -0.9])
    assert mbd.crosscheck(chain, q, qd, tau).worst <= ROUNDING
    with pytest.raises(mbd.ModelError, match="are 89 degrees apart"):
        SerialChain([Link.universal("oblique", 1.0, J, axis_1=(1, 0, 0), axis_2=(np.sin(np.radians(1)), np.cos(np.radians(1)), 0))])


def test_a_massless_link_cannot_be_a_body():
    chain = SerialChain([Link.revolute("light", 0.0, (0, 0, 0)), Link.revolute("wire", 0.0, J), Link.spherical("end", 1.0, J)])
    with pytest.raises(mbd.ModelError) as error:
        chain.to_system()
    assert [fault.where for fault in error.value.faults] == ["link 'light'", "link 'wire'"]
    assert "its mass is 0 kg" in str(error.value)


def test_a_joint_of_ones_own_has_no_twin():
    skew = Link("screwed", "skew", ((0, (1, 0, 0)), (1, (0, 1, 0))), 1.0, J)
    table = Link("puck", "planar", ((0, (1, 0, 0)), (0, (0, 1, 0)), (1, (0, 0, 1))), 1.0, J)
    with pytest.raises(mbd.ModelError) as error:
        SerialChain([skew, table]).to_system()
    assert [fault.where for fault in error.value.faults] == ["link 'screwed'", "link 'puck'"]
    assert "is not in the catalogue of joints" in error.value.faults[0].what


@pytest.mark.parametrize(("option", "label"), [("tau", "tau"), ("q", "q"), ("qd", "qd"), ("wrenches", "wrenches")])
def test_wrong_lengths_are_said(option, label):
    chain = mixed(1, False)
    with pytest.raises(mbd.UsageError, match=rf"{label} .*has shape \(2,\), expected"):
        chain.to_system(**{option: [1.0, 2.0]})


def test_a_state_that_violates_the_joints_gets_the_gap_by_joint():
    chain = SerialChain([Link.revolute("a", 1.0, J), Link.prismatic("b", 1.0, J), Link.spherical("c", 1.0, J)])
    model = chain.to_system().compile()
    state = chain.state(model, chain.q_zero(), np.array([0.5, 0.0, 0.0, 0.0, 0.0]))
    r, v, p, omega_bar = state.r.copy(), state.v.copy(), state.p.copy(), state.omega_bar.copy()
    r[3] += (0.0, 0.3, 0.0)
    p[2] = normalized([1.0, 0.1, 0.0, 0.0])
    with pytest.raises(mbd.ModelError) as error:
        chain.coordinates(state.replace(r=r, p=p))
    told = {fault.where: fault.what for fault in error.value.faults}
    assert set(told) == {"joint of link 'b' (prismatic)", "joint of link 'c' (spherical)"}
    assert "11.4 degrees" in told["joint of link 'b' (prismatic)"]
    v[3] += (0.2, 0.0, 0.0)
    omega_bar[1] += (0.3, 0.0, 0.0)
    with pytest.raises(mbd.ModelError) as error:
        chain.coordinates(state.replace(v=v, omega_bar=omega_bar))
    told = {fault.where: fault.what for fault in error.value.faults}
    assert "turn apart with 0.3 rad/s" in told["joint of link 'a' (revolute)"]
    assert "part with 0.2 m/s" in told["joint of link 'c' (spherical)"]


def test_models_and_states_of_something_else_are_refused():
    chain, other = mixed(1, False), mbd.random_chain(3, 1)
    model = other.to_system().compile()
    with pytest.raises(mbd.UsageError, match="not the links of chain"):
        chain.state(model, chain.q_zero())
    with pytest.raises(mbd.UsageError, match="the state has 3 bodies, chain 'random 1' has 12 links"):
        chain.coordinates(model.state())


def test_the_order_of_rows_is_kept_and_checked():
    links = [Link.revolute(name, 1.0, J) for name in "abc"]
    chain = SerialChain(links, order=(2, 3, 1))
    model = chain.to_system().compile()
    assert model.body_names == ("ground", "c", "a", "b")
    q = np.array([0.1, 0.2, 0.3])
    assert chain.coordinates(chain.state(model, q))[0] == pytest.approx(q, abs=ROUNDING)
    with pytest.raises(mbd.ModelError, match=r"order is \(0, 1, 2\)"):
        SerialChain(links, order=(0, 1, 2))


@pytest.mark.parametrize("thing", [None, "model", 3])
def test_something_else_than_a_model_or_a_state_is_refused(thing):
    chain = SerialChain([Link.revolute("a", 1.0, J)])
    with pytest.raises(mbd.UsageError, match=r"chain\.state got .*needs a compiled model"):
        chain.state(thing, [0.0])
    with pytest.raises(mbd.UsageError, match=r"chain\.coordinates got .*needs a State of bodies"):
        chain.coordinates(thing)


def test_joint_coordinates_are_no_state_of_bodies():
    chain = SerialChain([Link.revolute("a", 1.0, J)])
    with pytest.raises(mbd.UsageError, match=r"\(ChainState\), and needs a State of bodies"):
        chain.coordinates(mbd.ChainState([0.0], [0.0]))


@pytest.mark.parametrize("t", [None, "now", np.nan])
def test_a_time_that_is_none_is_refused(t):
    chain = SerialChain([Link.revolute("a", 1.0, J)])
    with pytest.raises(mbd.UsageError, match=r"chain\.state got t = "):
        chain.state(chain.to_system().compile(), [0.0], t=t)
