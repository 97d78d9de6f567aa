"""Bodies and their points, drivers, and blocks over time, recomputed from the stored states.

One body and its points.

    A(p)    omega = A omega_bar    omega_dot = A omega_bar_dot
    point   r + s,   v + omega x s,   v_dot + omega_dot x s + omega x (omega x s),       s = A s_bar

Drivers: what they prescribe, the force or torque that it takes, its power and its work.

    Phi = F(c(q)) - F(f(t))        c the driven coordinate (angle, displacement, distance),  F' = 1, of a distance 2 c
    tau = -lam F'                  on body j along +c, and the opposite on body i
    P   = tau f' = -lam nu         work: its integral along the steps of the run, see `work`

Blocks: their states and outputs.
Source: Haug (2021), spatial kinematics: velocity and acceleration of a point of a rigid body; Haug (2021), inverse dynamics of
kinematically driven systems.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.plane import plane_of
from haugmbd.bodies.validation import numbers, read_only
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import NamesMeant, public_class
from haugmbd.diagnostics.work import Work, moving_rows
from haugmbd.drivers.driver import Constant
from haugmbd.errors import UsageError, warn_user
from haugmbd.math.euler_parameters import cross, rotation_matrix
from haugmbd.model.labels import joint_named, named, no_such
from haugmbd.model.model import Model

Accelerations = tuple[Array, Array]
"""v_dot, global, and omega_bar_dot, body frame, (nt, 3) each."""
TURNED_TOL = 1e-7
"""A part of an axis of a body across the plane that is an error of the method."""


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
class PlanarHistory(NamesMeant):
    """A body over time in the coordinates of a plane, q = (x, z, phi).

    Attributes
    ----------
    name : str
        Name of the body.
    t : ndarray, (nt,)
        Times [s].
    q, u, u_dot : ndarray, (nt, 3)
        Two coordinates of the centre of mass [m] and the angle [rad], rates and accelerations.
    angle : ndarray, (nt,)
        The angle from the first axis of the plane towards the second, without jumps of whole turns [rad].
    """

    name: str
    t: Array
    q: Array
    u: Array
    _acceleration: Callable[[], Array] = field(repr=False)

    @cached_property
    def u_dot(self) -> Array:
        return self._acceleration()

    @property
    def angle(self) -> Array:
        return self.q[:, 2]

    def __repr__(self) -> str:
        return f"PlanarHistory of {self.name}, {len(self.t)} states"


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
    v_dot, omega_bar_dot : ndarray, (nt, 3)
        The same by the names of the state: v_dot is a, and omega_bar_dot the angular acceleration in the body frame [rad/s2].
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
    def v_dot(self) -> Array:
        return self.a

    @property
    def omega_bar_dot(self) -> Array:
        return self._accelerations()[1]

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

    def in_plane(self, planar: str = "xz") -> PlanarHistory:
        """Return the coordinates of the body in a plane over time.

        Parameters
        ----------
        planar : {"xz", "zx", "xy", "yx", "yz", "zy"}
            The plane, by two global axes.

        Returns
        -------
        PlanarHistory
            `.q` = two coordinates of the centre of mass and the angle from the first axis towards the second, unwound, `.u` its rates and
            `.u_dot` its accelerations, (nt, 3) each; `.angle` the angle.

        Raises
        ------
        UsageError
            If planar is not a plane, or the body turns out of it.
        """
        plane = plane_of(planar, "in_plane")
        if np.abs(self.A[:, plane.normal, [plane.first, plane.second]]).max(initial=0.0) > TURNED_TOL:
            raise UsageError(f"body {self.name!r} turns out of the plane {planar!r}: it has no angle there. See `angles`.")
        n, axes = plane.normal, [plane.first, plane.second]

        def rates(v: Array, omega: Array) -> Array:
            return np.column_stack([v[:, axes], plane.sense * omega[:, n]])

        q = np.column_stack([self.r[:, axes], plane.angle(self.A)])
        return PlanarHistory(self.name, self.t, q, rates(self.v, self.omega), lambda: rates(self.a, self.omega_dot))

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
        angles = np.full((len(self.t), 3), np.nan)
        with warnings.catch_warnings(record=True) as raised:
            warnings.simplefilter("always")
            if finite.any():
                angles[finite] = Rotation.from_matrix(self.A[finite]).as_euler(letters)
        if raised:
            still = finite & (angles[:, 2] == 0.0)
            first = float(self.t[still][0]) if still.any() else float(self.t[0])
            warn_user(
                f"the angles {letters} of body {self.name!r} are not unique where their first and third axis coincide, first at "
                f"t = {first:.6g} s: the third is set to zero there. Another sequence has its singular orientation elsewhere."
            )
        return angles

    def __repr__(self) -> str:
        return f"BodyHistory of {self.name!r}, {len(self.t)} states"


def _turned(A: Array, x: Array) -> Array:
    """Return A x, state by state."""
    product: Array = (A @ x[:, :, None])[:, :, 0]
    return product


FORCES = {"rad": ("torque", "rad", "N m"), "m": ("force", "m", "N"), "m2": ("force", "m", "N"), "1": ("torque", "1", "N m")}
"""By the unit of a row: what drives it, unit of the prescribed coordinate, unit of the force."""


@public_class
@dataclass(frozen=True, eq=False)
class DriverHistory(NamesMeant):
    """One driver over time.

    Attributes
    ----------
    driver : str
        Name of the driver, or of the joint with a driven row.
    t : ndarray, (nt,)
        Times [s].
    value, rate, acceleration : ndarray, (nt,)
        Prescribed coordinate f(t) and its derivatives: angle [rad], displacement or distance [m].
    torque : ndarray, (nt,)
        Torque [N m] of a driver of an angle, on body j about +h; positive along the coordinate.
    force : ndarray, (nt,)
        Force [N] of a driver of a displacement or a distance, on body j; positive along the coordinate.
    power : ndarray, (nt,)
        Power given to the bodies [W]: torque or force times rate.
    work : ndarray, (nt,)
        Integral of the power from the first state [J].
    unique : bool
        Whether torque or force are unique: False if redundant rows share the load of the driver.

    Notes
    -----
    A driver of a dot product has the torque against this product.
    """

    driver: str
    t: Array
    value: Array
    rate: Array
    acceleration: Array
    power: Array
    unique: bool
    unit: str
    _kind: str
    _force: Array
    _work: Callable[[], Array] = field(repr=False)

    @property
    def torque(self) -> Array:
        return self._value("torque")

    @property
    def force(self) -> Array:
        return self._value("force")

    @cached_property
    def work(self) -> Array:
        return self._work()

    @property
    def quantity(self) -> str:
        """Return "torque" or "force"."""
        return FORCES[self._kind][0]

    def _value(self, name: str) -> Array:
        """Return torque or force. UsageError if the driver has the other one."""
        if name != self.quantity:
            raise UsageError(f"driver {self.driver!r} has no {name}: it has .{self.quantity}.")
        return self._force

    def __repr__(self) -> str:
        return f"DriverHistory of {self.driver!r}: value [{self.unit}], {self.quantity}, power, work, {len(self.t)} states"


def driver_names(model: Model) -> tuple[str, ...]:
    """Return the names of joints that drive another joint, or have a driven row."""
    of_row = model.drivers_of_rows()
    driven = (
        entry.name
        for entry in model.joints.values()
        if entry.part.needs() or any(not isinstance(model.drivers[of_row[row]], Constant) for row in entry.rows.tolist())
    )
    return tuple(driven)


def driven_row(model: Model, name: str) -> int:
    """Return the driven row of a driver. Raise UsageError if there is no such driver, or if it has several driven rows."""
    names = driver_names(model)
    if name not in names:
        raise no_such("driver", name, names, {"result.joint": model.joints, "result.load": [e.load.name for e in model.loads]})
    return the_row(model, name)


def the_row(model: Model, name: str) -> int:
    """Return the row of a joint that a driver moves, or its only row. Raise UsageError if there are several, or no such joint."""
    rows, of_row = joint_named(model.joints, name).rows.tolist(), model.drivers_of_rows()
    moving = [row for row in rows if not isinstance(model.drivers[of_row[row]], Constant)] or rows
    if len(moving) != 1:
        raise UsageError(f"joint {name!r} has {len(moving)} driven rows: use its reaction instead.")
    return int(moving[0])


def driver_history(
    model: Model, t: Array, y: Array, solutions: Callable[[], Array], work: Callable[[], Work], name: str, *, unique: bool
) -> DriverHistory:
    """Return one driver at the states y (nt, ny) of a motion at t (nt,); `solutions()` returns (u_dot, lam) by nodes there, (nt, nn, 6).

    work: returns the work of all loads and rows;  unique: whether the multiplier of its row is
    """
    row = driven_row(model, name)
    driver = model.drivers[model.drivers_of_rows()[row]]
    f = model.driver_over_time(row, t, y)
    kind = model.labels[row].unit
    _, unit, _ = FORCES[kind]
    force = _force(model, solutions(), row, f, kind)

    def work_of_row() -> Array:
        if isinstance(driver, Constant):
            return np.zeros(len(t))
        done: Array = work().driven[:, moving_rows(model).index(row)]
        return done

    value, rate, acceleration = (np.ascontiguousarray(f[:, k]) for k in range(3))
    return DriverHistory(name, t, value, rate, acceleration, force * rate, unique, unit, kind, force, work_of_row)


def driven_force(model: Model, t: Array, y: Array, solutions: Array, name: str, quantity: str) -> Array:
    """Return the torque or force of a driver at t (nt,), (nt,), of the solutions (nt, nn, 6). UsageError if it has the other one."""
    row = driven_row(model, name)
    kind = model.labels[row].unit
    if FORCES[kind][0] != quantity:
        raise UsageError(f"driver {name!r} has no {quantity}: it has {FORCES[kind][0]!r}.")
    return _force(model, solutions, row, model.driver_over_time(row, t, y), kind)


def _force(model: Model, solutions: Array, row: int, f: Array, kind: str) -> Array:
    """Return -lam F' at the states of the solutions."""
    lam = solutions.reshape(len(solutions), -1)[:, 6 * (model.nb + 1) + model.slot_of_row[row]]
    force: Array = -lam * (2.0 * f[:, 0] if kind == "m2" else 1.0)
    return force


