r"""A spatial chain of n links, to measure how the work of a method grows with n."""

from __future__ import annotations

from haugmbd.bodies.body import Body
from haugmbd.gallery.building import check_count
from haugmbd.joints import RJ
from haugmbd.system.system import System


def chain(n: int = 10) -> System:
    """Return a spatial chain of links along +x, released at rest.  Revolute axes alternate between y and z.

    Parameters
    ----------
    n : int
        Number of links, each of 1 m and 1 kg.

    Returns
    -------
    System
        Bodies: "link 1" ... "link n".  Joints: "joint 1" ... "joint n" (RJ).  Degrees of freedom: n.

    Raises
    ------
    UsageError
        If n is not a whole number of 1 or more.
    """
    check_count("chain", n, "links")
    system = System(f"chain of {n}", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k in range(n):
        link = system.add(Body(f"link {k + 1}", 1.0, (1e-3, 1.0 / 12.0, 1.0 / 12.0), r=(k + 0.5, 0.0, 0.0)))
        axis = (0.0, 1.0, 0.0) if k % 2 == 0 else (0.0, 0.0, 1.0)
        system.add(RJ(f"joint {k + 1}", before, link, point=(float(k), 0.0, 0.0), axis=axis))
        before = link
    return system
