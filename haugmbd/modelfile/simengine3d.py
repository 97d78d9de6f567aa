"""Models of simEngine3D, the program that students of the course ME751 write: bodies, and constraint equations of the kinds of Haug.

    DP1, DP2, CD      as here:    a_i . a_j - f,  a_i . d_ij - f,  c . d_ij - f
    D                 d_ij . d_ij - f(t):    f is the SQUARE of the distance, which is sqrt(f) here
    p                 often typed as whole numbers: it is divided by |p|, and p_dot with it
    A, omega          a rotation matrix in place of p, and the angular velocity in the body frame

The engines have their own names for the keys; NAMES has those in use. Masses are usually not in the file.
Source: D. Negrut, ME751 Advanced Computational Multibody Dynamics, University of Wisconsin-Madison: the basic constraints.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import UNIT_P_TOL, Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.inertia import MassProperties
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.joint import Single
from haugmbd.constraints.registry import KINDS
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.drivers.expression import Expression
from haugmbd.drivers.expression_grammar import evaluate_number, parse, variables
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.math import euler_parameters
from haugmbd.modelfile.files import located_faults
from haugmbd.modelfile.imports import OPEN, ROUNDED, ImportReport, LoopClosure, close_joints, heavy, nearest_rotation, substitute
from haugmbd.modelfile.reading import BAD, Path, Reading, shown
from haugmbd.modelfile.text import MAX_BYTES, decode, json_lines, parse_json, read_bounded
from haugmbd.modelfile.values import Array as ArrayKind
from haugmbd.modelfile.values import Number, finite
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

GRAVITY = (0.0, 0.0, -9.81)
"""[m/s2] That of the course; the files have none."""
GROUND = "ground"
LARGEST = 1e60
"""Numbers are below it: products of three of them are finite."""

NAMES: dict[str, tuple[str, ...]] = {
    "r_dot": ("r_dot", "dr", "rdot"),
    "p_dot": ("p_dot", "dp", "pdot"),
    "omega": ("omega", "omega_bar"),
    "mass": ("mass", "m"),
    "J_bar": ("J_bar", "J", "jbar", "inertia"),
    "a_bar_i": ("a_bar_i", "ai", "a_i"),
    "a_bar_j": ("a_bar_j", "aj", "a_j"),
    "s_bar_i": ("s_bar_p_i", "si", "s_bar_i"),
    "s_bar_j": ("s_bar_q_j", "sj", "s_bar_j"),
    "f_dot": ("f_dot", "df"),
    "f_ddot": ("f_ddot", "ddf"),
}
"""Names of keys in the engines, by their meaning."""
MEANING = {name: key for key, names in NAMES.items() for name in names}
VECTOR, POINT = ArrayKind(((3,),)), ArrayKind(((3,),), "m")
BODY_KEYS: dict[str, Any] = {
    "r": POINT,
    "p": ArrayKind(((4,),)),
    "A": ArrayKind(((3, 3),)),
    "r_dot": ArrayKind(((3,),), "m/s"),
    "p_dot": ArrayKind(((4,),), "1/s"),
    "omega": ArrayKind(((3,),), "rad/s"),
    "mass": Number("kg"),
    "J_bar": ArrayKind(((3,), (3, 3)), "kg m2"),
}
EQUATIONS = {kind.__name__: kind for kind in KINDS if kind.__name__ in ("DP1", "DP2", "D", "CD")}
VECTORS = {
    "DP1": ("a_bar_i", "a_bar_j"),
    "DP2": ("a_bar_i", "s_bar_i", "s_bar_j"),
    "D": ("s_bar_i", "s_bar_j"),
    "CD": ("c", "s_bar_i", "s_bar_j"),
}
"""The vectors of each kind of equation."""


class Remarks(NamedTuple):
    """The remarks of the report."""

    substituted: list[str]
    ignored: list[str]
    warnings: list[str]


@check_keywords
def read_simengine3d(
    path: str | FilePath,
    *,
    inertia: Mapping[str, Any] | None = None,
    gravity: Any = GRAVITY,
    close: bool = True,
    tolerance: float | None = None,
) -> System:
    """Return the System of a model of simEngine3D, the JSON of the course ME751 (.mdl or .json).

    Parameters
    ----------
    path : str or Path
        The file.
    inertia : mapping of str to (mass, J_bar), optional
        Mass [kg] and inertia about the centre of mass [kg m2] of bodies by name, which most files do not have.
    gravity : array_like, (3,)
        Gravity, global frame [m/s2]; by default (0, 0, -9.81).
    close : bool
        Whether joints that are open at the modelled pose are closed by `assemble`.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], here and in all that is done with it:
        see `System`.

    Returns
    -------
    System
        The mechanism, with `system.import_report`: what was read, substituted and ignored, and how far equations were open.

    Raises
    ------
    ModelFileError
        With all faults of the file: line, place, defect and remedy of each.
    AssemblyError
        If the mechanism cannot be closed; close=False returns it open.
    UsageError
        If there is no such file, or if inertia names no body.

    Notes
    -----
    Euler parameters that are not normalized are divided by their length. f is differentiated exactly; where the derivatives in the file
    disagree, the report warns. Nothing of the file is executed.
    Source: D. Negrut, ME751 Advanced Computational Multibody Dynamics, University of Wisconsin-Madison.
    """
    check_tolerance(tolerance)
    path = path_of(path)
    data = read_bounded(path, MAX_BYTES)
    try:
        text = decode(data)
        document = parse_json(text)
    except UsageError as error:
        raise ModelFileError(str(path), [Fault("the whole file", str(error).rstrip("."), "")]) from None
    reader = _Reader(inertia or {})
    system = reader.system(document, gravity)
    if system is None:
        raise ModelFileError(str(path), located_faults(reader.reading, json_lines(text), str(path)))
    system.tolerance = tolerance
    unused = [name for name in reader.inertia if name not in reader.bodies]
    if unused:
        raise UsageError(f"inertia: no body is called {unused[0]!r}{did_you_mean(str(unused[0]), reader.bodies)}.")
    return _reported(system, reader.remarks, str(path), close)


def is_simengine3d(path: FilePath) -> bool:
    """Return whether a JSON file looks like a model of simEngine3D: it has constraints, and no format of ours."""
    try:
        document = parse_json(decode(read_bounded(path, MAX_BYTES)))
    except UsageError:
        return False
    return isinstance(document, dict) and "constraints" in document and "format" not in document


def _reported(system: System, remarks: Remarks, source: str, close: bool) -> System:
    """Return the system, closed, with its report."""
    names, joints = [body.name for body in system.bodies[1:]], len(system.joints)
    done = close_joints(system, bool(system.joints), close)
    kinds = {joint.name: joint.primitives()[0].kind for joint in system.joints}
    opened = {name: gap for name, gap in done.gaps.items() if max(gap) > OPEN}
    bodies = {body.name: body for body in done.system.bodies}
    done.system.import_report = ImportReport(
        source=source,
        links=len(names),
        joints=joints,
        body_of={name: name for name in names},
        q={},
        frames={name: Frame(bodies[name], np.zeros(3), np.eye(3)) for name in names},
        substituted=tuple(remarks.substituted),
        ignored=tuple(remarks.ignored),
        loops=tuple(LoopClosure(name, kinds[name], "simEngine3D", *gap) for name, gap in opened.items()),
        iterations=done.iterations,
        closed=done.closed,
        degrees_of_freedom=done.degrees_of_freedom,
        warnings=(*remarks.warnings, *heavy("body", done.system.bodies), *done.warnings),
        word="body",
    )
    return done.system


class _Reader:
    """Reads one document: bodies by the names of the file, and equations."""

    def __init__(self, inertia: Mapping[str, Any]) -> None:
        if not isinstance(inertia, Mapping):
            raise UsageError(f"inertia is {inertia!r:.60}, must be (mass, J_bar) by the names of bodies.")
        self.inertia = inertia
        self.reading = Reading()
        self.remarks = Remarks([], [], [])
        self.bodies: dict[str, Body] = {}
        self.numbered: dict[Any, Body | None] = {}

    def fault(self, path: Path, what: str, remedy: str) -> Any:
        """Record a fault."""
        return self.reading.fault(path, what, remedy)

    def system(self, document: Any, gravity: Any) -> System | None:
        """Return the system; None, with the faults, if there are any."""
        if not isinstance(document, dict):
            self.fault((), f"it is {shown(document)}, not a table", 'Give a table with "bodies" and "constraints".')
            return None
        name = document.get("name", "simEngine3D")
        system = System(name if isinstance(name, str) and name.strip() else "simEngine3D", gravity=gravity)
        self.remarks.ignored.extend(f"the key {key!r:.60}" for key in document if key not in ("name", "bodies", "constraints"))
        self.numbered[GROUND] = system.ground
        for k, entry in enumerate(self._entries(document, "bodies")):
            self._body(entry, ("bodies", k), system)
        names: set[str] = set()
        for k, entry in enumerate(self._entries(document, "constraints")):
            self._equation(entry, ("constraints", k), system, names)
        return None if self.reading.problems else system

    def _entries(self, document: dict[str, Any], key: str) -> list[dict[str, Any]]:
        """Return the tables of a list."""
        given = document.get(key)
        if not isinstance(given, list):
            self.fault((key,), f"it is {shown(given)}, not a list", "Give a list of tables.")
            return []
        for k, entry in enumerate(given):
            if not isinstance(entry, dict):
                self.fault((key, k), f"it is {shown(entry)}, not a table", "Give a table: keys with values.")
        return [entry if isinstance(entry, dict) else {} for entry in given]

    def _body(self, entry: dict[str, Any], path: Path, system: System) -> None:
        """Read a body, or the ground."""
        number = entry.get("id")
        name = entry.get("name", f"body {number}")
        if not (isinstance(name, str) and name.strip()) or isinstance(number, bool) or not isinstance(number, int | str):
            if entry:
                self.fault(path, f"its name is {shown(name)} and its id {shown(number)}", "Give a name, and a number as id.")
            return
        if number in self.numbered and number != GROUND:
            self.fault((*path, "id"), f"the id {number!r:.60} is that of another body, too", "Give each body its own id.")
            return
        if name.lower() == GROUND:
            self.numbered[number] = system.ground
            return
        self.numbered[number] = None
        if name in self.bodies:
            self.fault((*path, "name"), f"the name {name!r:.60} is that of another body, too", "Give each body its own name.")
            return
        values = self._values(entry, path, f"body {name!r}")
        if values is None:
            return
        pose = self._pose(values, path, name)
        if pose is None:
            return
        mass, J_bar = self._inertia(name, values, path)
        made = Body(name, mass, J_bar, r=values["r"], p=pose[0], v=values.get("r_dot", (0.0, 0.0, 0.0)), omega_bar=pose[1])
        for fault in made.faults():
            self.fault(path, f"{fault.where}: {fault.what}", fault.remedy)
        self.bodies[name] = made
        self.numbered[number] = system.add(made)

    def _values(self, entry: dict[str, Any], path: Path, where: str) -> dict[str, Any] | None:
        """Return the values of a body by their meaning; None if one is bad. Others are listed as ignored."""
        values: dict[str, Any] = {}
        for key, given in entry.items():
            meaning = MEANING.get(key, key)
            if meaning in BODY_KEYS:
                values[meaning] = self._bounded(BODY_KEYS[meaning].read(given, (*path, key), self.reading), (*path, key))
            elif key not in ("name", "id"):
                self.remarks.ignored.append(f"{where}: the key {key!r:.60}")
        if "r" not in values:
            self.fault(path, f"{where} has no r", 'Give "r", the position of its centre of mass [m]; call the ground "ground".')
            return None
        return None if any(value is BAD for value in values.values()) else values

    def _bounded(self, value: Any, path: Path) -> Any:
        """Return numbers; BAD, with a fault, if they are too large to be squared."""
        if value is not BAD and not np.abs(np.asarray(value, dtype=np.float64)).max() < LARGEST:
            return self.fault(path, f"it is {shown(value)}, with a number of {LARGEST:g} or more", "Give numbers in SI units.")
        return value

    def _pose(self, values: dict[str, Any], path: Path, name: str) -> tuple[Array, Array] | None:
        """Return normalized Euler parameters, and the angular velocity in the body frame; None, with a fault, for no rotation."""
        omega = np.array(values.get("omega", (0.0, 0.0, 0.0)))
        if "A" in values and "p" not in values:
            p = self._from_matrix(np.array(values["A"]), (*path, "A"), name)
            return None if p is None else (p, omega)
        p = np.array(values.get("p", (1.0, 0.0, 0.0, 0.0)))
        length = float(np.linalg.norm(p))
        if not 1e-6 < length < 1e6:
            self.fault((*path, "p"), f"p of body {name!r} has the length {length:.4g}", "Give four Euler parameters, scalar first.")
            return None
        if abs(length - 1.0) > UNIT_P_TOL:
            self.remarks.substituted.append(f"body {name!r}: p had the length {length:.6g}, and was divided by it")
        p = p / length
        if "p_dot" in values and "omega" not in values:
            p_dot = np.array(values["p_dot"]) / length
            along = float(p @ p_dot)
            if abs(along) > UNIT_P_TOL * max(1.0, float(np.linalg.norm(p_dot))):
                self.remarks.substituted.append(
                    f"body {name!r}: the part {along:.4g} of p_dot along p, which changes |p|, was left out"
                )
            omega = euler_parameters.omega_bar_from(p, p_dot)
        return p, omega

    def _from_matrix(self, A: Array, path: Path, name: str) -> Array | None:
        """Return Euler parameters of the rotation nearest to A; None, with a fault, if A is not near a rotation."""
        turn, gap = nearest_rotation(A)
        if turn is None:
            what = f"A of body {name!r} is not a rotation: max |A^T A - I| = {gap:.3g}, or it is a reflection"
            self.fault(path, what, "Give a rotation matrix, its rows as lists.")
            return None
        if gap > ROUNDED:
            self.remarks.substituted.append(f"body {name!r}: A became the nearest rotation (max |A^T A - I| was {gap:.2g})")
        return euler_parameters.from_rotation_matrix(turn)

    def _inertia(self, name: str, values: dict[str, Any], path: Path) -> tuple[Any, Any]:
        """Return mass and inertia: as given by the caller, by the file, or substitutes."""
        if name in self.inertia:
            given = self.inertia[name]
            if isinstance(given, MassProperties):
                return given.mass, given.J_bar
            try:
                mass, J_bar = given
            except (TypeError, ValueError):
                raise UsageError(f"inertia of {name!r} is {given!r:.60}, must be (mass, J_bar).") from None
            return mass, J_bar
        if "mass" in values and "J_bar" in values:
            return values["mass"], values["J_bar"]
        if "mass" in values or "J_bar" in values:
            self.fault(path, f"body {name!r} has only one of mass and J_bar", "Give both, or none.")
        made, note = substitute("body", name, 0.0)
        self.remarks.substituted.append(note)
        return made.mass, made.J_bar

    def _equation(self, entry: dict[str, Any], path: Path, system: System, names: set[str]) -> None:
        """Read a constraint equation."""
        if not entry:
            return
        kind = entry.get("type")
        name = entry.get("name", f"{kind} {path[-1]}")
        if not (isinstance(kind, str) and kind in EQUATIONS):
            hint = did_you_mean(kind, EQUATIONS) if isinstance(kind, str) else ""
            self.fault((*path, "type"), f"the type is {shown(kind)}{hint}", f"Known are {', '.join(EQUATIONS)}.")
            return
        if not (isinstance(name, str) and name.strip()) or name in names:
            self.fault((*path, "name"), f"the name {shown(name)} is empty, or of another equation", "Give each its own name.")
            return
        names.add(name)
        bodies = [self._referred(entry.get(key), (*path, key)) for key in ("body_i", "body_j")]
        vectors = self._vectors(entry, kind, name, path)
        f = prescribed_value(Prescribed(name, kind, path), _function_of(entry), self.reading, self.remarks.warnings)
        if vectors is None or f is BAD or any(body is None for body in bodies):
            return
        given = {"i": bodies[0], "j": bodies[1], "f": f, **vectors}
        made = Single(name, EQUATIONS[kind](**given)) if bodies[0] is not bodies[1] else None
        if made is None:
            self.fault(path, f"{kind} {name!r} is between a body and itself", "Name two bodies.")
            return
        for fault in made.faults():
            self.fault(path, f"{fault.where}: {fault.what}", fault.remedy)
        system.add(made)

    def _referred(self, given: Any, path: Path) -> Body | None:
        """Return the body of an id, or of a name; None, with a fault unless its own are reported, if there is none."""
        if isinstance(given, str) and given.lower() == GROUND:
            return self.numbered[GROUND]
        if isinstance(given, str) and given in self.bodies:
            return self.bodies[given]
        if isinstance(given, int | str) and not isinstance(given, bool) and given in self.numbered:
            return self.numbered[given]
        known = ", ".join(repr(number) for number in list(self.numbered)[:8])
        self.fault(path, f"no body has the id {shown(given)}", f"There are {known}.")
        return None

    def _vectors(self, entry: dict[str, Any], kind: str, name: str, path: Path) -> dict[str, Any] | None:
        """Return the vectors of an equation; None, with faults, if one is missing or bad."""
        found: dict[str, Any] = {}
        for key, given in entry.items():
            meaning = MEANING.get(key, key)
            if meaning in VECTORS[kind]:
                found[meaning] = self._bounded(VECTOR.read(given, (*path, key), self.reading), (*path, key))
            elif meaning not in ("name", "type", "body_i", "body_j", "id", "f", "f_dot", "f_ddot"):
                self.remarks.ignored.append(f"{kind} {name!r}: the key {key!r:.60}")
        missing = [key for key in VECTORS[kind] if key not in found]
        for key in missing:
            names = " or ".join(NAMES.get(key, (key,)))
            self.fault(path, f"{kind} {name!r} has no {key}", f"Give {names}.")
        return None if missing or any(value is BAD for value in found.values()) else found


def _function_of(entry: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return f, f' and f'' as they are in the file; None for one that is not there."""
    values = {MEANING.get(key, key): value for key, value in entry.items()}
    return values.get("f", 0), values.get("f_dot"), values.get("f_ddot")


