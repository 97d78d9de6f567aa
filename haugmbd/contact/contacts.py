r"""Contacts: contacts, rigid or compliant, between all pairs of bodies that have shapes.

    pairs      all pairs of bodies with shapes, but those that a joint joins, and those of `except_`; or the pairs that are given
    member     a Contact of one shape of one body with one shape of the other, or with a compliant law a ContactForce; named "NAME: a-b",
               or "NAME: a[0]-b[1]" of several shapes, also where a body is given several times, such as the ground with a floor and a wall

A pair of shapes that has no contact is a fault, as the bodies would pass through one another without a word.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Cylinder, Plane, Shape, Sphere
from haugmbd.bodies.validation import read_number
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Compliant, Contact, touching_shapes
from haugmbd.contact.impact_laws import ImpactLaw, check_law
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, ModelError, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.compliant.pairs import PAIRS_TEXT as COMPLIANT_PAIRS
from haugmbd.forces.compliant.pairs import pair_of
from haugmbd.geometry.narrow_phase import PAIRS_TEXT, has_contact, kind_name
from haugmbd.model.immutable import immutable

Side = tuple[Body, tuple[Any, ...]]
"""A body and its shapes that touch."""

MOST_TOLD = 5
"""Faults of a kind that are told one by one."""


@public_class
@immutable("Make a new Contacts(...).")
class Contacts:
    """Contacts with dry friction, rigid ones or compliant ones, between all pairs of bodies with shapes.

    Parameters
    ----------
    name : str
        Name of the group; its members are named "NAME: a-b".
    bodies : sequence of Body or (Body, shape), optional
        The bodies that may touch one another, each with its shapes (`Body.shape`, or its solid), or with the shape that is given, such
        as `(system.ground, mbd.Plane())`. By default all bodies of the system that have shapes, and its ground.
    pairs : sequence of pairs of Body or (Body, shape), optional
        The pairs that may touch, in place of `bodies`; joints between them do not matter.
    mu : float
        Coefficient of friction of each member.
    restitution : float
        Newton's coefficient of restitution of each member, 0 to 1.
    except_ : sequence of Body or pairs of Body
        Bodies, and pairs of bodies, that never touch.
    law : NewtonImpact, PoissonImpact, SequentialImpact or Compliant, optional
        The law of impacts of each member. With `Compliant(K, ...)` each member is a ContactForce.

    Raises
    ------
    UsageError
        If an argument is not of these kinds.

    Notes
    -----
    Add it after the bodies and joints: `system.add` makes its members, and a system with a body or joint that came later and would change
    them does not compile.
    """

    name: str
    bodies: tuple[Side, ...] | None
    pairs: tuple[tuple[Side, Side], ...]
    mu: float
    restitution: float
    law: ImpactLaw | Compliant | None
    _are_given: bool
    _left_out: tuple[tuple[Body, ...], ...]

    def __init__(
        self,
        name: str,
        bodies: Sequence[Any] | None = None,
        *,
        pairs: Sequence[tuple[Any, Any]] | None = None,
        mu: float = 0.0,
        restitution: float = 0.0,
        except_: Sequence[Any] = (),
        law: ImpactLaw | Compliant | None = None,
    ) -> None:
        if not isinstance(law, Compliant):
            check_law(law, "law")
        where = f"Contacts {name!r}"
        if bodies is not None and pairs is not None:
            raise UsageError(f"{where} got bodies= and pairs=: give one of them, or none for all bodies with shapes.")
        self.__dict__.update(
            name=name,
            bodies=None if bodies is None else tuple(_side(where, body) for body in _several(where, "bodies", bodies)),
            pairs=tuple(_pair(where, pair) for pair in _several(where, "pairs", pairs or ())),
            mu=mu,
            restitution=restitution,
            law=law,
            _are_given=pairs is not None,
            _left_out=tuple(_left_out(where, x) for x in _several(where, "except_", except_)),
        )

    @property
    def where(self) -> str:
        """What messages call it."""
        return f"Contacts {self.name!r}"

    @property
    def is_compliant(self) -> bool:
        """Whether the members are ContactForces."""
        return isinstance(self.law, Compliant)

    def has_member(self, contact: Contact | ForceElement) -> bool:
        """Return whether a contact is a member, by its name."""
        return contact.name.startswith(f"{self.name}: ")

    def members(self, bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Contact | ContactForce]:
        """Return the contacts.

        Parameters
        ----------
        bodies : sequence of Body
            The bodies of the system, with its ground.
        joints : sequence of Joint
            Its joints.

        Returns
        -------
        list of Contact or ContactForce
            The members, in the order of the bodies.

        Raises
        ------
        ModelError
            If two shapes have no contact, or there is no pair at all.
        """
        faults = self._number_faults()
        if faults:
            raise ModelError(faults)
        made: list[Contact | ContactForce] = [
            Contact(name, i, j, shape_i=shape_i, shape_j=shape_j, mu=self.mu, restitution=self.restitution, law=self.law)
            for name, i, shape_i, j, shape_j in self._ends(bodies, joints, faults)
        ]
        if not made and not faults:
            remedy = "Give shapes to the bodies, Body(..., shape=mbd.Box(...)), or (body, shape) in bodies=."
            faults.append(Fault(self.where, "no two bodies with shapes may touch", remedy))
        if faults:
            more = f" and {len(faults) - MOST_TOLD} more pairs" if len(faults) > MOST_TOLD else ""
            told = faults[:MOST_TOLD]
            if more:
                told[-1] = Fault(told[-1].where, told[-1].what + more, told[-1].remedy)
            raise ModelError(told)
        return made

    def _number_faults(self) -> list[Fault]:
        """Return the faults of mu and restitution, which every member would have."""
        faults: list[Fault] = []
        mu = read_number(faults, self.where, "mu", self.mu)
        restitution = read_number(faults, self.where, "restitution", self.restitution)
        if mu < 0.0:
            faults.append(Fault(self.where, f"mu is {mu:g}, must not be negative", "Give a coefficient of friction of 0 or more."))
        if not 0.0 <= restitution <= 1.0 and np.isfinite(restitution):
            what = f"restitution is {restitution:g}, must be between 0 and 1"
            faults.append(Fault(self.where, what, "Give 0 for no bounce, 1 for no loss."))
        return faults

    def late_faults(
        self, bodies: Sequence[Body], joints: Sequence[Joint], contacts: Iterable[Contact | ForceElement]
    ) -> list[Fault]:
        """Return a fault if bodies or joints that came later would change the members."""
        there = {contact.name for contact in contacts if self.has_member(contact)}
        now = {end[0] for end in self._ends(bodies, joints, [])}
        if there == now:
            return []
        changed = sorted(now ^ there)
        what = f"bodies or joints that came or went later change its members, such as {changed[0]!r}"
        return [Fault(self.where, what, "Add it after all bodies and joints, or give bodies= or pairs=.")]

    def _ends(
        self, bodies: Sequence[Body], joints: Sequence[Joint], faults: list[Fault]
    ) -> Iterator[tuple[str, Body, Any, Body, Any]]:
        """Yield names, bodies and shapes of the members; pairs of shapes without contact are faults."""
        pairs = list(self._body_pairs(bodies, joints))
        times = Counter((id(i), id(j)) for (i, _), (j, _) in pairs)
        given: dict[int, list[Any]] = {}  # of bodies whose pair is given several times, such as the ground with its walls
        for (i, shapes_i), (j, shapes_j) in pairs:
            again = times[id(i), id(j)] > 1
            several = again or len(shapes_i) > 1 or len(shapes_j) > 1
            for (a, shape_i), (b, shape_j) in itertools.product(enumerate(shapes_i), enumerate(shapes_j)):
                if not self._touch(shape_i, shape_j):
                    kinds = f"{kind_name(shape_i)} of {i.name!r} and {kind_name(shape_j)} of {j.name!r}"
                    known = COMPLIANT_PAIRS if self.is_compliant else PAIRS_TEXT
                    remedy = f"Leave the pair out by except_=, or give other shapes. Pairs are: {known}."
                    faults.append(Fault(self.where, f"{kinds} have no {'compliant ' if self.is_compliant else ''}contact", remedy))
                    continue
                if again:
                    a, b = _number(given, i, shape_i), _number(given, j, shape_j)
                ends = f"{i.name}[{a}]-{j.name}[{b}]" if several else f"{i.name}-{j.name}"
                yield f"{self.name}: {ends}", i, shape_i, j, shape_j

    def _touch(self, shape_i: Any, shape_j: Any) -> bool:
        """Return whether two shapes have a contact; a ball and a tube only if the pair is given, as the ball must be in its hole."""
        shapes = (shape_i, shape_j)
        tube = any(isinstance(x, Cylinder) and x.inner_radius > 0.0 for x in shapes) and any(isinstance(x, Sphere) for x in shapes)
        has = pair_of(shape_i, shape_j) is not None if self.is_compliant else has_contact(shape_i, shape_j)
        return has and (self._are_given or not tube)

    def _body_pairs(self, bodies: Sequence[Body], joints: Sequence[Joint]) -> Iterator[tuple[Side, Side]]:
        """Yield the pairs of bodies that may touch."""
        if self._are_given:
            yield from self.pairs
            return
        sides = self.bodies
        if sides is None:
            sides = tuple((body, shapes) for body in bodies if (shapes := touching_shapes(body)))
        apart = {frozenset(map(id, x)) for x in (*((joint.i, joint.j) for joint in joints), *self._left_out)}
        for one, other in itertools.combinations(sides, 2):
            i, j = one[0], other[0]
            never = frozenset((id(i), id(j))) in apart or frozenset((id(i),)) in apart or frozenset((id(j),)) in apart
            planes = all(isinstance(shape, Plane) for shape in (*one[1], *other[1]))
            if i is not j and not never and not planes:
                yield one, other

    def __repr__(self) -> str:
        what = "all bodies" if self.bodies is None else f"{len(self.bodies)} bodies"
        return f"Contacts({self.name!r}, {f'{len(self.pairs)} pairs' if self.pairs else what}, mu={self.mu:g})"


def _number(given: dict[int, list[Any]], body: Body, shape: Any) -> int:
    """Return the number of a shape among those that have been given for a body."""
    shapes = given.setdefault(id(body), [])
    if not any(one is shape for one in shapes):
        shapes.append(shape)
    return next(n for n, one in enumerate(shapes) if one is shape)


def _several(where: str, label: str, given: Any) -> Iterable[Any]:
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise UsageError(f"{where}: {label} is {given!r:.60}. Give a list.")
    return given


def _side(where: str, given: Any) -> Side:
    """Return a body with its shapes. Raise UsageError for another thing, or a body without shapes."""
    if isinstance(given, Body):
        shapes = touching_shapes(given)
        if not shapes:
            raise UsageError(f"{where}: body {given.name!r} has no shape. Give (body, shape), or Body(..., shape=mbd.Box(...)).")
        return given, shapes
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], Body) and isinstance(given[1], Shape | Plane):
        return given[0], (given[1],)
    raise UsageError(f"{where} got {given!r:.60}. Give a Body that has shapes, or (body, shape).")


def _pair(where: str, given: Any) -> tuple[Side, Side]:
    if not (isinstance(given, tuple | list) and len(given) == 2):
        raise UsageError(f"{where} got the pair {given!r:.60}. Give (i, j), each a Body or (body, shape).")
    return _side(where, given[0]), _side(where, given[1])


def _left_out(where: str, given: Any) -> tuple[Body, ...]:
    """Return the bodies that are left out: one, or a pair that is not to touch."""
    several = (given,) if isinstance(given, Body) else tuple(given) if isinstance(given, tuple | list) else ()
    if not 0 < len(several) <= 2 or not all(isinstance(body, Body) for body in several):
        raise UsageError(f"{where}: except_ has {given!r:.60}. Give bodies, or pairs of bodies.")
    return several
