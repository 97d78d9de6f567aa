r"""Poses as a rotation matrix and a translation, and the rotation nearest to a matrix of typed digits.

    T = (A, r):    T_1 T_2 = (A_1 A_2, r_1 + A_1 r_2)        T^-1 = (A^T, -A^T r)
    nearest rotation to M = U S V^T:    U V^T                (polar decomposition)

Source: Higham (2008), Functions of Matrices, ch. 8.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array

ORTHONORMAL = 1e-2
"""A matrix that is farther from a rotation than typed digits is a mistake."""
ROUNDED = 1e-12
"""A matrix that is so near to a rotation has only rounding errors, which are not worth a line."""


class Transform(NamedTuple):
    """A pose: rotation matrix (3, 3) and translation [m], (3,)."""

    A: Array
    r: Array

    def __matmul__(self, other: Transform) -> Transform:
        """Return the pose `other`, given in this frame."""
        return Transform(self.A @ other.A, self.r + self.A @ other.r)

    def inverse(self) -> Transform:
        """Return the inverse pose."""
        return Transform(self.A.T, -self.A.T @ self.r)


IDENTITY = Transform(np.eye(3), np.zeros(3))


def nearest_rotation(M: Array) -> tuple[Array | None, float]:
    """Return the rotation nearest to M, and max |M^T M - I|; None for the rotation if M is not near one."""
    if not np.abs(M).max() <= 2.0:
        return None, float("inf")
    gap = float(np.abs(M.T @ M - np.eye(3)).max())
    if not gap <= ORTHONORMAL or np.linalg.det(M) < 0.0:
        return None, gap
    if gap == 0.0:
        return M, gap
    left, _, right = np.linalg.svd(M)
    return left @ right, gap
