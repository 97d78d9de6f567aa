"""What articulated_impulse and chain_impulse refuse, and what they say; contacts that do not strike."""

from __future__ import annotations

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import SimulationError, UsageError
from haugmbd.math.euler_parameters import normalized

ROD = (1.0, [1 / 12] * 3)
"""Mass and moments of inertia of a rod of 1 kg and 1 m."""
TIP = (2.0, 0.0, 0.0)


def rods(*kinds, **options):
    """Straight rods on the x axis."""
    links = [getattr(mbd.Link, kind)(f"rod {k}", *ROD, c=0.5, L=1.0) for k, kind in enumerate(kinds, start=1)]
    return mbd.SerialChain(links, name="rods", **options)


def strike(chain=None, q=(0.0, 0.0), qd=(1.0, 1.0), **options):
    """The tip of two hinged rods hits along y, unless `options` say otherwise."""
    arguments = {"point": TIP, "plane_normal": (0, -1, 0), **options}
    return mbd.articulated_impulse(rods("revolute", "revolute") if chain is None else chain, q, qd, **arguments)


WRONG = [
    (
        {"plane_normal": (0, 0, 0)},
        "impact of link 'rod 2': plane_normal is (0, 0, 0). Give the direction from the object towards the link",
    ),
    ({"plane_normal": (0, 1)}, "normal has shape (2,), expected (3,). Give the direction"),
    ({"plane_normal": "up"}, "normal is 'up', not an array of numbers"),
    ({"plane_normal": (0, np.nan, 0)}, "normal = [0.0, nan, 0.0] is not finite"),
    ({"point": (1, 2)}, "point has shape (2,), expected (3,). Give point as finite numbers [m]"),
    ({"point": None, "point_bar": 1.0}, "point_bar has shape (), expected (3,)"),
    ({"point": None}, "neither point nor point_bar is given. Give point=, global, or point_bar="),
    ({"point_bar": TIP}, "both point and point_bar are given."),
    ({"restitution": 1.5}, "restitution is 1.5, must be between 0 and 1. Give 0 for no bounce, 1 for no loss."),
    ({"restitution": -0.1}, "restitution is -0.1, must be between 0 and 1."),
    ({"restitution": np.nan}, "restitution is nan, not finite."),
    ({"restitution": "half"}, "restitution is 'half', not a number."),
    ({"link": "tip"}, "no link is called 'tip'; the links are 'rod 1', 'rod 2'."),
    ({"link": 2}, "link 2 does not exist: the chain has 2 links, 0 ... 1."),
    ({"link": 0.5}, "link 0.5 is not a link: give its name, or its number, 0 ... 1."),
    ({"link": None}, "link None is not a link: give its name, or its number, 0 ... 1."),
    ({"q": (0.0,)}, "q (coordinates) has shape (1,), expected (2,). The chain of 2 links has 2 coordinates and 2 freedoms"),
    ({"qd": (0.0, 1.0, 2.0)}, "qd (rates) has shape (3,), expected (2,)."),
]


@pytest.mark.parametrize(("wrong", "said"), WRONG, ids=lambda x: "" if isinstance(x, str) else "-".join(x))
def test_bad_arguments_are_refused_with_the_remedy(wrong, said):
    with pytest.raises(UsageError) as caught:
        strike(**wrong)
    assert said in str(caught.value)


def test_numbers_that_are_not_finite_are_refused():
    """Vectors of doubles are not looked at beforehand."""
    good, nan, inf = np.array([[0.1, 0.2], [0.1, np.nan], [0.1, np.inf]])
    for ask in (
        lambda: strike(q=nan, qd=good),
        lambda: strike(q=good, qd=nan),
        lambda: strike(q=good, qd=inf),
        lambda: mbd.chain_impulse(rods("revolute", "revolute"), nan),
        lambda: mbd.chain_impulse(rods("revolute", "revolute"), good, tau=nan),
    ):
        with pytest.raises(UsageError, match="must be finite, got a NaN or an infinity"):
            ask()


def test_all_faults_of_a_contact_come_at_once():
    with pytest.raises(UsageError) as caught:
        strike(plane_normal=(0, 0, 0), point=(0, 0), restitution=2)
    assert all(said in str(caught.value) for said in ("normal is (0, 0, 0)", "point has shape (2,)", "restitution is 2"))


IMMOVABLE = [
    (rods("revolute", "revolute"), {"plane_normal": (-1, 0, 0)}),
    (rods("revolute", "revolute"), {"plane_normal": (0, 0, -1)}),
    (rods("revolute", "revolute", base=(1e3, 2e3, 0)), {"plane_normal": (-1, 0, 0), "point": (1002, 2000, 0)}),
    (rods("revolute", "revolute"), {"link": 0, "point": (0, 0, 0)}),
    (rods("prismatic"), {"q": [0.0], "qd": [1.0]}),
    (rods("fixed", "fixed"), {"q": [], "qd": []}),
]


@pytest.mark.parametrize(("chain", "contact"), IMMOVABLE)
def test_an_immovable_contact_is_named(chain, contact):
    with pytest.raises(SimulationError, match=r"immovable: no joint can give way along the normal \(n\^T A\^-1 n = ") as caught:
        strike(chain, **contact)
    assert f"contact of link {chain.links[chain.link(contact.get('link', -1))].name!r} at (" in str(caught.value)


def test_turned_by_rounding_it_is_still_immovable():
    """At 90 degrees cos is 6e-17, not zero."""
    with pytest.raises(SimulationError, match="immovable"):
        strike(q=(np.pi / 2, 0.0), point=(0, 2, 0))


