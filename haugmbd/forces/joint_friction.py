r"""JointFriction: friction in a joint, against its motion, by a law and by what the joint carries.

F, M: the joint's own reaction on body j at its point P_j;  h: its axis;  x' = v, theta' = w: its rates;  mu: of the law at the speed

    R             torque    mu(r |w|) r (N + N_0) + mu(r_t |w|) r_t |F . h|          N = |F_p / 2 + c| + |F_p / 2 - c|
    T             force     mu(|v|) (N + N_0 + |M . h| / r)                          F_p = F - (F . h) h,  c = (M x h) / l
    C             force and torque about r against (v, r w) together:  mu(s) (N + N_0),  s^2 = v^2 + (r w)^2
    S             torque    mu(r |w|) r (|F| + N_0)                                  against the relative angular velocity w
    point on line force     mu(|v|) (|F_p| + N_0)
    planar        force     mu(|v|) (max(|F . n|, 2 |M_p| / l) + N_0)                against the velocity v of P_j on the plane
    thread        force along the helix   mu(|s|) (N + |F . h| / cos beta + N_0)     against s = v sin beta + r w cos beta, of C and Screw
    mesh          torque    mu(r |w|) (|M . h| + r N_0)                              of a Gear, Belt, ...; on its first joint, w its rate
                  force     mu(|v|) (|F . h| + N_0)                                  if its first coordinate is a displacement

tan beta = pitch / 2 pi r: the thread presses across the helix, and locks itself where mu_s >= tan beta.  F, M of a thread are those of the
joint and the screw together, of a mesh those of the coupling on body j of its first joint: with the loss factor mu a mesh that is driven
by its first joint has the efficiency 1 / (1 + mu), one that is driven back 1 - mu, and locks where mu_s >= 1.

r: radius;  r_t: thrust_radius;  l: length;  N_0: preload, a number, a function of time or a signal.
A moment across the axis is a couple of two bearings at l / 2 before and behind the point.  Without `length` moments press nothing; without
`radius` the moment about a slider's axis does not.
Friction at rest: any friction up to mu_s in place of mu.
Where redundant rows share the load, bearings of a stiffness decide it: k against forces, k b^2 / 4 against moments, of two bearings of
k / 2 each, b = length, or 2 r, apart (`friction.shared_loads`).
Source: Haug (2021), generalized forces: friction; the two bearings are a statement about the load, not a derivation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.equations.coordinate_function import CoordinateFunctionRow
from haugmbd.constraints.freedoms import Axis, Freedom, Kind
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import public_class
from haugmbd.drivers import Driver
from haugmbd.drivers.kinks import kinks_of
from haugmbd.errors import Fault, UsageError
from haugmbd.forces.base import EnergyLedger, ForceElement, LoadValues
from haugmbd.forces.friction_laws import FrictionLaw
from haugmbd.forces.user_function import TIME, Value, VectorDriver, read_value

REVOLUTE, TRANSLATIONAL, CYLINDRICAL, SPHERICAL, POINT_ON_LINE, PLANAR, THREAD, MESH_TURN, MESH_SLIDE = range(9)
KIND_WORDS = "revolute translational cylindrical spherical point-on-line planar threaded meshed meshed"
WORDS = tuple(f"a {word}" for word in KIND_WORDS.split())
CHANNELS = (1, 1, 2, 3, 1, 2, 1, 1, 1)
"""Number of rates that friction acts against, by the kind of joint."""
USES = {
    "radius": (REVOLUTE, TRANSLATIONAL, CYLINDRICAL, SPHERICAL, THREAD, MESH_TURN),
    "length": (REVOLUTE, TRANSLATIONAL, CYLINDRICAL, PLANAR, THREAD),
    "thrust_radius": (REVOLUTE,),
}
LAW_NUMBERS = 7
"""The number of a law, and its parameters at most."""
NEED_RADIUS = (REVOLUTE, CYLINDRICAL, SPHERICAL, THREAD, MESH_TURN)
OF_COUPLINGS = (THREAD, MESH_TURN, MESH_SLIDE)
"""Kinds whose load is that of a coupling, which has no bearing of its own."""


def terms_of(joint: Joint) -> tuple[tuple[Coordinate, float], ...]:
    """Return the coordinates that a coupling relates, with their coefficients; () for a joint that is none."""
    return tuple(getattr(joint, "terms", ()))


def lead_of(joint: Joint) -> float:
    """Return the displacement for one radian [m] of a coupling of the angle and the displacement of one joint, a screw; 0 for others.

    A cam of these coordinates has a lead that changes: it is no screw.
    """
    terms = terms_of(joint)
    if len(terms) != len(("angle", "displacement")) or terms[0][0].joint is not terms[1][0].joint:
        return 0.0
    if any(isinstance(row, CoordinateFunctionRow) for row in joint.primitives()):
        return 0.0
    by_kind = {q.turns: c for q, c in terms}
    return -by_kind[True] / by_kind[False] if len(by_kind) == len(terms) and by_kind[False] else 0.0


def _changes(preload: Any) -> bool:
    """Return whether a preload is a function or a signal, and no number."""
    return callable(preload) or isinstance(preload, Driver)


def kind_of(freedoms: tuple[Freedom, ...] | None) -> int | None:
    """Return the kind of a joint, by its freedoms; None for a joint that friction does not know."""
    found = freedoms or ()
    turns = [f for f in found if f.kind is Kind.TURN]
    slides = sorted(f.axis for f in found if f.kind is Kind.SLIDE)
    balls = [f for f in found if f.kind is Kind.BALL]
    if any(f.axis is not Axis.H for f in turns):
        return None
    kinds = {
        (1, (), 0): REVOLUTE,
        (0, (Axis.H,), 0): TRANSLATIONAL,
        (1, (Axis.H,), 0): CYLINDRICAL,
        (0, (), 3): SPHERICAL,
        (0, (Axis.H,), 3): POINT_ON_LINE,
        (1, (Axis.F, Axis.G), 0): PLANAR,
    }
    return kinds.get((len(turns), tuple(slides), len(balls)))


def _read_stiffness(faults: list[Fault], where: str, stiffness: Any) -> float | tuple[float, ...] | None:
    """Return the stiffness of a bearing: a number, or one against forces and one against moments."""
    if stiffness is None:
        return None
    if np.ndim(stiffness) == 0:
        return read_number(faults, where, "bearing_stiffness", stiffness, unit="N/m")
    return tuple(read_array(faults, where, "bearing_stiffness", stiffness, (2,), unit="N/m, N m/rad").tolist())


@public_class
class JointFriction(ForceElement):
    """Friction in a joint, proportional to the joint's own reaction.

    Parameters
    ----------
    name : str
        Name of the element in messages and results.
    joint : Joint
        A revolute, translational, cylindrical, spherical, point-on-line or planar joint of the same system; or a coupling: a `Screw`,
        whose thread rubs, or a `Gear`, `Belt`, `RackPinion`, `Cam` or `Coupling`, whose mesh does. In a cylindrical joint that a screw
        of the system moves, the thread rubs, too.
    law : FrictionLaw
        Viscous(c), Coulomb(mu_s, mu), BrownMcPhee(mu_s, mu_d, v_t) or LuGre(mu_s, mu_c, v_s, sigma0, sigma1, sigma2).
    radius : float, optional
        Radius of the bearing [m], mean radius of the thread, or pitch radius of the first wheel, which joints that turn need. Of a
        translational joint half the width of its guide, where the moment about its axis presses; without it that moment presses nothing.
    length : float, optional
        Distance of the two bearings [m], on which moments across the axis act as a couple; without it they press nothing.
    preload : float, callable, Driver or output of a block
        Normal force that is there beside the joint's own [N]: a number, or a function N(t), or a signal, as of a clutch or a brake that is
        pressed. Where a function or signal is negative, nothing presses.
    thrust_radius : float
        Radius at which the force along the axis of a revolute joint causes a friction torque [m].
    bearing_stiffness : float or (float, float), optional
        Stiffness of the bearing against forces [N/m], and against moments [N m/rad], by default the first times the square of half the
        `length`, or of the radius where no length is given. Where redundant rows share the load in any proportion, as in a planar mechanism
        of revolute joints, the load is that of the least energy in the bearings that have one; joints without one are rigid. It moves
        nothing: the joints stay exact.
    stick : bool
        Coulomb friction at rest holds what it can, without creep: `simulate` locates the instants at which the joint comes to rest
        and at which the force needed passes its limit. With False the law must be smooth: Coulomb(mu, velocity=...).

    Raises
    ------
    UsageError
        If joint is not a Joint, or law not a friction law. Other bad values are collected in `faults()`.

    Notes
    -----
    The friction depends on the reaction, and the reaction on the friction: both are solved together at every evaluation. Where there is
    no solution, or there are two (Painleve), the run stops with an error that says which.
    It does not know the tooth forces of gears and racks whose geometry is given (`pitch_radius=`, `pressure_angle=`): in their bearings
    only Viscous friction is taken. Other couplings (Gear, Belt, RackPinion, Cam) act along the coordinates of their joints, and
    press no bearing: friction there needs a preload that stands for what they press, or is refused. Their own loss is that of a friction
    whose joint is the coupling.
    `result.load(name)` has the friction along the joint's coordinate (negative while the coordinate grows), its `normal_force` with the
    preload, and its `limit` at rest.
    Source: Haug (2021), generalized forces: friction.
    """

    kind = "JointFriction"
    is_friction = True
    variable: Mapping[str, tuple[tuple[int, ...], ...]] = MappingProxyType(
        dict.fromkeys(("radius", "length", "preload", "thrust_radius"), ((),))
    )

    def __init__(
        self,
        name: str,
        joint: Joint,
        law: FrictionLaw,
        *,
        radius: float | None = None,
        length: float | None = None,
        preload: Any = 0.0,
        thrust_radius: float = 0.0,
        bearing_stiffness: float | Sequence[float] | None = None,
        stick: bool = True,
    ) -> None:
        super().__init__(name)
        if not isinstance(joint, Joint):
            raise UsageError(f"{self.where} needs a joint, got {joint!r}. Give the object that system.add(...) returned.")
        if not isinstance(law, FrictionLaw):
            raise UsageError(f"{self.where} needs a friction law, got {law!r}. Give Coulomb(0.3), Viscous(0.1) or another law.")
        if not isinstance(stick, bool):
            raise UsageError(f"{self.where}: stick = {stick!r}. Give True or False.")
        faults: list[Fault] = law.faults(self.where)
        self.joint, self.law, self.stick = joint, law, stick
        self.radius = radius if radius is None else read_number(faults, self.where, "radius", radius, unit="m")
        self.length = length if length is None else read_number(faults, self.where, "length", length, unit="m")
        pressed = read_value(faults, self.where, "preload", preload, TIME, (), "N") if _changes(preload) else Value(())
        self.pressed = pressed
        self.preload: Any = preload if _changes(preload) else read_number(faults, self.where, "preload", preload, unit="N")
        self.thrust_radius = read_number(faults, self.where, "thrust_radius", thrust_radius, unit="m")
        self.bearing_stiffness = _read_stiffness(faults, self.where, bearing_stiffness)
        self.bearing, self.thread, self.shape = joint, None, None
        self._read_joint(joint)
        self._faults = tuple(faults or self._geometry_faults())
        self.variable = {**type(self).variable, **{name: ((),) for name, x in vars(law).items() if x is not None}}

    bearing: Joint
    thread: Joint | None
    shape: int | None

    def _read_joint(self, joint: Joint) -> None:
        """Find the kind of the friction, the joint whose frames it reads, and the screw."""
        terms = terms_of(joint)
        if not terms:
            self.shape = kind_of(joint.freedoms) if not joint.needs() else None
            return
        first = terms[0][0]
        self.bearing = first.joint
        kind = kind_of(self.bearing.freedoms)
        if lead_of(joint) != 0.0:
            self.shape, self.thread = (THREAD if kind == CYLINDRICAL else None), joint
        elif kind == (REVOLUTE if first.turns else TRANSLATIONAL):
            self.shape = MESH_TURN if first.turns else MESH_SLIDE

    def rubs_in_thread(self, screw: Joint) -> None:
        """Take the screw that moves the cylindrical joint of this friction, whose thread then rubs; `System.add` calls it."""
        if (
            self.shape == CYLINDRICAL
            and self.law.needs_reaction
            and lead_of(screw) != 0.0
            and terms_of(screw)[0][0].joint is self.joint
        ):
            self.__dict__.update(thread=screw, shape=THREAD)

    @property
    def pressing_joints(self) -> tuple[Joint, ...]:
        """Return the joints whose rows press: the joint itself, with a screw both."""
        return (self.bearing, self.thread) if self.thread is not None else (self.joint,)

    @property
    def lead(self) -> float:
        """Return the displacement for one radian of the thread [m]; 0 without one."""
        return 0.0 if self.thread is None else lead_of(self.thread)

    def varied(self, **values: Any) -> JointFriction:
        given = {name: values.get(name, getattr(self, name)) for name in type(self).variable}
        given["bearing_stiffness"] = self.bearing_stiffness
        law = replace(self.law, **{name: float(x) for name, x in values.items() if name not in given})  # type: ignore[type-var]
        other = JointFriction(self.name, self.joint, law, **given, stick=self.stick)
        if self.thread is not None:
            other.rubs_in_thread(self.thread)
        return other

    def number_faults(self) -> tuple[Fault, ...]:
        return self._faults

    def _geometry_faults(self) -> list[Fault]:
        """Return the faults of the numbers for this kind of joint."""
        if self.shape is None:
            what = f"joint {self.joint.name!r} ({type(self.joint).__name__}) is of no kind whose friction is known"
            remedy = "Give a revolute, translational, cylindrical, spherical, point-on-line or planar joint, or a coupling of such joints."
            return [Fault(self.where, what, remedy)]
        if self.shape in (MESH_TURN, MESH_SLIDE) and self.bearing.j.is_ground:
            what = f"the first joint of {self.joint.name!r}, {self.bearing.name!r}, has the ground as its body j"
            return [Fault(self.where, what, "Give the ground, or the carrier, as body i, and the wheel as body j.")]
        if self.joint is not self.bearing and not self.law.needs_reaction:
            what = f"{self.law!r} does not depend on what {self.joint.name!r} carries"
            return [
                Fault(self.where, what, f"Give it to a joint, such as {self.bearing.name!r}; of a coupling only its load rubs.")
            ]
        faults, word = [], f"{WORDS[self.shape]} joint"
        given = {"radius": self.radius, "length": self.length, "thrust_radius": self.thrust_radius or None}
        for name, x in given.items():
            if x is not None and not x > 0.0:
                faults.append(Fault(self.where, f"{name} = {x:g}", f"Give a positive {name} [m], or leave it out."))
            elif x is not None and (self.shape not in USES[name] or not (self.law.needs_reaction or name == "radius")):
                why = (
                    f"{word} has no use for it" if self.shape not in USES[name] else f"{self.law!r} does not depend on the reaction"
                )
                faults.append(Fault(self.where, f"{name} = {x:g}, and {why}", f"Leave out {name}."))
        if self.pressed.drivers and not self.law.needs_reaction:
            faults.append(Fault(self.where, f"preload changes, and {self.law!r} does not depend on it", "Leave out preload."))
        if not self.pressed.drivers and self.preload < 0.0:
            faults.append(Fault(self.where, f"preload = {self.preload:g}", "Give a normal force of 0 or more [N]."))
        needed = self.law.needs_reaction or self.shape == CYLINDRICAL
        if self.radius is None and needed and self.shape in NEED_RADIUS:
            faults.append(
                Fault(self.where, f"it has no radius, and {word} has no friction without", "Give radius= [m] of the bearing.")
            )
        if self.law.is_exact and not self.stick:
            what = "exact Coulomb friction without stick has no value at rest"
            faults.append(Fault(self.where, what, "Leave stick=True, or give the smooth law Coulomb(mu, velocity=...)."))
        if self.bearing_stiffness is not None:
            faults += self._stiffness_faults(self.bearing_stiffness, word)
        return faults

    def _stiffness_faults(self, stiffness: float | tuple[float, ...], word: str) -> list[Fault]:
        """Return the faults of the stiffness of the bearing."""
        values, name = np.atleast_1d(np.array(stiffness, dtype=float)), f"bearing_stiffness = {stiffness!r}"
        if not (values > 0.0).all():
            return [Fault(self.where, name, "Give positive stiffnesses [N/m], or [N/m] and [N m/rad], or leave them out.")]
        if not self.law.needs_reaction:
            return [Fault(self.where, f"{name}, and {self.law!r} does not depend on the reaction", "Leave out bearing_stiffness.")]
        if self.shape in OF_COUPLINGS:
            what = f"{name}, and {word} rubs by the load of a coupling, which has no bearing"
            return [Fault(self.where, what, "Give bearing_stiffness= to frictions of joints.")]
        if len(values) == 1 and self.shape != SPHERICAL and not (self.length or self.radius):
            what = f"{name}, and without a length its stiffness against moments is not known"
            return [Fault(self.where, what, "Give length= or radius= [m], or bearing_stiffness=(N/m, N m/rad).")]
        return []

    @property
    def compliance(self) -> tuple[float, float]:
        """Return the compliance of the bearing, against forces [m/N] and moments [rad/N m]; zeros for a rigid one."""
        if self.bearing_stiffness is None:
            return 0.0, 0.0
        k, *moment = np.atleast_1d(np.array(self.bearing_stiffness, dtype=float)).tolist()
        if self.shape == SPHERICAL:
            return 1.0 / k, 0.0
        half = 0.5 * self.length if self.length else self.radius or 0.0
        return 1.0 / k, 1.0 / (moment[0] if moment else k * half * half)

    @property
    def is_exact(self) -> bool:
        """Return whether the joint can stick."""
        return self.law.is_exact

    @property
    def reads_reaction(self) -> bool:
        """Return whether the friction depends on what the joint carries."""
        return self.law.needs_reaction

    @property
    def is_torque(self) -> bool:
        """Return whether all friction is a torque."""
        return self.shape in (REVOLUTE, SPHERICAL, MESH_TURN)

    @property
    def channels(self) -> int:
        """Return the number of rates that the friction acts against."""
        return 0 if self.shape is None else CHANNELS[self.shape]

    def needs(self) -> tuple[Joint, ...]:
        return (self.joint,) if self.thread is None or self.thread is self.joint else (self.joint, self.thread)

    def bodies(self) -> tuple[Body, ...]:
        return (self.bearing.i, self.bearing.j)

    def markers(self) -> tuple[tuple[Body, Array], ...]:
        i, j = self.bearing.frame_i, self.bearing.frame_j
        return ((i.body, i.s_bar), (j.body, j.s_bar), (i.body, i.f), (i.body, i.g), (i.body, i.h))

    def points(self) -> dict[str, Frame]:
        return {"": self.bearing.frame_j}

    def friction_numbers(self) -> tuple[float, ...]:
        """Return radius, length, preload and thrust radius, 0 for none, then the numbers of the law, lead of a thread and compliance."""
        law = self.law.numbers()
        preload = 0.0 if self.pressed.drivers else self.preload
        return (
            self.radius or 0.0,
            self.length or 0.0,
            preload,
            self.thrust_radius,
            *law,
            *(0.0,) * (LAW_NUMBERS - len(law)),
            self.lead,
            *self.compliance,
        )

    def value(self) -> Value:
        """Return the normal force of a clutch or brake that is pressed by a function or a signal; nothing where it is a number."""
        return self.pressed

    def kinks(self, start: float, end: float) -> list[float]:
        """Return the times [s] between two at which the normal force that is given has a kink; none of a signal."""
        if not self.pressed.drivers or any(isinstance(driver, VectorDriver) for driver in self.pressed.drivers):
            return []
        return kinks_of(lambda t: max(float(self.pressed.sampled(np.array([t]))[0]), 0.0), start, end)

    def states(self) -> tuple[float, ...]:
        return (0.0,) * self.channels if self.law.has_state else ()

    def arguments(self, bodies: Array, angle: Array) -> tuple[Array, ...]:
        return ()

    def ledger(self, t: Array, bodies: Array, angle: Array) -> EnergyLedger:
        """Raise UsageError: the power of friction depends on the multipliers, see `diagnostics.work`."""
        raise UsageError(f"{self.where} depends on the reaction of its joint: use result.load({self.name!r}) or result.energy().")

    def dissipation(self, power: Array) -> EnergyLedger:
        """Return the energy ledger of a friction whose power is known, (nt,) [W]."""
        none = np.zeros_like(power)
        return EnergyLedger(none, -power, none)

    def values_of(self, force: Array, rate: Array, normal: Array, limit: Array) -> LoadValues:
        """Return the quantities of a friction in its channels, (nt, channels)."""
        power = np.sum(force * rate, axis=1)
        one = self.channels == 1
        if self.is_torque:
            values = {"rate": rate[:, 0] if one else rate, "torque": force[:, 0] if one else force}
        elif self.shape == CYLINDRICAL:
            values = {"rate": rate, "force": force[:, 0], "torque": force[:, 1]}
        else:
            values = {"rate": rate[:, 0] if one else rate, "force": force[:, 0] if one else force}
        if self.reads_reaction:
            values |= {"normal_force": normal, "limit": limit}
        return LoadValues(values, power)
