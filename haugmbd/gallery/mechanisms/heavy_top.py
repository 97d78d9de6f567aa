r"""The heavy top: a fast disc on a spherical joint, a benchmark of rotation formulations.

Source: Bruels and Cardona, On the use of Lie group time integrators in multibody dynamics (2010); values: reference integration.
"""

from __future__ import annotations

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.gallery.published import Published
from haugmbd.joints import SJ
from haugmbd.system.system import System

_SOURCE = "Bruels and Cardona (2010), reference integration"

CENTER = (
    Published("x of the centre of mass", "m", 0.2, 0.60555056, 1e-8, _SOURCE),
    Published("y of the centre of mass", "m", 0.2, 0.59895768, 1e-8, _SOURCE),
    Published("z of the centre of mass", "m", 0.2, -0.52398303, 1e-8, _SOURCE),
)


def heavy_top() -> System:
    """Return the heavy top: a disc of 15 kg, 1 m from the spherical joint at the origin, spinning with 150 rad/s about y.

    Returns
    -------
    System
        Bodies: "top".  Joints: "tip" (SJ).  Degrees of freedom: 3.

    Notes
    -----
    Source: Bruels and Cardona (2010).
    """
    r, omega = (0.0, 1.0, 0.0), (0.0, 150.0, -4.61538)
    system = System("heavy top", gravity=(0.0, 0.0, -9.81))
    top = system.add(Body("top", 15.0, (0.234375, 0.46875, 0.234375), r=r, v=np.cross(omega, r), omega_bar=omega))
    system.add(SJ("tip", system.ground, top, point=(0.0, 0.0, 0.0)))
    return system
