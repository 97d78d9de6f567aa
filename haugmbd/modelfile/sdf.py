r"""read_sdf: a model or world of SDFormat as a System, its closed loops included.

    pose        x y z roll pitch yaw of a frame in another one:   T = T(relative_to) T(pose),   R = Rz(yaw) Ry(pitch) Rx(roll)
    defaults    of a model: the world;  of a link, or a frame: its model;  of a joint: its child link;  of an inertia: its link
    joint       between the frames of its parent and its child, any graph: a closed loop is closed as the poses say
    axis        in the frame of the joint, or of expressed_in;  before version 1.5, or with use_parent_model_frame, of the model
    placement   of a model by one of its frames P:   T(model) = T(relative_to) T(pose) T(P in the model)^-1
    merged      an included model's links, frames and joints are those of the model that includes it; what stood relative to its own
                model frame stands relative to a frame _merged__NAME__model__ in its place
    attached    a frame: to the world or its model, or as it says;  a joint: to its child;  a model: to its canonical link, the first

Links that fixed joints connect become one body; those fixed to the world, and static models, are the ground.
Source: the SDFormat specification, versions 1.4 to 1.12, and its semantics of frames.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.inertia import MassProperties, box, capsule, combine, cylinder, ellipsoid, sphere
from haugmbd.bodies.shapes import Shape
from haugmbd.bodies.validation import numbers
from haugmbd.choices import check_flags
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import Fault, HaugmbdError, ModelFileError, UsageError
from haugmbd.forces import JointFriction, JointSpring, PointForce, Viscous
from haugmbd.formulations.accelerations import accelerations
from haugmbd.graph import Groups
from haugmbd.joints import CJ, RJ, SJ, TJ, UJ, Coupling, Fixed, PointOnLine, Screw
from haugmbd.math import euler_parameters
from haugmbd.modelfile.imports import (
    IDENTITY,
    ImportReport,
    Limit,
    Transform,
    add_stops,
    close_joints,
    heavy,
    read_stiffness,
)
from haugmbd.modelfile.text import number, read_bounded
from haugmbd.modelfile.urdf.robot import rotation
from haugmbd.modelfile.urdf.visual import Meshes, Visual, shape_of
from haugmbd.modelfile.xml_reader import Element, parse_xml
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

MAX_BYTES = 16 * 2**20
MAX_LINKS, MAX_INCLUDES, MOST_FAULTS = 20_000, 200, 200
"""Links and included files that are read, and faults that are reported."""
LARGEST = 1e60
"""Numbers are below it: products of three of them are finite."""
GRAVITY = (0.0, 0.0, -9.8)
"""[m/s2] What a world has by default."""
WORLD, MODEL = "world", "__model__"
TURNING, SLIDING = ("revolute", "continuous"), ("prismatic",)
TWO_AXES = ("universal", "revolute2")
JOINT_TYPES = (*TURNING, *SLIDING, *TWO_AXES, "fixed", "ball", "screw")
FOLDED = ("slide and ball", "ball and slide", "slide and hinge")
"""Joints that stand for two, with a link between them that is not there."""
ALIGNED = 1e-9
"""Sine of the angle between axes that are one."""
NO_MASS = 1e-8
"""Part of all mass below which a link is one of those that stand between two joints: read without mass, if joints give its motion."""
NO_LIMIT = 1e15
"""A limit of this size, with which programs write that there is none: 1e16, 1.79769e308, inf."""
WATER = 1000.0
"""[kg/m3] The density of collision shapes that give none, where an inertia is computed from them."""
WITHOUT_BODIES = ("sun", "ground_plane", "ground plane")
"""Models of the simulator's own collection that have no moving part: a light, and a plane that is fixed."""
NOT_MOVED = ("light", "actor")
"""What a file may have in place of a model: it has no bodies that move by forces."""
READ = {
    "sdf": ("world", "model"),
    "world": ("model", "include", "gravity", "frame", "joint"),
    "model": ("link", "joint", "frame", "pose", "static", "model", "include", "self_collide"),
    "link": ("pose", "inertial", "visual", "gravity", "collision"),
    "joint": ("parent", "child", "axis", "axis2", "pose", "thread_pitch", "screw_thread_pitch"),
    "axis": ("xyz", "limit", "dynamics", "use_parent_model_frame", "mimic"),
}
"""Elements inside of others that are read, or that change no motion; others are listed."""
REMEDY = "Remove it, or replace it by a part of the system."


@dataclass
class Place:
    """A named frame: what its pose is relative to, and the pose there; of a model the frame inside that is placed, if not its own."""

    line: int
    relative_to: str
    pose: Transform
    placement: str = ""


@dataclass
class Link:
    """A link: its inertia in its own frame, what is drawn of it, and whether gravity acts on it."""

    line: int
    inertia: MassProperties | None
    visuals: list[Visual]
    weightless: bool
    static: bool


@dataclass
class Read:
    """The contents of a file: frames by their full names, links, joints as elements with their scope; what is ignored, and faults.

    attached: what frames and joints are attached to;  canonical: the link that a model's frame is attached to;  poses: of frames, global
    light: links that are read without mass
    folded: axes of joints that stand for two, see `_fold`;  of_model: joints whose axes are in the frame of their model
    """

    path: FilePath
    root: FilePath
    version: float = 1.7
    frames: dict[str, Place] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)
    joints: list[tuple[str, Element]] = field(default_factory=list)
    ignored: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)
    poses: dict[str, Transform] = field(default_factory=dict)
    gravity: Array = field(default_factory=lambda: np.array(GRAVITY))
    name: str = ""
    attached: dict[str, str] = field(default_factory=dict)
    canonical: dict[str, str] = field(default_factory=dict)
    of_model: set[str] = field(default_factory=set)
    active: list[FilePath] = field(default_factory=list)
    light: frozenset[str] = frozenset()
    folded: dict[str, Array] = field(default_factory=dict)
    includes: int = 0

    def fault(self, line: int, where: str, what: str, remedy: str = REMEDY) -> None:
        """Record a fault."""
        self.faults.append(Fault(f"line {line}, {where}", what, remedy))
        if len(self.faults) >= MOST_FAULTS:
            what = f"it has {MOST_FAULTS} faults or more"
            raise ModelFileError(str(self.path), [*self.faults, Fault("the whole file", what, "Only the first ones are listed.")])