# The prescribed value f(t) of an equation of simEngine3D: a number, or a formula as Python text, which is parsed and never
# executed.
#
# The engines evaluate three texts, f, f_dot and f_ddot. Here f is differentiated exactly; where the texts disagree, the report warns.

MODULE = re.compile(r"\b(?:np|numpy|math)\.")
SHORT = re.compile(r"\ba(sin|cos|tan|tan2|sinh|cosh|tanh)\b")
"""Names of Python's module math, which NumPy calls arcsin and so on."""
TIMES = (0.0, 0.3, 0.7)
"""Where derivatives are compared [s]."""
AGREE = 1e-6
"""Relative difference of derivatives that typed digits do not make."""
SQUARED = "D"
"""The equation whose f is a square."""


class Prescribed(NamedTuple):
    """The equation: its name, its kind, and its path in the file."""

    name: str
    kind: str
    path: Path


def prescribed_value(equation: Prescribed, given: tuple[Any, Any, Any], reading: Reading, warnings: list[str]) -> Any:
    """Return f as a number or an Expression; BAD, with a fault, if it is neither. `given` are f, f' and f'' of the file."""
    path = (*equation.path, "f")
    try:
        number, text = _parsed(given[0])
    except UsageError as error:
        return reading.fault(path, str(error).rstrip("."), "Give a number, or a formula in t as text.")
    if number is not None:
        return _constant(equation, number, path, reading)
    for order, derivative in enumerate(given[1:], start=1):
        if derivative is not None:
            warnings.extend(_disagreement(equation, text, order, derivative))
    return Expression(f"sqrt({text})" if equation.kind == SQUARED else text)


