r"""Motion subspaces of one body: its apparent inverse inertia, and what of a wrench accelerates it.

    S            (6, k) basis of the twists that a joint allows          S^T f_c = 0 for what the joint opposes
    inverse      S (S^T I S)^-1 S^T                                       apparent inverse inertia: a = inverse f
    f            = f_a + f_c        f_a = I inverse f                     F^6 = I S + S-perp: f_a accelerates, -f_c is the reaction
    m            = S_1 alpha_1 + S_2 alpha_2                              (alpha_1, alpha_2) = [S_1 S_2]^-1 m

Source: Featherstone 2008, ch. 2 and 3 (vector subspaces, constrained bodies); here the linear part is first.
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
    """A wrench in two parts.

    Attributes
    ----------
    f_a : ndarray, (..., 6)
        Part that accelerates the body.
    f_c : ndarray, (..., 6)
        Part that the joint opposes; the wrench of the joint is -f_c.
    """

    f_a: FloatArray
    f_c: FloatArray


class Components(NamedTuple):
    """Coordinates of a vector along two complementary subspaces: alpha_1 (..., k_1) and alpha_2 (..., k_2)."""

    alpha_1: FloatArray
    alpha_2: FloatArray


@check_keywords
def apparent_inverse_inertia(inertia: npt.ArrayLike, S: npt.ArrayLike) -> FloatArray:
    """Return the inverse inertia S (S^T I S)^-1 S^T of a body that moves only along the columns of S.

    Parameters
    ----------
    inertia : array_like, (..., 6, 6)
        Spatial inertia of the body.
    S : array_like, (..., 6, k)
        Motion subspace.

    Returns
    -------
    ndarray, (..., 6, 6)
        Apparent inverse inertia: acceleration = inverse * wrench.

    Raises
    ------
    UsageError
        If S^T I S is singular: the columns are dependent, or a motion has no inertia.

    Notes
    -----
    Source: Featherstone 2008, ch. 3.
    """
    inertia, S = read("inertia", inertia, 6, 6), read("S", S, 6, None)
    return S @ _coefficients(inertia, S)


@check_keywords
def split_wrench(inertia: npt.ArrayLike, S: npt.ArrayLike, wrench: npt.ArrayLike) -> SplitWrench:
    """Return the parts of a wrench on a body that moves only along the columns of S.

    Parameters
    ----------
    inertia : array_like, (..., 6, 6)
        Spatial inertia of the body.
    S : array_like, (..., 6, k)
        Motion subspace.
    wrench : array_like, (..., 6)
        Force [N] and moment [N m].

    Returns
    -------
    SplitWrench
        f_a = I S (S^T I S)^-1 S^T f, in the range of I S, and f_c = f - f_a, with S^T f_c = 0.

    Raises
    ------
    UsageError
        If S^T I S is singular.

    Notes
    -----
    Source: Featherstone 2008, ch. 3.
    """
    inertia, S, f = read("inertia", inertia, 6, 6), read("S", S, 6, None), read("wrench", wrench, 6)
    f_a = times(inertia @ S @ _coefficients(inertia, S), f)
    return SplitWrench(f_a, f - f_a)


def along_subspaces(S_1: npt.ArrayLike, S_2: npt.ArrayLike, m: npt.ArrayLike) -> Components:
    """Return the coordinates of m (..., 6) along the columns of S_1 (6, k) and S_2 (6, 6 - k): m = S_1 alpha_1 + S_2 alpha_2.

    Raises UsageError if the subspaces do not span the whole space.
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
    """Return (S^T I S)^-1 S^T, (..., k, 6): its product with a wrench is the acceleration along the columns of S."""
    remedy = "Give independent columns S, and inertia about every axis that the joint leaves free."
    return solved("S^T I S", transposed(S) @ inertia @ S, transposed(S), remedy)