class Axis(NamedTuple):
    """An axis of a joint: its direction, global, and its numbers."""

    direction: Array
    damping: float
    friction: float
    stiffness: float
    reference: float
    limits: tuple[float, float]
    effort: float
    mimic: tuple[str, float] | None


@check_keywords
def read_sdf(
    path: str | FilePath,
    *,
    gravity: Any = None,
    merge_fixed: bool = True,
    tolerance: float | None = None,
    limits: bool = True,
    stop_stiffness: float | None = None,
    folder: str | FilePath | None = None,
) -> System:
    """Return the System of an SDF file: a model, or a world with its models.

    Parameters
    ----------
    path : str or Path
        The file, .sdf or .world.
    gravity : array_like, (3,), optional
        Gravity, global frame [m/s2]; by default that of the world, (0, 0, -9.8) without one.
    merge_fixed : bool
        Whether links that fixed joints connect become one body; otherwise each is a body, with a Fixed joint.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size], here and in all that is done with it:
        see `System`.
    limits : bool
        Whether limits of joints become stops, JointLimit.
    stop_stiffness : float, optional
        Their stiffness [N m/rad or N/m]; by default that of the file, or the effort of the joint moves its stop by 0.01 rad or 0.001 m.
    folder : str or Path, optional
        The folder that included models and meshes are read from, it and those below it; by default that of the file. model://NAME is
        looked for there.

    Returns
    -------
    System
        The mechanism, with `system.import_report`: what was read, substituted and ignored.

    Raises
    ------
    ModelFileError
        With all faults of the file: line, place, defect and remedy of each.
    UsageError
        If there is no such file.

    Notes
    -----
    Revolute and continuous joints become RJ, prismatic TJ, ball SJ, universal UJ, screw a CJ with a Screw, fixed ones are merged. Joints
    need no tree: loops are read as they are. Parts of several models, and of nested ones, have the names model::link. Plugins, sensors
    and collision shapes are not read, and the report lists them. Nothing of a file is executed, and no file outside of `folder` is opened.
    Source: the SDFormat specification.
    """
    check_tolerance(tolerance)
    check_flags(merge_fixed=merge_fixed, limits=limits)
    path = path_of(path)
    root = (path.parent if folder is None else path_of(folder, "folder")).resolve()
    read = Read(path, root)
    top = _document(read, path)
    _read_file(read, top)
    if not read.faults and not read.links:
        read.fault(top.line, f"<{top.tag}>", "it has no link", "Is the file whole?")
    _raise(read)
    if gravity is not None:
        components = numbers(gravity)
        if components is None or components.shape != (3,) or not np.isfinite(components).all():
            raise UsageError(f"gravity = {gravity!r:.60} must be three finite numbers [m/s2].")
        read.gravity = components
    k, meshes = read_stiffness(stop_stiffness), Meshes(path.parent, root)
    _fold(read)
    light = _light(read)
    if light:
        system = _system(replace(read, light=light), merge_fixed, tolerance, limits, k, meshes)
        if _is_moved(system):
            return system
    return _system(read, merge_fixed, tolerance, limits, k, meshes)


def _fold(read: Read) -> None:
    """Put one joint in place of a slide, a link of next to no mass, and a hinge about the slide's axis, or a ball.

    slide and hinge: a CJ;  slide and ball, in any order: a point on a line. Neither joint has a spring, a damper, a limit or a leader.
    """
    light = _light(read)
    if not light:
        return
    ends = [_ends(read, scope, joint) for scope, joint in read.joints]
    for link in light:
        # the link is the child of one joint and the parent of another one, and of no more
        touching = [n for n, pair in enumerate(ends) if link in pair]
        if len(touching) != 2 or ends[touching[0]][1] != link or ends[touching[1]][0] != link:  # noqa: PLR2004  from one to the next
            continue
        # of these one is a slide, the other a hinge or a ball
        pair = [read.joints[n] for n in touching]
        kinds = [joint.attributes.get("type", "") for _, joint in pair]
        if (
            "prismatic" not in kinds
            or not {*kinds} - {"prismatic"} <= {*TURNING, "ball"}
            or len({*kinds}) == 1
            or not _is_plain(pair)
        ):
            continue
        # a hinge turns about the axis of the slide, in the same model
        turning = kinds[1] in TURNING or kinds[0] in TURNING
        (scope, first), (_, second) = pair
        at = [_global(read, _full(model, joint.attributes.get("name", "")), joint.line, "joint") for model, joint in pair]
        axes = [
            _axis(read, model, j, T, "axis", "joint").direction for (model, j), T in zip(pair, at, strict=True) if j.first("axis")
        ]
        if len(axes) < 1 + turning or pair[0][0] != pair[1][0]:
            continue
        if turning and float(np.linalg.norm(np.cross(axes[0], axes[1]))) > ALIGNED:
            continue
        # the joint that takes the place of both: parent of the first, child and the rest of the second
        kind = FOLDED[2 if turning else kinds.index("prismatic")]
        parent = first.all("parent")
        rest = [child for child in second.children if child.tag != "parent" and (turning or child.tag != "axis")]
        axis = [] if turning else [*first.all("axis"), *second.all("axis")]
        made = Element("joint", {"name": second.attributes.get("name", ""), "type": kind}, second.line, [*parent, *rest, *axis])
        read.folded[_full(scope, second.attributes.get("name", ""))] = axes[0]
        read.joints[touching[1]] = (scope, made)
        read.joints[touching[0]] = ("", Element("", {}, first.line))
        ends[touching[0]], ends[touching[1]] = ("", ""), (ends[touching[0]][0], ends[touching[1]][1])
        del read.links[link]
    read.joints = [each for each in read.joints if each[1].tag]


def _is_plain(pair: list[tuple[str, Element]]) -> bool:
    """Return whether joints have no springs, dampers, limits and leaders."""
    for _, joint in pair:
        for axis in joint.all("axis"):
            limit = axis.first("limit")
            ends = [] if limit is None else [bound for bound in limit.children if bound.tag in ("lower", "upper")]
            if axis.first("dynamics") is not None or axis.first("mimic") is not None:
                return False
            if not all(_is_endless(_text(bound)) for bound in ends):
                return False
    return True


def _is_moved(system: System) -> bool:
    """Return whether joints give the motion of links without mass."""
    try:
        accelerations(system.compile())
    except HaugmbdError:
        return False
    return True


def _light(read: Read) -> frozenset[str]:
    """Return the links that have next to no mass, between joints that stand for one: they may give the link its motion."""
    masses = {link: part.inertia.mass for link, part in read.links.items() if part.inertia is not None and not part.static}
    total = sum(masses.values())
    return frozenset(link for link, mass in masses.items() if mass <= NO_MASS * total)


