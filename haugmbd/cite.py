"""cite: the references of the methods in use."""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators.free import Unstabilized
from haugmbd.integrators.implicit.level import Level
from haugmbd.integrators.implicit.method import Implicit
from haugmbd.integrators.method import Integrator
from haugmbd.integrators.stabilization import Stabilization

HAUG = "E. J. Haug, Computer-Aided Kinematics and Dynamics of Mechanical Systems, Vol. II: Modern Methods, 2nd ed., 2021"
"""Rows, generalized forces, conventions: of every run."""


@dataclass(frozen=True)
class Citation:
    """lines: one for each method, (name, reference), the source of the equations first."""

    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """One method a line."""
        return "\n".join(f"{name}: {reference}" for name, reference in self.lines)

    __repr__ = __str__


def cite(*methods: Formulation | Integrator | Stabilization | Level | None) -> Citation:
    """Return the references of methods, print them: `print(cite(NullSpace(), RK4(), Projection()))`; None is `stabilization=None`.

    An implicit integrator brings the form of the constraints that it solves.  Raises UsageError for what is no method.
    """
    lines = [("equations", HAUG)]
    for given in methods:
        method = Unstabilized() if given is None else given
        if isinstance(method, type) or not isinstance(method, Formulation | Integrator | Stabilization | Level):
            raise UsageError(f"cite got {given!r}: give formulations, integrators and stabilizations, as objects.")
        lines.append((type(method).__name__, method.reference))
        if isinstance(method, Implicit):
            lines.append((type(method.form).__name__, method.form.reference))
    return Citation(tuple(lines))
