r"""Windows: n four-bars in a row that share their uprights, a loop with a singular configuration where all bars lie on one line.

15 n + 5 rows for 2 n + 1 bodies, of which 3 n depend on the others.
Source: IFToMM library of computational benchmark problems, "N four-bar mechanism" (problem A02).
"""

from __future__ import annotations

from haugmbd.errors import UsageError
from haugmbd.gallery.linkage import AXIS, at, frame
from haugmbd.system.system import System
from joints import RJ


def windows(n: int = 2) -> System:
    """Return n windows of bars of 1 m and 1 kg, upright, whose tops move with 1 m/s.

    Parameters
    ----------
    n : int
        Number of windows, at least 1.

    Returns
    -------
    System
        Bodies: "upright 0" ... "upright n", "bar 0" ... .  Joints (RJ): "foot k", "left k", "right k".  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If n is not a positive whole number.

    Notes
    -----
    Source: IFToMM library of computational benchmark problems, problem A02.  The bars turn over, and come to lie on one line.
    """
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"windows({n!r}): give the number of windows, a whole number of at least 1.")
    system = System(f"{n} windows", gravity=(0.0, 0.0, -9.81))
    uprights = []
    for k in range(n + 1):
        upright = frame(f"upright {k}", at(k, 0.0), at(k, 1.0), v=(0.5, 0.0, 0.0), omega_bar=(0.0, 1.0, 0.0))
        uprights.append(system.add(upright))
        system.add(RJ(f"foot {k}", system.ground, uprights[k], point=at(k, 0.0), axis=AXIS))
    for k in range(n):
        bar = system.add(frame(f"bar {k}", at(k, 1.0), at(k + 1, 1.0), v=(1.0, 0.0, 0.0)))
        system.add(RJ(f"left {k}", uprights[k], bar, point=at(k, 1.0), axis=AXIS))
        system.add(RJ(f"right {k}", bar, uprights[k + 1], point=at(k + 1, 1.0), axis=AXIS))
    return system