def _raise(read: Read) -> None:
    """Raise ModelFileError if there are faults."""
    if read.faults:
        raise ModelFileError(str(read.path), read.faults)


def _document(read: Read, path: FilePath) -> Element:
    """Return the root element of a file. Raise ModelFileError if it is no XML, or no SDF."""
    try:
        top = parse_xml(read_bounded(path, MAX_BYTES), texts=True)
    except UsageError as error:
        raise ModelFileError(str(read.path), [Fault(str(path), str(error).rstrip("."), "")]) from None
    if top.tag != "sdf":
        what = f"the root element is <{top.tag:.40}>, not <sdf>"
        raise ModelFileError(str(read.path), [Fault(f"{path}, line {top.line}", what, "Give an SDF file.")])
    return top


def _read_file(read: Read, top: Element) -> None:
    """Read the worlds and models of a document."""
    read.version = _version(top)
    worlds = top.all("world")
    for world in worlds[1:]:
        read.fault(world.line, "<world>", "the file has several worlds", "Keep one.")
    models = [*top.all("model"), *(model for world in worlds[:1] for model in (*world.all("model"), *world.all("include")))]
    read.name = (worlds or models or [top])[0].attributes.get("name", "") or "model"
    _count(read, top, "sdf")
    for world in worlds[:1]:
        _count(read, world, "world")
        given = world.first("gravity")
        if given is not None:
            read.gravity = _numbers(read, given, (3,), "gravity")
        for frame in world.all("frame"):
            _read_frame(read, frame, "")
        read.joints += [("", joint) for joint in world.all("joint")]
    alone = len(models) == 1 and not any(world.all("frame") or world.all("joint") for world in worlds)
    for model in models:
        if model.tag == "include":
            _read_include(read, model, "", alone)
        else:
            _read_model(read, model, "" if alone else _name(read, model, "model"), "", static=False)


def _version(top: Element) -> float:
    """Return the version as a number that orders: 1.10 after 1.9."""
    parts = top.attributes.get("version", "1.7").split(".")
    try:
        return int(parts[0]) + 0.01 * int(parts[1]) if len(parts) > 1 else float(parts[0])
    except ValueError:
        return 1.07


def _count(read: Read, element: Element, kind: str) -> None:
    """Count the elements inside of another one that are not read; plugins by their names."""
    for child in element.children:
        if child.tag == "plugin":
            read.ignored[f"the plugin {child.attributes.get('name') or child.attributes.get('filename', '')!r:.80}"] += 1
        elif child.tag not in READ[kind] and ":" not in child.tag:
            read.ignored[f"<{child.tag:.40}> of a {kind}"] += 1


def _name(read: Read, element: Element, kind: str) -> str:
    name = element.attributes.get("name", "")
    if not name:
        read.fault(element.line, f"<{kind}>", "it has no name", 'Give name="...".')
    return name or f"{kind} at line {element.line}"


