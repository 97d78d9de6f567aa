r"""A still picture of a mechanism before it is simulated, with the findings of `mobility`; and the display in notebooks.

A joint that does not close is red, a locked loop is outlined in orange; faults and warnings are listed beside the picture.
"""

from __future__ import annotations

import html
import re
import tempfile
import webbrowser
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.analysis.mobility.mobility import mobility
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import HaugmbdError, UsageError
from haugmbd.model.inspection.given import no_model
from haugmbd.model.model import Model
from haugmbd.simulation.results.chain_result import ReducedResult
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.simulation.results.result import Result
from haugmbd.system.system import System
from haugmbd.viewer.animate import animation, html_page, written
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames, Seen
from haugmbd.viewer.mechanism import Mechanism, of_model, of_system
from haugmbd.viewer.packing import MeshTable, Packer
from haugmbd.viewer.scene import describe

PNG, INCHES, DPI = ".png", (6.4, 4.4), 75
"""Ending and size of a drawing."""
HEIGHT = 460
"""Height of a picture in a notebook [pixels]."""


@public_class
@dataclass(frozen=True, eq=False, repr=False)
class Picture:
    """A page with a still picture of a mechanism. Notebooks show it.

    Attributes
    ----------
    html : str
        The page.
    title : str
        Name of the system.
    table : str
        Bodies and joints, as HTML.
    notes : tuple of str
        Faults, and probable mistakes.
    """

    html: str
    title: str
    table: str
    notes: tuple[str, ...]
    _mechanism: Mechanism

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, or the drawing alone to a .png, and return its path. Raise UsageError if it cannot be written."""
        where = path_of(path)
        return save_drawing(self._mechanism, where) if where.suffix.lower() == PNG else written(self.html, where)

    def open(self) -> Path:
        """Write the page to a temporary file, open it in a browser, and return its path."""
        path = self.save(Path(tempfile.mkdtemp(prefix="haugmbd-")) / "picture.html")
        webbrowser.open(path.as_uri())
        return path

    def _repr_html_(self) -> str:
        return framed(self.html, self.table)

    def __repr__(self) -> str:
        return f"Picture({self.title!r}{f', {len(self.notes)} notes' if self.notes else ''})"


@check_keywords
def picture(system: System | Model) -> Picture:
    """Return a still picture of a system or model at its modelled pose.

    Parameters
    ----------
    system : System or Model
        The system; it may have faults.

    Returns
    -------
    Picture
        The page; `save` writes it, and `open` opens it in a browser.

    Raises
    ------
    UsageError
        If `system` is of another type.
    """
    if isinstance(system, System):
        mechanism = of_system(system)
    elif isinstance(system, Model):
        mechanism = of_model(system, system.contacts)
    else:
        if callable(getattr(system, "to_system", None)):
            raise no_model(system, "picture")
        raise UsageError(f"{type(system).__name__} cannot be pictured: give a System or a compiled Model, or result.animate(path).")
    marks, outlines, notes = findings(system)
    packer = Packer()
    still = Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ())
    scene = describe(mechanism, still, packer, MeshTable(packer))
    scene["curves"] = {
        "t": packer.add_exact(np.zeros(1)),
        "unique": [[True, True]] * len(mechanism.joints),
        "coordinates": [],
        "loads": {},
        "sensors": [],
    }
    scene["notes"] = list(notes)
    drawn = {joint.name for joint in mechanism.joints if joint.placed}
    scene["outlines"] = [names for names in ([n for n in loop if n in drawn] for loop in outlines) if len(names) > 2]
    for joint in scene["joints"]:
        joint.update(marks.get(joint["name"], {}))
    return Picture(html_page(scene, packer.text()), mechanism.name, parts_table(mechanism), notes, mechanism)


def save_drawing(mechanism: Mechanism, path: Path) -> Path:
    """Draw a mechanism at its modelled pose with matplotlib, write it, and return the path. Raise UsageError if that is not possible."""
    drawing = Drawing(mechanism, Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ()))
    drawing.place(0)
    drawing.title.set_text("")
    drawing.figure.set_size_inches(*INCHES)
    try:
        drawing.figure.savefig(path, dpi=DPI)
    except OSError as error:
        raise unwritable(path, error) from None
    finally:
        drawing.close()
    return path


Findings = tuple[dict[str, dict[str, str]], list[tuple[str, ...]], tuple[str, ...]]


def findings(system: System | Model) -> Findings:
    """Return the findings of `mobility`: marks of joints, by name; the joints of locked loops, in their order; and sentences."""
    try:
        report = mobility(system)
    except HaugmbdError as error:
        return {}, [], tuple(str(error).splitlines()[:6])
    marks: dict[str, dict[str, str]] = {}
    for loop in report.locked:
        marks.update({name: {"mark": "locked", "said": f"in a locked loop: {loop.what}"} for name in loop.joints})
    for fault in report.faults:
        named = re.match(r"joint '(.*?)'(,|$)", fault.where)
        if named:
            marks[named[1]] = {"mark": "fault", "said": fault.what}
    sentences = (*map(str, report.faults), *map(str, report.locked), *map(str, report.warnings))
    return (
        marks,
        [loop.joints for loop in report.locked],
        tuple(f"{text[:300]}" for text in sentences[:6]) + ((f"... and {len(sentences) - 6} more",) if len(sentences) > 6 else ()),
    )


def parts_table(mechanism: Mechanism) -> str:
    """Return bodies and joints as an HTML table."""
    names = mechanism.bodies
    bodies = [(name, "body" if k else "ground", f"{mechanism.mass[k]:.6g} kg" if k else "") for k, name in enumerate(names)]
    joints = [(joint.name, joint.kind, f"{names[joint.i]} – {names[joint.j]}") for joint in mechanism.joints]
    loads = [(load.name, load.kind, " – ".join(dict.fromkeys((names[load.i], names[load.j])))) for load in mechanism.loads]
    most = 40
    rows = [*bodies, *joints, *loads]
    lines = ["<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows[:most]]
    if len(rows) > most:
        lines.append(f"<tr><td colspan='3'>... and {len(rows) - most} more</td></tr>")
    return f"<table><thead><tr><th>name</th><th>kind</th><th></th></tr></thead><tbody>{''.join(lines)}</tbody></table>"


def framed(page: str, table: str) -> str:
    """Return a page in a frame with a table beside it, for notebooks."""
    source = html.escape(page, quote=True)
    frame = f'<iframe srcdoc="{source}" style="width:100%;height:{HEIGHT}px;border:0;border-radius:8px" allowfullscreen></iframe>'
    return (
        '<div style="display:flex;flex-wrap:wrap;gap:12px;align-items:flex-start">'
        f'<div style="flex:3 1 480px;min-width:280px">{frame}</div>'
        f'<div style="flex:1 1 200px;max-height:{HEIGHT}px;overflow:auto;font-size:13px">{table}</div></div>'
    )


def notebook(shown: Any) -> str:
    """Return the HTML of a System, a Model, or a result for notebooks; the text of the error if it cannot be drawn."""
    try:
        if isinstance(shown, System | Model):
            return picture(shown)._repr_html_()
        if isinstance(shown, Result):
            return _motion(shown)
    except HaugmbdError as error:
        return f"<pre>{html.escape(repr(shown))}\n{html.escape(str(error))}</pre>"
    raise UsageError(f"{type(shown).__name__} is neither a System, a Model nor a result.")


def _motion(result: Seen) -> str:
    """Return the page of a result, with its parts."""
    model = result.chain.to_system().compile() if isinstance(result, ReducedResult) else result.model
    return framed(animation(result), parts_table(of_model(model)))
