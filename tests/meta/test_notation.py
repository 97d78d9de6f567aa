"""The table of conventions, and that the code keeps to it."""

from __future__ import annotations

import inspect

import numpy as np

import haugmbd.math.euler_parameters as euler
from haugmbd import Body
from haugmbd.notation import NOTATION, table

NAMES = {name for entry in NOTATION for name in entry.code}


def test_names_are_ascii_identifiers_and_unique():
    listed = [name for entry in NOTATION for name in entry.code]
    assert len(listed) == len(set(listed))
    assert all(name.isascii() and name.isidentifier() for name in listed)


def test_the_symbols_of_the_design_are_all_there():
    design = "r p v omega_bar A G E s_bar_i a_bar_i d_ij J_bar Phi nu gamma Phi_r PiBar lam Lam twist wrench f f_dot f_ddot"
    assert set(design.split()) <= NAMES


def test_a_body_uses_the_names_of_the_table():
    parameters = set(inspect.signature(Body).parameters) - {"name", "shape"}  # what is not in equations has no symbol
    assert parameters <= NAMES
    assert {"A"} | parameters <= set(Body.__slots__)


def test_what_the_table_says_about_euler_parameters_is_true(rng):
    p, omega_bar = euler.normalized(rng.normal(size=4)), rng.normal(size=3)
    p_dot = euler.p_dot_from(p, omega_bar)
    # 1e-14: a dozen products of numbers of size 1
    assert np.abs(euler.rotation_matrix(p) - euler.E(p) @ euler.G(p).T).max() < 1e-14
    assert np.abs(2 * euler.G(p) @ p_dot - omega_bar).max() < 1e-14
    assert np.abs(2 * euler.E(p) @ p_dot - euler.rotation_matrix(p) @ omega_bar).max() < 1e-14


def test_scalar_first():
    half = 0.5 * np.pi / 2
    assert np.allclose(euler.from_axis_angle((0, 0, 1), np.pi / 2), [np.cos(half), 0, 0, np.sin(half)], rtol=0, atol=1e-15)


def test_the_table_has_one_row_per_symbol():
    lines = table().splitlines()
    assert len(lines) == len(NOTATION) + 2
    unescaped = {line.replace("\\|", "").count("|") for line in lines}
    assert unescaped == {7}
