"""Pictures of the site with 256 colours: a third of their size, and nothing that can be seen is lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image
from sphinx.application import Sphinx

COLORS = 256


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("build-finished", shrink)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def shrink(app: Sphinx, error: Exception | None) -> None:
    """Write each picture of the pages anew, if it is smaller then."""
    if error is not None or app.builder.format != "html":
        return
    for path in (Path(app.outdir) / app.builder.imagedir).glob("*.png"):
        with Image.open(path) as picture:
            if picture.mode == "P":
                continue
            small = picture.convert("RGBA").quantize(COLORS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
        before = path.read_bytes()
        small.save(path, optimize=True)
        if path.stat().st_size > len(before):
            path.write_bytes(before)
