"""Animations of the labs: each page of the player becomes a file of its own, and all of them share one three.js.

A notebook holds the whole player in the `srcdoc` of a frame. On the site that would be half a megabyte for each; the style, the player
and three.js are therefore moved into files that all animations load.
"""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from haugmbd.viewer import page as player

SRCDOC = re.compile(r'<iframe srcdoc="([^"]*)"')
FOLDER = "_animations"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("build-finished", split)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def split(app: Sphinx, error: Exception | None) -> None:
    """Move the animations of all pages into files."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    (out / FOLDER).mkdir(exist_ok=True)
    three = player._read("bundle", "three.min.js")
    (out / FOLDER / "three.min.js").write_text(f"/* three.js, MIT licence:\n{player._read('bundle', 'LICENSE.three')}*/\n{three}")
    for path in out.rglob("*.html"):
        if FOLDER in path.parts:
            continue
        text = path.read_text()
        if 'srcdoc="' in text:
            up = "../" * len(path.relative_to(out).parts[:-1])
            path.write_text(
                SRCDOC.sub(lambda match, up=up: f'<iframe loading="lazy" src="{up}{FOLDER}/{extracted(match[1], out)}"', text)
            )


def extracted(escaped: str, out: Path) -> str:
    """Write the page of a player beside the others, and return its file name."""
    text = html.unescape(escaped)
    three = player._read("bundle", "three.min.js")
    start = text.find("<script>/* three.js")
    end = text.find("</script>", start)
    if start >= 0 and three in text[start:end]:
        text = f'{text[:start]}<script src="three.min.js">{text[end:]}'
        text = text.replace("script-src 'unsafe-inline'", "script-src 'self' 'unsafe-inline' file:")
    name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.html"
    (out / FOLDER / name).write_text(text)
    return name
