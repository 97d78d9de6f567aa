"""Animations of labs and of the gallery: each page of the player becomes a file of its own, and all of them share the player's files.

A notebook holds the whole player in the `srcdoc` of a frame. On the site that would be 0.7 MB for each; style, player and three.js are
therefore moved into files that all animations load.
"""

from __future__ import annotations

import hashlib
import html
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from haugmbd.viewer.animate import SCRIPTS, _read

SRCDOC = re.compile(r'<iframe srcdoc="([^"]*)"')
FOLDER = "_animations"
STYLE, THREE, PLAYER = "page.css", "three.min.js", "player.js"


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("build-finished", split)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def split(app: Sphinx, error: Exception | None) -> None:
    """Move the animations of all pages into files."""
    if error is not None or app.builder.format != "html":
        return
    out = Path(app.outdir)
    folder = out / FOLDER
    folder.mkdir(exist_ok=True)
    for name, text in shared_files().items():
        (folder / name).write_text(text)
    for path in (Path(app.srcdir) / "generated" / "animations").glob("*.html"):
        (folder / path.name).write_text(shortened(path.read_text()))
    for path in out.rglob("*.html"):
        if FOLDER in path.parts:
            continue
        text = path.read_text()
        if 'srcdoc="' in text:
            up = "../" * len(path.relative_to(out).parts[:-1])
            path.write_text(
                SRCDOC.sub(lambda match, up=up: f'<iframe loading="lazy" src="{up}{FOLDER}/{extracted(match[1], folder)}"', text)
            )


def shared_files() -> dict[str, str]:
    """Return the files of the player that all animations load."""
    licence = _read("bundle", "LICENSE.three")
    scripts = "\n".join(_read("static", name) for name in SCRIPTS)
    return {
        STYLE: _read("static", "page.css"),
        THREE: f"/* three.js, MIT licence:\n{licence}*/\n{_read('bundle', 'three.min.js')}",
        PLAYER: f'"use strict";\n{scripts}\n',
    }


def extracted(escaped: str, folder: Path) -> str:
    """Write the page of a player beside the others, and return its file name."""
    text = shortened(html.unescape(escaped))
    name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.html"
    (folder / name).write_text(text)
    return name


def shortened(text: str) -> str:
    """Return the page of a player that loads the shared files in place of its own copies. Raise ValueError if it has other ones."""
    files = shared_files()
    for opening, name, closing, link in (
        ("<style>\n", STYLE, "\n</style>", f'<link rel="stylesheet" href="{STYLE}">'),
        ("<script>", THREE, "</script>", f'<script src="{THREE}"></script>'),
        ("<script>\n", PLAYER, "</script>", f'<script src="{PLAYER}"></script>'),
    ):
        whole = f"{opening}{files[name]}{closing}"
        if text.count(whole) != 1:
            raise ValueError(
                f"the page of an animation does not hold {name} as the viewer writes it: has haugmbd/viewer/animate.py changed?"
            )
        text = text.replace(whole, link)
    for kind in ("script-src", "style-src"):
        text = text.replace(f"{kind} 'unsafe-inline'", f"{kind} 'self' 'unsafe-inline' file:")
    return text