@public_class
@dataclass(frozen=True, eq=False)
class BlockHistory(NamesMeant):
    """The states and outputs of one block at all stored states.

    Attributes
    ----------
    block : str
        Name of the block.
    t : ndarray, (nt,)
        Times [s].
    x : ndarray, (nt, n)
        States; of a sampled block the values that it holds, at a time of a call those after it.
    outputs : mapping of str to ndarray, (nt,) or (nt, n)
        Outputs by name, as the functions of the block give them.
    """

    block: str
    t: Array
    x: Array
    outputs: Mapping[str, Array]

    def __getitem__(self, output: str) -> Array:
        """Return an output over time. Raise UsageError if there is none of that name."""
        return named("output", output, self.outputs)

    def __repr__(self) -> str:
        return f"BlockHistory of {self.block!r}: {self.x.shape[1]} states, {', '.join(self.outputs)}, {len(self.t)} instants"


def block_history(model: Model, t: Array, y: Array, name: str) -> BlockHistory:
    """Return the states and outputs of a block at the states y (nt, ny); outputs are NaN where a state is not finite.

    Raises
    ------
    UsageError
        If there is no block of that name.
    """
    network = model.network
    others = {"result.load": [entry.load.name for entry in model.loads]}
    if network is None:
        raise no_such("block", name, (), others)
    block = named("block", name, {block.name: block for block in network.blocks}, others)
    finite = np.isfinite(y).all(axis=1)
    values = network.over_time(t[finite], y[finite], [f"{name}.{output}" for output in block.outputs])
    outputs = {}
    for output in block.outputs:
        some = values[f"{name}.{output}"]
        whole = np.full((len(t), *some.shape[1:]), np.nan)
        whole[finite] = some
        outputs[output] = read_only(whole)
    return BlockHistory(name, t, read_only(y[:, network.columns(block, y)].copy()), outputs)


def block_names(model: Model) -> tuple[str, ...]:
    """Return the names of the blocks of a model."""
    return () if model.network is None else tuple(block.name for block in model.network.blocks)
