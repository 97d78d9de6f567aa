"""cite: the references of the methods in use."""

from __future__ import annotations

from dataclasses import dataclass

from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.formulations import Formulation
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.implicit.base import Implicit
from haugmbd.integrators.implicit.constraint_form import ConstraintForm
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.integrators.stabilization.none import Unstabilized

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


@check_keywords
def cite(*methods: Formulation | Integrator | Stabilization | ConstraintForm | None) -> Citation:
    """Return the references of methods, print them: `print(cite(NullSpace(), RK4(), Projection()))`; None is `stabilization=None`.

    An implicit integrator brings the form of the constraints that it solves.  Raises UsageError for what is no method.
    """
    lines = [("equations", HAUG)]
    for given in methods:
        method = Unstabilized() if given is None else given
        if isinstance(method, type) or not isinstance(method, Formulation | Integrator | Stabilization | ConstraintForm):
            raise UsageError(f"cite got {given!r}: give formulations, integrators and stabilizations, as objects.")
        lines.append((type(method).__name__, method.reference))
        if isinstance(method, Implicit):
            lines.append((type(method.form).__name__, method.form.reference))
    return Citation(tuple(lines))
