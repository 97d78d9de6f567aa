"""Spatial linkages: loops of bars whose axes are not parallel.

Spatial loops of revolute joints that move against the count of their rows: Bennett's linkage and two of Bricard's.

A loop of n hinges has 5 n rows for n - 1 bodies, six too many to move with n < 7.  These move because of their proportions.
Source: Bennett, A new mechanism (1903); Bricard, Lecons de cinematique II (1927); Phillips, Freedom in machinery (1990).

Hoberman's ring: pairs of angulated bars that open and close a ring, with one degree of freedom.

A pair of bars with arms of length l and the angle pi - 2 pi / n between them keeps the two rays between its ends at the angle 2 pi / n
while it opens: n pairs close to a ring at every size.
Source: Hoberman, US patent 4,942,700 (1990); You and Pellegrino, Foldable bar structures (1997).

Two shafts and a Hooke joint: the second one turns unevenly.

tan(u_out) = tan(u_in) / cos(beta),   at u = 0 the fork of the input shaft lies in the plane of the two shafts

The spatial slider-crank: a crank in the plane x = 0 drives a slider along the x axis through a rod.

    |B(theta) - C| = 0.3       B = (0, 0.1 - 0.08 sin(theta), 0.12 + 0.08 cos(theta))       C = (x, 0, 0)

RJ (ground-crank) + SJ (crank-rod) + UJ (rod-slider) + TJ (slider-ground) = 5 + 3 + 4 + 5 = 17 rows, 18 - 17 = 1 degree of freedom.

Source: Haug (1989), sec. 12.2, the first edition of the book, where the example was published; a benchmark of the IFToMM library.
Values from the minimal-coordinate equation (derived with SymPy, integrated with DOP853 and Radau at 1e-13; driven: closed form),
in agreement with the published curves.  All body frames have the global axes at the modelled pose.

A double wishbone suspension: two arms, a knuckle, a tie rod, a strut and a wheel that spins.

Degrees of freedom: 24 - (5 + 5 + 3 + 3 + 1 + 5) = 2, the travel and the spin of the wheel.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import acos, atan, cos, pi, radians, sin, sqrt, tan

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.inertia import box, combine, cylinder, rod
from haugmbd.bodies.validation import FloatArray
from haugmbd.errors import UsageError
from haugmbd.forces import TSDA
from haugmbd.gallery.building import AXIS, Published, at, check_count, frame, polar
from haugmbd.joints import RJ, SJ, TJ, UJ, Distance, Planar, PointInPlane, PointOnLine, RotationDriver
from haugmbd.math.euler_parameters import from_axis_angle
from haugmbd.simulation.results.result import Result
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


SHAFT_SPEED = 10.0
"""Speed of the input shaft at first [rad/s]."""


def universal_shaft(beta: float = radians(30.0)) -> System:
    """Return two shafts of 0.5 m with a Hooke joint at the origin; the input shaft along x, the output shaft at `beta` [rad] from it.

    Parameters
    ----------
    beta : float
        Angle between the shafts [rad], in the plane z = 0.

    Returns
    -------
    System
        Bodies: "input", "output".  Joints: "input bearing" (RJ), "Hooke" (UJ), "output bearing" (PointOnLine).
        Degrees of freedom: 1.

    Notes
    -----
    Source: Hooke (1675); the input turns with 10 rad/s at first.
    """
    x, along = np.array([1.0, 0.0, 0.0]), np.array([cos(beta), sin(beta), 0.0])
    shaft = cylinder(0.02, 0.5, mass=4.0, axis=(1, 0, 0))
    system = System("universal shaft", gravity=(0.0, 0.0, 0.0))
    first = system.add(Body("input", *shaft, r=-0.25 * x, omega_bar=SHAFT_SPEED * x))
    turned = from_axis_angle((0, 0, 1), beta)
    # the cross: z on the output's fork, in the plane z = 0 on the input's
    fork_in, fork_out = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])
    second = system.add(Body("output", *shaft, r=0.25 * along, p=turned, omega_bar=SHAFT_SPEED / cos(beta) * x))
    system.add(RJ("input bearing", system.ground, first, point=-0.5 * x, axis=x))
    system.add(UJ("Hooke", first, second, point=(0, 0, 0), axis_i=fork_in, axis_j=fork_out))
    system.add(PointOnLine("output bearing", system.ground, second, point=0.5 * along, axis=along))
    return system


A = np.array([0.0, 0.1, 0.12])
B = np.array([0.0, 0.1, 0.2])
C = np.array([0.2, 0.0, 0.0])
X = np.array([1.0, 0.0, 0.0])
ALONG = (C - B) / 0.3
"""Unit vector along the rod at the modelled pose."""

SPEED = 6.0
"""Initial speed of the free crank [rad/s]; the velocities of the other bodies are in proportion."""

_FREE = "Haug (1989) sec. 12.2, IFToMM; minimal coordinates, DOP853 and Radau at 1e-13"
_DRIVEN = "Haug (1989) sec. 12.2, IFToMM; closed form"

FREE = (
    Published("crank angle theta", "rad", 1.0, 10.484073838524, 1e-8, _FREE),
    Published("slider position x", "m", 1.0, 0.233764750335, 1e-8, _FREE),
    Published("crank angle theta", "rad", 5.0, 51.3694398879276, 1e-6, _FREE),
    Published("slider position x", "m", 5.0, 0.254650085467, 1e-6, _FREE),
)

DRIVEN = (
    Published("slider position x", "m", 0.25, 0.274226184016, 1e-10, _DRIVEN),
    Published("torque of the drive", "N m", 0.0, 0.137048347649, 1e-9, _DRIVEN),
    Published("torque of the drive", "N m", 0.25, -0.295922922802, 1e-9, _DRIVEN),
)


def slider_crank(*, driven: bool = False) -> System:
    """Return the spatial slider-crank.

    Parameters
    ----------
    driven : bool
        False: the crank moves freely with 6 rad/s at first.  True: the crank is driven as theta = 2 pi t.

    Returns
    -------
    System
        Bodies: "crank", "rod", "slider".  Joints: "R" (RJ), "S" (SJ), "U" (UJ), "T" (TJ) and, if driven, "drive" (RotationDriver).
        Degrees of freedom: 1, or 0 if driven.

    Notes
    -----
    Source: Haug (1989), sec. 12.2; IFToMM benchmark library.
    """
    speed = 2.0 * pi if driven else SPEED
    u = speed / SPEED
    system = System("driven spatial slider-crank" if driven else "spatial slider-crank", gravity=(0.0, 0.0, -9.81))
    crank = system.add(Body("crank", 0.12, (1e-4, 1e-4, 1e-5), r=A, omega_bar=speed * X))
    J_rod = 4e-3 * np.eye(3) + (4e-4 - 4e-3) * np.outer(ALONG, ALONG)
    v_rod, omega_rod = u * np.array([0.12, -0.24, 0.0]), u * np.array([1.92, -0.96, 0.48])
    rod = system.add(Body("rod", 0.5, J_rod, r=(B + C) / 2.0, v=v_rod, omega_bar=omega_rod))
    slider = system.add(Body("slider", 2.0, (1e-4, 1e-4, 1e-4), r=C, v=u * 0.24 * X))
    pin = system.add(RJ("R", system.ground, crank, point=A, axis=X))
    system.add(SJ("S", crank, rod, point=B))
    system.add(UJ("U", rod, slider, point=C, axis_i=(0.0, -2.0, 1.0), axis_j=X))
    system.add(TJ("T", system.ground, slider, point=C, axis=X))
    if driven:
        system.add(RotationDriver("drive", pin, lambda t: 2.0 * pi * t))
    return system


def crank_angle(result: Result) -> FloatArray:
    """Return the angle of the crank [rad], (nt,), counted through all turns.

    Consecutive states must be less than half a turn apart.
    """
    p = result["crank"].p
    angle: FloatArray = np.unwrap(2.0 * np.arctan2(p[:, 1], p[:, 0]))
    return angle


ALONG_X = (1.0, 0.0, 0.0)
"""Forward; y is to the left, z upward."""


def double_wishbone() -> System:
    """Return the left front suspension of a car that stands still, with the wheel in the air, at rest.

    Returns
    -------
    System
        Bodies: "lower arm", "upper arm", "knuckle", "wheel".  Joints: "lower bushing", "upper bushing" (RJ), "lower ball", "upper ball"
        (SJ), "tie rod" (Distance), "hub" (RJ).  Forces: "strut" (TSDA).  Degrees of freedom: 2.
    """
    low, high = np.array([0.0, 0.75, 0.20]), np.array([-0.02, 0.68, 0.50])
    hub = np.array([0.0, 0.76, 0.32])
    lower_pins = np.array([[0.18, 0.30, 0.20], [-0.18, 0.30, 0.20]])
    upper_pins = np.array([[0.14, 0.38, 0.48], [-0.14, 0.38, 0.48]])
    rack, steering_arm = np.array([-0.15, 0.32, 0.28]), np.array([-0.15, 0.72, 0.30])
    system = System("double wishbone", gravity=(0.0, 0.0, -9.81))
    lower = system.add(_arm("lower arm", low, lower_pins, 5.0))
    upper = system.add(_arm("upper arm", high, upper_pins, 3.0))
    knuckle = system.add(Body("knuckle", 8.0, (0.06, 0.05, 0.03), r=(low + high) / 2.0))
    wheel = system.add(Body("wheel", *cylinder(0.3, 0.2, mass=18.0, axis=(0, 1, 0)), r=hub))
    system.add(RJ("lower bushing", system.ground, lower, point=lower_pins.mean(axis=0), axis=ALONG_X))
    system.add(RJ("upper bushing", system.ground, upper, point=upper_pins.mean(axis=0), axis=ALONG_X))
    system.add(SJ("lower ball", lower, knuckle, point=low))
    system.add(SJ("upper ball", upper, knuckle, point=high))
    system.add(Distance("tie rod", system.ground, knuckle, point_i=rack, point_j=steering_arm))
    system.add(RJ("hub", knuckle, wheel, point=hub, axis=(0, 1, 0)))
    ends = {"point_i": (0.0, 0.45, 0.70), "point_j": (0.0, 0.60, 0.20)}
    system.add(TSDA("strut", system.ground, lower, k=3e4, c=2e3, l0=0.53, **ends))
    return system


def _arm(name: str, ball: FloatArray, pins: FloatArray, mass: float) -> Body:
    """Return a wishbone of two slender rods from its ball to its pins."""
    rods = [rod(float(np.linalg.norm(pin - ball)), mass=mass / 2.0, axis=pin - ball).placed((pin + ball) / 2.0) for pin in pins]
    whole = combine(rods)
    return Body(name, whole.mass, whole.J_bar, r=whole.center)
