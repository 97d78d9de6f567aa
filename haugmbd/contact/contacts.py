"""Contacts: rigid contacts of all pairs of bodies that have shapes, or of given pairs, as one part of a system.

Members are Contacts with names of their own, "NAME: a-b": results, model files and pictures know them one by one.  Bodies that a joint
connects are left out.  Which pairs are near is found by the narrow phase of each pair at every step; a pair costs about a microsecond.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from typing import Any

from haugmbd.bodies.body import Body
from haugmbd.bodies.shapes import Shape
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.deprecated import public_class
from haugmbd.errors import UsageError
from haugmbd.geometry.narrow_phase import PAIRS_TEXT, has_contact

MANY = 10_000
"""Pairs beyond which a run is told to be slow."""


@public_class
class Contacts:
    """Contacts of all pairs of bodies that have shapes, or of given pairs.

    Parameters
    ----------
    name : str
        Name of the group; its members are called "NAME: a-b".
    bodies : sequence of Body, optional
        The bodies; by default all of the system, when the group is added, that have a shape. The ground takes part with its shapes.
    pairs : sequence of (Body, Body), optional
        The pairs themselves, in place of `bodies`.
    mu, restitution : float
        Of every member.
    except_ : sequence of (Body, Body)
        Pairs that are left out, beside those that a joint connects.

    Raises
    ------
    UsageError
        If both bodies and pairs are given, or something else than bodies; where the group is added, if shapes of a pair have no contact.
    """

    def __init__(
        self,
        name: str,
        bodies: Iterable[Body] | None = None,
        *,
        pairs: Iterable[tuple[Body, Body]] | None = None,
        mu: float = 0.0,
        restitution: float = 0.0,
        except_: Iterable[tuple[Body, Body]] = (),
    ) -> None:
        if bodies is not None and pairs is not None:
            raise UsageError(f"contacts {name!r}: give bodies or pairs, not both.")
        self.name, self.mu, self.restitution = name, mu, restitution
        self.bodies = None if bodies is None else tuple(bodies)
        self.pairs = None if pairs is None else tuple(tuple(pair) for pair in pairs)
        self.except_ = tuple(tuple(pair) for pair in except_)
        known = [*(self.bodies or ()), *(body for pair in (*(self.pairs or ()), *self.except_) for body in pair)]
        for body in known:
            if not isinstance(body, Body):
                raise UsageError(f"contacts {name!r} needs bodies, got {body!r:.60}. Give objects that system.add(...) returned.")

    def members(self, bodies: Sequence[Body], joints: Sequence[Joint]) -> list[Contact]:
        """Return the contacts of the group in a system.  Raise UsageError for shapes that have no contact."""
        apart = {frozenset((id(joint.i), id(joint.j))) for joint in joints} | {frozenset(map(id, pair)) for pair in self.except_}
        if self.pairs is not None:
            chosen = list(self.pairs)
        else:
            some = [body for body in (bodies if self.bodies is None else self.bodies) if shapes_of(body)]
            chosen = [pair for pair in combinations(some, 2) if frozenset(map(id, pair)) not in apart]
        found, missing = [], []
        for i, j in chosen:
            both = [(a, b) for a in shapes_of(i) for b in shapes_of(j)]
            if not both:
                missing.append(f"{i.name!r} and {j.name!r}: one of them has no shape")
            for k, (a, b) in enumerate(both, 1):
                if not has_contact(a, b):
                    missing.append(f"{i.name!r} ({type(a).__name__}) and {j.name!r} ({type(b).__name__})")
                    continue
                name = f"{self.name}: {i.name}-{j.name}" + (f" {k}" if len(both) > 1 else "")
                found.append(Contact(name, i, j, shape_i=a, shape_j=b, mu=self.mu, restitution=self.restitution))
        if missing:
            more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""  # noqa: PLR2004
            raise UsageError(
                f"contacts {self.name!r}: these pairs have no contact: {'; '.join(missing[:5])}{more}. Pairs are: {PAIRS_TEXT}. Leave pairs "
                "out by except_=, or give other shapes."
            )
        return found

    def __repr__(self) -> str:
        return f"Contacts({self.name!r}, mu={self.mu:g}, restitution={self.restitution:g})"


def shapes_of(body: Any) -> list[Shape]:
    """Return the shapes of a body that were given to it."""
    return [shape for shape in body.shape if isinstance(shape, Shape)]
