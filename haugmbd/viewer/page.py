r"""One HTML file that needs nothing else: style, scene, numbers, three.js and the player, in this order.

No request leaves the page: its content security policy forbids all of them.
"""

from __future__ import annotations

import html
import json
from functools import cache
from importlib.resources import files
from typing import Any

SCRIPTS = ("data.js", "parts.js", "inset.js", "traces.js", "world.js", "curves.js", "flat.js", "player.js")
"""The player, in the order of their needs; each file is one idea."""

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

TEMPLATE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="generator" content="haugmbd">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>
{style}
</style>
</head>
<body>
{body}
<script type="application/json" id="scene">{scene}</script>
<script type="text/plain" id="numbers">{numbers}</script>
<script>/* three.js, MIT licence:
{licence}*/
{three}</script>
<script>
"use strict";
{scripts}
</script>
</body>
</html>
"""


def html_page(scene: dict[str, Any], numbers: str) -> str:
    """Return the page that shows a scene; numbers: what the packer made of the arrays."""
    return TEMPLATE.format(
        policy=POLICY,
        title=html.escape(scene["name"]),
        style=_read("static", "page.css"),
        body=_read("static", "page.html"),
        scene=_in_script(json.dumps(scene, allow_nan=False, separators=(",", ":"))),
        numbers=numbers,
        licence=_read("bundle", "LICENSE.three"),
        three=_read("bundle", "three.min.js"),
        scripts="\n".join(_read("static", name) for name in SCRIPTS),
    )


def _in_script(text: str) -> str:
    """Return JSON that cannot end the script element which contains it, whatever names are in it."""
    return text.replace("<", "\\u003c")


@cache
def _read(folder: str, name: str) -> str:
    """Return the text of a file of this package."""
    return (files("haugmbd.viewer") / folder / name).read_text(encoding="utf-8")
