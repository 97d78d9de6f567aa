r"""read_fcstd: an assembly of a FreeCAD document as a System: the joints of its Assembly workbench, as its solver gets them.

    document    a zip file with Document.xml: objects by name, with properties; shapes are in files of their own, which are not read
    link        an object of this document, or of one in its folder; features of a body are in the body's frame
    part        the first object below the assembly on the path of a reference; its Placement, in millimetres
    marker      T_part^-1 T_object Placement1     the frame of a joint is kept relative to the object of the reference, on the part
    joint       Fixed, Revolute, Cylindrical, Slider, Ball, Parallel, Perpendicular, Angle, RackPinion, Screw, Gears, Belt, and Distance
                of points
    ground      a part that a GroundedJoint holds
    motion      an angular or linear Motion of a Simulation: a formula of time

Masses are no property of a FreeCAD assembly: its solver gives each part 1 kg. They are read from properties Mass (and CenterOfMass,
Ixx ...) where parts have them, computed from boxes, cylinders, spheres and cones by density=, or given by masses=.
Source: FreeCAD's Assembly workbench, versions 1.0 and 1.1: JointObject.py, AssemblyObject.cpp; its file format, Document.xml.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import BytesIO
from math import isfinite, pi
from pathlib import Path as FilePath
from typing import Any

import numpy as np

from haugmbd.bodies import inertia as solids
from haugmbd.bodies.inertia import MassProperties, combine
from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.math import euler_parameters
from haugmbd.modelfile.asmt.assembly import AsmtJoint, AsmtLimit, Assembly, Marker, Part
from haugmbd.modelfile.asmt.assembly import AsmtMotion as Motion
from haugmbd.modelfile.asmt.mechanism import UNIT, mechanism
from haugmbd.modelfile.asmt.read import closed, reported
from haugmbd.modelfile.imports import IDENTITY, Transform, read_stiffness
from haugmbd.modelfile.text import number, read_bounded
from haugmbd.modelfile.values import finite
from haugmbd.modelfile.xml_reader import Element, parse_xml
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System
from haugmbd.tolerances import check_tolerance

MILLIMETRE = 1e-3
"""[m] FreeCAD's unit of length."""
MAX_BYTES, MAX_DOCUMENT, MAX_ELEMENTS = 512 * 2**20, 64 * 2**20, 600_000
"""Of the file, of its Document.xml, and elements in it."""
MAX_PATH, MAX_OTHERS = 40, 200
"""Names on the path of a reference, and documents beside the one that is read."""
CONTAINERS = ("App::Part", "Assembly::AssemblyObject", "App::DocumentObjectGroup", "App::Link")
"""Objects whose parts have placements of their own below them."""
PLACED = ("PartDesign::Body", "PartDesign::Plane", "PartDesign::Line", "PartDesign::Point", "PartDesign::CoordinateSystem")
"""Objects of PartDesign whose placement counts: the others are features, in the frame of their body."""
LARGEST = 1e20
"""Numbers are below it: an inertia grows with the fifth power of a length."""
GRAVITY = (0.0, 0.0, -9.80665)
"""[m/s2] A document has none."""
SIMPLE = {
    "Fixed": "FixedJoint",
    "Revolute": "RevoluteJoint",
    "Cylindrical": "CylindricalJoint",
    "Slider": "TranslationalJoint",
    "Ball": "SphericalJoint",
    "Parallel": "ParallelAxesJoint",
    "Perpendicular": "PerpendicularJoint",
    "Screw": "ScrewJoint",
    "Gears": "GearJoint",
    "Belt": "GearJoint",
    "RackPinion": "RackPinionJoint",
    "Angle": "AngleJoint",
    "Distance": "SphSphJoint",
}
"""Joints of the workbench, and those of its solver."""
NO_ANGLE = 1e-7
"""[rad] Below it FreeCAD takes an Angle for Parallel; and below as many millimetres a Distance for a Ball."""
FULL = {
    "Part::Cylinder": {"Angle": 360.0},
    "Part::Sphere": {"Angle1": -90.0, "Angle2": 90.0, "Angle3": 360.0},
    "Part::Cone": {"Angle": 360.0},
}
"""Properties of solids that are whole."""
ASSEMBLY, GROUNDED = "Assembly::AssemblyObject", "ObjectToGround"


