r"""Which form of the constraints an implicit method solves, beside the dynamics  M u' + Phi_q^T lam = Q.

Index3               q' = u                        Phi = 0                    positions are kept, velocities to the method's error
Index2               q' = u                        Phi_q u = nu               velocities are kept, positions drift linearly
GGL                  q' = u + M^-1 Phi_q^T mu      Phi = 0, Phi_q u = nu      both are kept: stabilized index 2
HillerAnantharaman   q' = u + M^-1 Phi_q^T eta'    Phi = 0, Phi_q u = nu      both are kept, lam = zeta': index 1

With large steps Index3 may feed energy to a motion, with damping only later: seen on pendulums where the velocities had left their
constraints by the order of 1 m/s, which `Result.violation("velocity")` shows.  GGL was not seen to do it.

Hiller and Anantharaman write the multipliers of GGL as derivatives of new unknowns, zeta and eta.  None of these stands in the equations
but by its derivative: whatever rule an implicit method has for them, zeta_(n+1) = past + c zeta'_(n+1) (and so for eta), is one
invertible change of unknowns from zeta_(n+1) to zeta'_(n+1) = lam_(n+1).  A step of the index-1 form is therefore, unknown for unknown,
a step of GGL; the index falls because the matrix is that of (zeta, eta), scaled by c.  This library solves for zeta' and scales anyway
(see `stage`), so that the two are one computation here.
Source: Gear, Leimkuhler, Gupta 1985 (GGL); Anantharaman, Hiller 1991 (index 1); Hairer, Wanner, Solving ODE II, sec. VII.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from haugmbd.deprecated import public_class
from haugmbd.integrators.implicit.newton import KEEP_BOTH, KEEP_POSITIONS, KEEP_VELOCITIES


@dataclass(frozen=True)
class ConstraintForm:
    """A form of the constraints; `number` is how compiled code knows it."""

    number: ClassVar[float]
    keeps: ClassVar[tuple[str, ...]]
    """The levels of `Result.violation` that stay at the tolerance of the iteration."""
    reference: ClassVar[str]
    """Its source, for `mbd.cite`."""
    share: ClassVar[float] = 0.01
    """Of a method's tol: velocities are measured by 1 + |u|, and fall more slowly than the estimate says."""


@public_class
@dataclass(frozen=True)
class Index3(ConstraintForm):
    """Positions: Phi = 0."""

    reference = "Brenan, Campbell and Petzold 1989 (index 3)"
    number = KEEP_POSITIONS
    keeps = ("position",)
    share = 1.0


@public_class
@dataclass(frozen=True)
class Index2(ConstraintForm):
    """Velocities: Phi_q u = nu."""

    reference = "Hairer and Wanner, Solving ODE II, sec. VII.1 (index 2)"
    number = KEEP_VELOCITIES
    keeps = ("velocity",)


@public_class
@dataclass(frozen=True)
class GGL(ConstraintForm):
    """Positions and velocities, after Gear, Gupta and Leimkuhler."""

    reference = "Gear, Leimkuhler and Gupta 1985, J. Comput. Appl. Math. 12-13, 77-90 (stabilized index 2)"
    number = KEEP_BOTH
    keeps = ("position", "velocity")


@public_class
@dataclass(frozen=True)
class HillerAnantharaman(ConstraintForm):
    """Positions and velocities, with multipliers that are derivatives: GGL's step, see the head of this file."""

    reference = "Anantharaman and Hiller 1991, Int. J. Numer. Methods Eng. 32, 1531-1542 (index 1)"
    number = KEEP_BOTH
    keeps = ("position", "velocity")
