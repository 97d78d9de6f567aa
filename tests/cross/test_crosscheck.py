"""The cross-check: reduced and maximal coordinates tell the same story, and a story that is wrong is found."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd import Link, SerialChain
from haugmbd.cli.crosscheck import chain_of
from haugmbd.serial_chain import random_motion
from haugmbd.serial_chain.chain import KINDS
from tests.support.seeds import seeds

MODULE = sys.modules[mbd.crosscheck.__module__]  # the package has a function of this name
J = (0.1, 0.15, 0.2)
NAMES = (
    "joint accelerations", "body accelerations", "rnea after aba", "crba after aba", "projected after aba", "mass matrix",
    "constraint rows", "joint wrenches", "rate jumps", "joint impulses", "momentum balance", "power balance",
)  # fmt: skip


def checked(chain: SerialChain, seed: int) -> mbd.CrossCheck:
    """At a random motion, under random forces, wrenches and impulses."""
    q, qd, tau = random_motion(chain, seed)
    wrenches, impulse = np.random.default_rng(seed).normal(size=(2, chain.n, 6))
    return mbd.crosscheck(chain, q, qd, tau, wrenches=wrenches, impulse=impulse)


@pytest.mark.slow
@pytest.mark.parametrize("free", [False, True])
def test_random_chains_of_up_to_30_links_agree(free):
    found = [checked(chain_of(seed, 30, KINDS, free), seed) for seed in seeds(6, first=6)]
    assert max(result.links for result in found) >= 28
    table = np.array([[d.relative for d in result] for result in found])
    assert table.max() <= 1e-9  # measured: 5e-12, where crba's matrix is solved
    assert np.median(table, axis=0).max() <= 1e-11  # measured: 3e-14
    for result in found:
        assert result.ok
        assert max(result.accelerations, result.joint_wrenches, result.impulses) <= result.worst
    by_name = dict(zip([d.name for d in found[0]], table.T, strict=True))
    assert tuple(by_name) == NAMES
    for reduced in ("rnea after aba", "mass matrix", "constraint rows"):
        assert by_name[reduced].max() <= 1e-12
    assert np.median(by_name["crba after aba"]) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_joint_by_itself(kind):
    for free in (False, True):
        assert checked(mbd.random_chain(6, 3, kinds=[kind], free_base=free), 5).worst <= 1e-12


def hanging() -> SerialChain:
    """Three links that hang at rest from parallel pins: every acceleration is zero, the forces are not."""
    links = [Link.revolute(name, 1.0, J, axis=(0, 1, 0), c=(0, 0, -0.5), L=(0, 0, -1)) for name in "abc"]
    return SerialChain(links, gravity=(0, 0, -9.81))


def test_what_cancels_belongs_to_the_scale():
    chain = hanging()
    found = mbd.crosscheck(chain, np.zeros(3), np.zeros(3), np.zeros(3))
    assert found.worst <= 1e-14
    assert found["body accelerations"].scale >= 9.81
    assert found["joint wrenches"].scale == pytest.approx(3 * 9.81)
    assert mbd.crosscheck(hanging(), np.zeros(3), np.zeros(3)).worst == found.worst  # tau may be left out


@pytest.mark.slow
@pytest.mark.parametrize(
    "chain",
    [
        SerialChain([Link.spherical("top", 1.0, J, c=0.0, L=0.0)]),  # turns about its centre
        SerialChain([Link.prismatic("point", 1.0, (0, 0, 0), c=0.0, L=0.0)]),  # nothing has a length
        SerialChain([Link.fixed("post", 1.0, J)], gravity=(0, 0, -9.81)),  # no freedom
        SerialChain([Link.free("body", 1.0, J, c=0.0)]),  # no joint
        SerialChain([Link.prismatic(name, 1.0, J, axis=(1, 0, 0)) for name in "ab"], gravity=(0, 0, -9.81)),  # nothing turns
        SerialChain([Link.revolute("far", 1.0, J)], base=(1e4, 2e4, 0.0), gravity=(0, 0, -9.81)),
        SerialChain([Link.revolute("small", 1e-6, (1e-12, 1e-12, 1e-12), c=1e-3, L=1e-3)], gravity=(0, 0, -9.81)),
    ],
    ids=lambda chain: chain.links[0].name,
)
def test_degenerate_chains(chain):
    for scale in (0.0, 1.0):
        qd = scale * np.ones(chain.nv)
        found = mbd.crosscheck(chain, chain.q_zero(), qd, 0.1 * qd)
        assert found.worst <= 1e-10, found  # far from the origin 2e4 m / 0.5 m digits of a position are lost


def other_sign(function):
    """The same with the sign of tau turned."""

    def wrong(chain, q, qd, tau=None, **options):
        return function(chain, q, qd, -tau, **options)

    return wrong


def test_a_wrong_recursion_is_found(monkeypatch):
    chain = mbd.random_chain(8, 1)
    monkeypatch.setattr(MODULE, "aba", other_sign(MODULE.aba))
    found = checked(chain, 1)
    assert not found.ok
    assert found.accelerations > 1e-4
    assert found.joint_wrenches > 1e-4
    assert "BEYOND 1e-09" in str(found)
    assert "! joint accelerations" in str(found)


def test_a_wrong_multiplier_is_found(monkeypatch):
    right = MODULE._joint_wrenches
    monkeypatch.setattr(MODULE, "_joint_wrenches", lambda twin, multipliers: 1.001 * right(twin, multipliers))
    found = checked(mbd.random_chain(8, 1), 1)
    assert {d.name for d in found if d.relative > 1e-9} == {"joint wrenches", "joint impulses", "momentum balance"}


def test_nan_is_not_ok():
    found = checked(mbd.random_chain(2, 1), 1)
    sick = dataclasses.replace(
        found, differences=(dataclasses.replace(found.differences[0], relative=np.nan), *found.differences[1:])
    )
    assert not sick.ok
    assert np.isnan(sick.worst)
    assert "! joint accelerations" in str(sick)


def test_the_report_says_what_each_line_compares():
    found = checked(mbd.random_chain(5, 2), 2)
    lines = str(found).splitlines()
    assert lines[0].startswith("cross-check of 'random 2' (5 links, ")
    assert lines[0].endswith("all within 1e-09")
    assert len(lines) == 1 + len(NAMES)
    for line, name in zip(lines[1:], NAMES, strict=True):
        assert line.startswith(f"  {name}")
        assert line.endswith(found[name].what)
    with pytest.raises(mbd.UsageError, match="no difference is called 'speed'; there are 'joint accelerations'"):
        found["speed"]


def test_the_default_impulse_is_a_blow_of_1_newton_second_on_the_last_link():
    chain = mbd.random_chain(5, 2)
    q, qd, tau = random_motion(chain, 2)
    blow = np.zeros((5, 6))
    blow[-1, :3] = 1.0 / np.sqrt(3.0)
    assert mbd.crosscheck(chain, q, qd, tau)["joint impulses"] == mbd.crosscheck(chain, q, qd, tau, impulse=blow)["joint impulses"]
    assert mbd.crosscheck(chain, q, qd, tau, impulse=0.0 * blow)["joint impulses"].scale == 0.0


@pytest.mark.parametrize(
    ("argument", "value", "sentence"),
    [
        ("q", [0.0], r"q \(coordinates\) has shape \(1,\), expected \(3,\).*3 coordinates and 3 freedoms"),
        ("qd", np.zeros(4), r"qd \(rates\) has shape \(4,\)"),
        ("tau", np.zeros(2), r"tau \(generalized forces\) has shape \(2,\), expected \(3,\)"),
        ("wrenches", np.zeros(6), r"wrenches .*has shape \(6,\), expected \(3, 6\)"),
        ("impulse", np.zeros((2, 6)), r"impulse .*has shape \(2, 6\), expected \(3, 6\)"),
        ("tol", 0.0, "tol is 0.0"),
        ("tol", float("nan"), "tol is nan"),
    ],
)
def test_bad_arguments_are_said(argument, value, sentence):
    arguments = {"q": np.zeros(3), "qd": np.zeros(3), "tau": np.zeros(3), argument: value}
    with pytest.raises(mbd.UsageError, match=sentence):
        mbd.crosscheck(hanging(), **arguments)


def test_a_chain_without_a_twin_is_said():
    with pytest.raises(mbd.ModelError, match="link 'light': its mass is 0 kg"):
        mbd.crosscheck(SerialChain([Link.revolute("light", 0.0, J), Link.revolute("end", 1.0, J)]), [0, 0], [0, 0], [0, 0])
