"""Assemblies as ASMT texts."""

from __future__ import annotations

import numpy as np

import haugmbd as mbd
from haugmbd.math import euler_parameters

NAME = "Assembly"


def below(head, *records):
    """A record with records below it; a record is a text or (text, records)."""
    return (head, records)


def row(values):
    return "\t".join(repr(float(x)) for x in np.ravel(values)) + "\t"


def pose(r=(0.0, 0.0, 0.0), A=None):
    A = np.eye(3) if A is None else A
    return below("Position3D", row(r)), below("RotationMatrix", *(row(line) for line in np.asarray(A)))


def marker(name, r=(0.0, 0.0, 0.0), A=None):
    return below("Marker", below("Name", name), *pose(r, A))


def points(*markers, at=None):
    """Reference points with their markers; `at` is the pose of the reference point."""
    return below("RefPoints", below("RefPoint", *pose(*(at or ())), below("Markers", *markers)))


def part(
    name,
    *markers,
    r=(0.0, 0.0, 0.0),
    A=None,
    mass=1.0,
    J=(1.0, 1.0, 1.0),
    c=(0.0, 0.0, 0.0),
    axes=None,
    v=(0, 0, 0),
    w=(0, 0, 0),
    at=None,
):
    body = below("Mass", repr(float(mass))), below("MomentOfInertias", row(J)), below("Density", "10")
    solid = below("PrincipalMassMarker", below("Name", "MassMarker"), *pose(c, axes), *body)
    speed = below("Velocity3D", row(v)), below("Omega3D", row(w))
    tail = "FeatureOrder", solid, points(*markers, at=at), "RefCurves", "RefSurfaces"
    return below("Part", below("Name", name), *pose(r, A), *speed, *tail)


def path(*names):
    return "/" + "/".join((NAME, *names))


def joint(kind, name, i, j, **values):
    numbers = [below(key, repr(float(x))) for key, x in values.items()]
    return below(kind, below("Name", name), below("MarkerI", path(*i)), below("MarkerJ", path(*j)), *numbers)


def motion(kind, name, on, formula):
    key = {"RotationalMotion": "RotationZ", "TranslationalMotion": "TranslationZ"}.get(kind, "RotationZ")
    return below(kind, below("Name", name), below("MotionJoint", path(on)), below(key, formula))


def limit(name, on, kind, bound):
    ends = below("MarkerI", path(on)), below("MarkerJ", path(on)), below("MotionJoint", path(on))
    return below("RotationLimit", below("Name", name), *ends, below("Limit", bound), below("Type", kind), below("Tol", "1e-9"))


def assembly(
    parts,
    joints=(),
    motions=(),
    *,
    markers=(),
    gravity=(0.0, 0.0, -9.81),
    limits=(),
    forces=(),
    r=(0.0, 0.0, 0.0),
    A=None,
    head="OndselSolver",
):
    """The text of an assembly."""
    sets = below("Joints", *joints), below("Motions", *motions), below("Limits", *limits), "GeneralConstraintSets"
    records = (
        below("Notes", "(Text string: '' runs: (Core.RunArray runs: #() values: #()))"),
        below("Name", NAME),
        *pose(r, A),
        below("Velocity3D", row((0, 0, 0))),
        below("Omega3D", row((0, 0, 0))),
        points(*markers),
        "RefCurves",
        "RefSurfaces",
        below("Parts", *parts),
        "KinematicIJs",
        below("ConstraintSets", *sets),
        below("ForceTorques", *forces),
        below("ConstantGravity", row(gravity)),
        below("SimulationParameters", below("tstart", "0"), below("tend", "1")),
        below("AnimationParameters", below("nframe", "11")),
    )
    lines = [head, "Assembly", *_lines(records, 1), "TimeSeries", "Number\tInput\t1\t2"]
    return "\n".join(lines) + "\n"


def _lines(records, level):
    found = []
    for record in records:
        text, inside = record if isinstance(record, tuple) else (record, ())
        found += ["\t" * level + text, *_lines(inside, level + 1)]
    return found


def four_bar(turn=1.5, gap=0.0, scale=1000.0, motions=()):
    """A four-bar in millimetres: crank, coupler, rocker, grounded through a fixed joint to a base part; open by `gap` mm."""
    lengths = (0.2, 0.5, 0.4)
    tip = 0.2 * np.array((np.cos(turn), np.sin(turn), 0.0))
    far = np.array((0.5, 0.0, 0.0))
    d = far - tip
    reach = float(np.linalg.norm(d))
    along = (lengths[1] ** 2 - lengths[2] ** 2 + reach**2) / (2.0 * reach)
    knee = tip + along * d / reach + np.sqrt(lengths[1] ** 2 - along**2) * np.array((-d[1], d[0], 0.0)) / reach
    ends = ((np.zeros(3), tip), (tip, knee), (far, knee))
    parts = [part("base", marker("fix"), marker("A"), marker("D", scale * far), marker("weld"))]
    for name, length, (start, end) in zip(("crank", "coupler", "rocker"), lengths, ends, strict=True):
        x = (end - start) / np.linalg.norm(end - start)
        A = np.column_stack((x, np.cross((0, 0, 1), x), (0, 0, 1)))
        m = 2.0 * length
        J = scale**2 * m * length**2 / 12.0
        shift = np.array((0.0, gap if name == "rocker" else 0.0, 0.0))
        c = (0.5 * scale * length, 0, 0)
        parts.append(
            part(
                name,
                marker("start"),
                marker("end", (scale * length, 0, 0)),
                r=scale * start + shift,
                A=A,
                mass=m,
                J=(1e-3 * J, J, J),
                c=c,
            )
        )
    joints = [
        joint("FixedJoint", "grounded", ("ground",), ("base", "fix")),
        joint("RevoluteJoint", "A", ("base", "A"), ("crank", "start")),
        joint("RevoluteJoint", "B", ("crank", "end"), ("coupler", "start")),
        joint("CylindricalJoint", "C", ("coupler", "end"), ("rocker", "end")),
        joint("SphericalJoint", "D", ("base", "D"), ("rocker", "start")),
    ]
    return assembly(parts, joints, motions, markers=[marker("ground")], gravity=(0, -9.81 * scale, 0))


def read(tmp_path, text, **how):
    """The system of an assembly."""
    path = tmp_path / "model.asmt"
    path.write_text(text)
    return mbd.read_asmt(path, **how)


def random_pose(rng):
    """A point, and a rotation matrix."""
    return rng.normal(size=3), euler_parameters.rotation_matrix(euler_parameters.normalized(rng.normal(size=4)))


def about_z(angle):
    """The matrix of a turn about z."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def turned_about(axis, angle):
    """The matrix of a turn about an axis."""
    return euler_parameters.rotation_matrix(euler_parameters.from_axis_angle(axis, angle))


def away(axis):
    """A component of the vector from marker i to marker j in the axes of marker i."""
    return lambda i, j: float(i[1][:, axis] @ (j[0] - i[0]))
