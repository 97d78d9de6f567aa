r"""Model files: read and write systems.

    system.save("crank.json");  system = haugmbd.load_model("crank.json")            JSON, written by programs and by hand
    system = haugmbd.load_model("crank.toml")                                        TOML, written by hand

A file is data: nothing in it is executed. Functions by name are imported only with allow_code=True.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from haugmbd.choices import check_flags
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.drivers.expression import read_parameters
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.formats import JSON, TOML, named, read_suffixes, reader_of
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.modelfile import text as texts
from haugmbd.modelfile.build import build
from haugmbd.modelfile.moved import move
from haugmbd.modelfile.reading import MOST_PROBLEMS, Path, Reading, written
from haugmbd.modelfile.schema import PARAMETERS
from haugmbd.modelfile.write import Document, Head, Parts, canonical, document_of, membership_faults
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.custom_joint import read_primitives
from haugmbd.system.parameters import bind_expressions, expressions_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance


@check_keywords
def load_model(
    path: str | FilePath,
    *,
    parameters: Mapping[str, float] | None = None,
    tolerance: float | None = None,
    allow_code: bool = False,
) -> System:
    """Return the System of a model file.

    Parameters
    ----------
    path : str or Path
        The file: .json as `System.save` writes it, or written by hand; or .toml. A file of another program, such as .urdf, .xml of MuJoCo,
        .sdf or .asmt, is read by its reader (`read_urdf`, ...) with the defaults of that.
    parameters : mapping of str to float, optional
        Numbers in place of the file's parameters of these names; expressions over them follow.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], in all that is done with it, in place
        of what the file says: see `System`.
    allow_code : bool
        Whether functions that the file names as "module:function" are imported. Importing executes code: allow it only for files that
        you trust.

    Returns
    -------
    System
        The mechanism. It need not be closed at its modelled pose: see `assemble`.

    Raises
    ------
    ModelFileError
        With all faults of the file: path, line, defect and remedy of each. It is a UsageError, too.
    UsageError
        If there is no such file, if it is too long, or if it has no parameter of a given name.

    Notes
    -----
    Nothing of the file is executed. A file that a System was saved to gives the same equations, bit by bit.
    """
    check_tolerance(tolerance)
    check_flags(allow_code=allow_code)
    path = path_of(path)
    parsers: dict[str, tuple[Callable[[str], Any], Callable[[str], dict[Path, int]], int]] = {
        JSON: (texts.parse_json, texts.json_lines, texts.MAX_BYTES),
        TOML: (texts.parse_toml, texts.toml_lines, texts.MAX_BYTES_BY_HAND),
    }
    if path.suffix not in parsers:
        return _of_other_program(path, parameters, tolerance, allow_code)
    parse, lines_of, most = parsers[path.suffix]
    data = texts.read_bounded(path, most)
    try:
        text = texts.decode(data)
        document = parse(text)
    except UsageError as error:
        raise ModelFileError(str(path), [Fault("the whole file", str(error).rstrip("."), "")]) from None
    given = {} if parameters is None else read_parameters(parameters)
    if given:
        _put_parameters(document, given, str(path))
    reading = Reading(allow_code=allow_code)
    system = build(document, reading)
    if system is None:
        raise ModelFileError(str(path), located_faults(reading, lines_of(text), str(path)))
    system.tolerance = system.tolerance if tolerance is None else tolerance
    return system


def _of_other_program(path: FilePath, parameters: Mapping[str, float] | None, tolerance: float | None, allow_code: bool) -> System:
    """Return the system of a file of another program, by the reader of its ending, with that reader's defaults."""
    other = reader_of(path)
    if other is None:
        raise UsageError(f"path is {str(path)!r:.300}: files that are read end with {', '.join(read_suffixes())}.")
    if parameters:
        raise UsageError(f"parameters are those of model files; {str(path)!r:.300} has none. Read it with {other.public}.")
    options: dict[str, Any] = {"allow_code": True} if allow_code and "allow_code" in other.options else {}
    system: System = named(other.reader)(path, tolerance=tolerance, **options)
    return system


def _put_parameters(document: Any, given: Mapping[str, float], path: str) -> None:
    """Put numbers in place of parameters of a document. Raise UsageError for a name that it does not have."""
    known = document.get(PARAMETERS) if isinstance(document, dict) else None
    for name, x in given.items():
        if not isinstance(known, dict) or name not in known:
            names = known if isinstance(known, dict) else {}
            have = ", ".join(map(repr, names)) or "none"
            raise UsageError(f"parameters: {path} has no parameter {name!r}{did_you_mean(name, names)}; it has {have}.")
        known[name] = x


def save_model(system: System, path: str | FilePath) -> FilePath:
    """Write a system to a .json file; return the path. See `System.save`."""
    path = path_of(path)
    if path.suffix != JSON:
        raise UsageError(f"path is {str(path)!r}: a system is saved as .json (a .toml is written by hand).")
    bind_expressions(system.name, system.parameters, _equations(system.joints), (*system.loads, *system.blocks))
    document = _checked(system, str(path), system.parameters)
    with replace_file(path) as file:
        file.write(canonical(document).encode())
    return path


