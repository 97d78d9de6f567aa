r"""Hoberman's ring: pairs of angulated bars that open and close a ring, with one degree of freedom.

A pair of bars with arms of length l and the angle pi - 2 pi / n between them keeps the two rays between its ends at the angle 2 pi / n
while it opens: n pairs close to a ring at every size.
Source: Hoberman, US patent 4,942,700 (1990); You and Pellegrino, Foldable bar structures (1997).
"""

from __future__ import annotations

from math import cos, pi, sin, sqrt

from haugmbd.errors import UsageError
from haugmbd.forces import TSDA
from haugmbd.gallery.building import AXIS, at, check_count, frame, polar
from haugmbd.joints import RJ, Planar, PointInPlane
from haugmbd.system.system import System

ARM = 0.5
"""Length of the arms [m]."""
BAND = 20.0
"""Stiffness of the band [N/m]."""


def hoberman_ring(n: int = 8, opening: float = 0.8) -> System:
    """Return a ring of n pairs of angulated bars (slender rods of 1 kg/m) in the plane y = 0, at rest, without gravity.

    Parameters
    ----------
    n : int
        Number of pairs: a multiple of 4, at least 8.
    opening : float
        Distance of the pivots from the centre, relative to the largest, where the ring is open: between 0 and 1.

    Returns
    -------
    System
        Bodies: "inward k", "outward k", the two bars of each pair.  Joints: "pivot k" (RJ) in a pair; "outer k", "inner k" (RJ) between
        pairs; "table" (Planar) keeps the ring in its plane, "guide x 1", "guide x 2", "guide z" (PointInPlane) its centre at the origin.
        Forces: "band" (TSDA) from pivot 0 to the opposite one.  Degrees of freedom: 1.

    Raises
    ------
    UsageError
        If n or the opening is not as said above.

    Notes
    -----
    The band pulls the ring together to half its size, and it opens again.  Source: Hoberman (1990).
    """
    check_count("hoberman_ring", n, "pairs", least=8, multiple=4)
    if not 0.0 < opening < 1.0:
        raise UsageError(f"hoberman_ring(opening={opening!r}): give a number between 0 and 1.")
    step = 2.0 * pi / n
    pivot = opening * ARM / sin(step / 2.0)
    root = sqrt(ARM**2 - (pivot * sin(step / 2.0)) ** 2)
    outer, inner = pivot * cos(step / 2.0) + root, pivot * cos(step / 2.0) - root
    system = System(f"Hoberman's ring of {n}", gravity=(0.0, 0.0, 0.0))
    inward, outward = [], []
    for k in range(n):
        before, here, behind = ((k + part) * step for part in (-0.5, 0.0, 0.5))
        # each bar: from an outer end over the pivot to an inner end
        inward.append(system.add(frame(f"inward {k}", polar(outer, before), polar(pivot, here), polar(inner, behind))))
        outward.append(system.add(frame(f"outward {k}", polar(inner, before), polar(pivot, here), polar(outer, behind))))
        system.add(RJ(f"pivot {k}", inward[k], outward[k], point=polar(pivot, here), axis=AXIS))
    for k in range(n):
        behind = (k + 0.5) * step
        system.add(RJ(f"outer {k}", outward[k], inward[(k + 1) % n], point=polar(outer, behind), axis=AXIS))
        system.add(RJ(f"inner {k}", inward[k], outward[(k + 1) % n], point=polar(inner, behind), axis=AXIS))
    system.add(Planar("table", system.ground, inward[0], point=at(pivot, 0.0), normal=AXIS))
    system.add(PointInPlane("guide x 1", system.ground, inward[0], point=at(pivot, 0.0), normal=(0, 0, 1)))
    system.add(PointInPlane("guide x 2", system.ground, inward[n // 2], point=at(-pivot, 0.0), normal=(0, 0, 1)))
    system.add(PointInPlane("guide z", system.ground, inward[n // 4], point=at(0.0, pivot), normal=(1, 0, 0)))
    ends = at(pivot, 0.0), at(-pivot, 0.0)
    system.add(TSDA("band", inward[0], inward[n // 2], point_i=ends[0], point_j=ends[1], k=BAND, l0=pivot))
    return system
