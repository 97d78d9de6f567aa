r"""A mechanism in the joint coordinates of another engine: its mass matrix, its forces, and the motion of its bodies.

v_P = J(P) q'        a_P = J(P) q'' + bias(P)        of a point P that is fixed on a body; linear above, angular below
M q'' + J_c^T lam = f,    J_c q'' = -bias_c          the joints that are cut are exact here, whatever the engine makes of them
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Joint


class Reduced(NamedTuple):
    """A mechanism in joint coordinates at the modelled pose of a system.

    nv: number of rates;  M: (nv, nv);  forces: of the rates (nv,), the right-hand side (nv,);
    motion: of the rates, a body's name and a global point, J (6, nv) and bias (6,);  cut: the joints outside of the tree;  notes: known
    differences between the engine and the system;  constraints: of the rates, J_c (n, nv) and bias_c (n,) of the engine's own rows
    """

    nv: int
    M: Array
    forces: Callable[[Array], Array]
    motion: Callable[[Array, str, Array], tuple[Array, Array]]
    cut: tuple[Joint, ...]
    notes: tuple[str, ...]
    constraints: Callable[[Array], tuple[Array, Array]] | None = None
