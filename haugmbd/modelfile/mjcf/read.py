r"""read_mjcf: a model of MuJoCo as a System."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path as FilePath
from typing import Any

from haugmbd.bodies.frame import Frame
from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import ModelFileError
from haugmbd.modelfile.imports import OPEN, Closed, ImportReport, LoopClosure, add_stops, close_joints, read_stiffness
from haugmbd.modelfile.mjcf.couplings import limits_of, other_limits, put_followers
from haugmbd.modelfile.mjcf.engine import HINGE, SLIDE, Engine, compile_file, ignored, refused
from haugmbd.modelfile.mjcf.mechanism import Built, mechanism
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance


@check_keywords
def read_mjcf(
    path: str | FilePath,
    *,
    q: Mapping[str, float] | None = None,
    key: str | None = None,
    control: Mapping[str, float] | None = None,
    close: bool = True,
    tolerance: float | None = None,
    folder: str | FilePath | None = None,
    stop_stiffness: float | None = None,
) -> System:
    """Return the System of an MJCF file, a model of MuJoCo.

    Parameters
    ----------
    path : str or Path
        The file, .xml. MuJoCo compiles it, with the files that it includes (package `mujoco`).
    q : mapping of str to float, optional
        Coordinates of hinges and slides at the modelled pose [rad], [m]; by default those of the file.
    key : str, optional
        A keyframe, whose positions and velocities are read.
    control : mapping of str to float, optional
        Controls of actuators by name, 0 for the others; their forces become loads. Without it actuators are left out.
    close : bool
        Whether open equalities are closed by `assemble`.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], here and in all that is done with it:
        see `System`.
    folder : str or Path, optional
        The folder that files which the model names must be in, or below it; by default that of the file.
    stop_stiffness : float, optional
        Stiffness [N m/rad or N/m] of the stops that limits of hinges, slides and tendons become. Without it limits are not read:
        MuJoCo's are soft constraints without a stiffness.

    Returns
    -------
    System
        The mechanism, with `system.import_report`: what was read and ignored, and how far equalities were open.

    Raises
    ------
    ModelFileError
        If MuJoCo cannot compile the file, in its words; if it names files outside of the folder, or makes more elements than are
        allowed; or with all elements that cannot be read, by name.
    AssemblyError
        If the equalities cannot be closed; close=False leaves them open.
    UsageError
        If there is no such file, if mujoco is not installed, or if a name is not in the model.

    Notes
    -----
    connect and weld are exact joints here, and equalities of joints exact couplings; MuJoCo's are soft. Contacts and friction losses
    are not read, and the report says so. An armature is inertia of the body of a joint at the world, and a rotor otherwise.
    Between hinges and slides of one body that no joint here stands for are links without mass, which the report lists. An equality of fixed
    tendons is a coupling, one of a spatial tendon a Rope or a Distance. Springs and dampers of ball joints, of free joints and of tendons
    are loads, and so are gravcomp and the drag of a medium; tendons with a side site, deformable bodies, and media that act
    on ellipsoids are refused by name.
    The file is compiled by MuJoCo, which reads the files that it names, in the folder and below it only. Meshes and images whose files are
    not there are left out where no mass and no size depends on them, and the report says so.
    Source: MuJoCo's documentation, XML reference and Computation.
    """
    check_tolerance(tolerance)
    check_flags(close=close)
    path = path_of(path)
    engine, note, without = compile_file(path, None if folder is None else path_of(folder, "folder"), key, q, put_followers)
    faults = refused(engine)
    if not faults:
        name = engine.m.names.split(b"\0", 1)[0].decode("utf-8", "replace") or path.stem
        built = mechanism(engine, name, control, stop_stiffness=read_stiffness(stop_stiffness))
        faults = built.faults
    if faults:
        raise ModelFileError(str(path), faults)
    built.system.tolerance = tolerance
    done = close_joints(built.system, bool(built.closures), close)
    stops = add_stops(limits_of(engine, built.placed), built.system, done.system, read_stiffness(stop_stiffness))
    report = _report(str(path), engine, built, done)
    unread = (
        *([without] if without else []),
        *ignored(engine, stops=stop_stiffness is not None),
        *report.ignored,
        *stops.ignored,
        *other_limits(engine, built.placed),
    )
    done.system.import_report = replace(
        report,
        substituted=(*note, *report.substituted, *stops.substituted),
        ignored=unread,
        warnings=(*report.warnings, *stops.warnings),
    )
    return done.system


def _report(source: str, engine: Engine, built: Built, done: Closed) -> ImportReport:
    """Return the report of a mechanism that was read and closed, without what compiling and stops substituted and ignored."""
    bodies = {body.name: body for body in done.system.bodies}
    unknown = (float("nan"), float("nan"))
    return ImportReport(
        source=source,
        links=engine.m.nbody - 1,
        joints=engine.m.njnt + len(built.closures),
        body_of={name: body for name, (body, _) in built.where.items() if name != "world"},
        q=_coordinates(engine),
        frames={name: Frame(bodies[body], at.r, at.A) for name, (body, at) in built.where.items() if name != "world"},
        substituted=tuple(built.substituted),
        ignored=tuple(built.ignored),
        loops=tuple(
            LoopClosure(name, kind, "MJCF", *done.gaps.get(name, unknown))
            for name, kind in built.closures.items()
            if not done.closed or max(done.gaps.get(name, (0.0, 0.0))) > OPEN
        ),
        iterations=done.iterations,
        closed=done.closed,
        degrees_of_freedom=done.degrees_of_freedom,
        warnings=(*built.warnings, *done.warnings),
        word="body",
        nothing_moves="No body of the file has a joint: give it <freejoint/> or another one.",
    )


def _coordinates(engine: Engine) -> dict[str, Any]:
    """Return the coordinates of hinges and slides at the pose that was read."""
    m, d = engine.m, engine.d
    return {engine.name("joint", k): float(d.qpos[m.jnt_qposadr[k]]) for k in range(m.njnt) if m.jnt_type[k] in (HINGE, SLIDE)}
