"""Frames on bodies: global geometry goes into the body frame and comes back."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from haugmbd import Body, Frame, UsageError
from haugmbd.bodies.frame import body_point, body_vector, triad

ROUNDING = 1e-14  # a dozen products of numbers of size 1


@pytest.fixture
def link(rng):
    p = rng.normal(size=4)
    return Body("link", 1.0, (1, 1, 1), r=rng.normal(size=3), p=p / np.linalg.norm(p))


@pytest.mark.slow
@given(st.lists(st.floats(-1e3, 1e3), min_size=3, max_size=3).filter(lambda a: np.linalg.norm(a) > 1e-3))
def test_triad_is_right_handed_orthonormal_and_along_the_axis(axis):
    T = triad(axis)
    assert np.abs(T.T @ T - np.eye(3)).max() < ROUNDING
    assert np.linalg.det(T) == pytest.approx(1.0, abs=ROUNDING)
    assert np.abs(T[:, 2] * np.linalg.norm(axis) - axis).max() <= ROUNDING * np.linalg.norm(axis)
    assert np.array_equal(T, triad(axis))


def test_triad_of_the_coordinate_axes():
    assert np.array_equal(triad((0, 0, 2)), np.eye(3))
    assert np.array_equal(triad((5, 0, 0)), np.eye(3)[:, [1, 2, 0]])
    assert np.array_equal(triad((0, 1, 0)), np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]]))


@pytest.mark.parametrize("axis", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 0)])
def test_triad_of_nothing_is_nan(axis):
    assert np.isnan(triad(axis)).all()


def test_global_geometry_goes_into_the_body_and_back(link, rng):
    point, axis = rng.normal(size=(2, 3))
    frame = Frame.from_global(link, point, axis)
    assert frame.faults() == ()
    assert np.abs(frame.point - point).max() < ROUNDING
    assert np.abs(frame.A - triad(axis)).max() < ROUNDING
    assert np.abs(frame.s_bar - body_point(link, point)).max() < ROUNDING
    assert np.abs(frame.h * np.linalg.norm(axis) - body_vector(link, axis)).max() < ROUNDING
    assert np.abs(np.cross(frame.f, frame.g) - frame.h).max() < ROUNDING


def test_the_two_frames_of_a_joint_coincide_at_the_modelled_pose(link):
    there = Frame.from_global(link, (1, 2, 3), (0.3, 0.4, 0.5))
    here = Frame.from_global(Body.ground(), (1, 2, 3), (0.3, 0.4, 0.5))
    assert np.abs(there.A - here.A).max() < ROUNDING
    assert np.abs(there.point - here.point).max() < ROUNDING


def test_from_axes_keeps_the_first_and_straightens_the_second(link):
    frame = Frame.from_axes(link, (0, 0, 1), (0, 2, 0), (1, 1, 0))
    assert frame.faults() == ()
    assert np.abs(frame.A_bar - np.array([[0, 1, 0], [1, 0, 0], [0, 0, -1]])).max() < ROUNDING


def test_frame_is_frozen_and_survives_pickling(link):
    frame = Frame(link, (1, 0, 0))
    assert np.array_equal(frame.A_bar, np.eye(3))
    with pytest.raises(AttributeError, match="s_bar of Frame.*cannot be set. Make a new Frame"):
        frame.s_bar = (0, 0, 0)
    copy = pickle.loads(pickle.dumps(frame))
    assert np.array_equal(copy.s_bar, frame.s_bar)
    assert not copy.A_bar.flags.writeable


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda b: Frame(b, (1, 2)), r"s_bar has shape (2,)"),
        (lambda b: Frame(b, (0, 0, 0), 2 * np.eye(3)), "not orthonormal: max |A_bar^T A_bar - I| = 3"),
        (lambda b: Frame(b, (0, 0, 0), np.diag([1, 1, -1])), "left-handed"),
        (lambda b: Frame(b, (0, 0, 0), np.full((3, 3), np.nan)), "not finite"),
        (lambda b: Frame.from_global(b, (0, 0, 0), (0, 0, 0)), "axis is (0, 0, 0)"),
        (lambda b: Frame.from_global(b, (0, np.nan, 0), (0, 0, 1)), "point = [0.0, nan, 0.0] is not finite"),
        (lambda b: Frame.from_axes(b, (0, 0, 0), (1, 0, 0), (2, 0, 0)), "parallel or zero"),
        (lambda b: Frame.from_axes(b, (0, 0, 0), (0, 0, 0), (2, 0, 0)), "parallel or zero"),
    ],
)
def test_bad_frames_have_one_fault_each(link, make, text):
    (fault,) = make(link).faults("joint 'pin'")
    assert fault.where == "joint 'pin'"
    assert text in fault.what
    assert "(on body 'link')" in fault.what
    assert make(link).faults()[0].where == "frame on body 'link'"


def test_a_name_is_not_a_body():
    with pytest.raises(UsageError, match=r"a frame needs a Body, got 'crank'. Give the object that system.add"):
        Frame.from_global("crank", (0, 0, 0))


@pytest.mark.parametrize("length", [1e-320, 1e-200, 1.0, 1e200, 1e308])
def test_an_axis_may_have_any_length(length):
    assert np.abs(triad((0, length, 0)) - triad((0, 1, 0))).max() < ROUNDING
