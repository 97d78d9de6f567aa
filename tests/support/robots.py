"""Robots as URDF texts: random trees, and mechanisms with closed loops in three conventions."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd

SEED = 20261123


def numbers(values):
    return " ".join(repr(float(x)) for x in values)


def origin(xyz, rpy=(0.0, 0.0, 0.0)):
    return f'<origin xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'


def inertial(mass, moments, xyz=(0.0, 0.0, 0.0), rpy=(0.0, 0.0, 0.0)):
    """An inertial element; `moments` are three principal moments, or the six numbers ixx ixy ixz iyy iyz izz."""
    keys = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
    six = (moments[0], 0.0, 0.0, moments[1], 0.0, moments[2]) if len(moments) == 3 else moments
    J = " ".join(f'{key}="{float(x)!r}"' for key, x in zip(keys, six, strict=True))
    return f'<inertial>{origin(xyz, rpy)}<mass value="{float(mass)!r}"/><inertia {J}/></inertial>'


def link(name, *inside):
    return f'<link name="{name}">{"".join(inside)}</link>'


def joint(name, kind, parent, child, *inside):
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{"".join(inside)}</joint>'


def axis(xyz):
    return f'<axis xyz="{numbers(xyz)}"/>'


def robot(*parts, name="robot"):
    body = "\n".join(parts)
    return f'<?xml version="1.0"?>\n<robot name="{name}">\n{body}\n</robot>\n'


def random_inertial(rng):
    """A random inertial: the moments of a body of random size, in rotated axes."""
    a, b, c = rng.uniform(0.1, 0.6, 3) ** 2
    mass = rng.uniform(0.5, 5.0)
    return inertial(mass, mass * np.array((b + c, a + c, a + b)), rng.normal(scale=0.2, size=3), rng.uniform(-3.0, 3.0, 3))


def random_tree(seed, *, n=8, kinds=("revolute", "continuous", "prismatic", "fixed"), massless_tips=True):
    """A random tree of n moving or fixed links below a root; the damping of its joints; the names of those that move."""
    rng = np.random.default_rng(SEED + seed)
    parts, moving = [link("base", random_inertial(rng))], []
    for k in range(n):
        kind = kinds[int(rng.integers(len(kinds)))]
        tip = massless_tips and kind == "fixed" and rng.random() < 0.4
        name, parent = f"link{k}", "base" if k == 0 else f"link{int(rng.integers(max(0, k - 3), k))}"
        parts.append(link(name, *(() if tip else (random_inertial(rng),))))
        inside = [origin(rng.normal(scale=0.4, size=3), rng.uniform(-3.0, 3.0, 3))]
        if kind != "fixed":
            direction = rng.normal(size=3)
            inside.append(axis(direction / np.linalg.norm(direction)))
            inside.append('<limit lower="-10" upper="10" effort="1e3" velocity="1e3"/>')
            moving.append((f"joint{k}", kind))
        parts.append(joint(f"joint{k}", kind, parent, name, *inside))
    return robot(*parts, name=f"tree{seed}"), moving


def bar(name, length):
    """A slender bar along x from its frame."""
    return link(name, inertial(1.0, (1e-3, length**2 / 12.0, length**2 / 12.0), (length / 2.0, 0.0, 0.0)))


def hinge(name, parent, child, x, kind="continuous"):
    return joint(name, kind, parent, child, origin((x, 0.0, 0.0)), axis((0.0, 0.0, 1.0)))


LENGTHS = (0.2, 0.5, 0.45)
"""Crank, coupler and rocker [m]; the frame is as long as the coupler."""


def four_bar_leg(loop, *, apart=0.03):
    """A four-bar: base-crank-coupler, base-rocker; the loop joins the ends of coupler and rocker, open by centimetres at q = 0.

    The joints' origins are turned so that at q = 0 the ends nearly meet; `loop` is the element that closes it, or "".
    """
    a, b, c = LENGTHS
    parts = [link("base", inertial(5.0, (0.1, 0.1, 0.1))), bar("crank", a), bar("coupler", b), bar("rocker", c)]
    parts.append(joint("motor", "continuous", "base", "crank", origin((0, 0, 0), (0, 0, 1.2)), axis((0, 0, 1))))
    tip = np.array((a * np.cos(1.2), a * np.sin(1.2)))
    foot = np.array((0.5, 0.0))
    d = np.linalg.norm(foot - tip)
    at_tip = np.arctan2(*(foot - tip)[::-1]) + np.arccos((b**2 + d**2 - c**2) / (2.0 * b * d))
    meet = tip + b * np.array((np.cos(at_tip), np.sin(at_tip)))
    at_foot = np.arctan2(*(meet - foot)[::-1]) + apart / c
    parts.append(joint("knee", "continuous", "crank", "coupler", origin((a, 0, 0), (0, 0, at_tip - 1.2)), axis((0, 0, 1))))
    parts.append(joint("hip", "continuous", "base", "rocker", origin((*foot, 0), (0, 0, at_foot)), axis((0, 0, 1))))
    parts += [link("coupler_end"), joint("coupler_tip", "fixed", "coupler", "coupler_end", origin((b, 0, 0)))]
    parts += [link("rocker_end"), joint("rocker_tip", "fixed", "rocker", "rocker_end", origin((c, 0, 0)))]
    return robot(*parts, loop, name="four_bar_leg")


def urdf_plus(kind, first, second, direction=(0.0, 0.0, 1.0), name="closure"):
    (a, xyz_a, rpy_a), (b, xyz_b, rpy_b) = first, second
    ends = f'<predecessor link="{a}">{origin(xyz_a, rpy_a)}</predecessor><successor link="{b}">{origin(xyz_b, rpy_b)}</successor>'
    return f'<loop name="{name}" type="{kind}">{ends}{axis(direction)}</loop>'


def loop_joint(kind, first, second, direction=(0.0, 0.0, 1.0), name="closure"):
    ends = "".join(
        f'<link{k} link="{each}" xyz="{numbers(xyz)}" rpy="{numbers(rpy)}"/>'
        for k, (each, xyz, rpy) in enumerate((first, second), start=1)
    )
    return f'<loop_joint name="{name}" type="{kind}">{ends}{axis(direction)}</loop_joint>'


DELTA = {"base": 0.2, "platform": 0.06, "arm": 0.25, "rod": 0.5, "down": 0.5, "half": 0.04}
"""[m] Radii of base and platform, lengths of arms and rods, height, half the distance of the two rods of an arm."""


def delta(closure):
    """A delta robot: three arms with two parallel rods each, and a platform; three degrees of freedom, open at q = 0 by centimetres.

    In the tree each rod hangs on its arm by two hinges (a universal joint), and the platform on the first rod by a ball of three hinges.
    The loops are the spherical joints at the ends of the other five rods: `closure(rod, tip, platform, seat)` gives their elements; tip and
    seat are links without mass at the two points.
    """
    r_base, r_platform, arm, rod, down, half = DELTA.values()
    ball = inertial(0.01, (1e-5, 1e-5, 1e-5))
    parts, loops = [link("base", inertial(3.0, (0.1, 0.1, 0.1)))], []
    x, z = r_platform - r_base, -down
    distance = np.hypot(x, z)
    lift = np.arctan2(z, x) + np.arccos((arm**2 + distance**2 - rod**2) / (2.0 * arm * distance))
    fall = np.arctan2(z - arm * np.sin(lift), x - arm * np.cos(lift))
    for k in range(3):
        angle = 2.0 * np.pi * k / 3.0
        out, across = np.array((np.cos(angle), np.sin(angle), 0.0)), np.array((-np.sin(angle), np.cos(angle), 0.0))
        parts.append(link(f"arm{k}", inertial(0.5, (1e-3, 3e-3, 3e-3), (arm / 2.0, 0.0, 0.0))))
        parts.append(joint(f"motor{k}", "continuous", "base", f"arm{k}", origin(r_base * out, (0, -lift, angle)), axis((0, 1, 0))))
        for side in (1, -1):
            n, y = f"{k}{'ab'[side < 0]}", side * half
            parts.append(link(f"cross{n}", ball))
            parts.append(
                joint(f"elbow{n}", "continuous", f"arm{k}", f"cross{n}", origin((arm, y, 0), (0, lift - fall, 0)), axis((0, 1, 0)))
            )
            parts.append(link(f"rod{n}", inertial(0.2, (1e-4, 4e-3, 4e-3), (rod / 2.0, 0.0, 0.0))))
            parts.append(joint(f"sway{n}", "continuous", f"cross{n}", f"rod{n}", axis((0, 0, 1))))
            parts += [link(f"tip{n}"), joint(f"end{n}", "fixed", f"rod{n}", f"tip{n}", origin((rod, 0, 0)))]
            seat = r_platform * out + y * across
            parts += [link(f"seat{n}"), joint(f"place{n}", "fixed", "platform", f"seat{n}", origin(seat))]
            if n != "0a":
                loops.append(closure(f"rod{n}", (rod, 0.0, 0.0), "platform", tuple(seat), n))
    parts += [link("ball_a", ball), link("ball_b", ball), link("platform", inertial(1.0, (2e-3, 2e-3, 4e-3)))]
    parts.append(joint("ball_x", "continuous", "rod0a", "ball_a", origin((rod, 0, 0), (0, fall + 0.05, 0)), axis((1, 0, 0))))
    parts.append(joint("ball_y", "continuous", "ball_a", "ball_b", axis((0, 1, 0))))
    parts.append(
        joint("ball_z", "continuous", "ball_b", "platform", axis((0, 0, 1)), origin((-r_platform + 0.01, -half + 0.01, 0.0)))
    )
    return robot(*parts, *loops, name="delta")


ENDS = (("coupler", (LENGTHS[1], 0.0, 0.0), (0.0, 0.0, 0.0)), ("rocker", (LENGTHS[2], 0.0, 0.0), (0.0, 0.0, 0.0)))
"""What closes the four-bar leg: a point on each of two links."""


def read(tmp_path, text, name="robot.urdf", **how):
    """The system of a robot in a file of this name."""
    path = tmp_path / name
    path.write_text(text)
    return mbd.read_urdf(path, **how)


def leg(tmp_path, convention, gravity=(0.0, -9.80665, 0.0)):
    """The four-bar leg with its loop in one of the three conventions."""
    if convention == "sidecar":
        sidecar = tmp_path / "loops.yaml"
        sidecar.write_text("closed_loop: [[coupler_end, rocker_tip]]\ntype: ['6d']\n".replace("6d", "3d"))
        return read(tmp_path, four_bar_leg(""), loops=sidecar, gravity=gravity)
    write = {"<loop>": urdf_plus, "<loop_joint>": loop_joint}[convention]
    return read(tmp_path, four_bar_leg(write("revolute", *ENDS)), gravity=gravity)
