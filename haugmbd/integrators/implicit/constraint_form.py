r"""The form of the constraints that an implicit method solves together with the dynamics  M u' + Phi_q^T lam = Q.

Index3               q' = u                        Phi = 0                    positions hold, velocities within the error of the method
Index2               q' = u                        Phi_q u = nu               velocities hold, positions drift linearly
GGL                  q' = u + M^-1 Phi_q^T mu      Phi = 0, Phi_q u = nu      both hold: stabilized index 2
HillerAnantharaman   q' = u + M^-1 Phi_q^T eta'    Phi = 0, Phi_q u = nu      both hold, lam = zeta': index 1

With large steps Index3 may add energy to a motion, where the velocities violate their constraints.  `Result.violation("velocity")` shows
this.  GGL does not allow it.

Hiller and Anantharaman write the multipliers of GGL as derivatives of new unknowns, zeta and eta.  Only the derivatives appear in the
equations.  Any implicit rule for them, zeta_(n+1) = past + c zeta'_(n+1), is an invertible change of unknowns from zeta_(n+1) to
zeta'_(n+1) = lam_(n+1), and the same for eta.  A step of the index-1 form is therefore, unknown for unknown, a step of GGL.  The index is
lower because the matrix is that of (zeta, eta), scaled by c.  This library solves for zeta' and scales in any case (see `newton`), so
that both forms are one computation here.
Source: Gear, Leimkuhler, Gupta 1985 (GGL); Anantharaman, Hiller 1991 (index 1); Hairer, Wanner, Solving ODE II, sec. VII.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from haugmbd.deprecated import public_class
from haugmbd.integrators.implicit.newton import KEEP_BOTH, KEEP_POSITIONS, KEEP_VELOCITIES


@dataclass(frozen=True)
class ConstraintForm:
    """A form of the constraints; `number` identifies it in compiled code."""

    number: ClassVar[float]
    keeps: ClassVar[tuple[str, ...]]
    """The levels of `Result.violation` that stay at the tolerance of the iteration."""
    reference: ClassVar[str]
    """The source, for `mbd.cite`."""
    share: ClassVar[float] = 0.01
    """Factor of a method's tol for velocities: they are measured relative to 1 + |u|, and converge more slowly than the estimate."""


@public_class
@dataclass(frozen=True)
class Index3(ConstraintForm):
    """Constraints on positions, Phi = 0 (index 3).

    Notes
    -----
    Velocities fulfil their constraints within the error of the method.  Source: Brenan, Campbell and Petzold 1989.
    """

    reference = "Brenan, Campbell and Petzold 1989 (index 3)"
    number = KEEP_POSITIONS
    keeps = ("position",)
    share = 1.0


@public_class
@dataclass(frozen=True)
class Index2(ConstraintForm):
    """Constraints on velocities, Phi_q u = nu (index 2).

    Notes
    -----
    Positions drift linearly.  Source: Hairer and Wanner, Solving ODE II, sec. VII.1.
    """

    reference = "Hairer and Wanner, Solving ODE II, sec. VII.1 (index 2)"
    number = KEEP_VELOCITIES
    keeps = ("velocity",)


@public_class
@dataclass(frozen=True)
class GGL(ConstraintForm):
    """Constraints on positions and velocities (stabilized index 2), after Gear, Gupta and Leimkuhler.

    Notes
    -----
    q' = u + M^-1 Phi_q^T mu with Phi = 0 and Phi_q u = nu.  Source: Gear, Leimkuhler and Gupta 1985, J. Comput. Appl. Math. 12-13, 77-90.
    """

    reference = "Gear, Leimkuhler and Gupta 1985, J. Comput. Appl. Math. 12-13, 77-90 (stabilized index 2)"
    number = KEEP_BOTH
    keeps = ("position", "velocity")


@public_class
@dataclass(frozen=True)
class HillerAnantharaman(ConstraintForm):
    """Constraints on positions and velocities, with multipliers as derivatives of unknowns (index 1).

    Notes
    -----
    A step is the same computation as with GGL.  Source: Anantharaman and Hiller 1991, Int. J. Numer. Methods Eng. 32, 1531-1542.
    """

    reference = "Anantharaman and Hiller 1991, Int. J. Numer. Methods Eng. 32, 1531-1542 (index 1)"
    number = KEEP_BOTH
    keeps = ("position", "velocity")