def _full(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _text(element: Element | None) -> str:
    """Return the text of an element."""
    return "" if element is None else element.text.strip()


def _numbers(read: Read, element: Element | None, shape: tuple[int, ...], where: str, default: Any = 0.0) -> Array:
    """Return the numbers of an element; a fault, and the default, if they are not as many finite ones."""
    fallback = np.broadcast_to(np.asarray(default, dtype=np.float64), shape).copy()
    if element is None:
        return fallback
    text = _text(element)
    try:
        values = [number(word) for word in text.split()]
    except ValueError:
        values = []
    n = int(np.prod(shape))
    if len(values) != n or not all(abs(x) < LARGEST for x in values):
        read.fault(element.line, where, f"<{element.tag}> is {text[:60]!r}, not {n} finite numbers", "Give them, in SI units.")
        return fallback
    return np.array(values).reshape(shape)


def _number(read: Read, element: Element | None, where: str, default: float = 0.0, *, limit: bool = False) -> float:
    """Return a number; infinities of a limit stay."""
    text = _text(element)
    if limit and _is_endless(text):
        return -np.inf if text.startswith("-") else np.inf
    return float(_numbers(read, element, (1,), where, default)[0]) if element is not None and text else default


def _is_endless(text: str) -> bool:
    """Return whether a limit is infinity, or a number by which programs write that there is none."""
    if text.lstrip("+-").lower() in ("inf", "infinity"):
        return True
    try:
        return abs(number(text)) >= NO_LIMIT
    except ValueError:
        return False


def _true(element: Element | None) -> bool:
    return _text(element).lower() in ("1", "true")


def _pose(read: Read, element: Element | None, where: str) -> Transform:
    """Return a pose: x y z and roll pitch yaw, or a quaternion x y z w."""
    if element is None or not _text(element):
        return IDENTITY
    if element.attributes.get("rotation_format") == "quat_xyzw":
        values = _numbers(read, element, (7,), where, (0, 0, 0, 0, 0, 0, 1))
        q = values[[6, 3, 4, 5]]
        if not np.linalg.norm(q) > 1e-6:  # noqa: PLR2004  a direction in four dimensions
            read.fault(element.line, where, "its quaternion is zero", "Give a rotation.")
            return IDENTITY
        return Transform(euler_parameters.rotation_matrix(q / np.linalg.norm(q)), values[:3])
    values = _numbers(read, element, (6,), where)
    angles = np.radians(values[3:]) if element.attributes.get("degrees", "").lower() in ("1", "true") else values[3:]
    return Transform(rotation(*angles.tolist()), values[:3])


def _put(read: Read, scope: str, name: str, element: Element, relative_to: str, pose: Transform) -> str:
    """Add a frame, and return its full name."""
    full = _full(scope, name)
    if full in read.frames or name == WORLD:
        what = "the name is reserved for the ground" if name == WORLD else "the name is there twice"
        read.fault(element.line, f"{element.tag} {full!r:.80}", what, "Give each its own name.")
        return full
    read.frames[full] = Place(element.line, relative_to, pose)
    return full


def _relative(element: Element | None, scope: str, default: str) -> str:
    """Return the full name of the frame that a pose is relative to."""
    frame = "" if element is None else element.attributes.get("relative_to", "") or element.attributes.get("frame", "")
    return default if not frame else frame if frame == WORLD else _full(scope, frame)


def _read_frame(read: Read, element: Element, scope: str) -> None:
    name = _name(read, element, "frame")
    to = element.attributes.get("attached_to", "")
    default = _full(scope, to) if to and to != WORLD else WORLD if to or not scope else _full(scope, MODEL)
    pose = element.first("pose")
    _put(read, scope, name, element, _relative(pose, scope, default), _pose(read, pose, f"frame {name!r}"))
    read.attached[_full(scope, name)] = default


class Placed(NamedTuple):
    """Where an include puts its model: the pose, if it gives one, what it is relative to, and the frame inside that is placed."""

    pose: Transform | None
    relative_to: str
    frame: str


def _read_model(read: Read, element: Element, scope: str, outer: str, *, static: bool, placed: Placed | None = None) -> None:
    """Read a model into a scope; placed: by an include, whose pose and placement frame take the place of its own."""
    name = element.attributes.get("name", "")
    where, pose_element = f"model {name!r:.80}", element.first("pose")
    _count(read, element, "model")
    frame_of_model, at = _full(scope, MODEL), Placed(None, "", "") if placed is None else placed
    parent = _full(outer, MODEL) if outer else WORLD
    pose = _pose(read, pose_element, where) if at.pose is None else at.pose
    frame = at.frame or ("" if at.pose is not None and placed is not None else element.attributes.get("placement_frame", ""))
    relative = _relative(pose_element, outer, parent) if at.pose is None else at.relative_to or parent
    read.frames[frame_of_model] = Place(element.line, relative, pose, _full(scope, frame) if frame and frame != MODEL else "")
    if scope:
        read.frames.setdefault(scope, Place(element.line, frame_of_model, IDENTITY))
    canonical = element.attributes.get("canonical_link", "")
    if canonical:
        read.canonical[frame_of_model] = _full(scope, canonical)
    _read_parts(read, element, scope, static=static or _true(element.first("static")))
    if canonical and read.canonical[frame_of_model] not in read.links:
        what = f"its canonical_link is {canonical!r:.80}, which is no link of it{did_you_mean(read.canonical[frame_of_model], read.links)}"
        read.fault(element.line, where, what, "Give one of its links.")
    if len(read.links) > MAX_LINKS:
        read.fault(element.line, where, f"it has more than {MAX_LINKS} links", "Split it.")
        _raise(read)


def _read_parts(read: Read, element: Element, scope: str, *, static: bool) -> None:
    """Read the links, frames, joints and models inside of a model into a scope."""
    for link in element.all("link"):
        _read_link(read, link, scope, static)
    for frame in element.all("frame"):
        _read_frame(read, frame, scope)
    for joint in element.all("joint"):
        name = _name(read, joint, "joint")
        at = joint.first("pose")
        child = _text(joint.first("child"))
        default = WORLD if child == WORLD else _full(scope, child)
        full = _put(read, scope, name, joint, _relative(at, scope, default), _pose(read, at, f"joint {name!r}"))
        read.attached[full] = default
        if read.version < 1.05:  # noqa: PLR2004  the version
            read.of_model.add(full)
        read.joints.append((scope, joint))
    for inner in element.all("model"):
        _read_model(read, inner, _full(scope, _name(read, inner, "model")), scope, static=static)
    for include in element.all("include"):
        _read_include(read, include, scope, alone=False, static=static)


def _merge(read: Read, model: Element, scope: str, name: str, placed: Placed, *, static: bool) -> None:
    """Read the parts of an included model as those of the model that includes it."""
    proxy, where = f"_merged__{name}__model__", f"model {name!r:.80}"
    proxy_frame, pose_element = _full(scope, proxy), model.first("pose")
    frame = placed.frame or ("" if placed.pose is not None else model.attributes.get("placement_frame", ""))
    relative = placed.relative_to or (_full(scope, MODEL) if scope else WORLD)
    pose = _pose(read, pose_element, where) if placed.pose is None else placed.pose
    if proxy_frame in read.frames:
        read.fault(model.line, where, "the name is there twice", "Give each its own name.")
    read.frames[proxy_frame] = Place(model.line, relative, pose, _full(scope, frame) if frame and frame != MODEL else "")
    first = model.attributes.get("canonical_link", "") or next((link.attributes.get("name", "") for link in model.all("link")), "")
    read.attached[proxy_frame] = _full(scope, first) if first else relative
    static = static or _true(model.first("static"))
    _read_parts(read, _beside(model, proxy, read.version < 1.05), scope, static=static)  # noqa: PLR2004  the version


def _beside(model: Element, proxy: str, old_axes: bool) -> Element:
    """Return a copy of a model whose parts stand relative to the frame `proxy` where they stood relative to the model.

    old_axes: whether the axes of joints are in the frame of the model
    """

    def renamed(element: Element) -> Element:
        attributes = {key: proxy if value == MODEL else value for key, value in element.attributes.items()}
        text = proxy if element.text.strip() == MODEL else element.text
        return Element(element.tag, attributes, element.line, [renamed(child) for child in element.children], text)

    parts = []
    for child in model.children:
        part = child if child.tag not in ("link", "frame", "joint", "model", "include") else renamed(child)
        free = part.tag in ("link", "model", "include") or (part.tag == "frame" and not part.attributes.get("attached_to"))
        if part.tag == "frame" and free:
            part.attributes["attached_to"] = proxy
        if free and part.tag != "frame":
            pose = part.first("pose")
            if pose is None and part.tag != "include":
                pose = Element("pose", {}, part.line)
                part.children.append(pose)
            if pose is not None and not pose.attributes.get("relative_to"):
                pose.attributes["relative_to"] = proxy
        if part.tag == "joint":
            for axis in (one for one in part.children if one.tag in ("axis", "axis2")):
                xyz = axis.first("xyz")
                of_model = old_axes or _true(axis.first("use_parent_model_frame"))
                if xyz is not None and of_model and not xyz.attributes.get("expressed_in"):
                    xyz.attributes["expressed_in"] = proxy
        parts.append(part)
    return Element(model.tag, dict(model.attributes), model.line, parts, model.text)


def _read_link(read: Read, element: Element, scope: str, static: bool) -> None:
    name = _name(read, element, "link")
    full, where = _full(scope, name), f"link {name!r:.80}"
    _count(read, element, "link")
    pose = element.first("pose")
    _put(read, scope, name, element, _relative(pose, scope, _full(scope, MODEL)), _pose(read, pose, where))
    inertial, gravity = element.first("inertial"), element.first("gravity")
    visuals = [made for visual in element.all("visual") if (made := _visual(read, visual, where)) is not None]
    weightless = gravity is not None and not _true(gravity)
    read.links[full] = Link(element.line, None if static else _inertia(read, element, inertial, where), visuals, weightless, static)


def _inertia(read: Read, link: Element, inertial: Element | None, where: str) -> MassProperties:
    """Return the inertia in the frame of the link; mass 1 and moments 1 are the defaults of the format."""
    if inertial is None:
        return MassProperties(1.0, np.ones(3))
    if _true_attribute(inertial, "auto"):
        return _inertia_of_shapes(read, link, inertial, where)
    mass, matrix = _number(read, inertial.first("mass"), where, 1.0), inertial.first("inertia")
    keys = {"ixx": 1.0, "iyy": 1.0, "izz": 1.0, "ixy": 0.0, "ixz": 0.0, "iyz": 0.0}
    J = {key: x if matrix is None else _number(read, matrix.first(key), where, x) for key, x in keys.items()}
    tensor = np.array([[J["ixx"], J["ixy"], J["ixz"]], [J["ixy"], J["iyy"], J["iyz"]], [J["ixz"], J["iyz"], J["izz"]]])
    if not mass > 0.0:
        read.fault(inertial.line, where, f"its mass is {mass:g} kg", "Give a positive mass.")
        return MassProperties(1.0, np.ones(3))
    at = _pose(read, inertial.first("pose"), where)
    return MassProperties(mass, tensor).placed(at.r, at.A)


def _inertia_of_shapes(read: Read, link: Element, inertial: Element, where: str) -> MassProperties:
    """Return the inertia that the collision shapes of a link give, by their densities, or by the mass of the link if it has one."""
    parts, before = list[MassProperties](), len(read.faults)
    usual = _number(read, inertial.first("density"), where, WATER)
    for collision in link.all("collision"):
        density = _number(read, collision.first("density"), where, usual)
        solid = _solid(read, collision, density, where) if density > 0.0 else None
        if solid is None:
            if len(read.faults) == before:
                what = "its inertia is computed from collision shapes (auto), of which one has no known volume"
                read.fault(collision.line, where, what, "Give mass and inertia.")
            return MassProperties(1.0, np.ones(3))
        at = _pose(read, collision.first("pose"), where)
        parts.append(solid.placed(at.r + at.A @ solid.center, at.A))
    if not parts:
        read.fault(
            inertial.line, where, "its inertia is computed from collision shapes (auto), and it has none", "Give mass and inertia."
        )
        return MassProperties(1.0, np.ones(3))
    whole = combine(parts)
    mass = _number(read, inertial.first("mass"), where, whole.mass)
    if not mass > 0.0:
        read.fault(inertial.line, where, f"its mass is {mass:g} kg", "Give a positive mass.")
        return MassProperties(1.0, np.ones(3))
    return MassProperties(mass, mass / whole.mass * whole.J_bar, whole.center)


def _solid(read: Read, collision: Element, density: float, where: str) -> MassProperties | None:
    """Return a collision shape as a solid about its own frame; None for meshes and surfaces."""
    geometry = collision.first("geometry")
    for shape in () if geometry is None else geometry.children:
        size = {key: _number(read, shape.first(key), where, 1.0) for key in ("radius", "length")}
        r, length = size["radius"], size["length"]
        try:
            if shape.tag == "box":
                return box(_numbers(read, shape.first("size"), (3,), where, 1.0), density=density)
            if shape.tag == "sphere":
                return sphere(r, density=density)
            if shape.tag == "cylinder":
                return cylinder(r, length, density=density)
            if shape.tag == "capsule":
                return capsule(r, length, density=density)
            if shape.tag == "ellipsoid":
                return ellipsoid(_numbers(read, shape.first("radii"), (3,), where, 1.0), density=density)
        except UsageError:
            return None
    return None


def _true_attribute(element: Element, key: str) -> bool:
    return element.attributes.get(key, "").lower() in ("1", "true")


def _visual(read: Read, element: Element, where: str) -> Visual | None:
    """Return what is drawn; None, with a line of the report, for geometry that is not."""
    geometry = element.first("geometry")
    solids = {} if geometry is None else {child.tag: child for child in geometry.children}
    before, pose = len(read.faults), _pose(read, element.first("pose"), where)
    kind = next((tag for tag in ("box", "sphere", "cylinder", "mesh") if tag in solids), "")
    numbers, file = np.zeros(0), ""
    if kind == "box":
        numbers = _numbers(read, solids[kind].first("size"), (3,), where, 1.0)
    elif kind in ("sphere", "cylinder"):
        keys = ("radius",) if kind == "sphere" else ("radius", "length")
        numbers = np.array([_number(read, solids[kind].first(key), where, 1.0) for key in keys])
    elif kind == "mesh":
        numbers = _numbers(read, solids[kind].first("scale"), (3,), where, 1.0)
        file = _text(solids[kind].first("uri")).replace("model://", "package://", 1)
    if not kind or len(read.faults) > before:  # what is drawn changes no motion
        del read.faults[before:]
        read.ignored["visuals of unknown geometry"] += 1
        return None
    return Visual(pose, kind, numbers, None, file, element.line)


def _read_include(read: Read, element: Element, scope: str, alone: bool, *, static: bool = False) -> None:
    """Read the model of another file, which must be in the folder."""
    uri, line = _text(element.first("uri")), element.line
    read.includes += 1
    file = _file_of(read, uri)
    if file is None and uri.rstrip("/").rpartition("/")[2].lower() in WITHOUT_BODIES:
        read.ignored[f"<include> of {uri!r:.120}, which has no moving part"] += 1
        return
    if file is None or read.includes > MAX_INCLUDES or file in read.active:
        read.fault(line, "<include>", *_why_not_included(read, uri, file))
        return
    before = read.version
    top = _document(read, file)
    read.version = _version(top)
    models = top.all("model")
    shown = sorted({child.tag for child in top.children if child.tag in NOT_MOVED})
    if not models and shown:
        read.version = before
        read.ignored[f"<include> of {uri!r:.120}, which has no model: {', '.join(shown)}"] += 1
        return
    if len(models) != 1:
        read.fault(line, "<include>", f"{str(file)!r} has {len(models)} models", "Include a file with one model.")
        return
    read.active.append(file)
    name = _text(element.first("name")) or models[0].attributes.get("name", "") or f"model at line {line}"
    pose_element = element.first("pose")
    pose = None if pose_element is None else _pose(read, pose_element, f"include {name!r}")
    placed = Placed(pose, _relative(pose_element, scope, ""), _text(element.first("placement_frame")))
    if placed.frame and pose is None:
        read.fault(line, f"include {name!r}", "it has a placement_frame and no <pose>", "Give its <pose>.")
    if any(child.tag == "experimental:params" for child in element.children):
        read.fault(
            line, f"include {name!r}", "its experimental:params change the model, which is not read", "Write the model as it is."
        )
    static = static or _true(element.first("static"))
    if _true_attribute(element, "merge") and not alone:
        _merge(read, models[0], scope, name, placed, static=static)
    else:
        _read_model(read, models[0], scope if alone else _full(scope, name), scope, static=static, placed=placed)
    read.active.pop()
    read.version = before


def _why_not_included(read: Read, uri: str, file: FilePath | None) -> tuple[str, str]:
    """Return why a file is not included, and what to do."""
    put = "Put the model into that folder as NAME/model.sdf, or give folder=."
    if file is not None and file in read.active:
        return "it includes itself", "Remove it."
    if read.includes > MAX_INCLUDES:
        return f"it is one of more than {MAX_INCLUDES} includes", "Split the file."
    if "://" in uri and uri.partition("://")[0].lower() in ("http", "https"):
        return f"{uri!r:.120} is on a server, and nothing is downloaded", put
    return f"the file of {uri!r:.120} is not in {str(read.root)!r}", put


def _file_of(read: Read, uri: str) -> FilePath | None:
    """Return the file of a uri inside of the folder; None if there is none.

    model://NAME is looked for in the folder, and in models/ of it; package://NAME/FILE also as FILE; others also beside the file that
    includes them. Of a folder the file is that of its model.config, or model.sdf.
    """
    scheme, _, name = uri.rpartition("://")
    name = name.strip("/") if scheme else name
    if scheme not in ("", "model", "file", "package") or not name:
        return None
    places = [
        read.root / name,
        read.root / "models" / name,
        (read.active or [read.path])[-1].parent / name,
        read.path.parent / name,
    ]
    if scheme == "package":
        places.append(read.root / name.partition("/")[2])
    for place in places:
        try:
            path = place.resolve()
            if path.is_relative_to(read.root) and path.is_dir():
                path = (path / _named_file(path)).resolve()
            if path.is_relative_to(read.root) and path.is_file():
                return path
        except (OSError, ValueError, RuntimeError):
            return None
    return None


def _named_file(folder: FilePath) -> str:
    """Return the name of the newest file that the model.config of a folder names; model.sdf without one."""
    config = folder / "model.config"
    try:
        named = parse_xml(read_bounded(config, MAX_BYTES), texts=True).all("sdf") if config.is_file() else []
    except (UsageError, ModelFileError):
        named = []
    return max(((_version(file), _text(file)) for file in named if _text(file)), default=(0.0, "model.sdf"))[1]


def _global(read: Read, name: str, line: int, where: str) -> Transform:
    """Return the global pose of a frame; a fault for one that is not there, or that stands on itself."""
    chain, seen = list[str](), set[str]()
    while name != WORLD and name not in read.poses:
        if name in seen or name not in read.frames:
            what = f"the frame {name!r:.80} stands on itself" if name in seen else _missing(read, name)
            read.fault(line, where, what, "Give a frame, a link or a joint of the model.")
            read.poses[name] = IDENTITY
            break
        seen.add(name)
        chain.append(name)
        name = read.frames[name].relative_to
    at = read.poses.get(name, IDENTITY)
    for each in reversed(chain):
        if each not in read.poses:
            frame = read.frames[each]
            inside = _inside(read, frame.placement, each, where) if frame.placement else IDENTITY
            read.poses[each] = at @ frame.pose @ inside.inverse()
        at = read.poses[each]
    return at


def _inside(read: Read, name: str, model: str, where: str) -> Transform:
    """Return the pose of a frame inside of a model, relative to the frame of the model; a fault if it does not stand on that."""
    pose, line = IDENTITY, read.frames[model].line
    for _ in range(len(read.frames) + 1):
        if name == model:
            return pose
        if name not in read.frames or read.frames[name].placement:
            break
        pose, name = read.frames[name].pose @ pose, read.frames[name].relative_to
    what = _missing(read, name) if name not in read.frames else f"the frame that places it does not stand on it: {name!r:.80}"
    read.fault(line, where, what, "Give as placement_frame a frame, a link or a joint of the model.")
    return IDENTITY


def _missing(read: Read, name: str) -> str:
    return f"there is no frame {name!r:.80}{did_you_mean(name, read.frames)}"


def _link_of(read: Read, name: str, line: int, where: str) -> str:
    """Return the link that a frame is attached to, or the world."""
    for _ in range(len(read.frames) + 1):
        if name == WORLD or name in read.links:
            return name
        if name not in read.frames:
            read.fault(line, where, _missing(read, name), "Give a link.")
            return WORLD
        if name.endswith(f"::{MODEL}") or name == MODEL or read.frames[name].relative_to == _full(name, MODEL):
            own = name if name.endswith(MODEL) else _full(name, MODEL)
            if own in read.canonical:
                return read.canonical[own]
            scope = own.removesuffix(MODEL).removesuffix("::")
            return next((link for link in read.links if link.startswith(f"{scope}::" if scope else "")), WORLD)
        name = read.attached.get(name, read.frames[name].relative_to)
    return WORLD


# ------------------------------------------------------------------------------------------------------------------- the system


def _system(
    read: Read, merge_fixed: bool, tolerance: float | None, limits: bool, stiffness: float | None, meshes: Meshes
) -> System:
    """Return the system of what was read."""
    at = {link: _global(read, link, own.line, f"link {link!r:.80}") for link, own in read.links.items()}
    ends = [_ends(read, scope, joint) for scope, joint in read.joints]
    _raise(read)
    leaders = _leaders(read, ends, merge_fixed)
    drawn = {link: [shape_of(visual, meshes) for visual in own.visuals] for link, own in read.links.items()}
    ground = [s.placed(at[k].r, at[k].A) for k in leaders if leaders[k] == WORLD for s in drawn[k] if s is not None]
    system = System(read.name, gravity=read.gravity, ground_shape=tuple(ground), tolerance=tolerance)
    bodies, notes = {WORLD: system.ground}, list[str]()
    notes += [f"link {link!r} has next to no mass, and needs none: joints give its motion" for link in sorted(read.light)]
    for leader in dict.fromkeys(leaders.values()):
        if leader != WORLD:
            members = [link for link, first in leaders.items() if first == leader]
            bodies[leader] = _body(read, system, at, leader, members, drawn)
    of_link = {link: bodies[leader] for link, leader in leaders.items()} | {WORLD: system.ground}
    stops = list[Limit]()
    for (scope, joint), pair in zip(read.joints, ends, strict=True):
        _add_joint(read, system, scope, joint, (of_link[pair[0]], of_link[pair[1]]), stops)
    _add_mimics(read, system)
    _raise(read)
    done = close_joints(system, False, False)
    stopped = add_stops(stops if limits else [], system, done.system, stiffness)
    frames = {link: _frame(of_link[link], pose) for link, pose in at.items()}
    ignored = [text if n == 1 else f"{text} ({n})" for text, n in sorted(read.ignored.items())]
    done.system.import_report = ImportReport(
        source=str(read.path),
        links=len(read.links),
        joints=len(read.joints),
        body_of={link: body.name for link, body in of_link.items() if link != WORLD},
        q={},
        frames=frames,
        substituted=(*notes, *stopped.substituted),
        ignored=(*ignored, *([] if limits else [f"joint limits ({len(stops)})"]), *stopped.ignored),
        loops=(),
        iterations=0,
        closed=done.closed,
        degrees_of_freedom=done.degrees_of_freedom,
        warnings=(*heavy("link", done.system.bodies), *meshes.warnings, *done.warnings, *stopped.warnings),
        nothing_moves="All its links are fixed to the world, or their model is static.",
    )
    return done.system


def _frame(body: Body, pose: Transform) -> Frame:
    """Return a global pose as a frame on a body."""
    return Frame(body, body.A.T @ (pose.r - body.r), body.A.T @ pose.A)


def _ends(read: Read, scope: str, joint: Element) -> tuple[str, str]:
    """Return the links of a joint, parent and child."""
    links = []
    for key in ("parent", "child"):
        end, where = joint.first(key), f"joint {joint.attributes.get('name', '')!r:.80}"
        name = _text(end) or ("" if end is None else _text(end.first("link")))
        if not name:
            read.fault(joint.line, where, f"it has no {key}", f"Give <{key}>link</{key}>.")
        links.append(WORLD if name in (WORLD, "") else _link_of(read, _full(scope, name), joint.line, where))
    return links[0], links[1]


def _leaders(read: Read, ends: list[tuple[str, str]], merge_fixed: bool) -> dict[str, str]:
    """Return the first link of the group of each link; the world for links that are fixed to it."""
    groups = Groups([WORLD, *read.links])
    order = {link: k for k, link in enumerate((WORLD, *read.links))}
    pairs = [(WORLD, link) for link, properties in read.links.items() if properties.static]
    for (_, joint), pair in zip(read.joints, ends, strict=True):
        if joint.attributes.get("type") == "fixed" and merge_fixed:
            pairs.append(pair)
    for a, b in pairs:
        first, second = sorted((groups.find(a), groups.find(b)), key=order.__getitem__)
        groups.unite(second, first)
    return {link: groups.find(link) for link in read.links}


def _body(
    read: Read, system: System, at: dict[str, Transform], leader: str, members: list[str], drawn: dict[str, list[Shape | None]]
) -> Body:
    """Add the body of a group of links, with the axes of its first one."""
    base, parts, shapes = at[leader], [], list[Shape]()
    for link in members:
        inertia, pose = read.links[link].inertia, base.inverse() @ at[link]
        shapes += [shape.placed(pose.r, pose.A) for shape in drawn[link] if shape is not None]
        if inertia is not None:
            parts.append(inertia.placed(pose.r + pose.A @ inertia.center, pose.A))
    whole = parts[0] if len(parts) == 1 else combine(parts)
    if read.light.issuperset(members):
        whole = MassProperties(0.0, np.zeros(3), whole.center)
    center = whole.center
    where = f"line {read.links[leader].line}, link {leader!r:.80}"
    p = euler_parameters.from_rotation_matrix(base.A)
    shown = tuple(shape.placed(-center, np.eye(3)) for shape in shapes) or ...
    body = Body(leader, whole.mass, whole.J_bar, r=base.r + base.A @ center, p=p, shape=shown)
    read.faults += [Fault(where, fault.what, fault.remedy) for fault in body.faults()]
    system.add(body)
    for link in members:
        inertia = read.links[link].inertia
        if read.links[link].weightless and inertia is not None and read.gravity.any():
            point = at[link].r + at[link].A @ inertia.center
            system.add(PointForce(f"{link} without gravity", body, point=point, force=-inertia.mass * read.gravity))
    return body


def _add_joint(read: Read, system: System, scope: str, joint: Element, ends: tuple[Body, Body], stops: list[Limit]) -> None:
    """Add a joint with its springs, dampers and limits."""
    name, kind = _full(scope, joint.attributes.get("name", "")), joint.attributes.get("type", "")
    where, (i, j) = f"joint {name!r:.80}", ends
    _count(read, joint, "joint")
    if kind not in (*JOINT_TYPES, *(FOLDED if name in read.folded else ())):
        read.fault(
            joint.line, where, f"its type is {kind!r:.40}{did_you_mean(kind, JOINT_TYPES)}", f"Read are {', '.join(JOINT_TYPES)}."
        )
        return
    if i is j:
        if i.is_ground:
            read.ignored["joints between links that are fixed to the ground"] += 1
        elif kind != "fixed":
            read.fault(joint.line, where, f"it joins links of one body, {i.name!r}", "Give links that move against each other.")
        return
    at = _global(read, name, joint.line, where) if name in read.frames else IDENTITY
    if kind in FOLDED:
        system.add(_folded_joint(name, kind, ends, at, read.folded[name]))
        return
    axes = [_axis(read, scope, joint, at, key, where) for key in ("axis", "axis2") if joint.first(key) is not None]
    if not axes and kind not in ("fixed", "ball"):
        read.fault(joint.line, where, "it has no <axis>", "Give its direction, <axis><xyz>.")
        return
    parts = _joint_parts(read, joint, name, ends, at, axes)
    faults = [Fault(f"line {joint.line}, {f.where}", f.what, f.remedy) for part in parts for f in part.faults()]
    read.faults += faults
    if faults or not parts:
        return
    for part in parts:
        system.add(part)
    if kind in (*TURNING, *SLIDING):
        _add_loads(system, name, parts[0], axes[0], kind in TURNING, stops, limited=kind != "continuous")
    elif any(axis.damping or axis.stiffness or np.isfinite(axis.limits).any() for axis in axes):
        read.ignored[f"damping, springs and limits of {kind} joints"] += 1
    read.ignored.update({"joint friction": sum(axis.friction != 0.0 for axis in axes)})
    read.ignored += Counter()


def _folded_joint(name: str, kind: str, ends: tuple[Body, Body], at: Transform, axis: Array) -> Joint:
    """Return the joint that stands for two, with its axis, global: a point on a line whose line is that of the slide, or a CJ."""
    i, j = ends[::-1] if kind == FOLDED[1] else ends
    joint_of = CJ if kind == FOLDED[2] else PointOnLine
    return joint_of(name, i, j, point=at.r, axis=axis)


def _joint_parts(read: Read, joint: Element, name: str, ends: tuple[Body, Body], at: Transform, axes: list[Axis]) -> list[Joint]:
    """Return the joint, and the coupling of a screw; none, with a fault, if an axis is missing."""
    (i, j), kind, where = ends, joint.attributes.get("type", ""), f"joint {name!r:.80}"
    if kind in TURNING:
        return [RJ(name, i, j, point=at.r, axis=axes[0].direction)]
    if kind in SLIDING:
        return [TJ(name, i, j, point=at.r, axis=axes[0].direction)]
    if kind == "ball":
        return [SJ(name, i, j, point=at.r)]
    if kind == "fixed":
        return [Fixed(name, i, j, point=at.r)]
    if kind == "screw":
        slide = CJ(name, i, j, point=at.r, axis=axes[0].direction)
        return [slide, Screw(f"{name} thread", slide, pitch=_pitch(read, joint, where))]
    if len(axes) == len(TWO_AXES):
        return [UJ(name, i, j, point=at.r, axis_i=axes[0].direction, axis_j=axes[1].direction)]
    read.fault(joint.line, where, f"a {kind} joint needs <axis> and <axis2>", "Give both.")
    return []


def _add_loads(system: System, name: str, joint: Joint, axis: Axis, turns: bool, stops: list[Limit], *, limited: bool) -> None:
    """Add the spring and the damper of a joint, and its limits."""
    if axis.stiffness:
        system.add(JointSpring(f"{name} spring", joint, k=axis.stiffness, c=axis.damping, free=axis.reference))
    elif axis.damping:
        system.add(JointFriction(f"{name} damping", joint, Viscous(axis.damping)))
    lower, upper = axis.limits
    if limited and (np.isfinite(lower) or np.isfinite(upper)):
        coordinate = joint.coordinate("angle" if turns else "displacement")
        stops.append(Limit(name, coordinate, 1.0, lower, upper, 0.0, axis.effort))


def _pitch(read: Read, joint: Element, where: str) -> float:
    """Return the displacement of one turn [m]; thread_pitch counts turns of one metre, and against the axis."""
    turn = joint.first("screw_thread_pitch")
    if turn is not None:
        return _number(read, turn, where, 1.0)
    pitch = _number(read, joint.first("thread_pitch"), where, 1.0)
    return -2.0 * np.pi / pitch if pitch else np.nan


def _axis(read: Read, scope: str, joint: Element, at: Transform, key: str, where: str) -> Axis:
    """Return an axis of a joint."""
    element = joint.first(key)
    assert element is not None
    _count(read, element, "axis")
    direction, dynamics, limit = (element.first(tag) for tag in ("xyz", "dynamics", "limit"))
    xyz = _numbers(read, direction, (3,), where, (0.0, 0.0, 1.0))
    size = float(np.linalg.norm(xyz))
    if not 1e-100 < size < 1e100:  # noqa: PLR2004  a direction
        read.fault(element.line, where, f"its axis is {xyz.tolist()}", "Give a direction that is not zero.")
        xyz, size = np.array((0.0, 0.0, 1.0)), 1.0
    inside = "" if direction is None else direction.attributes.get("expressed_in", "")
    A = at.A
    if inside:
        A = np.eye(3) if inside == WORLD else _global(read, _full(scope, inside), element.line, where).A
    elif _full(scope, joint.attributes.get("name", "")) in read.of_model or _true(element.first("use_parent_model_frame")):
        A = _global(read, _full(scope, MODEL), element.line, where).A
    numbers = {}
    for holder, tags in (
        (dynamics, ("damping", "friction", "spring_stiffness", "spring_reference")),
        (limit, ("lower", "upper", "effort")),
    ):
        for tag in tags:
            default = {"lower": -np.inf, "upper": np.inf}.get(tag, 0.0)
            numbers[tag] = default if holder is None else _number(read, holder.first(tag), where, default, limit=holder is limit)
    lower, upper = (x if abs(x) < NO_LIMIT else np.sign(x) * np.inf for x in (numbers["lower"], numbers["upper"]))
    effort = numbers["effort"] if 0.0 < numbers["effort"] < LARGEST else 0.0
    mimic = element.first("mimic")
    leader = None if mimic is None else (mimic.attributes.get("joint", ""), _number(read, mimic.first("multiplier"), where, 1.0))
    dynamic = (numbers["damping"], numbers["friction"], numbers["spring_stiffness"], numbers["spring_reference"])
    return Axis(A @ xyz / size, *dynamic, (float(lower), float(upper)), effort, leader)


def _add_mimics(read: Read, system: System) -> None:
    """Add a coupling for each joint that follows another one."""
    made = {joint.name: joint for joint in system.joints}
    for scope, joint in read.joints:
        name, axis = _full(scope, joint.attributes.get("name", "")), joint.first("axis")
        mimic = None if axis is None else axis.first("mimic")
        if mimic is None or name not in made:
            continue
        leader = _full(scope, mimic.attributes.get("joint", ""))
        factor = _number(read, mimic.first("multiplier"), f"joint {name!r}", 1.0)
        if type(made.get(leader)) not in (RJ, TJ) or type(made[name]) not in (RJ, TJ):
            what = f"it follows the joint {leader!r}, which neither turns nor slides, or is not there{did_you_mean(leader, made)}"
            read.fault(mimic.line, f"joint {name!r}", what, "Give a joint that turns or slides.")
            continue
        terms: dict[Joint | Coordinate, float] = {made[name]: 1.0}
        terms |= {made[leader]: -factor} if factor else {}
        system.add(Coupling(f"{name} mimic", terms))
