"""The result of an export: the files, and what the format could not hold; numbers as text without rounding."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System

CONTROL = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
"""Characters of names that lines of text, or XML, cannot hold."""


@public_class
@dataclass(frozen=True)
class Export:
    """The outcome of an export.

    Attributes
    ----------
    files : tuple of Path
        The files.
    left_out : tuple of str
        Parts of the system, and facts, that the format cannot hold.
    """

    files: tuple[Path, ...]
    left_out: tuple[str, ...]

    def __str__(self) -> str:
        """Return the report, one fact a line."""
        return "\n".join([*(f"wrote {path}" for path in self.files), *(f"left out: {text}" for text in self.left_out)])


def checked(system: Any, path: Any, ending: str) -> Path:
    """Return the path. Raise UsageError unless it has the ending, ModelError for faults of the system."""
    if not isinstance(system, System):
        raise UsageError(f"system is {system!r:.60}, must be a System.")
    where = path_of(path)
    if where.suffix != ending:
        raise UsageError(f"path is {str(where)!r}, must end with {ending}.")
    system.validate()
    parts = [(f"body {body.name!r}", body.name) for body in system.bodies] + [(f"joint {j.name!r}", j.name) for j in system.joints]
    strange = [
        Fault(where_, f"its name has the character {x[0]!r}", "Rename it.")
        for where_, name in parts
        if (x := CONTROL.findall(name))
    ]
    if strange:
        raise ModelFileError(str(where), strange, "cannot hold the system")
    return where


def finished(path: Path, faults: list[Fault], leave_out: bool) -> list[str]:
    """Return the faults as texts of parts that are left out. Raise ModelFileError, with all of them, unless that is allowed."""
    if faults and not leave_out:
        raise ModelFileError(str(path), faults, "cannot hold the system")
    return [f"{fault.where}: {fault.what}" for fault in faults]


def write_text(path: Path, text: str) -> None:
    """Write a file; an old one is replaced when the new one is complete."""
    with replace_file(path) as file:
        file.write(text.encode())


def numbers(values: Any) -> str:
    """Return numbers as text, without rounding, separated by spaces."""
    return " ".join(repr(float(x) + 0.0) for x in np.ravel(values))


def attribute(text: str) -> str:
    """Return a text as the value of an XML attribute, quoted."""
    return quoteattr(text)


def element(tag: str, inside: Iterable[str] = (), **attributes: str) -> str:
    """Return an XML element; `inside` are elements."""
    head = "".join(f" {key.rstrip('_')}={attribute(value)}" for key, value in attributes.items())
    body = "".join(inside)
    return f"<{tag}{head}>{body}</{tag}>" if body else f"<{tag}{head}/>"


def indented(xml: str) -> str:
    """Return XML with one element a line."""
    lines, depth = [], 0
    for part in xml.replace("><", ">\0<").split("\0"):
        depth -= part.startswith("</")
        lines.append("  " * depth + part)
        depth += not part.startswith(("</", "<?", "<!")) and not part.endswith("/>") and "</" not in part
    return "\n".join(lines) + "\n"


def rpy(A: Array) -> Array:
    """Return roll, pitch, yaw with A = Rz(yaw) Ry(pitch) Rx(roll), (3,); three rotations one after the other, so that no digit is lost."""
    yaw = np.arctan2(A[1, 0], A[0, 0])
    c, s = np.cos(yaw), np.sin(yaw)
    B = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]]) @ A
    return np.array([np.arctan2(-B[1, 2], B[1, 1]), np.arctan2(-A[2, 0], B[0, 0]), yaw])
