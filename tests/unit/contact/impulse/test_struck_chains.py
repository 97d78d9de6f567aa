"""Impacts that go through closed contacts: a remark with the answers of both laws, once."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import haugmbd as mbd
from joints import TJ
from tests.support.with_contacts import simulate_with


def row(n, e, gap=0.0, masses=None):
    """Balls of radius 0.05 m on a rail, of which the first comes in with 2 m/s."""
    system, masses = mbd.System("row"), masses or [1.0] * n
    balls = [
        system.add(mbd.Body(f"ball {k}", masses[k], (1e-3,) * 3, r=(k * (0.1 + gap), 0, 0), v=(2.0 if k == 0 else 0.0, 0, 0)))
        for k in range(n)
    ]
    for k, ball in enumerate(balls):
        system.add(TJ(f"rail {k}", system.ground, ball, point=ball.r, axis=(1, 0, 0)))
    contacts = [
        mbd.Contact(
            f"contact {k}",
            one,
            other,
            point=other.r,
            normal=(1, 0, 0),
            plane_point=one.r + [0.05, 0, 0],
            radius=0.05,
            restitution=e,
        )
        for k, (one, other) in enumerate(zip(balls[:-1], balls[1:], strict=True))
    ]
    return system, contacts


def said_of(run):
    """Return what a run says in warnings, and the run."""
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = run()
    return [str(one.message) for one in issued], result


@pytest.mark.parametrize("n", [3, 5])
def test_a_row_of_touching_balls_lets_the_last_one_go_and_says_both_answers(n):
    system, contacts = row(n, 1.0)
    model = system.compile()
    said, blow = said_of(lambda: mbd.impulse(model, contacts=contacts))
    assert said == []
    (text,) = (one for one in blow.messages if "one after the other" in one)
    assert all(repr(contact.name) in text for contact in contacts)
    hard = "(" + ", ".join(["0"] * (n - 2) + ["2"]) + ")"
    at_once = "(" + ", ".join(["2"] + ["0"] * (n - 2)) + ")"
    assert hard in text
    assert at_once in text
    said, result = said_of(lambda: simulate_with(system, 0.05, contacts=contacts, h=5e-3))
    assert said == []
    assert text in result.warnings
    assert np.abs(result.v[-1, 1:, 0] - [*[0.0] * (n - 1), 2.0]).max() <= 1e-12


@pytest.mark.parametrize("masses", [None, [1.0, 3.0, 0.5]])
def test_the_second_answer_is_that_of_small_gaps(masses):
    """What single impacts leave, as the warning says, is what the same law leaves with gaps between the balls."""
    touching, contacts = row(3, 0.8, masses=masses)
    _, blow = said_of(lambda: mbd.impulse(touching.compile(), contacts=contacts))
    (text,) = (one for one in blow.messages if "one after the other" in one)
    system, contacts = row(3, 0.8, gap=1e-7, masses=masses)
    said, result = said_of(lambda: simulate_with(system, 1e-4, contacts=contacts, h=1e-5))
    assert said == []
    rates = np.diff(result.v[-1, 1:, 0])
    assert "(" + ", ".join(f"{rate:.4g}" for rate in rates) + ")" in text


@pytest.mark.parametrize(("e", "gap"), [(0.0, 0.0), (1.0, 1e-6)])
def test_laws_that_agree_are_not_doubtful(e, gap):
    system, contacts = row(4, e, gap)
    assert said_of(lambda: simulate_with(system, 0.05, contacts=contacts, h=5e-3))[0] == []


def test_the_corners_of_a_box_are_no_row():
    system = mbd.System("box", gravity=(0, 0, -9.81))
    box = system.add(mbd.Body("box", 1.0, (0.01,) * 3, v=(0, 0, -1.0), omega_bar=(0.0, 10.0, 0.0)))
    corners = [(x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1)]
    contacts = [
        mbd.Contact(f"corner {k}", system.ground, box, point=corner, normal=(0, 0, 1), plane_point=(0, 0, 0), restitution=0.5)
        for k, corner in enumerate(corners)
    ]
    assert said_of(lambda: mbd.impulse(system.compile(), contacts=contacts))[0] == []
