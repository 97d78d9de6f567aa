r"""read_urdf: a robot file as a System, its closed loops included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from haugmbd.bodies.frame import Frame
from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.modelfile.imports import ImportReport, LoopClosure, add_stops, close_joints, felt, read_stiffness
from haugmbd.modelfile.text import MAX_BYTES_BY_HAND, decode, read_bounded
from haugmbd.modelfile.urdf.mechanism import Built, Choices, mechanism, replace_joints, sidecar_loops
from haugmbd.modelfile.urdf.robot import Robot, robot_of
from haugmbd.modelfile.urdf.sidecar import read_sidecar
from haugmbd.modelfile.urdf.tree import carrying, coordinates, guided
from haugmbd.modelfile.urdf.visual import MOST_MESHES, Meshes
from haugmbd.modelfile.xml_reader import parse_xml
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

STANDARD_GRAVITY = (0.0, 0.0, -9.80665)
"""[m/s2] Along -z, the vertical of ROS."""
MAX_BYTES = 16 * 2**20
XACRO = ".xacro"


@check_keywords
def read_urdf(
    path: str | FilePath,
    *,
    loops: str | FilePath | None = None,
    floating: bool = False,
    gravity: Any = STANDARD_GRAVITY,
    merge_fixed: bool = True,
    q: Mapping[str, float] | None = None,
    close: bool = True,
    tolerance: float | None = None,
    repair_inertia: bool = False,
    free_mimic: bool = False,
    meshes: str | FilePath | None = None,
    limits: bool = True,
    stop_stiffness: float | None = None,
    allow_code: bool = False,
) -> System:
    """Return the System of a URDF file, or of a xacro file.

    Parameters
    ----------
    path : str or Path
        The file. Closed loops may be written in it, as URDF+ <loop> or as <loop_joint>. A .xacro is a program that makes a URDF.
    loops : str or Path, optional
        A sidecar file of Extended URDF with further loops: closed_loop: [[frameA, frameB]], type: ['3d' or '6d'].
    floating : bool
        Whether the root link moves freely; by default it is fixed to the ground.
    gravity : array_like, (3,)
        Gravity, global frame [m/s2]; by default (0, 0, -9.80665).
    merge_fixed : bool
        Whether links that fixed joints connect become one body; otherwise each is a body, with a Fixed joint.
    q : mapping of str to float, optional
        Coordinates of joints at the modelled pose [rad], [m]; by default 0, and for a joint with <mimic> its offset.
    close : bool
        Whether open loops are closed by `assemble`; the pose then differs from q.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], here and in all that is done with it:
        see `System`.
    repair_inertia : bool
        Whether an inertia that no rigid body can have is replaced by the nearest one that is possible, and a mass of 0 beside moments of
        inertia by a small one; the report says so.
    free_mimic : bool
        Whether a joint with <mimic> is read without its coupling; it then moves freely.
    meshes : str or Path, optional
        The folder that meshes are read from, it and those below it; by default that of the file. package://name/x is looked for there
        as name/x and as x.
    limits : bool
        Whether limits of joints become stops, JointLimit.
    stop_stiffness : float, optional
        Their stiffness [N m/rad or N/m]; by default the effort of the joint moves its stop by 0.01 rad or 0.001 m.
    allow_code : bool
        Whether a .xacro is expanded, by the package `xacrodoc`: expanding executes Python expressions of the file.

    Returns
    -------
    System
        The mechanism, with `system.import_report`: what was read, substituted and ignored, and how far the loops were open.

    Raises
    ------
    ModelFileError
        With all faults of the file: line, place, defect and remedy of each.
    AssemblyError
        If the loops cannot be closed; close=False returns the mechanism with open loops.
    UsageError
        If there is no such file, if it is too long, or if q names no joint.

    Notes
    -----
    Revolute and continuous joints become RJ, prismatic TJ, planar Planar, spherical SJ, fixed ones are merged; damping becomes an RSDA or
    a JointSpring, and a joint with <mimic> gets a Coupling. A visual whose numbers cannot be read is a warning: it changes no motion.
    Limits become JointLimit, counted from the modelled pose. Visual geometry becomes shapes; a mesh that is missing is a warning.
    Friction, transmissions and simulator extensions are not read, and the report says so. The coordinates of joints are zero at the
    modelled pose.
    Nothing of a .urdf is executed, and no file outside of the folder `meshes` is opened but `loops`.
    Source: the URDF specification of ROS.
    """
    check_tolerance(tolerance)
    check_flags(
        floating=floating,
        merge_fixed=merge_fixed,
        close=close,
        repair_inertia=repair_inertia,
        free_mimic=free_mimic,
        limits=limits,
        allow_code=allow_code,
    )
    if q is not None and not isinstance(q, Mapping):
        raise UsageError(f"q = {q!r:.60} must be a dict of coordinates by joints, such as {{'elbow': 0.3}}.")
    path = path_of(path)
    robot = _robot(path, allow_code)
    replaced, unread = _read_loops(robot, path_of(loops, "loops")) if loops is not None else ([], [])
    _raise(path, robot.faults)
    pose = coordinates(robot, q)
    folder = Meshes(path.parent, path.parent if meshes is None else path_of(meshes, "meshes"))
    choices = Choices(floating, merge_fixed, repair_inertia, free_mimic, folder)
    built, choices = _built(robot, pose, gravity, choices)
    _raise(path, built.faults)
    built.system.tolerance = tolerance
    system, report = _closed(robot, built, close, str(path))
    changed = []
    if built.massless and len(built.massless) < len(built.system.bodies) - 1:
        undrawn = choices._replace(substitute=2.0, meshes=Meshes(folder.base, folder.root, count=MOST_MESHES + 1))
        changed = felt("link", built.massless, system, mechanism(robot, pose, gravity, undrawn).system)
    stops = add_stops(built.limits if limits else [], built.system, system, read_stiffness(stop_stiffness))
    ignored = [*_ignored(robot, free_mimic, limits), *(f"{loops}: the key {key!r}" for key in unread), *stops.ignored]
    system.import_report = replace(
        report,
        q=pose,
        ignored=tuple(ignored),
        substituted=(*replaced, *report.substituted, *stops.substituted),
        warnings=(*report.warnings, *changed, *stops.warnings),
    )
    return system


def _moves_without_inertia(system: System) -> bool:
    """Return whether links without mass have a motion of their own at this pose, such as hinges of a ball whose axes are in one plane."""
    return any("no inertia in" in fault.what for fault in system.faults())


def _robot(path: FilePath, allow_code: bool) -> Robot:
    """Return the robot of a file. Raise ModelFileError if it is not XML."""
    data = _expanded(path, allow_code) if path.suffix == XACRO else read_bounded(path, MAX_BYTES)
    try:
        return robot_of(parse_xml(data))
    except ModelFileError as error:
        raise ModelFileError(str(path), error.faults) from None
    except UsageError as error:
        raise ModelFileError(str(path), [Fault("the whole file", str(error).rstrip("."), "")]) from None


def _expanded(path: FilePath, allow_code: bool) -> bytes:
    """Return the URDF that a xacro file makes. Raise UsageError if code is not allowed, or if it fails."""
    read_bounded(path, MAX_BYTES)
    if not allow_code:
        what = f"{str(path)!r} is a xacro file, a program that makes a URDF, and code is not allowed"
        raise UsageError(f"{what}. If you trust it, pass allow_code=True; or expand it: xacro file.xacro > file.urdf.")
    try:
        from xacrodoc import XacroDoc  # noqa: PLC0415  an optional package
    except ImportError:
        raise UsageError(f"{str(path)!r} needs xacrodoc, which is not installed: pip install xacrodoc.") from None
    try:
        text: str = XacroDoc.from_file(str(path)).to_urdf_string()
    except Exception as error:  # noqa: BLE001  expanding runs code of the file
        raise ModelFileError(
            str(path), [Fault("the whole file", f"xacro raises {type(error).__name__}: {error}"[:500], "")]
        ) from None
    return text.encode()


def _built(robot: Robot, pose: dict[str, float], gravity: Any, choices: Choices) -> tuple[Built, Choices]:
    """Return the mechanism, with links without mass as they are as far as the equations give their motion, and the choices made."""
    for exact in (guided(robot, choices.merge_fixed), carrying(robot, choices.merge_fixed), frozenset[str]()):
        choices = choices._replace(exact=exact)
        built = mechanism(robot, pose, gravity, choices)
        if not (exact and _moves_without_inertia(built.system)):
            break
    return built, choices


def _read_loops(robot: Robot, path: FilePath) -> tuple[list[str], list[str]]:
    """Append the loops of a sidecar file, and make joints what it says; return that, and its keys that are not read.

    Raise ModelFileError if it is not a sidecar file.
    """
    data = read_bounded(path, MAX_BYTES_BY_HAND)
    try:
        sidecar = read_sidecar(decode(data))
    except UsageError as error:
        raise ModelFileError(str(path), [Fault("the whole file", str(error).rstrip("."), "")]) from None
    sidecar_loops(robot, sidecar.loops, str(path))
    return replace_joints(robot, sidecar.joints, str(path)), sidecar.unread


def _raise(path: FilePath, faults: list[Fault]) -> None:
    """Raise ModelFileError if there are faults."""
    if faults:
        raise ModelFileError(str(path), faults)


def _ignored(robot: Robot, free_mimic: bool, stops: bool) -> list[str]:
    """Return what was not read, as texts."""
    joints = robot.joints.values()
    limited = [joint for joint in joints if joint.limits is not None]
    followers = [] if free_mimic else [joint for joint in limited if joint.mimic is not None]
    own = {
        "joint limits": 0 if stops else len(limited),
        "limits of joints that follow others": len(followers) if stops else 0,
        "joint friction": sum(joint.friction != 0.0 for joint in joints),
        "damping of joints with several freedoms or none": sum(
            joint.damping != 0.0 for joint in joints if joint.type in ("planar", "floating", "fixed")
        ),
    }
    free = [f"the mimic of joint {joint.name!r}" for joint in joints if joint.mimic is not None and free_mimic]
    return [*(f"{what} ({n})" for what, n in (*sorted(robot.ignored.items()), *own.items()) if n), *free]


def _closed(robot: Robot, built: Built, close: bool, source: str) -> tuple[System, ImportReport]:
    """Return the system with its loops closed, and the report."""
    done = close_joints(built.system, bool(robot.loops), close)
    unknown = (float("nan"), float("nan"))
    loops = tuple(LoopClosure(x.name, x.type, x.convention, *done.gaps.get(x.name, unknown)) for x in robot.loops)
    bodies = {body.name: body for body in done.system.bodies}
    report = ImportReport(
        source=source,
        links=len(robot.links),
        joints=len(robot.joints),
        body_of=built.body_of,
        q={},
        frames={link: Frame(bodies[name], s_bar, A_bar) for link, (name, s_bar, A_bar) in built.frames.items()},
        substituted=tuple(built.substituted),
        ignored=(),
        loops=loops,
        iterations=done.iterations,
        closed=done.closed,
        degrees_of_freedom=done.degrees_of_freedom,
        warnings=(*built.warnings, *done.warnings),
        nothing_moves="All its links are fixed to the ground: read_urdf(path, floating=True) lets them move freely.",
    )
    return done.system, report
