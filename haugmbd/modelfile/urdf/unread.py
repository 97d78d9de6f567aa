r"""What a URDF has inside its links, joints and loops that is not read: misspelt elements and attributes, and second ones.

A misspelt <origin> is no fault of XML, and would move a link to the place of its parent.
Source: the URDF specification of ROS (urdf/XML).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from haugmbd.modelfile.xml_reader import Element

POSE = ("xyz", "rpy")
KNOWN: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "robot": (("name", "version"), ()),
    "link": (("name", "type"), ("inertial", "visual")),
    "inertial": ((), ("origin", "mass", "inertia")),
    "visual": (("name",), ("origin", "geometry", "material")),
    "geometry": ((), ("box", "cylinder", "sphere", "mesh")),
    "material": (("name",), ("color", "texture")),
    "joint": (("name", "type"), ("parent", "child", "origin", "axis", "limit", "dynamics", "mimic")),
    "loop": (("name", "type"), ("predecessor", "successor", "axis")),
    "loop_joint": (("name", "type"), ("link1", "link2", "axis")),
    "predecessor": (("link",), ("origin",)),
    "successor": (("link",), ("origin",)),
    "link1": (("link", *POSE), ()),
    "link2": (("link", *POSE), ()),
    "parent": (("link",), ()),
    "child": (("link",), ()),
    "origin": (POSE, ()),
    "axis": (("xyz",), ()),
    "limit": (("lower", "upper", "effort", "velocity"), ()),
    "dynamics": (("damping", "friction"), ()),
    "mimic": (("joint", "multiplier", "offset"), ()),
    "mass": (("value",), ()),
    "inertia": (("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), ()),
    "box": (("size",), ()),
    "cylinder": (("radius", "length"), ()),
    "sphere": (("radius",), ()),
    "mesh": (("filename", "scale"), ()),
    "color": (("rgba",), ()),
    "texture": (("filename",), ()),
}
"""Attributes and children of every element that is read."""
SEVERAL = ("visual",)
"""Children that an element may have more than once."""


def unread_inside(part: Element, counted: Mapping[str, str]) -> Iterator[tuple[str, int]]:
    """Yield a text and the line of everything inside a part of a robot that is not read;  counted: elements that are listed already."""
    stack = [part]
    while stack:
        one = stack.pop()
        attributes, children = KNOWN[one.tag]
        for key in one.attributes:
            if key not in attributes and not key.startswith("xmlns"):
                yield f"attribute {key!r} of <{one.tag}>", one.line
        seen: set[str] = set()
        for child in one.children:
            if child.tag in counted or (one.tag == "geometry" and child.tag not in children):
                continue
            if child.tag not in children:
                yield f"<{child.tag}> in <{one.tag}>", child.line
            elif child.tag in seen and child.tag not in SEVERAL:
                yield f"a second <{child.tag}> in <{one.tag}>", child.line
            else:
                seen.add(child.tag)
                stack.append(child)