def _parsed(given: Any) -> tuple[float | None, str]:
    """Return a number, or None and the text of an expression in t. Raise UsageError for anything else."""
    number = finite(given)
    if number is not None:
        return number, ""
    if not isinstance(given, str):
        raise UsageError(f"it is {shown(given)}, not a function of time")
    text = SHORT.sub(r"arc\1", MODULE.sub("", given)).strip()
    names = variables(parse(text))
    if not names:
        return evaluate_number(text, {}), ""
    unknown = [name for name in names if name != "t"]
    if unknown:
        raise UsageError(f"it reads {unknown[0]!r}, which is not t")
    faults = Expression(text).faults()
    if faults:
        raise UsageError(faults[0].what)
    return None, text


def _constant(equation: Prescribed, number: float, path: Path, reading: Reading) -> Any:
    """Return a constant; of D the distance."""
    if equation.kind != SQUARED:
        return number
    if number <= 0.0:
        what = f"f of D {equation.name!r} is {number:g}; it is the square of the distance"
        return reading.fault(path, what, "Give a positive number [m2], or three CD for points that coincide.")
    return float(np.sqrt(number))


def _disagreement(equation: Prescribed, text: str, order: int, derivative: Any) -> list[str]:
    """Return a warning if a derivative of the file is not that of f."""
    name = ("f_dot", "f_ddot")[order - 1]
    where = f"{equation.kind} {equation.name!r}: {name}"
    try:
        number, other = _parsed(derivative)
    except UsageError as error:
        return [f"{where} cannot be read ({str(error).rstrip('.')}); the exact derivative of f is used"]
    f = Expression(text)
    for t in TIMES:
        exact = float(f.values(t)[order])
        typed = number if number is not None else float(Expression(other).values(t)[0])
        if not abs(typed - exact) <= AGREE * (1.0 + abs(exact)):
            return [f"{where} is {typed:.6g} at t = {t:g} s, but the derivative of f is {exact:.6g}, which is used"]
    return []