def at_state(system: System, state: State) -> System:
    """Return the same system with its bodies at the poses and velocities of a state, such as that of an assembly.

    Joints and force elements are kept in the frames of their bodies; springs, limits and functions of joint coordinates, which are counted
    from the modelled pose, are shifted. Raise ModelFileError for parts that a file cannot hold, or that cannot be shifted.
    """
    bind_expressions(system.name, system.parameters, _equations(system.joints), (*system.loads, *system.blocks))
    document = _checked(system, f"system {system.name!r}", system.parameters, drawn=False)
    numbers = {body.name: k for k, body in enumerate(system.bodies)}
    for body in document["bodies"]:
        k = numbers[body["name"]]
        body |= {
            "r": state.r[k].tolist(),
            "p": state.p[k].tolist(),
            "v": state.v[k].tolist(),
            "omega_bar": state.omega_bar[k].tolist(),
        }
    parts = (state.r, state.p, state.v, state.omega_bar)
    states = {body: np.concatenate([x[k] for x in parts]) for k, body in enumerate(system.bodies)}
    faults = move(document, system, states)
    if faults:
        raise ModelFileError(f"system {system.name!r}", faults, "cannot be modelled at another pose")
    moved = system_of_document(document, f"system {system.name!r}", allow_code=True)
    for body, before in zip(moved.bodies, system.bodies, strict=True):
        body.__setstate__(body.__getstate__() | {"shape": before.shape, "solid": before.solid})
    return moved


def model_document(model: Model) -> Document:
    """Return the document of a compiled model, for results. Raise ModelFileError if a file cannot hold it."""
    joints, loads = [entry.part for entry in model.joints.values()], list(model.force_elements)
    contacts, off = list(model.contacts), frozenset[str]()
    if model.parts is not None:
        joints, loads, contacts = list(model.parts.joints), list(model.parts.loads), list(model.parts.contacts)
        off = model.parts.structure.off
    parameters: dict[str, float] = {}
    network = model.network
    for expression in expressions_of(_equations(joints), (*loads, *(() if network is None else network.blocks))):
        for name, x in expression.parameters.items():
            parameters.setdefault(name, x)
    blocks, sensors = ((), ()) if network is None else (network.blocks, network.scope.sensors.values())
    head = Head(model.name, model.gravity, parameters, model.redundancy.given, model.planar)
    document, faults = document_of(head, Parts(model.bodies, joints, loads, contacts, blocks, sensors, off))
    if faults:
        raise ModelFileError(f"model {model.name!r}", faults)
    return document


def system_of_document(document: Any, where: str, *, allow_code: bool = False) -> System:
    """Return the system of a document; `where` is the file that it comes from. Raise ModelFileError with its faults."""
    reading = Reading(allow_code=allow_code)
    try:
        system = build(texts.bounded(document), reading)
    except UsageError as error:
        raise ModelFileError(where, [Fault(where, str(error), "")]) from None
    if system is None:
        raise ModelFileError(where, located_faults(reading, {}, where))
    return system


def _equations(joints: Iterable[Joint]) -> list[tuple[Primitive, ...]]:
    """Return the equations of each joint; none of one that is not valid."""
    return [read_primitives(joint)[0] for joint in joints]


def _checked(system: System, where: str, parameters: Any, *, drawn: bool = True) -> Document:
    """Return the document of a system, with its shapes if `drawn`. Raise ModelFileError with all parts that a file cannot hold."""
    faults = membership_faults(system.bodies, system.joints, system.loads, system.contacts)
    gravity = system.gravity
    try:
        good = np.asarray(gravity, dtype=np.float64).shape == (3,) and bool(
            np.isfinite(np.asarray(gravity, dtype=np.float64)).all()
        )
    except (TypeError, ValueError):
        good = False
    if not good:
        faults.append(Fault(f"system {system.name!r}", f"gravity is {gravity!r:.60}", "Give three finite numbers [m/s2]."))
        gravity = (0.0, 0.0, 0.0)
    off = [part.name for part in system.inactive]
    parts = Parts(system.bodies, system.joints, system.loads, system.contacts, system.blocks, system.sensors, off)
    head = Head(str(system.name), gravity, parameters, system.tolerance, system.planar)
    document, unwritable = document_of(head, parts, drawn=drawn)
    if faults or unwritable:
        raise ModelFileError(where, [*faults, *unwritable], "cannot be written")
    return document


def written_document(system: System, parameters: Mapping[str, float]) -> Document:
    """Return the document of a system for one with these parameters. Raise ModelFileError with all parts that a file cannot hold."""
    bind_expressions(system.name, system.parameters, _equations(system.joints), (*system.loads, *system.blocks))
    return _checked(system, f"system {system.name!r}", parameters)


def located_faults(reading: Reading, lines: dict[Path, int], where: str) -> list[Fault]:
    """Return the faults of a reading, in the order of the file."""
    ordered = sorted(
        ((texts.line_of(lines, p.path) if lines else 0, k, p) for k, p in enumerate(reading.problems)), key=lambda x: x[:2]
    )
    faults = []
    for line, _, problem in ordered:
        at = f"line {line}, {written(problem.path)}" if lines else written(problem.path)
        faults.append(Fault(at, problem.what, problem.remedy))
    if len(faults) >= MOST_PROBLEMS:
        faults.append(Fault(where, f"it has {MOST_PROBLEMS} faults or more", "Only the first ones are listed."))
    return faults
