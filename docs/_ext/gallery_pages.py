"""Pictures of the gallery: each mechanism at its modelled pose, with what its builder says of it."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from pathlib import Path

import haugmbd as mbd
from haugmbd.gallery import GALLERY

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
    mbd.picture(system).save(folder / f"gallery-{name}.png")
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
