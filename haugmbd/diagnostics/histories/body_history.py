r"""The motion of one body and of its points over time.

    A(p)    omega = A omega_bar    omega_dot = A omega_bar_dot
    point   r + s,   v + omega x s,   v_dot + omega_dot x s + omega x (omega x s),       s = A s_bar

Source: Haug (2021), spatial kinematics: velocity and acceleration of a point of a rigid body.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import numbers
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.errors import UsageError, warn_user
from haugmbd.math.euler_parameters import cross, rotation_matrix

Accelerations = tuple[Array, Array]
"""v_dot, global, and omega_bar_dot, body frame, (nt, 3) each."""


@public_class
@dataclass(frozen=True, eq=False)
class PointHistory(NamesMeant):
    """A point of a body over time.

    Attributes
    ----------
    name : str
        Name of the point.
    t : ndarray, (nt,)
        Times [s].
    r, v : ndarray, (nt, 3)
        Position [m] and velocity [m/s], global.
    a : ndarray, (nt, 3)
        Acceleration [m/s2], global.
    """

    name: str
    t: Array
    r: Array
    v: Array
    _acceleration: Callable[[], Array] = field(repr=False)

    @cached_property
    def a(self) -> Array:
        return self._acceleration()

    def __repr__(self) -> str:
        return f"PointHistory of {self.name}, {len(self.t)} states"


@public_class
@dataclass(frozen=True, eq=False)
class BodyHistory(NamesMeant):
    """One body over time.

    Attributes
    ----------
    name : str
        Name of the body.
    t : ndarray, (nt,)
        Times [s].
    r, v : ndarray, (nt, 3)
        Centre of mass [m] and its velocity [m/s], global.
    p : ndarray, (nt, 4)
        Euler parameters, scalar first.
    omega_bar : ndarray, (nt, 3)
        Angular velocity, body frame [rad/s].
    A : ndarray, (nt, 3, 3)
        Orientation: global = A body.
    omega : ndarray, (nt, 3)
        Angular velocity, global [rad/s].
    a, omega_dot : ndarray, (nt, 3)
        Acceleration of the centre of mass [m/s2] and angular acceleration [rad/s2], global.
    quaternion : array of numpy quaternions, (nt,)
        Orientation.
    """

    name: str
    t: Array
    r: Array
    p: Array
    v: Array
    omega_bar: Array
    _accelerations: Callable[[], Accelerations] = field(repr=False)

    @cached_property
    def A(self) -> Array:
        return rotation_matrix(self.p)

    @cached_property
    def omega(self) -> Array:
        return _turned(self.A, self.omega_bar)

    @cached_property
    def a(self) -> Array:
        return self._accelerations()[0]

    @cached_property
    def omega_dot(self) -> Array:
        return _turned(self.A, self._accelerations()[1])

    @property
    def quaternion(self) -> Any:
        import quaternion  # noqa: PLC0415  slow to import

        return quaternion.as_quat_array(self.p)

    def point(self, s_bar: npt.ArrayLike, name: str = "") -> PointHistory:
        """Return a point of the body over time.

        Parameters
        ----------
        s_bar : array_like, (3,)
            The point from the centre of mass, body frame [m].
        name : str, optional
            Name of the point, for plots.

        Returns
        -------
        PointHistory
            Position `.r`, velocity `.v` and acceleration `.a`, global.

        Raises
        ------
        UsageError
            If s_bar is not three finite numbers.
        """
        x = numbers(s_bar)
        if x is None or x.shape != (3,) or not np.isfinite(x).all():
            raise UsageError(f"s_bar = {s_bar!r:.60} must be three finite numbers [m], in the frame of body {self.name!r}.")
        s = self.A @ x
        v = self.v + cross(self.omega, s)

        def acceleration() -> Array:
            found: Array = self.a + cross(self.omega_dot, s) + cross(self.omega, cross(self.omega, s))
            return found

        return PointHistory(name or f"{self.name} at {x.tolist()}", self.t, self.r + s, v, acceleration)

    def angles(self, sequence: str = "ZXZ") -> Array:
        """Return three angles of the orientation.

        Parameters
        ----------
        sequence : str
            Axes in SciPy's letters: capitals are intrinsic (body axes, "ZXZ" are Euler's angles, "ZYX" yaw, pitch and roll), small letters
            extrinsic (global axes).

        Returns
        -------
        ndarray, (nt, 3)
            Angles [rad], as `scipy.spatial.transform.Rotation.as_euler` returns them: the first and third from -pi to pi.

        Raises
        ------
        UsageError
            If the sequence is not three letters, all capitals or all small, with neighbours that differ.

        Notes
        -----
        Where the first and the third axis coincide only their sum or difference is known: the third angle is zero there, with a warning.
        """
        from scipy.spatial.transform import Rotation  # noqa: PLC0415  loaded where it is used

        letters = sequence if isinstance(sequence, str) else ""
        alike = letters.isupper() or letters.islower()
        if len(letters) != 3 or set(letters.upper()) - set("XYZ") or not alike or letters[1] in (letters[0], letters[2]):
            raise UsageError(
                f'sequence = {sequence!r}: give three of X, Y, Z such as "ZXZ" (body axes), or of x, y, z (global axes).'
            )
        finite = np.isfinite(self.p).all(axis=1)
        found = np.full((len(self.t), 3), np.nan)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            if finite.any():
                found[finite] = Rotation.from_matrix(self.A[finite]).as_euler(letters)
        if raised:
            still = finite & (found[:, 2] == 0.0)
            first = float(self.t[still][0]) if still.any() else float(self.t[0])
            warn_user(
                f"the angles {letters} of body {self.name!r} are not unique where their first and third axis coincide, first at "
                f"t = {first:.6g} s: the third is set to zero there. Another sequence has its singular orientation elsewhere."
            )
        return found

    def __repr__(self) -> str:
        return f"BodyHistory of {self.name!r}, {len(self.t)} states"


def _turned(A: Array, x: Array) -> Array:
    """Return A x, state by state."""
    product: Array = (A @ x[:, :, None])[:, :, 0]
    return product
