r"""Motion subspaces of one body: its apparent inverse inertia, and what of a wrench accelerates it.

    S            (6, k) basis of the twists that a joint allows          S^T f_c = 0 for what the joint opposes
    inverse      S (S^T I S)^-1 S^T                                       apparent inverse inertia: a = inverse f
    f            = f_a + f_c        f_a = I inverse f                     F^6 = I S + S-perp: f_a accelerates, -f_c is the reaction
    m            = S_1 alpha_1 + S_2 alpha_2                              (alpha_1, alpha_2) = [S_1 S_2]^-1 m

Source: seed 001 (vector subspaces); linear part first, as everywhere (the formulas do not depend on the order).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.spatial_inertia import SINGULAR_TOL, safe, smallest_over_largest, solved
from haugmbd.math.spatial_vectors import FloatArray, read, times, transposed


class SplitWrench(NamedTuple):
    """A wrench in two parts: f_a (..., 6) accelerates the body, f_c (..., 6) is opposed by the joint, whose wrench is -f_c."""

    f_a: FloatArray
    f_c: FloatArray


class Components(NamedTuple):
    """Coordinates of a vector along two complementary subspaces: alpha_1 (..., k_1) and alpha_2 (..., k_2)."""

    alpha_1: FloatArray
    alpha_2: FloatArray


@check_keywords
def apparent_inverse_inertia(inertia: npt.ArrayLike, S: npt.ArrayLike) -> FloatArray:
    """Return S (S^T I S)^-1 S^T, (..., 6, 6): the inverse inertia of a body that may only move along the columns of S (..., 6, k).

    A UsageError where S^T I S is singular: columns that depend on one another, or a motion without inertia.
    """
    inertia, S = read("inertia", inertia, 6, 6), read("S", S, 6, None)
    return S @ _coefficients(inertia, S)


@check_keywords
def split_wrench(inertia: npt.ArrayLike, S: npt.ArrayLike, wrench: npt.ArrayLike) -> SplitWrench:
    """Return (f_a, f_c) of a wrench (..., 6) on a body that may only move along the columns of S (..., 6, k).

    f_a = I S (S^T I S)^-1 S^T f is in the range of I S, and S^T f_c = 0.  Raises UsageError where S^T I S is singular.
    """
    inertia, S, f = read("inertia", inertia, 6, 6), read("S", S, 6, None), read("wrench", wrench, 6)
    f_a = times(inertia @ S @ _coefficients(inertia, S), f)
    return SplitWrench(f_a, f - f_a)


def along_subspaces(S_1: npt.ArrayLike, S_2: npt.ArrayLike, m: npt.ArrayLike) -> Components:
    """Return the coordinates of m (..., 6) along the columns of S_1 (6, k) and S_2 (6, 6 - k): m = S_1 alpha_1 + S_2 alpha_2.

    A UsageError where the two do not make up the whole space.
    """
    S_1, S_2, m = read("S_1", S_1, 6, None), read("S_2", S_2, 6, None), read("m", m, 6)
    k_1, k_2 = S_1.shape[-1], S_2.shape[-1]
    if k_1 + k_2 != 6:
        raise UsageError(f"S_1 has {k_1} columns and S_2 has {k_2}: complementary subspaces have 6 together.")
    basis = np.concatenate((S_1, S_2), axis=-1)
    ratio = smallest_over_largest(basis / safe(np.linalg.norm(basis, axis=-2, keepdims=True)))
    if not ratio > SINGULAR_TOL:
        what = f"S_1 and S_2 share a direction: the smallest singular value of their unit columns is {ratio:.3g} of the largest"
        raise UsageError(f"{what}. Give two subspaces that have only zero in common.")
    alpha = np.asarray(np.linalg.solve(basis, m[..., None])[..., 0], dtype=np.float64)
    return Components(alpha[..., :k_1], alpha[..., k_1:])


def _coefficients(inertia: FloatArray, S: FloatArray) -> FloatArray:
    """(S^T I S)^-1 S^T, (..., k, 6): of a wrench it makes the acceleration along the columns of S."""
    remedy = "Give independent columns S, and inertia about every axis that the joint leaves free."
    return solved("S^T I S", transposed(S) @ inertia @ S, transposed(S), remedy)
