r"""ContactForce: compliant contact of two shapes, with Coulomb friction.

    d > 0:     N = max(0, K d^n (1 + c d' / v_0))          along the normal: +N n on body a, -N n on body b, at the point of contact
               F = -mu N phi(|v_t| / v_c) v_t / |v_t|      phi(x) = (3 x - x^3) / 2 for x < 1, else 1       v_t: slip, v_c: creep speed
    d <= 0:    no force

    potential energy  K d^(n + 1) / (n + 1)       dissipated power  (N - K d^n) d' + |F| |v_t|

v_0 is the speed d' at touch, at least the floor speed. It is stored in the state after the integrated angles, one number for each
point of contact, with the rate 0: the run sets it at touch, an event. It is 0 before the first touch; max(|d'|, floor) is used then.

Until it touches, a point has no force in a run, however deep a stage of a step looks across the surface: every step up to the touch is
smooth, ends at it where the motion reaches it, and the next one begins with the force. A point that a run holds closed has, for d <= 0,
the odd continuation -K |d|^n of the elastic force: the step across its release is smooth, too. Anything else evaluates forces by the
state.
Sources: Hunt, Crossley (1975); Hertz (1881) for n = 3/2; Flores, Lankarani, Contact Force Models for Multibody Dynamics (2016).
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.body import Body
from haugmbd.bodies.validation import read_number
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import kernel
from haugmbd.constraints.base import Motion
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues, TablePlaces, TableRow, add_force, modelled
from haugmbd.forces.compliant.contact_points import (
    CREEP,
    EXPONENT,
    FLOOR,
    HOLD,
    MIDDLE,
    MU,
    POINT,
    POINTS,
    TOUCH,
    C,
    ContactPoint,
    K,
    contact_point,
)
from haugmbd.forces.compliant.damping import LEAST_NOMINAL, DampingModel, Flores, HuntCrossley, nominal_for, restitution_of
from haugmbd.forces.compliant.indentation import Indentation, indentation
from haugmbd.forces.compliant.pairs import PAIRS_TEXT, SHAPES, Pair, pair_of, sizes_missing
from haugmbd.forces.stops import HELD, WrittenLine
from haugmbd.forces.tangent import Tangents, add_pair, lever
from haugmbd.forces.user_function import Value
from haugmbd.math.vec3 import Vec, cross, dot, scale, sub

HUNT_CROSSLEY = HuntCrossley()

TOUCH_RTOL = 1e-12
"""Relative to 1 m and the distance from the origin: points nearer than this touch. Above the rounding of events, below any indentation."""

NEAR = 0.01
"""A restitution that is reached within so much is the one asked for."""
CLOSED = 8
"""Of what a run holds: the first bit of the points that are closed, behind those of the open ones; a box has 8 corners."""

Flags = npt.NDArray[np.bool_]


class ContactValues(NamedTuple):
    """A contact over time, (nt, k): elastic and whole normal force, friction [N], each positive; slip speed [m/s]."""

    elastic: Array
    normal: Array
    friction: Array
    slip: Array


@public_class
class ContactForce(ForceElement):
    """Compliant contact of a shape of body i with a shape of body j.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    i, j : Body
        The two bodies, or the ground.
    shape_i, shape_j : Sphere, Plane, Cylinder or Box
        The shapes that touch, in the frames of their bodies: Sphere and Plane, Sphere and Sphere, Sphere in a Cylinder with an
        inner_radius, Cylinder (a disc, if its length is 0) and Plane, Box and Plane; in either order.
    K : float
        Stiffness [N/m^n] of the elastic force K d^n, positive; n is the exponent of the model, 1.5 by default.
    model : HuntCrossley, LankaraniNikravesh or Flores
        The damping c(restitution), and the exponent n.
    restitution : float
        Nominal coefficient of restitution, 0 to 1; 1 is elastic. `restitution_reached` is the one that follows from the model: HuntCrossley
        does not go below 0.488, and warns of a restitution that it cannot reach.
    mu : float
        Coefficient of friction.
    creep : float
        Slip speed [m/s] below which friction is regularized: it falls smoothly to zero with the slip. A body that sticks creeps slower.
    floor_speed : float
        Least speed at touch v_0 [m/s] in the damping K d^n c d' / v_0; also that of a contact that starts closed at zero speed.

    Raises
    ------
    UsageError
        If i or j is not a Body. Other bad values are collected in `faults()`.

    Notes
    -----
    The normal force never pulls. Touch and release are events of `simulate`: a step ends there, and the speed at touch is kept in the
    state. Between a cylinder and a plane, a point on the rim of each end carries the force; between a box and a plane, its corners.
    A hole has no ends: the length of its Cylinder is not used.
    Sources: Hunt, Crossley (1975); Flores, Lankarani, Contact Force Models for Multibody Dynamics (2016).
    """

    kind = "ContactForce"
    is_contact = True
    variable = MappingProxyType({"K": ((),), "restitution": ((),), "mu": ((),), "creep": ((),)})

    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        shape_i: Any,
        shape_j: Any,
        K: float,
        model: DampingModel = HUNT_CROSSLEY,
        restitution: float = 1.0,
        mu: float = 0.0,
        creep: float = 1e-3,
        floor_speed: float = 1e-3,
    ) -> None:
        super().__init__(name)
        faults: list[Fault] = []
        for side, body in (("i", i), ("j", j)):
            if not isinstance(body, Body):
                raise UsageError(
                    f"{self.where}: {side} is {body!r:.60}, must be a Body. Give the object that system.add(...) returned."
                )
        self.i, self.j, self.shape_i, self.shape_j = i, j, shape_i, shape_j
        self.K = _positive(faults, self.where, "K", K, "N/m^n")
        self.restitution = read_number(faults, self.where, "restitution", restitution)
        self.mu = read_number(faults, self.where, "mu", mu)
        self.creep = _positive(faults, self.where, "creep", creep, "m/s")
        self.floor_speed = _positive(faults, self.where, "floor_speed", floor_speed, "m/s")
        self.model: DampingModel = model if isinstance(model, DampingModel) else HUNT_CROSSLEY
        if not isinstance(model, DampingModel) or type(model) is DampingModel:
            remedy = "Give mbd.HuntCrossley(), mbd.LankaraniNikravesh() or mbd.Flores()."
            faults.append(Fault(self.where, f"model is {model!r:.60}, not a damping model", remedy))
        self.c = self._damping(faults)
        if self.mu < 0.0:
            faults.append(
                Fault(self.where, f"mu is {self.mu:g}, must not be negative", "Give a coefficient of friction of 0 or more.")
            )
        found = pair_of(shape_i, shape_j)
        self._faults = (*faults, *self._geometry_faults(found))
        self.pair: Pair | None = found if not self._faults else None
        self.angles = self.pair.points if self.pair is not None else 0
        self._held = Value((WrittenLine(),))

    def varied(self, **values: Any) -> ContactForce:
        given = {name: getattr(self, name) for name in (*self.variable, "model", "floor_speed")}
        other = ContactForce(self.name, self.i, self.j, shape_i=self.shape_i, shape_j=self.shape_j, **given | values)
        other._held = self._held
        return other

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults

    def _damping(self, faults: list[Fault]) -> float:
        """Return c; add a fault for a restitution that is out of range."""
        if not 0.0 <= self.restitution <= 1.0:
            if np.isfinite(self.restitution):
                remedy = "Give a number from 0 to 1; 1 is elastic."
                faults.append(Fault(self.where, f"restitution is {self.restitution:g}", remedy))
            return 0.0
        c = self.model.damping(self.restitution)
        if not np.isfinite(c):
            what = f"restitution is {self.restitution:g}, which {type(self.model).__name__} cannot have"
            faults.append(Fault(self.where, what, "Give a positive restitution, or another model."))
            return 0.0
        return float(c)

    def _geometry_faults(self, pair: Pair | None) -> tuple[Fault, ...]:
        """Return the faults of bodies and shapes."""
        found = []
        if self.i is self.j:
            what = f"both shapes are on body {self.i.name!r}"
            found.append(Fault(self.where, what, "Give two different bodies; the ground is one, too."))
        unknown = [
            (label, shape) for label, shape in (("shape_i", self.shape_i), ("shape_j", self.shape_j)) if type(shape) not in SHAPES
        ]
        for label, shape in unknown:
            what = f"{label} is {shape!r:.60}, which is not a shape of a contact"
            found.append(Fault(self.where, what, "Give mbd.Sphere, mbd.Plane, mbd.Cylinder or mbd.Box."))
        if unknown:
            return tuple(found)
        if pair is None:
            what = f"a {type(self.shape_i).__name__} and a {type(self.shape_j).__name__} have no contact"
            found.append(Fault(self.where, what, f"Pairs are {PAIRS_TEXT}."))
        elif sizes_missing(self.shape_i, self.shape_j, pair):
            found.append(Fault(self.where, sizes_missing(self.shape_i, self.shape_j, pair), "Check the sizes of the shapes."))
        return tuple(found)

    @property
    def keeps_energy(self) -> bool:
        return self.c == 0.0 and self.mu == 0.0

    @property
    def restitution_reached(self) -> float:
        """Return the restitution that the model reaches, where no other force acts during the contact."""
        return restitution_of(self.c)

    def warnings(self) -> tuple[str, ...]:
        if self.restitution_reached <= self.restitution + NEAR or nominal_for(self.model, self.restitution) is not None:
            return ()
        kind, flores = type(self.model), Flores(self.model.exponent)
        least, other = self.model.reached(LEAST_NOMINAL), nominal_for(flores, self.restitution)
        named = f"model=mbd.Flores(), restitution={LEAST_NOMINAL if other is None else other:.4g}"
        reach = flores.reached(LEAST_NOMINAL) if other is None else self.restitution
        return (
            f"{self.where}: restitution = {self.restitution:g} is nominal, and {kind.__name__} reaches {self.restitution_reached:.3g} with "
            f"it, no less than {least:.3g} with any: give {named}, which reaches {reach:.3g}, or a rigid Contact.",
        )

    def bodies(self) -> tuple[Body, ...]:
        """Return body a and body b of the pair: i and j, or j and i."""
        return (self.j, self.i) if self.pair is not None and self.pair.swapped else (self.i, self.j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        if self.pair is None:
            return ()
        a, b = self.bodies()
        return (*((a, x) for x in self.pair.a), *((b, x) for x in self.pair.b))

    def value(self) -> Value:
        return self._held

    def numbers(self) -> tuple[float, ...]:
        if self.pair is None:
            return ()
        p = self.pair
        law = (self.K, self.model.exponent, self.c, self.mu, self.creep, self.floor_speed)
        return (float(p.kind), float(p.points), p.radius_a, p.radius_b, *law)

    def table_rows(self, places: TablePlaces) -> tuple[TableRow, ...]:
        """Return the row of the element: markers, the line of what is held, first touch speed, and constants."""
        return (TableRow((*places.markers, *places.drivers, places.angle), self.numbers()),)

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        return (angle,)

    def indentation(self, bodies: Array) -> Indentation:
        """Return the points of contact on a trajectory, bodies (2, nt, 13)."""
        assert self.pair is not None
        return indentation(self.pair, bodies[0], bodies[1])

    def angles0(self) -> tuple[float, ...]:
        """Return the touch speeds at the modelled pose: of points that are closed there max(d', floor), 0 of others."""
        if self.pair is None:
            return ()
        found = self.indentation(modelled(self.bodies()))
        touching, inside = at_touch(found)
        speeds = np.where(touching | inside, np.maximum(found.rate, self.floor_speed), 0.0)
        return tuple(speeds[0].tolist())

    def modelled_angles(self) -> Array:
        return np.array([self.angles0()])

    def contact_forces(self, found: Indentation, touch: Array) -> ContactValues:
        """Return the forces; touch (nt, k): speeds at touch, 0 for those that are not known."""
        with np.errstate(all="ignore"):
            elastic = self.K * np.maximum(found.depth, 0.0) ** self.model.exponent
            v_0 = np.where(touch > 0.0, touch, np.maximum(np.abs(found.rate), self.floor_speed))
            normal = np.maximum(0.0, elastic * (1.0 + self.c * found.rate / v_0))
            slip = np.linalg.norm(found.slip, axis=-1)
            x = np.minimum(slip / self.creep, 1.0)
        return ContactValues(elastic, normal, self.mu * normal * 0.5 * (3.0 * x - x**3), slip)

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        found = self.indentation(bodies)
        force = self.contact_forces(found, angle.reshape(found.depth.shape))
        potential = force.elastic * np.maximum(found.depth, 0.0) / (self.model.exponent + 1.0)
        dissipated = (force.normal - force.elastic) * found.rate + force.friction * force.slip
        return EnergyLedger(potential.sum(axis=1), dissipated.sum(axis=1), np.zeros(len(t)))

    def quantities(self, t: Array, bodies: Array, angle: Array) -> LoadValues:
        """Return indentation and its rate, normal force, friction and slip of each point, and the whole force on body i."""
        found = self.indentation(bodies)
        force = self.contact_forces(found, angle.reshape(found.depth.shape))
        direction = -found.slip / np.where(force.slip > 0.0, force.slip, 1.0)[..., None]
        on_a = force.normal[..., None] * found.normal + force.friction[..., None] * direction
        power = -(force.normal * found.rate + force.friction * force.slip).sum(axis=1)
        sign = -1.0 if self.pair is not None and self.pair.swapped else 1.0
        each = {"indentation": found.depth, "rate": found.rate, "normal_force": force.normal}
        each |= {"friction_force": force.friction, "slip": np.where(found.depth > 0.0, force.slip, 0.0)}
        values = {key: x[:, 0] if x.shape[1] == 1 else x for key, x in each.items()}
        return LoadValues(values | {"force": sign * on_a.sum(axis=1)}, power)


def at_touch(found: Indentation) -> tuple[Flags, Flags]:
    """Return which points of contact (nt, k) touch within rounding and do not part, and which are inside beyond it."""
    rounding = TOUCH_RTOL * (1.0 + np.abs(found.point).max(axis=-1))
    return (np.abs(found.depth) <= rounding) & (found.rate >= 0.0), found.depth > rounding


def _positive(faults: list[Fault], where: str, label: str, value: Any, unit: str) -> float:
    """Return a positive number; a fault for another one."""
    number = read_number(faults, where, label, value, unit=unit)
    if number <= 0.0:
        faults.append(
            Fault(where, f"{label} is {number:g} {unit}, must be positive", f"Give {label} as a positive number [{unit}].")
        )
    return number


@kernel
def touch_speed(floats: Array, k: int, given: float, rate: float) -> float:
    """Return v_0 of the damping: the one in the state, or max(|d'|, floor) where it is not known."""
    return given if given > 0.0 else max(abs(rate), floats[k, FLOOR])


@kernel
def damping_factor(floats: Array, k: int, given: float, rate: float) -> float:
    """Return 1 + c d' / v_0, at least 0."""
    factor: float = max(0.0, 1.0 + floats[k, C] * rate / touch_speed(floats, k, given, rate))
    return factor


@kernel
def friction_over_slip(floats: Array, k: int, slip: float) -> float:
    """Return mu phi(|v_t| / v_c) / |v_t|, which is smooth at zero slip."""
    v_c = floats[k, CREEP]
    x = slip / v_c
    phi_over_slip: float = 0.5 * (3.0 - x * x) / v_c if x < 1.0 else 1.0 / slip
    return floats[k, MU] * phi_over_slip  # type: ignore[no-any-return]


@kernel
def has_force(ints: Ints, k: int, which: int, F: Array, depth: float) -> bool:
    """Return whether a point of contact has a force: a run holds it closed, or it is inside and not held open; F: the driver table."""
    held = int(F[ints[k, HOLD], HELD])
    return (held >> (which + CLOSED)) & 1 == 1 or (depth > 0.0 and (held >> which) & 1 == 0)


@kernel
def elastic_force(floats: Array, k: int, depth: float) -> float:
    """Return K d^n, or its odd continuation outside."""
    force: float = floats[k, K] * abs(depth) ** floats[k, EXPONENT]
    return force if depth > 0.0 else -force


@kernel
def add_forces(ints: Ints, floats: Array, first: int, last: int, m: Motion, Q: Array) -> None:
    """Add the contact forces of all elements."""
    for k in range(first, last):
        a, b = m.body_of[ints[k, MIDDLE]], m.body_of[ints[k, POINT]]
        for which in range(int(floats[k, POINTS])):
            x = contact_point(ints, floats, k, which, m)
            if has_force(ints, k, which, m.F, x.depth):
                elastic = elastic_force(floats, k, x.depth)
                N = elastic * damping_factor(floats, k, m.angles[ints[k, TOUCH] + which], x.rate)
                friction = N * friction_over_slip(floats, k, (dot(x.slip, x.slip)) ** 0.5)
                F = sub(scale(N, x.normal), scale(friction, x.slip))
                add_force(Q, m.A, a, F, x.s_a)
                add_force(Q, m.A, b, scale(-1.0, F), x.s_b)


@kernel
def put_angle_rates(ints: Ints, floats: Array, first: int, last: int, m: Motion, rates: Array) -> None:
    """Write the rates of the touch speeds, which are zero."""
    for k in range(first, last):
        for which in range(int(floats[k, POINTS])):
            rates[ints[k, TOUCH] + which] = 0.0


@kernel
def across(n: Vec) -> Vec:
    """Return a unit vector across the unit vector n."""
    least = 0 if abs(n[0]) <= abs(n[1]) and abs(n[0]) <= abs(n[2]) else 1 if abs(n[1]) <= abs(n[2]) else 2
    e = (1.0 if least == 0 else 0.0, 1.0 if least == 1 else 0.0, 1.0 if least == 2 else 0.0)
    g = sub(e, scale(dot(n, e), n))
    g = scale(1.0 / dot(g, g) ** 0.5, g)
    return g


@kernel
def add_direction(T: Tangents, k: int, a: int, b: int, m: Motion, x: ContactPoint, c: float, e: Vec) -> None:
    """Add c g^T g of the relative motion along e at a point of contact."""
    if c > 0.0:
        add_pair(T, k, a, b, c, lever(m.A, a, e, x.s_a), lever(m.A, b, e, x.s_b))


@kernel
def add_tangent(ints: Ints, floats: Array, first: int, last: int, m: Motion, T: Tangents) -> None:
    """Add c_K K + c_C C: dN/dd and dN/dd' along the normal, the derivative of friction by the slip across it.

    Left out are the turning of the normal, and friction by N, which is not symmetric.
    """
    for k in range(first, last):
        a, b = m.body_of[ints[k, MIDDLE]], m.body_of[ints[k, POINT]]
        for which in range(int(floats[k, POINTS])):
            x = contact_point(ints, floats, k, which, m)
            if has_force(ints, k, which, m.F, x.depth):
                given, n = m.angles[ints[k, TOUCH] + which], floats[k, EXPONENT]
                elastic = elastic_force(floats, k, x.depth)
                factor = damping_factor(floats, k, given, x.rate)
                if factor > 0.0:
                    damping = elastic * floats[k, C] / touch_speed(floats, k, given, x.rate)
                    normal = T.c_K * n * floats[k, K] * abs(x.depth) ** (n - 1.0) * factor + T.c_C * damping
                    add_direction(T, k, a, b, m, x, normal, x.normal)
                slip = dot(x.slip, x.slip) ** 0.5
                e = scale(1.0 / slip, x.slip) if slip > 0.0 else across(x.normal)
                beyond = min(slip / floats[k, CREEP], 1.0)
                steep = 1.5 * floats[k, MU] * (1.0 - beyond * beyond) / floats[k, CREEP]
                add_direction(T, k, a, b, m, x, T.c_C * elastic * factor * steep, e)
                turning = friction_over_slip(floats, k, slip)
                add_direction(T, k, a, b, m, x, T.c_C * elastic * factor * turning, cross(x.normal, e))
