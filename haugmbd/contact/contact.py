r"""Contact: a point of body j, or a sphere about it, against a plane fixed on body i.  No friction.

    n = A_i n_bar       d = P_j - P_i       P = r + A s_bar       P_i in the plane, n towards the side where body j may be
    gap      = n . d - radius                                           0: touching,  > 0: apart
    gap_rate = n' . d + n . d'                                          < 0: approaching
             = C u                                                  see `gap`
    impact   gap_rate+ = -e gap_rate-,   0 <= e <= 1                    Newton's law of restitution

A normal impulse f >= 0 acts on the bodies as C^T f.  A closed contact is one constraint row, the DP2 that `primitive` returns.
Source: Haug 2021, sec. 9.4 (DP2); Mirtich 1996 (restitution).
"""

from __future__ import annotations

from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, triad
from haugmbd.bodies.validation import read_array, read_number
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import DP2, Joint
from haugmbd.constraints.joint import Single
from haugmbd.contact.gap import Placed, PlacedContacts
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.model.immutable import immutable
from haugmbd.model.inspection.identity import foreign_body_faults, number_of
from haugmbd.model.model import Model
from haugmbd.model.state import State

DIRECTION = "Give a direction, three numbers, not all zero, towards the side where body j may be; the length does not matter."


@public_class
@immutable("Make a new Contact(...).")
class Contact:
    """A point of body j, or a sphere about it, that may touch a plane fixed on body i.  There is no friction.

    Parameters
    ----------
    name : str
        Name of the contact in errors and results.
    i : Body
        The body that the plane is fixed on; may be `system.ground`.
    j : Body
        The body that the point is fixed on.
    point : array, shape (3,)
        The point, or the centre of the sphere, on body j at the modelled pose, global frame [m].
    normal : array, shape (3,)
        Normal of the plane at the modelled pose, global frame, of any length.  It points towards the side where body j may be.
    restitution : float
        Newton's coefficient of restitution, from 0 (no bounce) to 1 (no loss).
    plane_point : array, shape (3,), optional
        A point of the plane at the modelled pose, global frame [m].  By default the plane touches the point (or sphere) as modelled.
    radius : float
        Radius of the sphere [m]; 0 for a point.

    Raises
    ------
    UsageError
        If i or j is not a Body.  Other invalid values are collected, and raised as one ModelError where the contact is used.

    Notes
    -----
    `articulated_impulse` takes the same direction as plane_normal=, and the opposite one, from the link towards the object, as normal=.
    Source: Haug 2021, sec. 9.4 (DP2); Mirtich 1996 (restitution).
    """

    name: str
    restitution: float
    radius: float
    frame_i: Frame
    frame_j: Frame
    _faults: tuple[Fault, ...]

    def __init__(
        self,
        name: str,
        i: Body,
        j: Body,
        *,
        point: Any,
        normal: Any,
        restitution: float = 0.0,
        plane_point: Any = None,
        radius: float = 0.0,
    ) -> None:
        for body in (i, j):
            if not isinstance(body, Body):
                what = f"contact {name!r} needs two bodies, got {body!r}"
                raise UsageError(f"{what}. Give the object that system.add(...) returned, or system.ground.")
        faults: list[Fault] = []
        where = f"contact {name!r}"
        P = read_array(faults, where, "point", point, (3,), unit="m")
        n = read_array(faults, where, "normal", normal, (3,), remedy=DIRECTION)
        size = read_number(faults, where, "radius", radius, unit="m")
        touching = P - size * triad(n)[:, 2]
        plane = touching if plane_point is None else read_array(faults, where, "plane_point", plane_point, (3,), unit="m")
        bounce = read_number(faults, where, "restitution", restitution)
        faults += _own_faults(where, i, j, n, bounce, size)
        self.__dict__.update(
            name=name,
            restitution=bounce,
            radius=size,
            frame_i=Frame.from_global(i, plane, n),
            frame_j=Frame.from_global(j, P, n),
            _faults=tuple(faults),
        )

    @classmethod
    def from_frames(cls, name: str, frame_i: Frame, frame_j: Frame, *, restitution: float = 0.0, radius: float = 0.0) -> Contact:
        """Return the contact made from frames in bodies.

        Parameters
        ----------
        name : str
            Name of the contact.
        frame_i : Frame
            On the body with the plane: a point of the plane, and h along its normal.
        frame_j : Frame
            On the other body: the point, or the centre of the sphere.
        restitution, radius : float
            As of a Contact.

        Returns
        -------
        Contact
            The contact.
        """
        faults: list[Fault] = []
        where = f"contact {name!r}"
        size = read_number(faults, where, "radius", radius, unit="m")
        bounce = read_number(faults, where, "restitution", restitution)
        faults += [fault for frame in (frame_i, frame_j) for fault in frame.faults(where)]
        faults += _own_faults(where, frame_i.body, frame_j.body, frame_i.h, bounce, size)
        made = cls.__new__(cls)
        fill = {"name": name, "restitution": bounce, "radius": size, "frame_i": frame_i, "frame_j": frame_j}
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
        """Return the fault of a negative gap at the start."""
        return Fault(
            f"contact {self.name!r}",
            f"its gap is {gap:.6g} m at the start (allowed {-allowed:.2g} m): the bodies overlap",
            "Move body or plane until the gap is not negative, or turn the normal towards the side where the body may be.",
        )

    def placed(self, model: Model) -> Placed:
        """Return the contact in the numbering of `model`.  Raise ModelError for its faults, or if a body is not in the model."""
        if not isinstance(model, Model):
            raise UsageError(f"contact {self.name!r} needs a compiled model, got {model!r:.60}. Give system.compile().")
        faults = [*self.faults(), *foreign_body_faults(model, f"contact {self.name!r}", self.i, self.j)]
        if faults:
            raise ModelError(faults)
        i, j = number_of(model, self.i), number_of(model, self.j)
        return Placed(self.name, i, j, self.frame_i.h, self.frame_i.s_bar, self.frame_j.s_bar, self.radius, self.restitution)

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
        return float(self._alone(model).gaps(_flat(model, state))[0, 0])

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
        return float(self._alone(model).gap_rates(_flat(model, state))[0, 0])

    def gaps(self, model: Model, y: Array) -> Array:
        """Return the gaps [m] at flat states y (nt, ny), (nt,)."""
        return self._alone(model).gaps(y)[:, 0]

    def _alone(self, model: Model) -> PlacedContacts:
        """Return this contact as arrays of one."""
        return PlacedContacts.of([self.placed(model)])

    def __repr__(self) -> str:
        return f"Contact({self.name!r}, {self.i.name!r}, {self.j.name!r}, restitution={self.restitution:g})"


def _own_faults(where: str, i: Body, j: Body, n: Array, restitution: float, radius: float) -> list[Fault]:
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
