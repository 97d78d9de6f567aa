r"""Copies of a system within another one: prefixed names, another place, and the mirror image.

    x -> r_0 + R_0 M x              M the reflection in a coordinate plane (or 1),  R_0 and r_0 the place of the copy

    bodies     r -> r_0 + R_0 M r      A -> R_0 M A M      J_bar -> M J_bar M      v -> R_0 M v      omega_bar -> -M omega_bar  (mirrored)
    points and directions of bodies      s_bar -> M s_bar
    frames     A_bar -> M A_bar D      D = -1 where the joint turns: angles keep their numbers, and displacements change their sign
                                       D = diag(1, -1, 1) where it only slides: displacements keep theirs
    parts of the ground and global geometry          as x

A mirrored part has its image in every number: a thread and a helix change their hand, which is told. What has no image, such as a law of
the user in global components, is refused by name. The copy goes through the document of a model file, so that whatever a file can hold can
be copied; functions of the user pass through it as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.validation import numbers
from haugmbd.choices import is_one_of
from haugmbd.compiled.array_types import Array
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.forces.cone_limit import ConeLimit
from haugmbd.forces.twist_limit import TwistLimit
from haugmbd.forces.user_function import arguments_needed
from haugmbd.math.euler_parameters import from_rotation_matrix, rotation_matrix
from haugmbd.modelfile.build import build
from haugmbd.modelfile.files import located_faults, written_document
from haugmbd.modelfile.parts.functions import kept_functions
from haugmbd.modelfile.reading import Reading
from haugmbd.system.system import System

PLANES = {"xy": (1.0, 1.0, -1.0), "xz": (1.0, -1.0, 1.0), "yz": (-1.0, 1.0, 1.0)}
"""Diagonals of the reflections."""
GROUND = "ground"

GLOBAL_POINTS = ("point", "point_i", "point_j", "center", "plane_point", "contact_point", "sphere_center")
GLOBAL_DIRECTIONS = ("axis", "direction", "normal", "plane_normal", "side", "flow", "gravity", "c")
BODY_VECTORS = ("a_bar", "b_bar", "c_bar", "s_bar", "e_bar", "n_bar")
"""Keys of geometry: of the whole, and, with the ending of a body, fixed on it."""
NAMES = ("i", "j", "body", "plane_body", "surface_body", "joint", "joint_a", "joint_b", "rotation_joint", "translation_joint")
"""Keys whose text is the name of a part."""
WITHOUT_IMAGE = ("StateForce",)
"""Loads in global components of which only their function knows the meaning."""


LIMITS = (ConeLimit, TwistLimit)
"""Loads of the library that are written by their arguments, with directions of the whole among them."""


class Placement(NamedTuple):
    """Where a copy stands: r_0 (3,), R_0 (3, 3), and the diagonal of M (3,)."""

    r: Array
    R: Array
    M: Array

    @property
    def mirrored(self) -> bool:
        """Return whether the copy is a mirror image."""
        return bool(self.M.prod() < 0.0)

    @property
    def stays(self) -> bool:
        """Return whether the copy stands where the original does."""
        return not self.mirrored and not self.r.any() and np.array_equal(self.R, np.eye(3))

    def point(self, x: Any) -> list[float]:
        """Return the place of a global point."""
        moved: list[float] = (self.r + self.R @ (self.M * np.asarray(x, dtype=np.float64))).tolist()
        return moved

    def direction(self, a: Any) -> list[float]:
        """Return the image of a global direction."""
        turned: list[float] = (self.R @ (self.M * np.asarray(a, dtype=np.float64))).tolist()
        return turned

    def on_ground(self) -> tuple[Array, Array]:
        """Return r_0 and R_0 M of what is fixed on the ground."""
        return self.r, self.R * self.M


def copy_into(system: System, other: System, prefix: str, at: Any, mirror: Any) -> tuple[System, tuple[str, ...]]:
    """Return a system with copies of the parts of `other`, on the ground of `system`, and notes on what a mirror image has changed.

    Raise UsageError for arguments that are none, ModelFileError with the parts that cannot be copied, by name.
    """
    place = _placement(at, mirror)
    if other.blocks or other.sensors:
        names = ", ".join(repr(part.name) for part in (*other.blocks, *other.sensors))
        raise UsageError(
            f"system {other.name!r} cannot be added: copies of blocks and sensors are not made ({names}). Add them to the whole."
        )
    g = np.asarray(other.gravity, dtype=np.float64)
    if g.any() and not np.array_equal(g, np.asarray(system.gravity, dtype=np.float64)):
        what = f"its gravity is {g.tolist()}, that of {system.name!r} {np.asarray(system.gravity, dtype=np.float64).tolist()}"
        raise UsageError(f"system {other.name!r} cannot be added: {what}. Give both the same, or the part none.")
    with kept_functions():
        document = written_document(other, system.parameters)
        copy = _Copy(prefix, place, document)
        moved = copy.document(document) | {"parameters": dict(system.parameters)}
        if copy.faults:
            raise ModelFileError(f"system {other.name!r}", copy.faults, "cannot be added there")
        reading = Reading(allow_code=True)
        made = build(moved, reading, system.ground)
    if made is None:
        raise ModelFileError(f"system {other.name!r}", located_faults(reading, {}, other.name), "cannot be added")
    return made, tuple(copy.notes)


def _placement(at: Any, mirror: Any) -> Placement:
    """Return the placement of arguments. Raise UsageError if they are none."""
    if mirror is not None and not is_one_of(mirror, PLANES):
        raise UsageError(f"mirror = {mirror!r}: give a plane of the copied system, {', '.join(map(repr, PLANES))}, or None.")
    M = np.array(PLANES[mirror] if mirror is not None else (1.0, 1.0, 1.0))
    if at is None:
        return Placement(np.zeros(3), np.eye(3), M)
    r, p = (at, None) if numbers(at) is not None and np.shape(at) == (3,) else at if len(at) == 2 else (None, None)  # noqa: PLR2004
    x, turn = numbers(r), np.eye(3) if p is None else numbers(p)
    if turn is not None and turn.shape == (4,) and abs(float(np.linalg.norm(turn)) - 1.0) < 1e-4:  # noqa: PLR2004  typed digits
        turn = rotation_matrix(turn / np.linalg.norm(turn))
    right = x is not None and x.shape == (3,) and np.isfinite(x).all() and turn is not None and turn.shape == (3, 3)
    if not right or x is None or turn is None or not np.abs(turn.T @ turn - np.eye(3)).max() < 1e-9 or np.linalg.det(turn) < 0.0:  # noqa: PLR2004
        raise UsageError(f"at = {at!r:.200}: give (r, p), a place [m] and Euler parameters or a rotation matrix, or r alone.")
    return Placement(x, turn, M)


class _Copy:
    """Moves the document of a system: names, places and images of its parts."""

    def __init__(self, prefix: str, place: Placement, document: Mapping[str, Any]) -> None:
        self.prefix, self.place = prefix, place
        self.faults: list[Fault] = []
        self.notes: list[str] = []
        self.turns = {joint["name"]: joint_turns(joint) for joint in document["joints"]}
        self.where = ""

    def fault(self, what: str, remedy: str) -> None:
        """Append the fault of the part that is copied."""
        self.faults.append(Fault(self.where, what, remedy))

    def document(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return the document of the copy."""
        moved = {key: x for key, x in given.items() if key in ("format", "name")}
        moved["gravity"] = [0.0, 0.0, 0.0]
        if "off" in given:
            moved["off"] = [self.name(name) for name in given["off"]]
        for section, word in (("bodies", "body"), ("joints", "joint"), ("loads", "load"), ("contacts", "contact")):
            moved[section] = []
            for part in given.get(section, []):
                self.where = f"{word} {part['name']!r}"
                moved[section].append(self.body(part) if section == "bodies" else self.part(part, section))
        return moved

    def name(self, name: str) -> str:
        """Return the name of a part of the copy."""
        return name if name == GROUND else f"{self.prefix}{name}"

    def body(self, given: dict[str, Any]) -> dict[str, Any]:
        """Return a body."""
        M, place = self.place.M, self.place
        A = rotation_matrix(np.array(given["p"]))
        in_time = any(isinstance(x, str | dict) for x in given["J_bar"])  # of principal moments, which are those of the image
        J = np.zeros(3) if in_time else np.array(given["J_bar"])
        moved = given | {"name": self.name(given["name"]), "r": place.point(given["r"])}
        moved["p"] = given["p"] if place.stays else from_rotation_matrix(place.R @ (M[:, None] * A * M)).tolist()
        moved["J_bar"] = given["J_bar"] if in_time else (J if J.ndim == 1 else M[:, None] * J * M).tolist()
        if "exhaust" in given:
            moved["exhaust"] = (M * np.array(given["exhaust"])).tolist()
        if "v" in given:
            moved["v"] = place.direction(given["v"])
        if "omega_bar" in given and place.mirrored:
            moved["omega_bar"] = (-M * np.array(given["omega_bar"])).tolist()
        for key in ("shape", "solid"):
            if key in given and place.mirrored:
                moved[key] = [self.shape(shape, np.zeros(3), np.diag(M)) for shape in given[key]]
        return moved

    def part(self, given: dict[str, Any], section: str) -> dict[str, Any]:
        """Return a joint, load or contact."""
        kind = str(given.get("type", ""))
        cls = kept_functions.get(kind) if ":" in kind else None
        if cls is not None and (cls in LIMITS or self.place.stays):
            return self.by_signature(cls, given)
        if (cls is not None or kind in WITHOUT_IMAGE) and not self.place.stays:
            what = f"it is a {kind if cls is None else cls.__name__}, a law of your own in components that only its function knows"
            self.fault(what, "Add the copy without at= and mirror=, and this load to the whole; or use elements of the library.")
            return given
        if kind == "PoseDriver" and not self.place.stays:
            self.fault("its functions are of the global frame", "Add it to the whole, for the copy of the body.")
            return given
        flips = _signs(section, given)
        moved: dict[str, Any] = {}
        for key, value in given.items():
            moved[key] = self.value(key, value, given, flips)
        if self.place.mirrored:
            self.image(kind, given, moved)
        return moved

    def by_signature(self, cls: type, given: dict[str, Any]) -> dict[str, Any]:
        """Return a part that is written by the arguments of its class: one of the user's own, or a limit of swing or twist.

        The image of a twist about an axis is a twist about the image of the axis, by the negative angle.
        """
        moved = {key: self.renamed(value) for key, value in given.get("arguments", {}).items()}
        if cls in LIMITS:
            moved |= {key: {"array": self.place.direction(moved[key]["array"])} for key in ("axis", "center") if key in moved}
        if cls is TwistLimit and self.place.mirrored:
            moved |= {"lower": -moved["upper"], "upper": -moved["lower"]}
        return given | {"name": self.name(given["name"]), "arguments": moved}

    def renamed(self, value: Any) -> Any:
        """Return an argument with the new names of the parts in it."""
        if isinstance(value, list):
            return [self.renamed(each) for each in value]
        if isinstance(value, dict) and len(value) == 1 and not value.keys().isdisjoint(("body", "joint")):
            return {key: self.name(name) for key, name in value.items()}
        return value

    def value(self, key: str, value: Any, part: Mapping[str, Any], flips: Array) -> Any:  # noqa: C901  a table of keys
        """Return one value of a part."""
        place = self.place
        if key in ("name", *NAMES) and isinstance(value, str):
            return self.name(value)
        if key == "bodies":
            return [self.name(name) for name in value]
        if key in ("joint", "joint_a", "joint_b", "rotation_joint", "translation_joint") and isinstance(value, dict):
            return value | {"joint": self.name(value["joint"])}
        if key == "joints":
            return [self.value("joint", each, part, flips) for each in value]
        if key == "terms":
            return [each | {"coordinate": self.value("joint", each["coordinate"], part, flips)} for each in value]
        if key == "path":
            return [{k: self.value(k, x, part, flips) for k, x in each.items()} for each in value]
        if key == "curve":
            return [place.point(x) for x in value]
        if key in ("frame_i", "frame_j"):
            r, T = self.fixed_on(part[key[-1]])
            D = flips if place.mirrored else np.ones(3)
            return {"s_bar": (r + T @ np.array(value["s_bar"])).tolist(), "A_bar": (T @ np.array(value["A_bar"]) * D).tolist()}
        if key == "vectors":
            return {k: self.vector(k, x, part, flips) for k, x in value.items()}
        if key.startswith(BODY_VECTORS):
            return self.vector(key, value, part, np.ones(3))
        if key in ("shape_i", "shape_j"):
            return self.shape(value, *self.fixed_on(part[key[-1]]))
        if key == "shape":
            return self.shape(value, *self.fixed_on(part["body"]))
        if key in ("force", "torque") and str(part.get("type")) in ("PointForce", "Torque"):
            return self.components(key, value, part)
        if key == "equations":
            return [{k: self.value(k, x, part | row, flips) for k, x in row.items()} for row in value]
        if key in GLOBAL_POINTS and _is_vector(value):
            return place.point(value)
        if key in GLOBAL_DIRECTIONS and _is_vector(value):
            return place.direction(value)
        if key == "surface" and not place.stays and value is not None:
            self.fault("its surface is a height of the global frame", "Add this load to the whole.")
        return value

    def fixed_on(self, body: str) -> tuple[Array, Array]:
        """Return translation and map of geometry that is fixed on a body, in its frame."""
        return self.place.on_ground() if body == GROUND else (np.zeros(3), np.diag(self.place.M))

    def vector(self, key: str, value: Any, part: Mapping[str, Any], flips: Array) -> Any:
        """Return a point or direction of a body;  flips: signs of the axes f, g, h of its joint."""
        body = part[key[-1]] if key[-2:] in ("_i", "_j") else part["body"]
        r, T = self.fixed_on(body)
        if key.startswith("s_bar"):
            return (r + T @ np.array(value)).tolist()
        of_axis = {"a_bar_i": 0, "b_bar_i": 1, "a_bar_j": 1, "c_bar_j": 2}
        sign = flips[of_axis[key]] if self.place.mirrored and key in of_axis else 1.0
        return (sign * (T @ np.array(value))).tolist()

    def shape(self, shape: Any, r: Array, T: Array) -> Any:
        """Return a shape that is fixed where x -> r + T x goes."""
        if not isinstance(shape, dict):
            return shape
        if shape["type"] == "Plane":
            return shape | {
                "point": (r + T @ np.array(shape["point"])).tolist(),
                "normal": (T @ np.array(shape["normal"])).tolist(),
            }
        mirrored = np.linalg.det(T) < 0.0
        D = np.array([-1.0, 1.0, 1.0]) if mirrored else np.ones(3)  # solids are their own images in their plane y z
        moved = shape | {"center": (r + T @ np.array(shape["center"])).tolist()}
        moved["p"] = from_rotation_matrix(T @ rotation_matrix(np.array(shape["p"])) * D).tolist()
        if mirrored and shape["type"] == "Mesh":
            moved["vertices"] = (np.array(shape["vertices"]) * D).tolist()
            moved["triangles"] = [corners[::-1] for corners in shape["triangles"]]
        return moved

    def components(self, key: str, value: Any, part: Mapping[str, Any]) -> Any:
        """Return the components of a force or torque."""
        in_body, M = part.get("frame") == "body", self.place.M
        sign = -1.0 if key == "torque" and self.place.mirrored else 1.0
        T = sign * (np.diag(M) if in_body else self.place.R * M)
        if np.array_equal(T, np.eye(3)):
            return value
        if isinstance(value, list) and all(isinstance(x, int | float) for x in value):
            return (T @ np.array(value)).tolist()
        if isinstance(value, dict) and "function" in value:
            return kept_functions.changed(value, lambda function: self.turned(function, T))
        self.fault(
            f"its {key} is given by functions of its components", "Give numbers, or one function f(t) of all three components."
        )
        return value

    def turned(self, function: Callable[..., Any], T: Array) -> Callable[..., Any]:
        """Return T f(t); a fault of a function of states, whose arguments would have to be turned, too."""
        if arguments_needed(function) != 1:
            self.fault("its function reads the state, in global components", "Add this load to the whole.")

        @wraps(function)
        def value(t: float) -> Array:
            return T @ np.asarray(function(t), dtype=np.float64)

        return value

    def image(self, kind: str, given: Mapping[str, Any], moved: dict[str, Any]) -> None:
        """Change the numbers of a mirrored part that has a hand, or reads displacements that have changed their sign."""
        if kind == "Screw":
            moved["pitch"] = -given["pitch"]
            self.notes.append(
                f"{self.where} has a hand: its mirror image is a thread of the other hand, pitch {moved['pitch']:g} m"
            )
        if given.get("helix_angle"):
            moved["helix_angle"] = -given["helix_angle"]
            self.notes.append(f"{self.where} has a hand: its mirror image has the helix angle {moved['helix_angle']:g} rad")
        if kind in ("Coupling", "Freewheel"):
            moved["terms"] = [
                each | {"coefficient": each["coefficient"] * self.sense(old["coordinate"])}
                for each, old in zip(moved["terms"], given["terms"], strict=True)
            ]
        elif kind == "RackPinion":
            moved["radius"] = given["radius"] * self.sense(given["translation_joint"])
        elif kind == "JointLimit" and self.sense(given["joint"]) < 0.0:
            moved.pop("lower", None)
            moved.pop("upper", None)
            moved |= {new: -given[old] for new, old in (("lower", "upper"), ("upper", "lower")) if old in given}
        elif kind == "Bushing":
            S = np.array([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0])
            for key in ("K", "C"):
                x = np.array(given.get(key, np.zeros(6)))
                moved[key] = (x if x.ndim == 1 else S[:, None] * x * S).tolist()
            if "preload" in given:
                moved["preload"] = (S * np.array(given["preload"])).tolist()
        elif kind not in ("Screw", "Gear", "Belt"):
            self.refuse_flipped(kind, given)

    def refuse_flipped(self, kind: str, given: Mapping[str, Any]) -> None:
        """Append a fault of a part that reads a displacement which has changed its sign."""
        read = [given[key] for key in ("joint", "joint_a", "joint_b") if key in given] + list(given.get("joints", []))
        slides = [each for each in read if self.sense(each, kind == "TranslationDriver") < 0.0]
        if slides:
            what = f"it reads the displacement of {slides[0]!r}, which turns, too: its sign changes in the mirror image"
            self.fault(what, "Use a TJ beside an RJ, or add this part to the whole.")

    def sense(self, coordinate: Any, slides: bool = False) -> float:
        """Return -1 for the displacement of a joint that turns, too, else 1."""
        if isinstance(coordinate, dict):
            return -1.0 if coordinate["coordinate"] == "displacement" and self.turns.get(coordinate["joint"], False) else 1.0
        return -1.0 if slides and self.turns.get(coordinate, False) else 1.0


SLIDES = ("TJ", "Translational", "PointInPlane")
"""Joints without a rotation about an axis that their own frames say, whose displacements keep their numbers in a mirror image."""


def joint_turns(joint: Mapping[str, Any]) -> bool:
    """Return whether a joint of a document allows rotations."""
    if joint.get("type") == "Equations":
        return any(not str(freedom).startswith("slide") for freedom in joint.get("freedoms", ["turn"]))
    return joint.get("type") not in SLIDES[:2]


def _signs(section: str, part: Mapping[str, Any]) -> Array:
    """Return the diagonal of D of a part: -1 where it turns, diag(1, -1, 1) where h is a direction that keeps its sense."""
    turns = section == "loads" or (section == "joints" and joint_turns(part))
    return np.array([-1.0, -1.0, -1.0]) if turns else np.array([1.0, -1.0, 1.0])


def _is_vector(value: Any) -> bool:
    """Return whether a value is three numbers."""
    return isinstance(value, list) and len(value) == 3 and all(isinstance(x, int | float) for x in value)  # noqa: PLR2004
