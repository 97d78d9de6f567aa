r"""Contact: two shapes that may touch, rigidly, with dry friction.

    gap     = n . (x_j - x_i) >= 0,   f_n >= 0,   f_n gap = 0           n from body i to body j at the points that are nearest: Signorini
    |f_T|  <= mu f_n,   f_T = -mu f_n v_T / |v_T| where it slides       v_T: of body j against body i: Coulomb
    impact  gap_rate+ = -e gap_rate-,   0 <= e <= 1                     Newton's law of restitution; Coulomb's law on impulses

The short form is a point of body j, or a sphere about it, against a plane fixed on body i, with

    n = A_i n_bar       d = P_j - P_i       P = r + A s_bar       P_i in the plane, n towards the side where body j may be
    gap = n . d - radius        gap_rate = n' . d + n . d' = C u                                                    see `gap`

Without friction a closed contact of this form is one constraint row, the DP2 that `primitive` returns.
Source: Haug 2021, sec. 9.4 (DP2); Mirtich 1996 (restitution); Moreau 1988 (friction and impacts).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.part import CALL, Call
from haugmbd.bodies.shapes import Plane, Shape, Sphere
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import DP2, Joint
from haugmbd.constraints.joint import Single
from haugmbd.contact.gap import Placed, PlacedContacts
from haugmbd.contact.impact_laws import GIVE_A_LAW, ImpactLaw, check_law
from haugmbd.contact.points import ContactPoints
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.forces.compliant.contact_force import HUNT_CROSSLEY, ContactForce
from haugmbd.forces.compliant.damping import DampingModel
from haugmbd.geometry.narrow_phase import pair_faults
from haugmbd.math.euler_parameters import rotation_matrix
from haugmbd.model.immutable import immutable
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State

DIRECTION = "Give a direction, three numbers, not all zero, towards the side where body j may be; the length does not matter."


@public_class
@dataclass(frozen=True)
class Compliant:
    """The compliant law of a Contact: a force that grows with the indentation.

    Parameters
    ----------
    K : float
        Stiffness [N/m^n] of the elastic force K d^n; n is the exponent of the model.
    model : HuntCrossley, LankaraniNikravesh or Flores
        Damping and exponent.
    creep : float
        Slip speed [m/s] below which friction is regularized.
    floor_speed : float
        Least speed at touch [m/s] in the damping.

    Notes
    -----
    `Contact(..., law=Compliant(K))` is a ContactForce.
    """

    K: float
    model: DampingModel = HUNT_CROSSLEY
    creep: float = 1e-3
    floor_speed: float = 1e-3


@public_class
@immutable("Make a new Contact(...).")
class Contact:
    """Two shapes of two bodies that may touch, with dry friction. The short form: a point or a sphere against a plane.

    Parameters
    ----------
    name : str
        Name of the contact in errors and results.
    i, j : Body
        The two bodies; one of them may be `system.ground`. In the short form the plane is fixed on i, and the point on j.
    point : array, shape (3,)
        Short form: the point, or the centre of the sphere, on body j at the modelled pose, global frame [m].
    normal : array, shape (3,)
        Short form: normal of the plane at the modelled pose, global frame, of any length. It points towards the side where body j may be.
    restitution : float
        Newton's coefficient of restitution, from 0 (no bounce) to 1 (no loss).
    plane_point : array, shape (3,), optional
        Short form: a point of the plane at the modelled pose, global frame [m]. By default the plane touches the point (or sphere) as
        modelled.
    radius : float
        Short form: radius of the sphere [m]; 0 for a point.
    shape_i, shape_j : Plane, Sphere, Box, ..., optional
        The shapes, in the frames of their bodies; by default the only shape of the body, or its solid. `Sphere(0.0, center=...)` is
        a point.
    mu : float
        Coefficient of friction, of sliding and of sticking.
    law : NewtonImpact, PoissonImpact, SequentialImpact or Compliant, optional
        The law of its impacts, by default that of the run, `simulate(..., impact=)`. `Compliant(K, ...)` makes a ContactForce of the same
        shapes in place of a rigid contact.

    Raises
    ------
    UsageError
        If i or j is not a Body.  Other invalid values are collected, and raised as one ModelError where the contact is used.

    Notes
    -----
    `articulated_impulse` takes the same direction as plane_normal=, and the opposite one, from the link towards the object, as normal=.
    Source: Haug 2021, sec. 9.4 (DP2); Mirtich 1996 (restitution); Moreau 1988 (friction).
    """

    name: str
    restitution: float
    radius: float
    frame_i: Frame
    frame_j: Frame
    shape_i: Any = None
    shape_j: Any = None
    mu: float = 0.0
    law: ImpactLaw | None = None
    _faults: tuple[Fault, ...]

    def __new__(cls, *arguments: Any, law: Any = None, **more: Any) -> Any:
        """Return a ContactForce for a compliant law."""
        if law is None or isinstance(law, ImpactLaw):
            return super().__new__(cls)
        if not isinstance(law, Compliant):
            raise UsageError(
                f"a contact got law = {law!r:.60}. {GIVE_A_LAW} for a rigid one, mbd.Compliant(K, model=, creep=), or leave it out."
            )
        values: Any = {name: getattr(law, name) for name in ("K", "model", "creep", "floor_speed")}
        return ContactForce(*arguments, **{"restitution": 0.0, **more, **values})

    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        point: Any = None,
        normal: Any = None,
        restitution: float = 0.0,
        plane_point: Any = None,
        radius: float = 0.0,
        shape_i: Any = None,
        shape_j: Any = None,
        mu: float = 0.0,
        law: ImpactLaw | Compliant | None = None,
    ) -> None:
        for body in (i, j):
            if not isinstance(body, Body):
                what = f"contact {name!r} needs two bodies, got {body!r}"
                raise UsageError(f"{what}. Give the object that system.add(...) returned, or system.ground.")
        check_law(law, "law")
        faults: list[Fault] = []
        where = f"contact {name!r}"
        self.__dict__["law"] = law
        named = {"point": point, "normal": normal, "restitution": restitution, "plane_point": plane_point, "radius": radius}
        self.__dict__[CALL] = Call((name, i, j), named | {"shape_i": shape_i, "shape_j": shape_j, "mu": mu, "law": law})
        bounce, friction = (
            read_number(faults, where, "restitution", restitution),
            read_number(faults, where, "mu", mu),
        )
        if point is None and normal is None:
            if plane_point is not None or radius != 0.0:
                raise UsageError(f"{where}: plane_point and radius belong to the short form: give point= and normal=, too.")
            self._take_shapes(faults, name, i, j, shape_i, shape_j, friction, bounce)
            return
        if shape_i is not None or shape_j is not None:
            raise UsageError(f"{where} got shapes, and point= or normal= of the short form: give one of them.")
        if point is None or normal is None:
            raise UsageError(f"{where}: the short form needs point= and normal=; otherwise give shape_i= and shape_j=.")
        P = read_array(faults, where, "point", point, (3,), unit="m")
        n = read_array(faults, where, "normal", normal, (3,), remedy=DIRECTION)
        size = read_number(faults, where, "radius", radius, unit="m")
        touching = P - size * triad(n)[:, 2]
        plane = touching if plane_point is None else read_array(faults, where, "plane_point", plane_point, (3,), unit="m")
        faults += _own_faults(where, i, j, n, bounce, size, friction)
        self.__dict__.update(
            name=name,
            restitution=bounce,
            radius=size,
            mu=friction,
            frame_i=Frame.from_global(i, plane, n),
            frame_j=Frame.from_global(j, P, n),
            _faults=tuple(faults),
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for copies and for pickle."""
        return {name: value for name, value in self.__dict__.items() if name != CALL}

    def _take_shapes(
        self, faults: list[Fault], name: str, i: Body, j: Body, shape_i: Any, shape_j: Any, mu: float, restitution: float
    ) -> None:
        """Set the fields of a contact of two shapes."""
        where = f"contact {name!r}"
        shapes = [_shape_of(faults, where, side, body, shape) for side, body, shape in (("i", i, shape_i), ("j", j, shape_j))]
        faults += _own_faults(where, i, j, np.ones(3), restitution, 0.0, mu)
        if all(shape is not None for shape in shapes):
            faults += pair_faults(where, *shapes)
        frames = [_frame_of(body, shape) for body, shape in zip((i, j), shapes, strict=True)]
        ball = next((shape.radius for shape in shapes if isinstance(shape, Sphere)), 0.0)
        self.__dict__.update(
            name=name,
            restitution=restitution,
            radius=ball,
            mu=mu,
            shape_i=shapes[0],
            shape_j=shapes[1],
            frame_i=frames[0],
            frame_j=frames[1],
            _faults=tuple(faults),
        )

    @property
    def has_shapes(self) -> bool:
        """Whether the contact was made of two shapes, and not in the short form."""
        return self.shape_i is not None or self.shape_j is not None

    @property
    def is_plain(self) -> bool:
        """Whether the contact is of the short form, without friction: a run holds it as a row of the model."""
        return not self.has_shapes and self.mu == 0.0

    @property
    def shapes(self) -> tuple[Any, Any]:
        """The shapes on body i and body j, those of the short form included."""
        if self.has_shapes:
            return self.shape_i, self.shape_j
        plane = Plane(point=self.frame_i.s_bar, normal=self.frame_i.h)
        return plane, Sphere(max(self.radius, 0.0), center=self.frame_j.s_bar)

    @classmethod
    def from_frames(
        cls,
        name: str,
        frame_i: Frame,
        frame_j: Frame,
        *,
        restitution: float = 0.0,
        radius: float = 0.0,
        mu: float = 0.0,
        law: ImpactLaw | None = None,
    ) -> Self:
        """Return the contact made from frames in bodies.

        Parameters
        ----------
        name : str
            Name of the contact.
        frame_i : Frame
            On the body with the plane: a point of the plane, and h along its normal.
        frame_j : Frame
            On the other body: the point, or the centre of the sphere.
        restitution, radius, mu : float
            As of a Contact.
        law : ImpactLaw, optional
            As of a Contact.

        Returns
        -------
        Contact
            The contact.
        """
        faults: list[Fault] = []
        where = f"contact {name!r}"
        size = read_number(faults, where, "radius", radius, unit="m")
        bounce, friction = read_number(faults, where, "restitution", restitution), read_number(faults, where, "mu", mu)
        faults += [fault for frame in (frame_i, frame_j) for fault in frame.faults(where)]
        faults += _own_faults(where, frame_i.body, frame_j.body, frame_i.h, bounce, size, friction)
        made: Self = cls.__new__(cls)
        fill = {"name": name, "restitution": bounce, "radius": size, "mu": friction, "frame_i": frame_i, "frame_j": frame_j}
        check_law(law, "law")
        fill["law"] = law
        made.__dict__.update(fill, _faults=tuple(faults))
        return made

    @property
    def i(self) -> Body:
        """The body that the plane is fixed on."""
        return self.frame_i.body

    @property
    def j(self) -> Body:
        """The body that the point is fixed on."""
        return self.frame_j.body

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"contact {self.name!r}"

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this contact."""
        return self._faults

    def primitive(self) -> DP2:
        """Return the constraint row of the closed contact, whose Phi is the gap."""
        return DP2(self.i, self.frame_i.h, self.frame_i.s_bar, self.j, self.frame_j.s_bar, self.radius)

    def closed_joint(self) -> Joint:
        """Return the joint that holds the closed contact."""
        return Single(self.name, self.primitive())

    def size(self, length: float) -> float:
        """Return the size that scales the rounding of the gap [m], or of a stop of an angle [rad], in a mechanism of this length [m]."""
        return length

    def overlap(self, gap: float, allowed: float) -> Fault:
        """Return the fault of a negative gap at the start: of two shapes with the pair of bodies and the depth."""
        if self.has_shapes:
            return Fault(
                self.where,
                f"its gap is {gap:.6g} m at the start (allowed {-allowed:.2g} m): {_named(self.i, self.shape_i)} and "
                f"{_named(self.j, self.shape_j)} overlap by {-gap:.6g} m",
                f"Move one of the two by {-gap:.6g} m or more along the normal, until they just touch, or make a shape smaller.",
            )
        return Fault(
            self.where,
            f"its gap is {gap:.6g} m at the start (allowed {-allowed:.2g} m): the bodies overlap",
            "Move body or plane until the gap is not negative, or turn the normal towards the side where the body may be.",
        )

    def placed(self, model: Model) -> Placed:
        """Return the contact in the numbering of `model`.  Raise ModelError for its faults, or if a body is not in the model."""
        self._need_model(model)
        faults = [*self.faults(), *foreign_body_faults(model, f"contact {self.name!r}", self.i, self.j)]
        if faults:
            raise ModelError(faults)
        if self.has_shapes:
            raise UsageError(f"contact {self.name!r} of two shapes is no single row: use simulate, or impulse.")
        i, j = number_of(model, self.i), number_of(model, self.j)
        return Placed(self.name, i, j, self.frame_i.h, self.frame_i.s_bar, self.frame_j.s_bar, self.radius, self.restitution)

    def _need_model(self, model: Any) -> None:
        """Raise UsageError for something else than a compiled model."""
        if not isinstance(model, Model):
            raise UsageError(f"contact {self.name!r} needs a compiled model, got {model!r:.60}. Give system.compile().")

    def gap(self, model: Model, state: State | None = None) -> float:
        """Return the gap [m] at a state.

        Parameters
        ----------
        model : Model
            The compiled model.
        state : State, optional
            By default the modelled state.

        Returns
        -------
        float
            Distance of the point (sphere) from the plane [m]; negative where the bodies overlap.
        """
        self._need_model(model)
        return float(self.gaps(model, _flat(model, state))[0])

    def gap_rate(self, model: Model, state: State | None = None) -> float:
        """Return the rate of the gap [m/s] at a state.

        Parameters
        ----------
        model : Model
            The compiled model.
        state : State, optional
            By default the modelled state.

        Returns
        -------
        float
            Rate of the gap [m/s]; negative where the bodies approach.
        """
        self._need_model(model)
        y = _flat(model, state)
        if self.has_shapes:
            points = self._points(model)
            keys, gaps = points.near(np.ascontiguousarray(y[0]), np.inf)
            return float(points.at(keys[[int(np.argmin(gaps))]], np.ascontiguousarray(y[0])).v[0, 0])
        return float(self._alone(model).gap_rates(y)[0, 0])

    def gaps(self, model: Model, y: Array) -> Array:
        """Return the gaps [m] at flat states y (nt, ny), (nt,): of two shapes the smallest of their points."""
        if self.has_shapes:
            points = self._points(model)
            return np.array([points.near(np.ascontiguousarray(row), np.inf)[1].min() for row in y])
        return self._alone(model).gaps(y)[:, 0]

    def _points(self, model: Model) -> ContactPoints:
        """Return the points of contact of the two shapes.  Raise ModelError for faults, or if a body is not in the model."""
        faults = [*self.faults(), *foreign_body_faults(model, f"contact {self.name!r}", self.i, self.j)]
        if faults:
            raise ModelError(faults)
        ends = [(number_of(model, self.i), self.shape_i, number_of(model, self.j), self.shape_j)]
        return ContactPoints(ends, model.nb + 1)

    def _alone(self, model: Model) -> PlacedContacts:
        """Return this contact as arrays of one."""
        return PlacedContacts.of([self.placed(model)])

    def __repr__(self) -> str:
        friction = f", mu={self.mu:g}" if self.mu != 0.0 else ""
        friction += f", law={self.law!r}" if self.law is not None else ""
        return f"Contact({self.name!r}, {self.i.name!r}, {self.j.name!r}, restitution={self.restitution:g}{friction})"


def _named(body: Body, shape: Any) -> str:
    """Return a shape with its body, as messages call them: Box of 'block'."""
    return f"{type(shape).__name__} of {body.name!r}"


def touching_shapes(body: Body) -> tuple[Any, ...]:
    """Return the shapes of a body: those that are given, and its solid in place of `...`."""
    return tuple(
        shape for given in body.shape for shape in (body.solid if given is ... else (given,)) if isinstance(shape, Shape | Plane)
    )


def _shape_of(faults: list[Fault], where: str, side: str, body: Body, given: Any) -> Any:
    """Return the shape on one side: the given one, or that of the body; None and a fault without one."""
    if isinstance(given, Plane | Shape):
        return given
    if given is not None:
        what = f"shape_{side} is {given!r:.60}, which is not a shape of a contact"
        faults.append(Fault(where, what, "Give mbd.Plane, mbd.Sphere, mbd.Box or another shape."))
        return None
    own = touching_shapes(body)
    if len(own) == 1:
        return own[0]
    what = f"shape_{side} is not given, and body {body.name!r} has {len(own)} shapes"
    faults.append(Fault(where, what, f"Give shape_{side}=, or one shape to the body: Body(..., shape=mbd.Box(...))."))
    return None


def _frame_of(body: Body, shape: Any) -> Frame:
    """Return the place of a shape on its body: a plane has h along its normal."""
    if isinstance(shape, Plane):
        return Frame(body, shape.point, triad(shape.normal))
    return Frame(body, shape.center, rotation_matrix(shape.p)) if isinstance(shape, Shape) else Frame(body, np.zeros(3), np.eye(3))


def _own_faults(where: str, i: Body, j: Body, n: Array, restitution: float, radius: float, mu: float) -> list[Fault]:
    """Return the faults of values that are valid numbers."""
    found = []
    if i is j:
        remedy = "Give two different bodies, or system.ground for one of them."
        found.append(Fault(where, f"both of its sides are on body {i.name!r}", remedy))
    if not n.any():
        found.append(Fault(where, "normal is (0, 0, 0)", DIRECTION))
    if restitution < 0.0 or restitution > 1.0:
        found.append(
            Fault(where, f"restitution is {restitution:g}, must be between 0 and 1", "Give 0 for no bounce, 1 for no loss.")
        )
    if mu < 0.0:
        found.append(Fault(where, f"mu is {mu:g}, must not be negative", "Give a coefficient of friction of 0 or more."))
    if radius < 0.0:
        found.append(
            Fault(where, f"radius is {radius:g} m, must not be negative", "Give 0 for a point; turn the normal for a hole.")
        )
    return found


def _flat(model: Model, state: State | None) -> Array:
    """Return the state as one row.  Raise UsageError for a state of another model."""
    if isinstance(model, Model) and not (state is None or (isinstance(state, State) and len(state.r) == model.nb + 1)):
        raise UsageError(f"a contact of model {model.name!r} needs a State of it, got {state!r:.60}. Start from model.state().")
    return (model.state() if state is None else state).y[None]
