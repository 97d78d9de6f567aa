r"""The joints of a body against its parent: one, or several that act one after the other.

    hinge              RJ            two hinges with one anchor                 universal:  a_1 (parent) . a_2 (child) = const
    slide              TJ            hinge and slide along it                   CJ
    ball               SJ            three hinges with one anchor               SJ
    free               none          slides across a hinge                      Planar
    slide and ball     PointOnLine   two slides and a ball                      PointInPlane;  with three the body is free
                                     two or three slides                        equations: no rotation, and in a plane

Where no joint of the catalogue stands for all of them, links are between them:

    parent --joint 1-- link 1 --joint 2-- link 2 ... --joint n-- body        link k: without mass, at anchor k
    w_k = w_(k-1) + a_k q_k'             v_k = v_(k-1) + a_k q_k' x (x_k - anchor_k)    of a hinge,    v_(k-1) + a_k q_k'    of a slide

MuJoCo's joints of one body are such a chain, of links that have no inertia at all. Joints that are dependent, S q' = 0 with
S = (a_k, 0) of a slide, (-a_k x anchor_k, a_k) of a hinge, would move the links alone; the rotor of an armature holds them.
Source: MuJoCo's documentation, XML reference: joint; Computation: kinematics.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame, body_point, body_vector, triad
from haugmbd.compiled.array_types import Array
from haugmbd.constraints import DP1, DP2, coincident
from haugmbd.constraints.joint import Joint
from haugmbd.errors import UsageError
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Planar, PointInPlane, PointOnLine
from haugmbd.math.euler_parameters import cross
from haugmbd.modelfile.mjcf.engine import BALL, FREE, HINGE, SLIDE, Engine
from haugmbd.modelfile.parts.equations import Equations

ALIGNED = 1e-9
"""Sine of an angle, or a distance [m], of axes that are one: far below typed digits, far above rounding."""
DEPENDENT = 1e-6
"""Singular value of S, with lengths relative to the distance of the joints, below which joints are dependent: a link, which has no
inertia, could move alone."""


def joint_of(name: str, i: Body, j: Body, kinds: list[int], anchors: Any, axes: Any) -> Joint | None:
    """Return the joint of body j on body i; None if it is free. Raise UsageError for joints in a row that are no joint here.

    anchors, axes: of each joint at the pose that is read, global, (n, 3)
    """
    if kinds == [FREE]:
        return None
    if kinds == [BALL]:
        return SJ(name, i, j, point=anchors[0])
    if kinds == [HINGE]:
        return RJ(name, i, j, point=anchors[0], axis=axes[0])
    if kinds == [SLIDE]:
        return TJ(name, i, j, point=anchors[0], axis=axes[0])
    hinges = [k for k, kind in enumerate(kinds) if kind == HINGE]
    slides = [k for k, kind in enumerate(kinds) if kind == SLIDE]
    if kinds in (ordered := [BALL, *[SLIDE] * len(slides)], ordered[::-1]):
        return _on_slides(name, (i, j) if kinds[-1] == BALL else (j, i), anchors[kinds.index(BALL)], axes[slides])
    if len(hinges) + len(slides) < len(kinds):
        raise UsageError("a ball with hinges on one body, or between slides, cannot be read as one joint")
    if len(hinges) == 0:
        return _sliding(name, i, j, axes)
    if len(hinges) == 1 and len(slides) == 1 and _parallel(axes[0], axes[1]):
        return CJ(name, i, j, point=anchors[hinges[0]], axis=axes[hinges[0]])
    h = axes[hinges[0]]
    if len(hinges) == 1 and len(slides) == 2 and all(abs(axes[k] @ h) <= ALIGNED for k in slides):
        if not _parallel(axes[slides[0]], axes[slides[1]]):
            return Planar(name, i, j, point=anchors[hinges[0]], normal=h)
    if not slides and all(np.abs(anchors[k] - anchors[0]).max() <= ALIGNED for k in hinges):
        return _about_a_point(name, i, j, anchors[0], axes)
    raise UsageError(f"{len(hinges)} hinges and {len(slides)} slides in this arrangement cannot be read as one joint")


def _parallel(a: Array, b: Array) -> bool:
    return float(np.linalg.norm(cross(a, b))) <= ALIGNED


def _sliding(name: str, i: Body, j: Body, axes: Array) -> Joint:
    """Return the joint that lets body j slide along two or three axes and does not let it turn."""
    rank = int(np.linalg.matrix_rank(axes, tol=ALIGNED))
    if rank < len(axes) or len(axes) > 3:
        raise UsageError(f"{len(axes)} slides along {rank} directions are dependent")
    normal = cross(axes[0], axes[1])
    T = triad(normal)
    fi, fj = (Frame(body, body_point(body, j.r), body.A.T @ T) for body in (i, j))
    rows: tuple[Any, ...] = (DP1(i, fi.f, j, fj.g), DP1(i, fi.f, j, fj.h), DP1(i, fi.g, j, fj.h))
    if rank == 2:
        rows = (*rows, DP2(i, fi.h, fi.s_bar, j, fj.s_bar))
    return Equations(name, fi, fj, rows, None)


def _on_slides(name: str, ends: tuple[Body, Body], point: Array, axes: Array) -> Joint | None:
    """Return the joint of slides and a ball: a point of the second body on a line or plane of the first; None if it is free."""
    rank = int(np.linalg.matrix_rank(axes, tol=ALIGNED))
    if rank < len(axes):
        raise UsageError(f"{len(axes)} slides along {rank} directions are dependent")
    if rank == 1:
        return PointOnLine(name, *ends, point=point, axis=axes[0])
    return PointInPlane(name, *ends, point=point, normal=cross(axes[0], axes[1])) if rank == 2 else None


def _about_a_point(name: str, i: Body, j: Body, anchor: Array, axes: Array) -> Joint:
    """Return the joint of two or three hinges with one anchor."""
    if len(axes) == 3 and abs(np.linalg.det(axes)) > ALIGNED:
        return SJ(name, i, j, point=anchor)
    if len(axes) != 2 or _parallel(axes[0], axes[1]):
        raise UsageError(f"{len(axes)} hinges with one anchor turn about dependent axes")
    if abs(axes[0] @ axes[1]) <= ALIGNED:
        return UJ(name, i, j, point=anchor, axis_i=axes[0], axis_j=axes[1])
    a_i, a_j = body_vector(i, axes[0]), body_vector(j, axes[1])
    ends = Frame(i, body_point(i, anchor)), Frame(j, body_point(j, anchor))
    rows = (*coincident(i, ends[0].s_bar, j, ends[1].s_bar), DP1(i, a_i, j, a_j, float(axes[0] @ axes[1])))
    return Equations(name, *ends, rows, None)


def dependent(engine: Engine, numbers: list[int]) -> bool:
    """Return whether joints of one body can move while it stands at the pose of the engine, against no armature."""
    m, d = engine.m, engine.d
    balls = [n for n in numbers if m.jnt_type[n] == BALL]
    single = [n for n in numbers if n not in balls]
    numbers = [*single, *(n for n in balls for _ in range(3))]  # a ball is three hinges
    axes, anchors = np.array(d.xaxis[numbers]), np.array(d.xanchor[numbers])
    axes[len(single) :] = np.tile(np.eye(3), (len(balls), 1))
    hinges = m.jnt_type[numbers] != SLIDE
    arms = (anchors - anchors[hinges][0]) if hinges.any() else np.zeros_like(anchors)
    size = float(np.abs(arms[hinges]).max(initial=0.0)) or 1.0
    linear = np.where(hinges[:, None], cross(arms / size, axes), axes)
    angular = np.where(hinges[:, None], axes, 0.0)
    held = np.diag(m.dof_armature[m.jnt_dofadr[numbers]] > 0.0).astype(float)
    return float(np.linalg.svd(np.vstack([linear.T, angular.T, held]), compute_uv=False)[-1]) < DEPENDENT


def links_between(engine: Engine, parent: int, numbers: list[int], taken: Collection[str]) -> list[Body]:
    """Return the links between the joints of a body, one less than there are joints, with the velocities of the file.

    parent: the body of the file before the first one;  taken: names that are in use
    """
    m, d = engine.m, engine.d
    twist = np.zeros(6)
    engine.mujoco.mj_objectVelocity(m, d, engine.mujoco.mjtObj.mjOBJ_XBODY, parent, twist, 0)
    omega, v, at, links = twist[:3], twist[3:], np.array(d.xpos[parent]), list[Body]()
    for n in numbers[:-1]:
        rate, anchor = float(d.qvel[m.jnt_dofadr[n]]) * d.xaxis[n], np.array(d.xanchor[n])
        if m.jnt_type[n] == HINGE:
            omega = omega + rate
            v = v + cross(rate, at - anchor)
        else:
            v = v + rate
        name = f"{engine.name('joint', n)} link"
        while name in taken:
            name += "_"
        links.append(Body(name, 0.0, (0.0, 0.0, 0.0), r=anchor, v=v + cross(omega, anchor - at), omega_bar=omega, shape=()))
    return links