@dataclass
class Item:
    """An object of the document: its type, its line, and its properties as elements."""

    name: str
    type: str
    line: int = 0
    properties: dict[str, Element] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Return the name that a user sees."""
        return _attribute(self.properties.get("Label"), "String") or self.name


@dataclass
class Document:
    """The objects of a document by name, the assembly that is made of them, and the objects of documents beside it, by their files."""

    items: dict[str, Item]
    made: Assembly
    assembly: Item
    folder: FilePath
    others: dict[str, dict[str, Item] | None] = field(default_factory=dict)

    def fault(self, item: Item, what: str, remedy: str) -> None:
        """Record a fault of an object."""
        self.made.fault(item.line, f"{_word(item)} {item.label!r:.80}", what, remedy)


@check_keywords
def read_fcstd(
    path: str | FilePath,
    *,
    assembly: str | None = None,
    masses: Mapping[str, Any] | None = None,
    density: float | None = None,
    gravity: Any = GRAVITY,
    merge_fixed: bool = True,
    close: bool = True,
    tolerance: float | None = None,
    stop_stiffness: float | None = None,
) -> System:
    """Return the System of an assembly of a FreeCAD document.

    Parameters
    ----------
    path : str or Path
        The file, .FCStd.
    assembly : str, optional
        Label or name of the assembly; needed if the document has several.
    masses : mapping of str to MassProperties or float, optional
        Of parts by their labels: mass, centre and inertia in the axes of the part [kg, m], such as `mbd.inertia.box(...)`; or the mass
        alone [kg], of the part's solids.
    density : float, optional
        [kg/m3] Of parts without a mass that are made of boxes, cylinders, spheres and cones; other shapes are not read.
    gravity : array_like, (3,)
        Gravity, in the axes of the assembly [m/s2]; a document has none.
    merge_fixed : bool
        Whether parts that fixed joints connect become one body.
    close : bool
        Whether open joints are closed by `assemble`.
    tolerance : float, optional
        How far redundant rows of the mechanism may contradict each other [rad, or part of its size]: see `System`.
    stop_stiffness : float, optional
        Stiffness [N m/rad or N/m] of the stops that limits of joints become; without it limits are listed in the report.

    Returns
    -------
    System
        The mechanism in SI units, with `system.import_report`: what was read, substituted and ignored.

    Raises
    ------
    ModelFileError
        With all faults of the document: object, defect and remedy of each.
    AssemblyError
        If the joints cannot be closed; close=False returns them open.
    UsageError
        If there is no such file, or if an option is not valid.

    Notes
    -----
    FreeCAD works in millimetres. Bodies have the labels of the parts. Without masses each part has 1 kg, as FreeCAD's solver has it: the
    report warns of it. Distance joints of faces and edges depend on shapes, which are not read, and are refused by name.
    Nothing of the file is executed, and only its Document.xml is opened, and those of documents in its folder that links lead to.
    """
    check_tolerance(tolerance)
    rho = None if density is None else finite(density)
    if density is not None and (rho is None or rho <= 0.0):
        raise UsageError(f"density is {density!r:.60}, must be a positive number [kg/m3].")
    path, stiffness = path_of(path), read_stiffness(stop_stiffness)
    document = _document(path, assembly)
    made = document.made
    made.gravity = np.asarray(gravity, dtype=np.float64)
    try:
        _read(document, dict(masses or {}), rho)
        built = mechanism(made, merge_fixed) if not made.faults else None
    except ModelFileError as error:
        raise ModelFileError(str(path), error.faults) from None
    if built is None or made.faults:
        raise ModelFileError(str(path), made.faults)
    built.system.tolerance = tolerance
    done = closed(built, close)
    nothing_moves = "All its parts are grounded, or fixed to those that are."
    return reported(made, built, done, (str(path), "FCStd", nothing_moves), stiffness)


def _document(path: FilePath, wanted: str | None) -> Document:
    """Return the objects of a file, and the assembly that is asked for. Raise ModelFileError if it is no document, or has none."""

    def refuse(what: str, remedy: str = "") -> ModelFileError:
        return ModelFileError(str(path), [Fault("the whole file", what, remedy)])

    top = _opened(path)
    items = _items(top)
    matching = [item for item in items.values() if item.type == ASSEMBLY]
    if wanted is not None:
        matching = [item for item in matching if wanted in (item.label, item.name)]
    names = [item.label for item in items.values() if item.type == ASSEMBLY]
    if not names:
        what = "it has no assembly of the Assembly workbench"
        raise refuse(what, "Put its parts into an Assembly and join them, in FreeCAD 1.0 or newer.")
    if len(matching) != 1:
        there = f"there are {', '.join(map(repr, names))}"
        if wanted is not None:
            raise UsageError(f"assembly: there is no {wanted!r:.80} alone{did_you_mean(wanted, names)}; {there}.")
        raise refuse(f"it has {len(names)} assemblies", f"Give assembly= of the one to read: {there}.")
    return Document(items, Assembly(matching[0].label, MILLIMETRE), matching[0], path.parent)


def _opened(path: FilePath) -> Element:
    """Return the Document.xml of a file. Raise ModelFileError if it is no document."""

    def refuse(what: str, remedy: str = "") -> ModelFileError:
        return ModelFileError(str(path), [Fault("the whole file", what, remedy)])

    try:
        with zipfile.ZipFile(BytesIO(read_bounded(path, MAX_BYTES))) as archive:
            entry = archive.getinfo("Document.xml")
            if entry.file_size > MAX_DOCUMENT:
                raise refuse(f"its Document.xml has {entry.file_size} bytes, more than {MAX_DOCUMENT}")
            with archive.open(entry) as file:
                data = file.read(MAX_DOCUMENT + 1)
        if len(data) > MAX_DOCUMENT:
            raise refuse(f"its Document.xml has more than {MAX_DOCUMENT} bytes")
        return parse_xml(data, elements=MAX_ELEMENTS)
    except (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
        raise refuse(f"it is no FreeCAD document: {error}"[:200], "Give the file that FreeCAD saves, .FCStd.") from None
    except UsageError as error:
        if isinstance(error, ModelFileError):
            raise
        raise refuse(f"its Document.xml: {str(error).rstrip('.')}") from None


def _linked_elsewhere(document: Document, item: Item, key: str, part: Item) -> Item | None:
    """Return the object of another document that a link shows; None, with a fault of the joint `item`, where that is not to be had."""
    element = part.properties.get("LinkedObject")
    file, name = _attribute(element, "XLink", "file"), _attribute(element, "XLink", "name")
    items = _items_beside(document, file)
    if items is not None and name in items:
        return items[name]
    what = (
        f"{key} leads into {part.label!r:.60}, a link to {name!r:.60} of {file!r:.120}, which is not in the folder of the document"
    )
    document.fault(item, what, "Put that file there, or join the link itself.")
    return None


def _items_beside(document: Document, file: str) -> dict[str, Item] | None:
    """Return the objects of another document in the folder; None if it is not there, outside, or no document."""
    if file not in document.others:
        document.others[file] = None
        try:
            path = (document.folder / file).resolve()
            if len(document.others) <= MAX_OTHERS and path.is_relative_to(document.folder.resolve()) and path.is_file():
                document.others[file] = _items(_opened(path))
        except (OSError, ValueError, RuntimeError, UsageError):
            return None
    return document.others[file]


def _items(top: Element) -> dict[str, Item]:
    """Return the objects with their properties."""
    items: dict[str, Item] = {}
    for objects in top.all("Objects"):
        for element in objects.all("Object"):
            name = element.attributes.get("name", "")
            items.setdefault(name, Item(name, element.attributes.get("type", ""), element.line))
    for data in top.all("ObjectData"):
        for element in data.all("Object"):
            item = items.get(element.attributes.get("name", ""))
            for properties in element.all("Properties") if item is not None else ():
                for each in properties.all("Property"):
                    if each.children:
                        item.properties.setdefault(each.attributes.get("name", ""), each)  # type: ignore[union-attr]
    return items


def _word(item: Item) -> str:
    return "joint" if "JointType" in item.properties or GROUNDED in item.properties else "object"


def _attribute(element: Element | None, tag: str, key: str = "value") -> str:
    """Return the attribute of the first child of this name."""
    child = None if element is None else element.first(tag)
    return "" if child is None else child.attributes.get(key, "")


def _float(document: Document, item: Item, key: str, default: float) -> float:
    """Return a property that is a number; a fault for one that is none."""
    element = item.properties.get(key)
    if element is None:
        return default
    text = _attribute(element, "Float") or _attribute(element, "Integer")
    try:
        value = number(text)
    except ValueError:
        value = float("nan")
    if not abs(value) < LARGEST:
        document.fault(item, f"its property {key} is {text[:40]!r}, not a finite number", "Give a number.")
        return default
    return value


def _true(item: Item, key: str, default: bool) -> bool:
    text = _attribute(item.properties.get(key), "Bool")
    return text.lower() == "true" if text else default


def _placement(document: Document, item: Item, key: str) -> Transform:
    """Return a placement: Px Py Pz [mm] and a quaternion Q0 Q1 Q2 Q3, the scalar last."""
    element = item.properties.get(key)
    inside = None if element is None else element.first("PropertyPlacement")
    if inside is None:
        return IDENTITY
    try:
        x = np.array([number(inside.attributes.get(k, "0")) for k in ("Px", "Py", "Pz")])
        q = np.array([number(inside.attributes.get(k, "0")) for k in ("Q3", "Q0", "Q1", "Q2")])
    except ValueError:
        x, q = np.full(3, np.nan), np.zeros(4)
    size = float(np.linalg.norm(q)) if np.all(np.abs(q) < LARGEST) else 0.0
    if not (np.all(np.abs(x) < LARGEST) and isfinite(size) and size > 1e-6):  # noqa: PLR2004  a direction in four dimensions
        document.fault(item, f"its property {key} is no placement", "Give finite numbers, and a quaternion that is not zero.")
        return IDENTITY
    return Transform(euler_parameters.rotation_matrix(q / size), MILLIMETRE * x)


def _own_place(document: Document, item: Item) -> Transform:
    """Return the placement that an object gives to what is in it; features of a PartDesign body have that of the body."""
    if item.type.startswith("PartDesign::") and item.type not in PLACED:
        return IDENTITY
    place = _placement(document, item, "Placement")
    if item.type != "App::Link" or not _true(item, "LinkTransform", False):
        return place
    linked = _linked(document, item)
    if linked is None:
        what = "it follows the placement of an object of another document (LinkTransform), which is not read"
        document.fault(item, what, "Set LinkTransform to false, or put the object into this document.")
        return place
    return place @ _placement(document, linked, "Placement")


def _linked(document: Document, item: Item) -> Item | None:
    """Return the object of this document that a link shows."""
    element = item.properties.get("LinkedObject")
    if element is None or _attribute(element, "XLink", "file"):
        return None
    return document.items.get(_attribute(element, "XLink", "name") or _attribute(element, "Link"))


def _read(document: Document, masses: dict[str, Any], density: float | None) -> None:
    """Read joints, with the parts that they connect, then grounds, motions and masses."""
    made = document.made
    parts: dict[str, str] = {}
    for item in document.items.values():
        if "JointType" in item.properties:
            _read_joint(document, parts, item)
    for item in document.items.values():
        element = item.properties.get(GROUNDED)
        name = _attribute(element, "Link") or _attribute(element, "XLink", "name")
        if element is not None and name in document.items:
            _ground(document, _part(document, parts, document.items[name]), item)
        elif "MotionType" in item.properties:
            _read_motion(document, item)
    for name in _group(document.assembly):
        child = document.items.get(name)
        if (
            child is not None
            and child.name not in parts
            and "Placement" in child.properties
            and child.type != "Assembly::JointGroup"
        ):
            made.ignored[f"part {child.label!r:.80}, which no joint connects"] += 1
    for name in set(masses) - set(parts.values()):
        known = did_you_mean(name, list(parts.values()))
        raise UsageError(f"masses: no joint connects a part {name!r:.80}{known}; there are {', '.join(map(repr, parts.values()))}.")
    _weigh(document, parts, masses, density)
    if not made.joints and not made.faults:
        document.fault(document.assembly, "it has no joints", "Join its parts in the Assembly workbench.")


def _group(item: Item) -> list[str]:
    """Return the names of the objects in a group."""
    element = item.properties.get("Group")
    links = None if element is None else element.first("LinkList")
    return [] if links is None else [link.attributes.get("value", "") for link in links.all("Link")]


def _part(document: Document, parts: dict[str, str], item: Item) -> str:
    """Return the name of a part, which is added with its placement at first sight."""
    if item.name not in parts:
        label = item.label
        while label in document.made.parts or not label:
            label += "_"
        parts[item.name] = label
        document.made.parts[label] = Part(label, item.line, _own_place(document, item))
    return parts[item.name]


def _path(document: Document, item: Item, key: str) -> tuple[list[Item], str] | None:
    """Return the objects on the path of a reference, from the part on, and the element at its end; None, with a fault, for a bad one."""
    element = item.properties.get(key)
    link = None if element is None else element.first("XLink")
    if link is None or not link.attributes.get("name"):
        document.fault(item, f"it has no {key}", "Give it both sides in FreeCAD, or delete it.")
        return None
    names, last = _names_on_path(document, link)
    chain: list[Item] = []
    items = document.items
    for name in names[:MAX_PATH]:
        if chain and _attribute(chain[-1].properties.get("LinkedObject"), "XLink", "file"):
            shown = _linked_elsewhere(document, item, key, chain[-1])
            if shown is None:
                return None
            if shown.type not in CONTAINERS:
                break  # what follows is a feature of a body, in its frame
            items = document.others[_attribute(chain[-1].properties["LinkedObject"], "XLink", "file")] or {}
        child = items.get(name)
        if child is None or link.attributes.get("file"):
            what = f"{key} leads to {name!r:.60}, which is not in this document"
            document.fault(item, what, "Put linked objects into the document, or join the link itself.")
            return None
        if child.type not in ("App::DocumentObjectGroup", "Assembly::JointGroup"):
            chain.append(child)
    if not chain:
        document.fault(item, f"{key} leads to no part of the assembly {document.assembly.label!r:.60}", "Choose a part of it.")
        return None
    return chain, last


def _names_on_path(document: Document, link: Element) -> tuple[list[str], str]:
    """Return the names of the objects of a reference below the assembly, and the element at its end, "" without one."""
    subs = [sub.attributes.get("value", "") for sub in link.all("Sub")] or [link.attributes.get("sub", "")]
    words = [link.attributes["name"], *subs[0].split(".")]
    names, last = [word for word in words[:-1] if word], words[-1]
    if last in document.items and len(words) <= 2:  # noqa: PLR2004  a reference to an object without an element
        names, last = [*names, last], ""
    if document.assembly.name in names:
        names = names[names.index(document.assembly.name) + 1 :]
    return names, last


def _marker(document: Document, parts: dict[str, str], item: Item, side: int) -> tuple[str, str] | None:
    """Add the marker of one side of a joint; return its path, and the element of the reference; None with a fault."""
    reached = _path(document, item, f"Reference{side}")
    if reached is None:
        return None
    chain, element = reached
    part = _part(document, parts, chain[0])
    pose = IDENTITY
    for inner in chain[1:]:
        pose = pose @ _own_place(document, inner)
    return _put_marker(document, part, item, side, pose @ _placement(document, item, f"Placement{side}")), element


def _put_marker(document: Document, part: str, item: Item, side: int, pose: Transform) -> str:
    """Add a marker, and return its path."""
    path = "/".join(("", document.made.name, *([part] if part else []), f"{item.name} {side}"))
    document.made.markers[path] = Marker(part, pose)
    return path


def _read_joint(document: Document, parts: dict[str, str], item: Item) -> None:
    """Read a joint; a fault for one that cannot be read."""
    made, kind = document.made, _enumerated(item, "JointType", tuple(SIMPLE))
    if not _true(item, "Activated", True) or _true(item, "Suppressed", False):
        made.ignored[f"joint {item.label!r:.80}, which is not active"] += 1
        return
    if kind not in SIMPLE:
        document.fault(item, f"its type is {kind!r:.40}{did_you_mean(kind, SIMPLE)}", f"Read are {', '.join(SIMPLE)}.")
        return
    if "Reference1" not in item.properties and "Object1" in item.properties:
        document.fault(item, "it is of a version before FreeCAD 1.0", "Open and save the file with a newer one.")
        return
    ends = [_marker(document, parts, item, side) for side in (1, 2)]
    if ends[0] is None or ends[1] is None:
        return
    (i, at_i), (j, at_j) = ends[0], ends[1]
    solver, distance = SIMPLE[kind], MILLIMETRE * _float(document, item, "Distance", 0.0)
    values: dict[str, float] = {}
    if kind == "Distance":
        if not (_is_point(at_i) and _is_point(at_j)):
            what = f"it is a distance of {at_i or 'an object'} and {at_j or 'an object'}, which depends on their shapes"
            document.fault(item, what, "Choose two vertices, or another type of joint.")
            return
        solver, values = ("SphericalJoint", {}) if distance < NO_ANGLE * MILLIMETRE else (solver, {"distanceIJ": distance})
    elif kind == "Angle":
        angle = abs(_float(document, item, "Angle" if "Angle" in item.properties else "Distance", 0.0)) * pi / 180.0
        solver, values = ("ParallelAxesJoint", {}) if angle % (2.0 * pi) < NO_ANGLE else (solver, {"theIzJz": angle})
    elif kind in ("Gears", "Belt"):
        second = MILLIMETRE * _float(document, item, "Distance2", 0.0)
        values = {"radiusI": distance, "radiusJ": -second if kind == "Belt" else second}
    elif kind == "Screw":
        values = {"pitch": distance}
    elif kind == "RackPinion":
        i, j = _rack_first(document, item, i, j)
        values = {"pitchRadius": distance}
    name = item.label
    while name in made.joints:
        name += "_"
    made.joints[name] = AsmtJoint(name, item.line, solver, (i, j), values)
    _read_limits(document, item, name, kind)


def _is_point(element: str) -> bool:
    """Return whether an element of a reference is a vertex, or the origin of an object."""
    return not element or element.startswith("Vertex")


def _rack_first(document: Document, item: Item, i: str, j: str) -> tuple[str, str]:
    """Return the markers of a rack and its pinion as the solver wants them: the rack with x along its slide, and with the pinion's z.

    FreeCAD's marker of the rack has z along the slide; the rack is the part that a Slider joins.
    """
    made = document.made
    sliders = {
        made.markers[path].part for joint in made.joints.values() if joint.type == "TranslationalJoint" for path in joint.markers
    }
    sliders |= _parts_of_sliders(document)
    if made.markers[i].part not in sliders and made.markers[j].part in sliders:
        i, j = j, i
    rack, pinion = made.markers[i], made.markers[j]
    T_rack, T_pinion = made.parts[rack.part].pose @ rack.pose, made.parts[pinion.part].pose @ pinion.pose
    z = T_pinion.A[:, 2]
    x = T_rack.A[:, 2] - (T_rack.A[:, 2] @ z) * z
    size = float(np.linalg.norm(x))
    if not size > 1e-6:  # noqa: PLR2004  the sine of an angle
        document.fault(item, "its rack slides along the axis of its pinion", "Choose an edge along the rack.")
        return i, j
    A = np.column_stack((x / size, np.cross(z, x / size), z))
    made.markers[i] = Marker(rack.part, Transform(made.parts[rack.part].pose.A.T @ A, rack.pose.r))
    return i, j


def _parts_of_sliders(document: Document) -> set[str]:
    """Return the labels of parts that a Slider joins, of joints that come later in the document, too."""
    labels = set()
    for item in document.items.values():
        if "JointType" in item.properties and _enumerated(item, "JointType", tuple(SIMPLE)) == "Slider":
            for key in ("Reference1", "Reference2"):
                element = item.properties.get(key)
                link = None if element is None else element.first("XLink")
                if link is not None:
                    words = [link.attributes.get("name", ""), *(sub.attributes.get("value", "") for sub in link.all("Sub"))]
                    names = ".".join([*words[:2], link.attributes.get("sub", "")]).split(".")
                    labels |= {document.items[name].label for name in names if name in document.items}
    return labels


def _enumerated(item: Item, key: str, names: tuple[str, ...]) -> str:
    """Return the text of an enumeration: its number in the list that is stored with it, or in that of FreeCAD."""
    element = item.properties[key]
    stored = element.first("CustomEnumList")
    words = [word.attributes.get("value", "") for word in stored.all("Enum")] if stored is not None else list(names)
    text = _attribute(element, "Integer")
    k = int(text) if text.isdigit() and len(text) < 9 else -1  # noqa: PLR2004  digits of a number of a list
    return words[k] if 0 <= k < len(words) else text


def _read_limits(document: Document, item: Item, name: str, kind: str) -> None:
    """Read the limits of a joint."""
    for key, solver, factor in (("Angle", "RotationLimit", "*pi/180"), ("Length", "TranslationLimit", "")):
        if kind not in {"Angle": ("Revolute", "Cylindrical"), "Length": ("Slider", "Cylindrical")}[key]:
            continue
        bounds = {
            side: _float(document, item, f"{key}{side}", 0.0) for side in ("Min", "Max") if _true(item, f"Enable{key}{side}", False)
        }
        if len(bounds) == 2 and bounds["Min"] > bounds["Max"]:  # noqa: PLR2004  FreeCAD takes them in their order
            bounds = {"Min": bounds["Max"], "Max": bounds["Min"]}
        for side, value in bounds.items():
            sign = "=>" if side == "Min" else "=<"
            document.made.limits.append(AsmtLimit(f"{name} {key}{side}", solver, name, sign, f"({value!r}){factor}"))


def _ground(document: Document, part: str, item: Item) -> None:
    """Fix a part to the ground."""
    pose = document.made.parts[part].pose
    paths = (_put_marker(document, "", item, 1, pose), _put_marker(document, part, item, 2, IDENTITY))
    name = item.label
    while name in document.made.joints:
        name += "_"
    document.made.joints[name] = AsmtJoint(name, item.line, "FixedJoint", paths, {})


def _read_motion(document: Document, item: Item) -> None:
    """Read a motion of a simulation."""
    made, kind = document.made, _enumerated(item, "MotionType", ("Angular", "Linear"))
    formula = _attribute(item.properties.get("Formula"), "String")
    joint = document.items.get(_attribute(item.properties.get("Joint"), "XLink", "name"))
    if not formula or joint is None:
        made.ignored[f"motion {item.label!r:.80}, which has no joint or no formula"] += 1
        return
    if "initialValue" in formula:
        what = "its formula has initialValue, which FreeCAD replaces by the value of the joint"
        document.fault(item, what, "Give the number.")
        return
    name = item.label
    while name in made.motions:
        name += "_"
    solver = "RotationalMotion" if kind == "Angular" else "TranslationalMotion"
    made.motions[name] = Motion(name, item.line, solver, joint.label, formula)


def _weigh(document: Document, parts: dict[str, str], masses: dict[str, Any], density: float | None) -> None:
    """Give the parts their masses: as given, as stored, by a density, or 1 kg as FreeCAD has it."""
    made = document.made
    for name, label in parts.items():
        item, part = document.items[name], made.parts[label]
        solid = _solid(document, item, ())
        wanted = masses.get(label)
        if isinstance(wanted, MassProperties):
            part.inertia = wanted
            continue
        mass = finite(wanted) if wanted is not None else None
        if wanted is not None and (mass is None or mass <= 0.0):
            raise UsageError(f"masses: {label!r:.80} is {wanted!r:.60}, must be MassProperties or a positive mass [kg].")
        stored = _stored(document, item, solid) if wanted is None else None
        if mass is not None and solid is not None:
            part.inertia = MassProperties(mass, solid.J_bar * (mass / solid.mass), solid.center)
        elif mass is not None:
            document.fault(item, "its mass is given alone, and its shape is not read", "Give MassProperties in masses=.")
        elif stored is not None:
            part.inertia = stored
        elif density is not None and solid is not None:
            part.inertia = MassProperties(density * solid.mass, density * solid.J_bar, solid.center)
            made.substituted.append(f"part {label!r}: {part.inertia.mass:.6g} kg by the density {density:g} kg/m3")
        else:
            part.inertia = MassProperties(UNIT.mass, UNIT.J_bar * MILLIMETRE**2)
            why = "its shape is not read" if density is not None else "the document has none"
            made.substituted.append(f"part {label!r}: 1 kg, as FreeCAD's solver has it: {why}; give masses=")


def _stored(document: Document, item: Item, solid: MassProperties | None) -> MassProperties | None:
    """Return the mass that an object keeps: Mass, CenterOfMass, and Ixx ... about it [kg], [mm], [kg mm2]; None without."""
    mass = _float(document, item, "Mass", 0.0)
    if not mass > 0.0:
        return None
    six = [_float(document, item, key, 0.0) for key in ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")]
    if not any(six):
        if solid is None:
            document.made.substituted.append(
                f"part {item.label!r}: it keeps a mass of {mass:g} kg and no moments of inertia; (1, 1, 1) kg mm2"
            )
            return MassProperties(mass, np.ones(3) * MILLIMETRE**2)
        return MassProperties(mass, solid.J_bar * (mass / solid.mass), solid.center)
    element = item.properties.get("CenterOfMass")
    vector = None if element is None else element.first("PropertyVector")
    at = [0.0 if vector is None else float(finite(_parsed(vector.attributes.get(f"value{k}", "0"))) or 0.0) for k in "XYZ"]
    J = MILLIMETRE**2 * np.array([[six[0], six[3], six[4]], [six[3], six[1], six[5]], [six[4], six[5], six[2]]])
    return MassProperties(mass, J, MILLIMETRE * np.array(at))


def _parsed(text: str) -> float:
    try:
        return number(text)
    except ValueError:
        return float("nan")


def _solid(document: Document, item: Item, above: tuple[str, ...]) -> MassProperties | None:
    """Return the solids of a part in its axes, of density 1; None if one of its shapes is not read."""
    if item.name in above or len(above) > MAX_PATH:
        return None
    primitive = _primitive(document, item)
    if primitive is not None:
        return primitive
    if item.type == "App::Link":
        linked = _linked(document, item)
        return None if linked is None else _solid(document, linked, (*above, item.name))
    solids = []
    for name in _group(item):
        child = document.items.get(name)
        if child is None or child.type.startswith(("App::Origin", "App::Line", "App::Plane")):
            continue
        inside = _solid(document, child, (*above, item.name))
        if inside is None:
            return None
        pose = _placement(document, child, "Placement")
        solids.append(inside.placed(pose.r + pose.A @ inside.center, pose.A))
    return combine(solids) if solids else None


def _primitive(document: Document, item: Item) -> MassProperties | None:
    """Return a box, cylinder, sphere or cone of density 1 in its own axes; None for another object, or for a part of one."""
    if item.type not in ("Part::Box", *FULL):
        return None
    whole = FULL.get(item.type, {})
    if any(abs(_float(document, item, key, value) - value) > 1e-9 for key, value in whole.items()):  # noqa: PLR2004  [degrees]
        return None
    size = {
        key: MILLIMETRE * _float(document, item, key, 0.0) for key in ("Length", "Width", "Height", "Radius", "Radius1", "Radius2")
    }
    try:
        if item.type == "Part::Box":
            edges = np.array((size["Length"], size["Width"], size["Height"]))
            return solids.box(edges, density=1.0).placed(0.5 * edges, np.eye(3))
        if item.type == "Part::Cylinder":
            made = solids.cylinder(size["Radius"], size["Height"], density=1.0)
            return made.placed(np.array((0.0, 0.0, 0.5 * size["Height"])), np.eye(3))
        if item.type == "Part::Sphere":
            return solids.sphere(size["Radius"], density=1.0)
        return _cone(size["Radius1"], size["Radius2"], size["Height"])
    except UsageError:
        return None


def _cone(a: float, b: float, h: float) -> MassProperties | None:
    """Return a frustum with the radii a at z = 0 and b at z = h, of density 1: integrals of r(z)^2, r(z)^4 by Gauss's rule, exact."""
    if min(a, b) < 0.0 or not h > 0.0 or not a + b > 0.0:
        return None
    s, w = np.polynomial.legendre.leggauss(4)
    z, w = 0.5 * h * (s + 1.0), 0.5 * h * w
    r = a + (b - a) * z / h
    area: Array = pi * r**2 * w
    mass = float(area.sum())
    c = float(area @ z) / mass
    axial = 0.5 * float(area @ r**2)
    across = 0.25 * float(area @ r**2) + float(area @ (z - c) ** 2)
    return MassProperties(mass, np.diag((across, across, axial)), np.array((0.0, 0.0, c)))