def test_a_small_lever_is_no_immovable_contact():
    impact = strike(plane_normal=tuple(-x for x in (1.0, 1e-8, 0.0)))
    assert impact.J == pytest.approx(7 / 24 * 3 * 1e8, rel=1e-6)


@pytest.mark.parametrize(("qd", "said"), [((-1.0, -1.0), "separates with 3 m/s"), ((0.0, 0.0), "does not approach (v_imp = 0)")])
def test_a_contact_that_does_not_approach_gets_no_impulse(qd, said):
    impact = strike(qd=qd, restitution=0.5)
    assert impact.message == f"link 'rod 2' {said}: no impulse, the motion is unchanged."
    assert impact.J == 0.0
    assert impact.v_imp == impact.v_bounce == qd[0] * 2 + qd[1]
    assert not any(np.abs(x).any() for x in (impact.l, impact.dqd, impact.dv))
    assert impact.qd.tolist() == list(qd)
    assert impact.compliance == pytest.approx(24 / 7)
    assert impact.inverse_inertia[1][1, 1] == pytest.approx(96 / 7)


def test_a_freedom_without_inertia_is_named():
    """Two hinges with one axis: the ring between them is free to spin."""
    ring = mbd.Link.revolute("ring", 0.0, [0.0] * 3, L=0.0)
    chain = mbd.SerialChain([ring, mbd.Link.revolute("rod", *ROD, c=0.5)], name="doubled")
    for ask in (
        lambda: mbd.articulated_impulse(chain, [0, 0], [1, 1], point=(1, 0, 0), plane_normal=(0, -1, 0)),
        lambda: mbd.chain_impulse(chain, [0, 0]),
    ):
        with pytest.raises(SimulationError, match=r"chain 'doubled': nothing has inertia along freedom 0, 'ring' turn about"):
            ask()


@pytest.mark.parametrize("seed", range(20))
def test_rounding_is_not_taken_for_inertia(seed):
    """Doubled hinges anywhere, and a straight chain of slender rods on a ball: what is left along the freedom is 1e-17, not zero."""
    rng = np.random.default_rng(seed)
    axis, p = rng.normal(size=3), normalized(rng.normal(size=4))
    ring = mbd.Link.revolute("ring", 0.0, [0.0] * 3, axis=axis, p=p, L=0.0)
    doubled = mbd.SerialChain([ring, mbd.Link.revolute("rod", 1.0, (0.1, 0.2, 0.25), axis=axis, c=(0.3, 0.2, 0.1))])
    slender = (1.0, (0.0, 1 / 12, 1 / 12))
    straight = mbd.SerialChain([mbd.Link.spherical("ball", *slender, c=0.5, p=p), mbd.Link.revolute("rod", *slender, c=0.5)])
    for chain, q in ((doubled, rng.normal(size=2)), (straight, straight.q_zero())):
        with pytest.raises(SimulationError, match=f"nothing has inertia along freedom 0, '{chain.links[0].name}' turn about"):
            mbd.chain_impulse(chain, q, rng.normal(size=(2, 6)))


def test_a_massless_link_on_the_way_needs_no_inverse():
    """A universal joint as two hinges: J, l, dq_dot exist, A_i^-1 of the massless cross does not."""
    cross = mbd.Link.revolute("cross", 0.0, [0.0] * 3, axis=(0, 1, 0), L=0.0)
    two = mbd.SerialChain([cross, mbd.Link.revolute("rod", *ROD, c=0.5)])
    one = mbd.SerialChain([mbd.Link.universal("rod", *ROD, c=0.5, axis_1=(0, 1, 0), axis_2=(0, 0, 1))])
    contact = {"point_bar": (1, 0, 0), "plane_normal": (-0.3, -1, -0.2), "restitution": 0.4}
    a, b = (mbd.articulated_impulse(chain, [0.3, 0.5], [0.2, 2.0], **contact) for chain in (two, one))
    assert a.J == pytest.approx(b.J, rel=1e-13)
    np.testing.assert_allclose(a.dqd, b.dqd, rtol=1e-12)
    np.testing.assert_allclose(a.l[0], b.l[0], rtol=1e-12, atol=1e-13)
    assert np.isfinite(b.inverse_inertia).all()
    with pytest.raises(
        SimulationError, match=r"link 'cross' \(mass 0 kg\) has no inertia of its own along a freedom of its revolute"
    ):
        _ = a.inverse_inertia


def test_wrong_impulses_are_refused():
    chain = rods("revolute", "revolute")
    for arguments, said in (
        ({"wrenches": np.zeros((3, 6))}, "wrenches"),
        ({"tau": [1.0]}, "tau (generalized forces) has shape (1,), expected (2,)"),
        ({"q": [0.0]}, "q (coordinates) has shape (1,), expected (2,)"),
    ):
        with pytest.raises(UsageError) as caught:
            mbd.chain_impulse(chain, **{"q": [0.0, 0.0], **arguments})
        assert said in str(caught.value)


def test_the_arguments_are_not_changed_and_the_result_keeps_its_own():
    chain, q, qd = rods("revolute", "revolute"), np.array([0.3, 0.2]), np.array([1.0, 1.0])
    before = q.copy(), qd.copy()
    impact = strike(chain, q, qd, point=None, point_bar=(1, 0, 0))
    assert q.tolist() == before[0].tolist()
    assert qd.tolist() == before[1].tolist()
    q[:] = 0.0
    n = impact.normal_wrench
    assert n @ impact.inverse_inertia[1] @ n == pytest.approx(impact.compliance, rel=1e-12)
