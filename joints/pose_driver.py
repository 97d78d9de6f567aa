r"""PoseDriver: place and orientation of a body are functions of time, such as the six motions of a ship or a shake table.

    Phi = ( CD x, CD y, CD z of r(t);  three PoseRow of the orientation A_0(t) )

Source: Haug (2021), kinematics: driving constraints; the rows of the orientation are derived in `haugmbd/constraints/equations/pose.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import numbers
from haugmbd.constraints import CD, Joint, Primitive
from haugmbd.constraints.equations.pose import PoseRow
from haugmbd.drivers import Driver, QuinticSpline, as_driver
from haugmbd.errors import Fault

from .base import posed
from .geometry import Reader

AXES = np.eye(3)
THREE, FOUR = 3, 4
FORMS_OF_R = "Give three functions of time, one function f(t) of three numbers, or a record (t, table (n, 3))."
FORMS_OF_A = (
    "Give roll, pitch and yaw [rad] as three functions of time, four Euler parameters, one function f(t) of three or four numbers, or a "
    "record (t, table (n, 3) or (n, 4))."
)


class Part:
    """Component k of a function of time that returns several numbers. It is at module level, so that it can be pickled."""

    def __init__(self, f: Any, k: int) -> None:
        self.f, self.k = f, k

    def __call__(self, t: Any) -> Any:
        return self.f(t)[self.k]


class PoseDriver(Joint):
    """Prescribed pose of a body: place and orientation are functions of time. Removes 6 degrees of freedom.

    Parameters
    ----------
    name : str
        Name of the driver in messages and results.
    body : Body
        The body that moves as given.
    r : three functions of time, function of time, or (t, table)
        The place of its point [m], global: three numbers, functions or drivers; one function f(t) -> (3,); or a record of times (n,) and
        places (n, 3), which a quintic spline goes through. None for a point that stays where it is modelled.
    orientation : three or four functions of time, function of time, or (t, table)
        Roll, pitch and yaw [rad], A = A_z(yaw) A_y(pitch) A_x(roll); or Euler parameters, scalar first, of any length but zero; in
        the same forms. None for the modelled orientation.
    point : array_like, (3,), optional
        The point whose place r is, global frame at the modelled pose [m]; by default the centre of mass.
    ground : Body, optional
        The ground of the system, by default that to which the driver is added.

    Raises
    ------
    UsageError
        If body is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The pose at t = 0 must be the modelled one. Rates are exact: the functions are differentiated, not differenced. Start with the velocity
    of the motion: `simulate(..., project_velocity=True)`.
    """

    freedoms = ()

    def __init__(
        self, name: str, body: Body, *, r: Any = None, orientation: Any = None, point: Any = None, ground: Body | None = None
    ) -> None:
        base = Body.ground() if ground is None else ground
        self.read = read = Reader(name, base, body)
        self.given = {"r": r, "orientation": orientation, "point": point}
        centre = body.r if posed(body) else np.zeros(3)
        place = centre if point is None else read.point("point", point)
        self.grounded = ground is None
        super().__init__(name, Frame.from_global(base, place), Frame.from_global(body, place))
        self.r = self._functions("r", r, tuple(place.tolist()), (THREE,), FORMS_OF_R)
        still = tuple(body.p.tolist())
        self.orientation = self._functions("orientation", orientation, still, (THREE, FOUR), FORMS_OF_A)

    def _functions(self, label: str, given: Any, still: Sequence[float], sizes: tuple[int, ...], remedy: str) -> tuple[Driver, ...]:
        """Return one driver for each component; a fault if they are not given."""
        if given is None:
            return tuple(as_driver(x) for x in still)
        if callable(given):
            try:
                size = len(given(0.0))
            except Exception as error:  # noqa: BLE001  a function of the user may raise anything
                self.read.fault(f"{label}(0) raises {type(error).__name__}: {error}", remedy)
                return tuple(as_driver(x) for x in still)
            if size in sizes:
                return tuple(as_driver(Part(given, k)) for k in range(size))
        if isinstance(given, Sequence) and len(given) == 2 and not isinstance(given, str):  # noqa: PLR2004
            t, table = numbers(given[0]), numbers(given[1])
            if t is not None and table is not None and table.ndim == 2 and table.shape[1] in sizes and t.shape == (len(table),):  # noqa: PLR2004
                return tuple(QuinticSpline(t, column) for column in one_way(table).T)
        elif isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) and len(given) in sizes:
            return tuple(as_driver(x) for x in given)
        self.read.fault(f"{label} is {given!r:.200}", remedy)
        return tuple(as_driver(x) for x in still)

    def put_on_ground(self, ground: Body) -> None:
        """Take the ground of the system that the driver is added to."""
        if self.grounded:
            old = self.frame_i
            self.__dict__["frame_i"] = Frame(ground, old.s_bar, old.A_bar)

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the rows: three CD, three Pose."""
        i, j = self.frame_i, self.frame_j
        places = (CD(c, i.body, np.zeros(3), j.body, j.s_bar, f) for c, f in zip(AXES, self.r, strict=True))
        return (*places, *(PoseRow(i.body, j.body, self.orientation, k) for k in range(3)))

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of the driver, its functions among them."""
        if self.read.faults or not posed(self.j):
            return tuple(self.read.faults)
        where = f"joint {self.name!r}"
        found = [Fault(where, f.what, f.remedy) for driver in (*self.r, *self.orientation) for f in driver.faults()]
        if not found and len(self.orientation) == FOUR and not any(driver.reads_state for driver in self.orientation):
            p = np.array([driver.values(0.0)[0] for driver in self.orientation])
            if not np.linalg.norm(p) > 0.0:
                found.append(Fault(where, "the Euler parameters at t = 0 are all zero", "Give those of the modelled orientation."))
        return tuple(found) or super().faults()


def one_way(table: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return a record without jumps that are none: p and -p are one orientation, angles 2 pi apart one angle; of places the record."""
    if table.shape[1] == FOUR:
        flips = np.where(np.sum(table[1:] * table[:-1], axis=1) < 0.0, -1.0, 1.0)
        return np.asarray(table * np.concatenate([[1.0], np.cumprod(flips)])[:, None])
    return table
