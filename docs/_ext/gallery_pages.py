"""Pictures of the gallery: each mechanism at its modelled pose, with what its builder says of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

import haugmbd as mbd
from haugmbd.gallery import GALLERY
from haugmbd.viewer.drawing import Drawing
from haugmbd.viewer.frames import Frames
from haugmbd.viewer.mechanism import of_system

HEAD = """# Gallery: pictures

Every mechanism of the [gallery](../gallery.md) at the pose in which it is modelled, drawn by the library when this page
was built. To see one move: `haugmbd view NAME`, or `mbd.simulate(build(), t_end, rtol=1e-8).animate("NAME.html")`.

"""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the page, and write the pictures."""
    folder = generated / "figures"
    folder.mkdir(parents=True, exist_ok=True)
    return {"gallery_pictures.md": HEAD + "\n".join(section(build, folder) for build in GALLERY)}


def section(build: Callable[[], mbd.System], folder: Path) -> str:
    """Return the section of one mechanism, and write its picture."""
    system, name = build(), build.__name__
    draw(system, folder / f"gallery-{name}.png")
    text, module = (inspect.getdoc(thing) or "" for thing in (build, inspect.getmodule(build)))
    says = text.splitlines()[0].removeprefix("Return ")
    parts = re.search(r"\nReturns\n-+\nSystem\n(.*?)(?:\n\n[A-Z]\w+\n-+\n|\Z)", text, flags=re.DOTALL)
    source = re.search(r"Source: (.*?)(?:\n\n|\Z|  )", module, flags=re.DOTALL)
    model = system.compile()
    counts = f"{model.nb} {'body' if model.nb == 1 else 'bodies'}, {model.nc} rows, {model.redundancy.rank} of them independent."
    lines = [
        f"## {name}\n",
        f"{says[0].upper()}{says[1:]}\n",
        f"```{{image}} figures/gallery-{name}.png\n:alt: {name}\n:class: gallery-picture\n```\n",
        " ".join([counts, *(parts[1].split() if parts else [])]),
    ]
    if source:
        lines.append(f"\nSource: {' '.join(source[1].split()).rstrip('.')}.")
    return "\n".join(lines) + "\n"


def draw(system: mbd.System, path: Path) -> None:
    """Draw a mechanism at its modelled pose."""
    mechanism = of_system(system)
    drawing = Drawing(mechanism, Frames(np.zeros(1), mechanism.r[None], mechanism.p[None], np.ones(1, dtype=bool), ()))
    drawing.place(0)
    drawing.title.set_text("")
    drawing.figure.set_size_inches(6.4, 4.4)
    drawing.figure.savefig(path, dpi=75)
    drawing.close()
