r"""Spatial loops of revolute joints that move against the count of their rows: Bennett's linkage and two of Bricard's.

A loop of n hinges has 5 n rows for n - 1 bodies, six too many to move with n < 7.  These move because of their proportions.
Source: Bennett, A new mechanism (1903); Bricard, Lecons de cinematique II (1927); Phillips, Freedom in machinery (1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import acos, atan, cos, pi, sin, tan

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box
from haugmbd.bodies.validation import FloatArray
from haugmbd.gallery.published import Published
from haugmbd.joints import RJ
from haugmbd.system.system import System

J_BAR = (0.1, 0.2, 0.25)
GRAVITY = (0.3, -9.81, 1.0)
"""In no plane of symmetry."""
BAR = 0.1
"""Width of the bars along the cube [m]."""

CUBE = tuple(
    Published(
        f"{axis} of the centre of link 2", "m", 10.0, value, 1e-6, "IFToMM A04; DOP853 at 1e-13, and by MuJoCo's RK4 to 2e-11"
    )
    for axis, value in zip("xyz", (0.9998654755550479, -1.0001344882610506, 0.49973098730364984), strict=True)
)

Link = tuple[float, float, float, float]
"""Denavit and Hartenberg's theta [rad], d [m], a [m], alpha [rad]."""


def bennett(theta: float = 0.8, *, a: float = 1.0, alpha: float = pi / 6, beta: float = 5 * pi / 12) -> System:
    """Return Bennett's linkage: four hinges; opposite sides are equal, and length / sin(twist) is the same for all.

    Parameters
    ----------
    theta : float
        Angle of hinge 0 at the modelled pose [rad].
    a : float
        Length of one pair of sides [m].
    alpha, beta : float
        Twist of these sides, and of the others [rad].

    Returns
    -------
    System
        Bodies: "link 0" ... "link 2".  Joints: "hinge 0" ... "hinge 3" (RJ).  20 rows, 17 of them independent.  Degrees of freedom: 1.

    Notes
    -----
    tan(theta_0 / 2) tan(theta_1 / 2) = sin((beta + alpha) / 2) / sin((beta - alpha) / 2).  Source: Bennett (1903).
    """
    b = a * sin(beta) / sin(alpha)
    other = bennett_angle(theta, alpha, beta)
    links = [(theta, 0, a, alpha), (other, 0, b, beta), (-theta, 0, a, alpha), (-other, 0, b, beta)]
    return loop(*hinges(links), name="Bennett")


def bennett_angle(theta: float, alpha: float = pi / 6, beta: float = 5 * pi / 12) -> float:
    """Return the angle of hinge 1 that belongs to `theta` of hinge 0 [rad]."""
    return 2.0 * atan(sin((beta + alpha) / 2.0) / sin((beta - alpha) / 2.0) / tan(theta / 2.0))


def bricard(cosine: float = 0.3) -> System:
    """Return Bricard's orthohedral linkage with equal sides: six hinges, each perpendicular to the next.

    Parameters
    ----------
    cosine : float
        Cosine c of the angle of every other hinge at the modelled pose; of those between, -c / (1 + c).

    Returns
    -------
    System
        Bodies: "link 0" ... "link 4".  Joints: "hinge 0" ... "hinge 5" (RJ).  30 rows, 29 of them independent.  Degrees of freedom: 1.

    Notes
    -----
    Source: Bricard (1927).
    """
    first, second = acos(cosine), acos(-cosine / (1.0 + cosine))
    return loop(*hinges([(first, 0, 1.0, pi / 2.0), (second, 0, 1.0, -pi / 2.0)] * 3), name="Bricard")


def bricard_cube() -> System:
    """Return Bricard's linkage as in the IFToMM benchmark A04: five square bars along edges of a unit cube, at rest.

    Returns
    -------
    System
        Bodies: "link 0" ... "link 4".  Joints: "hinge 0" ... "hinge 5" (RJ).  30 rows, 29 of them independent.  Degrees of freedom: 1.

    Notes
    -----
    The bars have 1 kg and are 0.1 m wide, so that each has inertia about its own axis.  Reference values: `CUBE`.
    Source: Gonzalez, Dopico, Lugris, Cuadrado (2006), A benchmarking system for MBS simulation software, problem A04.
    """
    corners = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
    points = [np.array(corner, dtype=np.float64) for corner in corners]
    axes = [np.cross(points[k] - points[k - 1], points[(k + 1) % 6] - points[k]) for k in range(6)]
    system = System("Bricard, cube", gravity=(0.0, -9.81, 0.0))
    bodies = [system.ground]
    for k, (a, b) in enumerate(pairwise(points)):
        edges = np.where(np.abs(b - a) > 0.5, 1.0, BAR)  # noqa: PLR2004  along the edge, or across
        bodies.append(system.add(Body(f"link {k}", *box(edges, mass=1.0), r=(a + b) / 2)))
    for k in range(6):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % 6], point=points[k], axis=axes[k]))
    return system


def loop(points: Sequence[FloatArray], axes: Sequence[FloatArray], *, name: str = "loop") -> System:
    """Return a closed loop of revolute joints: ground, a body of 1 kg between each two points, ground."""
    system = System(name, gravity=GRAVITY)
    bodies = [system.ground]
    for k in range(len(points) - 1):
        bodies.append(system.add(Body(f"link {k}", 1.0, J_BAR, r=(points[k] + points[k + 1]) / 2)))
    for k, (point, axis) in enumerate(zip(points, axes, strict=True)):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % len(bodies)], point=point, axis=axis))
    return system


def hinges(links: Sequence[Link]) -> tuple[list[FloatArray], list[FloatArray]]:
    """Return the points and axes of the hinges of a chain of Denavit and Hartenberg's links."""
    frames = link_frames(links)[:-1]
    return [frame[:3, 3] for frame in frames], [frame[:3, 2] for frame in frames]


def link_frames(links: Sequence[Link]) -> list[FloatArray]:
    """Return the frames (4, 4) before each of Denavit and Hartenberg's links, and behind the last: that of the first, if they close."""
    frames: list[FloatArray] = [np.eye(4)]
    for theta, d, a, alpha in links:
        c, s, ca, sa = cos(theta), sin(theta), cos(alpha), sin(alpha)
        step = np.array([[c, -s * ca, s * sa, a * c], [s, c * ca, -c * sa, a * s], [0, sa, ca, d], [0, 0, 0, 1]])
        frames.append(frames[-1] @ step)
    return frames
