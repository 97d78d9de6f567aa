r"""read_asmt: an assembly of FreeCAD's solver as a System."""

from __future__ import annotations

from pathlib import Path as FilePath

from haugmbd.bodies.frame import Frame
from haugmbd.choices import check_flags
from haugmbd.deprecated import check_keywords
from haugmbd.errors import AssemblyError, Fault, ModelFileError, UsageError, warn_user
from haugmbd.modelfile.asmt.assembly import Assembly, assembly_of
from haugmbd.modelfile.asmt.contradictions import leave_out_contradictions
from haugmbd.modelfile.asmt.limits import limits_of
from haugmbd.modelfile.asmt.mechanism import Built, mechanism
from haugmbd.modelfile.asmt.records import parse_records
from haugmbd.modelfile.imports import OPEN, Closed, ImportReport, LoopClosure, add_stops, close_joints, read_stiffness
from haugmbd.modelfile.text import decode, read_bounded
from haugmbd.modelfile.values import finite
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

MAX_BYTES = 32 * 2**20


@check_keywords
def read_asmt(
    path: str | FilePath,
    *,
    length: float = 1.0,
    merge_fixed: bool = True,
    close: bool = True,
    tolerance: float | None = None,
    stop_stiffness: float | None = None,
) -> System:
    """Return the System of an ASMT file, the text format of FreeCAD's assembly solver.

    Parameters
    ----------
    path : str or Path
        The file.
    length : float
        The file's unit of length [m]: 0.001 for millimetres, in which FreeCAD writes. Masses are in kg, moments of inertia in kg length2.
    merge_fixed : bool
        Whether parts that fixed joints connect become one body, or the ground; otherwise each is a body, with a Fixed joint.
    close : bool
        Whether joints that are open at the modelled pose are closed by `assemble`.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], here and in all that is done with it:
        see `System`.
    stop_stiffness : float, optional
        Stiffness [N m/rad or N/m] of the stops, JointLimit, that limits become. Without it limits are not read: they have none.

    Returns
    -------
    System
        The mechanism, with `system.import_report`: what was read, substituted and ignored, and which joints were open.

    Raises
    ------
    ModelFileError
        With all faults of the file: line, place, defect and remedy of each.
    AssemblyError
        If the joints cannot be closed; close=False returns them open. Axes that contradict the other joints are left as they are, with a
        warning, if all else holds at the pose of the file.
    UsageError
        If there is no such file, or if length is not positive.

    Notes
    -----
    The frames of joints are the markers: the coordinate of a hinge is the solver's own, from x of marker I to x of marker J about z.
    Motions become drivers; gears, racks and screws become couplings of the joints of their parts. Loads are refused by name.
    Source: the files that OndselSolver reads and writes.
    """
    unit = finite(length)
    if unit is None or unit <= 0.0:
        raise UsageError(f"length is {length!r}, must be a positive number of metres, such as 0.001 for millimetres.")
    check_tolerance(tolerance)
    check_flags(merge_fixed=merge_fixed, close=close)
    path = path_of(path)
    data = read_bounded(path, MAX_BYTES)
    try:
        root = parse_records(decode(data))
    except UsageError as error:
        raise ModelFileError(str(path), [Fault("the whole file", str(error).rstrip("."), "")]) from None
    stiffness = read_stiffness(stop_stiffness)
    try:
        made = assembly_of(root, unit)
        built = mechanism(made, merge_fixed)
    except ModelFileError as error:
        raise ModelFileError(str(path), error.faults) from None
    if made.faults:
        raise ModelFileError(str(path), made.faults)
    built.system.tolerance = tolerance
    done = closed(built, close)
    nothing_moves = "All its parts are fixed to the assembly, which is the ground: remove a fixed joint of the file."
    return reported(made, built, done, (str(path), "ASMT", nothing_moves), stiffness)


def reported(made: Assembly, built: Built, done: Closed, file: tuple[str, str, str], stiffness: float | None) -> System:
    """Return the closed mechanism of an assembly with its stops, if they have a stiffness, and its report.

    file: path, format, and what to do where nothing moves
    """
    source, kind, nothing_moves = file
    limits, unread = limits_of(made, built.system.joints) if stiffness is not None else ([], [str(limit) for limit in made.limits])
    stops = add_stops(limits, built.system, done.system, stiffness)
    bodies = {body.name: body for body in done.system.bodies}
    done.system.import_report = ImportReport(
        source=source,
        links=len(made.parts),
        joints=len(made.joints) + len(made.motions),
        body_of={part: body for part, (body, _) in built.where.items() if part},
        q={},
        frames={part: Frame(bodies[body], at.r, at.A) for part, (body, at) in built.where.items() if part},
        substituted=(*built.substituted, *stops.substituted),
        ignored=(*_ignored(made), *built.dropped, *unread, *stops.ignored),
        loops=tuple(
            LoopClosure(name, made.joints[name].type if name in made.joints else "motion", kind, *gap)
            for name, gap in done.gaps.items()
            if max(gap) > OPEN
        ),
        iterations=done.iterations,
        closed=done.closed,
        degrees_of_freedom=done.degrees_of_freedom,
        warnings=(*built.warnings, *done.warnings, *stops.warnings),
        word="part",
        nothing_moves=nothing_moves,
    )
    return done.system


def closed(built: Built, close: bool) -> Closed:
    """Return the mechanism closed; without directions that contradict the other joints, if the pose of the file closes all else."""
    try:
        return close_joints(built.system, bool(built.system.joints), close)
    except AssemblyError:
        left_out = leave_out_contradictions(built.system)
        if not left_out:
            raise
    built.warnings.extend(left_out)
    for text in left_out:
        warn_user(text)
    return close_joints(built.system, True, close)


def _ignored(made: Assembly) -> list[str]:
    """Return what was not read, as texts."""
    return [text if n == 1 else f"{text} ({n})" for text, n in made.ignored.items()]
