"""The references of the methods in use: `cite`."""

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
"""Source of the constraint equations, the generalized forces and the conventions; it applies to every run."""


@dataclass(frozen=True)
class Citation:
    """The references of methods.

    Attributes
    ----------
    lines : tuple of (str, str)
        Name and reference of each method; the source of the equations is first.
    """

    lines: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """Return one line for each method."""
        return "\n".join(f"{name}: {reference}" for name, reference in self.lines)

    __repr__ = __str__


@check_keywords
def cite(*methods: Formulation | Integrator | Stabilization | ConstraintForm | None) -> Citation:
    """Return the references of methods.

    Parameters
    ----------
    *methods : Formulation, Integrator, Stabilization, ConstraintForm or None
        The methods; None stands for `stabilization=None`. An implicit integrator adds the form of the constraints that it solves.

    Returns
    -------
    Citation
        The references, one line for each method: `print(cite(NullSpace(), RK4(), Projection()))`.

    Raises
    ------
    UsageError
        If an argument is not a method.
    """
    lines = [("equations", HAUG)]
    for argument in methods:
        method = Unstabilized() if argument is None else argument
        if isinstance(method, type) or not isinstance(method, Formulation | Integrator | Stabilization | ConstraintForm):
            raise UsageError(f"cite got {argument!r}: give formulations, integrators and stabilizations, as objects.")
        lines.append((type(method).__name__, getattr(method, "reference", None) or "no reference given"))
        if isinstance(method, Implicit):
            lines.append((type(method.form).__name__, method.form.reference))
    return Citation(tuple(lines))
