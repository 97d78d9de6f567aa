r"""A rigid body: mass and inertia about the centre of mass, and its modelled pose and velocity.

    r       centre of mass, global [m]                 p          Euler parameters (e0, e), scalar first, |p| = 1
    v       r-dot, global [m/s]                        omega_bar  angular velocity, body frame [rad/s]
    J_bar   inertia about the centre of mass, body frame [kg m2], symmetric, positive SEMI-definite:
            0 <= J1 <= J2 <= J3 <= J1 + J2             (the triangle inequality: J is an integral over mass)

A principal moment of zero (slender rod, point mass) is allowed; `massless_axes` returns its axes. So is a mass of zero, of a link whose
motion the joints give: the equations of motion are then solved exactly, and refused where it has a motion of its own.
Source: Haug (2021), spatial kinematics and dynamics of a rigid body.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from haugmbd.bodies.plane import plane_of
from haugmbd.bodies.shapes.base import Drawn, Shape, read_shapes
from haugmbd.bodies.validation import FloatArray, frozen, numbers, read_array, read_number, shared
from haugmbd.choices import is_one_of
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.tolerances import rounding_of_inertia

UNIT_P_TOL = 1e-4
"""Four Euler parameters typed with four decimals are each off by at most 5e-5, so |p| is off by at most 1e-4. This is rounding, and
p is normalised. A larger error is a mistake."""

SYMMETRY_RTOL = 1e-9
"""Relative to the largest entry: far above the rounding of A J A^T, far below a mistyped product of inertia."""

MASSLESS_RTOL = 1e-12
"""A principal moment below this part of the largest one is zero. It is above the rounding of A J A^T or of a parallel-axis shift, and
below the moment of any real wire."""

TRIANGLE_RTOL = 1e-3
"""J3 <= J1 + J2 to this part of J3: three moments typed with four significant digits are each off by at most 5e-4 of themselves, so
a lamina, where J3 = J1 + J2 exactly, can miss by 5e-4 (J1 + J2 + J3) = 1e-3 J3."""

FROZEN = (
    "a Body is frozen: {name} of body {body!r} cannot be set. Make a new Body(...); poses and velocities of a run are in State."
)


@runtime_checkable
class Changing(Protocol):
    """A function of time in the place of a number: a driver, or the output of a block."""

    def at_start(self) -> float:
        """Return its value at t = 0."""
        ...


@public_class
class Body:
    """A rigid body, or the ground.

    Parameters
    ----------
    name : str
        Name of the body in messages and results.
    mass : float, callable or Driver
        Mass [kg]. Zero for a link whose motion the joints give, such as the cross of a universal joint; J_bar is then zero, too. In time:
        a function f(t), a driver, or the output of a block, `block["mass"]`.
    J_bar : array_like, (3,) or (3, 3), or callable
        Inertia about the centre of mass, body frame [kg m2]: three principal values, or a symmetric matrix. In time: three functions of
        the principal values, or one that returns three.
    r : array_like, (3,)
        Centre of mass, global frame [m].
    p : array_like, (4,), or numpy quaternion
        Euler parameters, scalar first.
    v : array_like, (3,)
        Velocity of the centre of mass, global frame [m/s].
    omega_bar : array_like, (3,)
        Angular velocity, body frame [rad/s].
    exhaust : array_like, (3,), optional
        Velocity against the body, body frame [m/s], of the mass that leaves or comes: its thrust m' u acts at the centre of mass. By
        default it has the velocity of the body, and there is no thrust.
    shape : Shape or sequence of Shape, optional
        What is drawn of the body, body frame: any shape, such as Box or Mesh; () for nothing. In a sequence, `...` stands for what
        is drawn by default: the solid of `haugmbd.bodies.inertia` that gave J_bar, else a solid or sticks found from J_bar and joints.

    Notes
    -----
    A shape changes no motion.
    Of a mass in time `mass` and `J_bar` are the values at t = 0, and `in_time` has the functions; see `forces.mass_in_time` for the
    equations. What leaves a body takes its angular momentum along; an inertia in time at constant mass is motion within the body, which
    keeps the angular momentum.
    A body is frozen, and equal only to itself. The constructor does not raise for bad values: it stores NaN and collects faults;
    `System.validate` raises them all in one ModelError.
    Source: Haug (2021), spatial kinematics and dynamics of a rigid body.
    """

    variable: ClassVar[Mapping[str, tuple[tuple[int, ...], ...]]] = MappingProxyType({"mass": ((),), "J_bar": ((3,), (3, 3))})
    """The attributes that `varied` can change, each with its shapes."""

    __slots__ = (
        "A",
        "J_bar",
        "_faults",
        "exhaust",
        "in_time",
        "is_ground",
        "mass",
        "name",
        "omega_bar",
        "p",
        "r",
        "shape",
        "solid",
        "v",
    )

    name: str
    mass: float
    J_bar: FloatArray
    r: FloatArray
    p: FloatArray
    v: FloatArray
    omega_bar: FloatArray
    A: FloatArray
    is_ground: bool
    exhaust: FloatArray | None
    in_time: Mapping[str, Any] | None
    shape: Drawn
    solid: tuple[Shape, ...]
    _faults: tuple[Fault, ...]

    def __init__(
        self,
        name: str,
        mass: Any,
        J_bar: Any,
        *,
        r: Any = (0.0, 0.0, 0.0),
        p: Any = (1.0, 0.0, 0.0, 0.0),
        v: Any = (0.0, 0.0, 0.0),
        omega_bar: Any = (0.0, 0.0, 0.0),
        exhaust: Any = None,
        shape: Any = ...,
    ) -> None:
        faults: list[Fault] = []
        where = f"body {name!r}"
        mass, J_bar, in_time = _read_in_time(faults, where, mass, J_bar, exhaust)
        if not (isinstance(name, str) and name.strip()):
            faults.append(Fault(where, "the name is empty or not a string", 'Give each body a name, such as "crank".'))
        self._fill(
            name=str(name),
            mass=_read_mass(faults, where, mass),
            J_bar=_read_inertia(faults, where, J_bar, mass),
            r=read_array(faults, where, "r", r, (3,), unit="m"),
            p=_read_euler_parameters(faults, where, p),
            v=shared(read_array(faults, where, "v", v, (3,), unit="m/s")),
            omega_bar=shared(read_array(faults, where, "omega_bar", omega_bar, (3,), unit="rad/s")),
            is_ground=False,
            in_time=in_time,
            exhaust=None if in_time is None else in_time["exhaust"],
            shape=read_shapes(faults, where, shape),
            solid=tuple(getattr(J_bar, "shapes", ())),
            _faults=tuple(faults),
        )

    @classmethod
    def at_reference(
        cls, name: str, mass: float, J_bar: Any, *, center: Any, r: Any = (0.0, 0.0, 0.0), about: str = "center", **given: Any
    ) -> Self:
        """Return the body that is described in a frame whose origin is not the centre of mass.

        Parameters
        ----------
        name : str
            Name of the body in messages and results.
        mass : float
            Mass [kg].
        J_bar : array_like, (3,) or (3, 3)
            Inertia in the axes of the frame [kg m2], about the point that `about` says.
        center : array_like, (3,)
            Centre of mass in the frame [m].
        r : array_like, (3,)
            Origin of the frame, global [m].
        about : {"center", "origin"}
            The point that J_bar is about: the centre of mass, or the origin of the frame.
        **given
            p, v (of the origin), omega_bar and shape, as of a Body; shapes are placed in the frame.

        Returns
        -------
        Body
            The body; its r is the centre of mass, and the axes are those of the frame.

        Raises
        ------
        UsageError
            If about is neither. Other bad values are collected in `faults()`.
        """
        if not is_one_of(about, ("center", "origin")):
            raise UsageError(f"body {name!r}: about is {about!r}, must be 'center' or 'origin'.")
        c, x, J, m = numbers(center), numbers(r), numbers(J_bar), numbers(mass)
        wrong = [label for label, value in (("center", c), ("r", x)) if value is None or value.shape != (3,)]
        if wrong or c is None or x is None or J is None or m is None or m.shape != () or J.shape not in ((3,), (3, 3)):
            body = cls(name, mass, J_bar, **given)
            faults = [Fault(f"body {name!r}", f"{label} is not three numbers", "Give three finite numbers [m].") for label in wrong]
            body.__setstate__(body.__getstate__() | {"_faults": (*body._faults, *faults)})
            return body
        if about == "origin":
            J = (np.diag(J) if J.shape == (3,) else J) - float(m) * (c @ c * np.eye(3) - np.outer(c, c))
        shape = given.pop("shape", ...)
        given["shape"] = [s if s is ... else s.placed(-c) for s in (shape if isinstance(shape, list | tuple) else [shape])]
        at = cls(name, mass, J if about == "origin" else J_bar, **given)
        arm = at.A @ c
        omega = at.A @ at.omega_bar
        return cls(name, mass, J if about == "origin" else J_bar, r=x + arm, **given | {"v": at.v + np.cross(omega, arm)})

    @classmethod
    def in_plane(
        cls,
        name: str,
        mass: float,
        J: float,
        *,
        q: Any = (0.0, 0.0, 0.0),
        u: Any = (0.0, 0.0, 0.0),
        planar: str = "xz",
        **given: Any,
    ) -> Self:
        """Return the body of a planar mechanism.

        Parameters
        ----------
        name : str
            Name of the body in messages and results.
        mass : float
            Mass [kg].
        J : float
            Inertia about the normal of the plane, at the centre of mass [kg m2].
        q : array_like, (3,)
            Two coordinates of the centre of mass [m] and the angle from the first axis of the plane towards the second [rad]: (x, z, phi).
        u : array_like, (3,)
            Their rates [m/s, rad/s].
        planar : {"xz", "zx", "xy", "yx", "yz", "zy"}
            The plane, by two global axes.
        **given
            shape, as of a Body.

        Returns
        -------
        Body
            The body. Its other two moments of inertia, which a planar motion does not know, are J, too.

        Raises
        ------
        UsageError
            If planar is not a plane, or q or u are not three numbers. Other bad values are collected in `faults()`.

        Notes
        -----
        Source: Haug (1989), Nikravesh (1988).
        """
        plane = plane_of(planar, f"body {name!r}")
        motion = []
        for label, value in (("q", q), ("u", u)):
            x = numbers(value)
            if x is None or x.shape != (3,) or not np.isfinite(x).all():
                raise UsageError(
                    f"body {name!r}: {label} is {value!r:.60}, must be three finite numbers: two coordinates and an angle."
                )
            motion.append(x)
        r, p = plane.place(motion[0])
        v, omega = np.zeros(3), np.zeros(3)
        v[[plane.first, plane.second]], omega[plane.normal] = motion[1][:2], plane.sense * motion[1][2]
        return cls(name, mass, (J, J, J), r=r, p=p, v=v, omega_bar=omega, **given)

    @classmethod
    def ground(cls, name: str = "ground", *, shape: Any = ()) -> Self:
        """Return a fixed body whose frame is the global frame;  shape: what is drawn of it, global frame.

        Its mass and inertia are stored as 0, and enter no sum.
        """
        body = cls.__new__(cls)
        faults: list[Fault] = []
        drawn = tuple(one for one in read_shapes(faults, f"body {name!r}", shape) if isinstance(one, Shape))
        zero, unit = frozen(np.zeros(3)), frozen([1.0, 0.0, 0.0, 0.0])
        values = {"mass": 0.0, "J_bar": frozen(np.zeros((3, 3))), "r": zero, "p": unit, "v": zero, "omega_bar": zero}
        body._fill(name=name, **values, is_ground=True, in_time=None, exhaust=None, shape=drawn, solid=(), _faults=tuple(faults))
        return body

    def varied(self, **values: Any) -> Body:
        """Return the same body with another mass [kg] or J_bar [kg m2], for `batch`; bad values are collected in `faults()`."""
        body = Body(self.name, values.get("mass", self.mass), values.get("J_bar", self.J_bar))
        changed = {name: getattr(body, name) for name in ("mass", "J_bar", "_faults")}
        body.__setstate__(self.__getstate__() | changed)
        return body

    def _fill(self, **values: Any) -> None:
        """Set every slot once."""
        for key, value in values.items():
            object.__setattr__(self, key, value)
        object.__setattr__(self, "A", _rotation_matrix(self.p.tobytes()))

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this body; () if there is none."""
        return self._faults

    def massless_axes(self) -> FloatArray:
        """Return the axes about which the principal moment is zero: one for a rod, three for a point mass.

        Returns
        -------
        ndarray, (k, 3)
            Unit vectors in the body frame; empty for the ground and for a body with a faulty inertia.
        """
        if self.is_ground or not np.isfinite(self.J_bar).all():
            return np.zeros((0, 3))
        return _massless_axes(self.J_bar.tobytes())

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(FROZEN.format(name=name, body=self.name))

    def __delattr__(self, name: str) -> None:
        raise AttributeError(FROZEN.format(name=name, body=self.name))

    def __getstate__(self) -> dict[str, Any]:
        state = {slot: getattr(self, slot) for slot in Body.__slots__ if slot != "A"}
        return state | {"in_time": None if self.in_time is None else dict(self.in_time)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = {"shape": (...,), "solid": (), "in_time": None, "exhaust": None, **state}  # bodies of haugmbd 0.1 have none
        self._fill(**{key: frozen(value) if isinstance(value, np.ndarray) else value for key, value in state.items()})

    def __repr__(self) -> str:
        if self.is_ground:
            return f"Body.ground({self.name!r})"
        if self._faults:
            return f"Body({self.name!r}, not valid: {'; '.join(fault.what for fault in self._faults)})"
        return f"Body({self.name!r}, mass={self.mass!r}, J_bar={self.J_bar.tolist()}, r={self.r.tolist()}, p={self.p.tolist()})"


def _read_in_time(
    faults: list[Fault], where: str, mass: Any, J_bar: Any, exhaust: Any
) -> tuple[Any, Any, Mapping[str, Any] | None]:
    """Return mass and inertia at t = 0, and the functions of time by name; None without one."""
    of_mass = mass if _changes(mass) else None
    parts = isinstance(J_bar, tuple | list) and len(J_bar) == 3 and any(map(_changes, J_bar))  # noqa: PLR2004
    of_J = J_bar if callable(J_bar) or parts else None
    if of_mass is None and of_J is None:
        if exhaust is not None:
            what = "it has an exhaust velocity, and a mass that does not change"
            faults.append(Fault(where, what, "Give the mass as a function of time, or a PointForce for the thrust."))
        return mass, J_bar, None
    if exhaust is not None:
        exhaust = read_array(faults, where, "exhaust", exhaust, (3,), unit="m/s")
    first = _at_start(faults, where, "mass", of_mass) if of_mass is not None else mass
    if callable(of_J):
        J_bar = _at_start(faults, where, "J_bar", of_J)
    elif parts:
        J_bar = [_at_start(faults, where, "J_bar", f) if _changes(f) else f for f in J_bar]
    if of_mass is not None and not faults and not float(first) > 0.0:
        faults.append(
            Fault(where, f"its mass is {float(first):.6g} kg at t = 0, and must be positive", "Give a positive mass(0) [kg].")
        )
        first = 1.0  # the fault is told
    return first, J_bar, MappingProxyType({"mass": of_mass, "J_bar": of_J, "exhaust": exhaust})


def _changes(x: Any) -> bool:
    """Return whether a mass, or a part of an inertia, is a function of time."""
    return not isinstance(x, float | int | np.ndarray | tuple | list) and (callable(x) or isinstance(x, Changing))


def _at_start(faults: list[Fault], where: str, label: str, given: Any) -> Any:
    """Return the value of a function of time at t = 0; NaN, and a fault, if it has none."""
    try:
        value = numbers(given.at_start() if isinstance(given, Changing) else given(0.0))
    except Exception as error:  # noqa: BLE001  a function of the user may raise anything
        faults.append(Fault(where, f"{label}(0) raises {type(error).__name__}: {error}", "Give a function of t alone."))
        return 1.0  # the fault is told
    if value is None or value.shape not in ((), (3,)) or not np.isfinite(value).all():
        what = f"{label} at t = 0 is {value if value is None else value.tolist()}"
        faults.append(
            Fault(where, what, "Give a function of t, a driver, or a state of a block, with a finite value at the start.")
        )
        return 1.0
    return value.tolist()


def _read_mass(faults: list[Fault], where: str, value: Any) -> float:
    """Return the mass [kg]; add a fault unless it is finite and not negative."""
    mass = read_number(faults, where, "mass", value, unit="kg")
    if mass < 0.0:
        faults.append(
            Fault(where, f"mass is {mass} kg, must be positive", "Give the mass in kilograms, or attach to system.ground instead.")
        )
    return mass


def _read_inertia(faults: list[Fault], where: str, value: Any, mass: Any) -> FloatArray:
    """Return the inertia matrix (3, 3), symmetrised; NaN and a fault unless it can belong to a rigid body.

    One that cannot, and is rounding beside the mass, is that of a point mass.
    """
    before = len(faults)
    remedy = "Give J_bar as 3 principal values or a symmetric (3, 3) matrix [kg m2], about the centre of mass, in the body frame."
    J = read_array(faults, where, "J_bar", value, (3, 3), (3,), unit="kg m2", remedy=remedy)
    if J.shape == (3,):
        J = np.diag(J)
    if len(faults) == before:
        defects = _defects(J.tobytes())
        given = numbers(mass)
        beside = float(given) if defects and given is not None and given.shape == () else 0.0
        if defects and np.abs(J).max() <= rounding_of_inertia(beside):
            return shared(np.zeros((3, 3)))
        faults.extend(Fault(where, what, remedy) for what, remedy in defects)
    return shared(0.5 * (J + J.T) if len(faults) == before else np.full((3, 3), np.nan))


@lru_cache(maxsize=256)
def _defects(J: bytes) -> list[tuple[str, str]]:
    """Return the defects of an inertia (3, 3), for which no rigid body exists; equal ones are checked once."""
    return inertia_defects(np.frombuffer(J).reshape(3, 3))


@lru_cache(maxsize=256)
def _rotation_matrix(p: bytes) -> FloatArray:
    """Return A(p), read-only."""
    return frozen(rotation_matrix(np.frombuffer(p)))


@lru_cache(maxsize=256)
def _massless_axes(J_bar: bytes) -> FloatArray:
    """Return the axes of an inertia (3, 3) about which its principal moment is zero (k, 3), read-only."""
    moments, axes = np.linalg.eigh(np.frombuffer(J_bar).reshape(3, 3))
    massless = axes.T[moments <= MASSLESS_RTOL * moments[-1]]
    largest = np.argmax(np.abs(massless), axis=1)[:, None]
    return frozen(massless * np.sign(np.take_along_axis(massless, largest, axis=1)))


def inertia_defects(J: FloatArray) -> list[tuple[str, str]]:
    """Return the first defect of J and its remedy: asymmetry, a negative principal moment, a broken triangle inequality."""
    gap = np.abs(J - J.T)
    if gap.max() > SYMMETRY_RTOL * np.abs(J).max():
        i, j = (int(k) for k in np.unravel_index(np.argmax(gap), gap.shape))
        what = f"J_bar is not symmetric: J_bar[{i}, {j}] = {J[i, j]:g} but J_bar[{j}, {i}] = {J[j, i]:g} kg m2"
        return [(what, "Products of inertia appear twice with the same sign: -integral(x y dm).")]
    size = float(np.abs(J).max()) or 1.0  # LAPACK overflows where the entries come near the largest float
    J1, J2, J3 = (size * float(moment) for moment in np.linalg.eigvalsh(0.5 * (J / size + J.T / size)))
    moments = f"principal moments {J1:g}, {J2:g}, {J3:g} kg m2"
    if J1 < -MASSLESS_RTOL * max(abs(J1), J3):
        return [
            (
                f"J_bar has a negative principal moment ({moments})",
                "Check signs and units; zero is allowed (slender rod, point mass).",
            )
        ]
    if J3 > J1 + J2 + TRIANGLE_RTOL * J3:
        what = f"J_bar breaks the triangle inequality: {moments}, and {J3:g} > {J1:g} + {J2:g}"
        return [
            (
                what,
                "No rigid body has such an inertia: check that J_bar is about the centre of mass, and see haugmbd.bodies.inertia.",
            )
        ]
    return []


def _read_euler_parameters(faults: list[Fault], where: str, value: Any) -> FloatArray:
    """Return unit Euler parameters (4,). Rounding is normalised; a p that is farther from unit is a fault."""
    remedy = "Give p as 4 numbers, scalar first (SciPy's Rotation is scalar-last), or as one numpy quaternion."
    p = read_array(faults, where, "p", _quaternion_as_numbers(value), (4,), remedy=remedy)
    length = float(np.linalg.norm(p))
    if abs(length - 1.0) > UNIT_P_TOL:
        what = f"p = {p.tolist()} is far from unit: |p| = {length:.6g}"
        remedy = (
            f"Euler parameters of a rotation have length 1 (rounding up to {UNIT_P_TOL:g} is normalised away): divide p by |p|."
        )
        faults.append(Fault(where, what, remedy))
        return frozen(np.full(4, np.nan))
    return shared(p / length)


def _quaternion_as_numbers(value: Any) -> Any:
    """Return (w, x, y, z) of a numpy quaternion, and any other value unchanged.

    The type is recognised by its name, because importing `quaternion` is slow.
    """
    if isinstance(value, np.ndarray) and value.dtype.name == "quaternion" and value.size == 1:
        value = value.reshape(1)[0]
    if type(value).__name__ == "quaternion" and type(value).__module__.startswith("quaternion"):
        return (value.w, value.x, value.y, value.z)
    return value
