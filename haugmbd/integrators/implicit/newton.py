"""How Newton's iteration of an implicit step finds its matrix: see `probing` for what is differenced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True)
class QuasiNewton:
    """Masses, constraints, tangents of springs and dampers by formula, of the user's forces by jacobian or differences: mostly enough."""

    curved: ClassVar[bool] = False


@dataclass(frozen=True)
class FullNewton(QuasiNewton):
    """Also the curvature of the constraints, the gyroscopic terms and all that forces have, by differences.

    Six evaluations of the model a colour (bodies that have no neighbour in common): eighteen for a chain of any length.
    For large steps under large reactions, and to see what the quasi-Newton matrix leaves out.
    """

    curved = True
