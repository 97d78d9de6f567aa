"""Loops that swing about an equilibrium."""

from __future__ import annotations

import haugmbd as mbd
from haugmbd.gallery.building import frame
from haugmbd.gallery.planar_linkages import PIVOTS
from joints import CJ, RJ, SJ
from tests.support.machines import g


def loops():
    """Equilibria of a planar loop of four revolute joints, three rows too many, and of the same with the minimal joints."""
    a, b, c, d = PIVOTS
    for kinds in ((RJ, RJ, RJ, RJ), (RJ, RJ, SJ, CJ)):
        system = mbd.System("loop", gravity=(0, 0, -g))
        crank, coupler, rocker = (system.add(frame(*ends)) for ends in (("crank", a, b), ("coupler", b, c), ("rocker", c, d)))
        pairs = ((system.ground, crank, a), (crank, coupler, b), (coupler, rocker, c), (system.ground, rocker, d))
        for kind, name, (i, j, point) in zip(kinds, "ABCD", pairs, strict=True):
            system.add(kind(name, i, j, point=point, **({} if kind is SJ else {"axis": (0, 1, 0)})))
        yield mbd.equilibrium(system)
