"""animate: a motion as one HTML file that plays anywhere, without a network.

One HTML file that needs nothing else: style, scene, numbers, three.js and the player, in this order.
No request leaves the page: its content security policy forbids all of them.
"""

from __future__ import annotations

import base64
import html
import json
import re
import zlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from haugmbd.contact.joint_stop import JointStop
from haugmbd.contact.two_body_limits import TWO_BODY_LIMITS
from haugmbd.errors import UsageError
from haugmbd.formats import PAGES
from haugmbd.simulation.results.chain_result import ReducedResult
from haugmbd.simulation.results.io.paths import path_of, unwritable
from haugmbd.simulation.results.result import Result
from haugmbd.viewer.frames import Frames, Seen, frames_of
from haugmbd.viewer.mechanism import Mechanism, of_model
from haugmbd.viewer.packing import MeshTable, Packer
from haugmbd.viewer.quantities import describe_quantities
from haugmbd.viewer.scene import describe, describe_bodies, motion, view
from haugmbd.viewer.shapes import shapes_of

SCRIPTS = ("data.js", "parts.js", "inset.js", "traces.js", "world.js", "curves.js", "flat.js", "player.js")
"""The player, in the order of their needs; each file is one idea."""

POLICY = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:"

SIMULATES = "default-src 'none'; script-src 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
"""Of a page that has an engine: WebAssembly of the page itself, and nothing from elsewhere."""

UNPACK = """(async () => {
  const bytes = Uint8Array.from(atob(document.getElementById("program").textContent), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  document.body.append(Object.assign(document.createElement("script"), { textContent: await new Response(stream).text() }));
})();
"""
"""Runs the program of a page that has it deflated."""

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
{engine}<script>/* three.js, MIT licence:
{licence}*/
{three}</script>
{program}
</body>
</html>
"""


def html_page(scene: dict[str, Any], numbers: str, simulates: tuple[Mapping[str, Any], str] | None = None) -> str:
    """Return the page that shows a scene.

    numbers: what the packer made of the arrays;  simulates: what a page with an engine reads besides, and the engine, see `interactive`
    """
    engine, scripts = "", tuple[str, ...](SCRIPTS)
    if simulates is not None:
        data = _in_script(json.dumps(simulates[0], allow_nan=False, separators=(",", ":")))
        engine = (
            f'<script type="application/json" id="live">{data}</script>\n'
            f'<script type="text/plain" id="engine">{simulates[1]}</script>\n'
        )
        scripts = (*SCRIPTS[:-1], "live.js", SCRIPTS[-1])
    return TEMPLATE.format(
        policy=POLICY if simulates is None else SIMULATES,
        engine=engine,
        title=html.escape(scene["name"]),
        style=_read("static", "page.css"),
        body=_read("static", "page.html"),
        scene=_in_script(json.dumps(scene, allow_nan=False, separators=(",", ":"))),
        numbers=numbers,
        licence=_read("bundle", "LICENSE.three"),
        three=_read("bundle", "three.min.js"),
        program=_program(scripts) if simulates is None else _packed_program(scripts),
    )


def _in_script(text: str) -> str:
    """Return JSON that cannot end the script element which contains it, whatever names are in it."""
    return text.replace("<", "\\u003c")


def _program(scripts: tuple[str, ...]) -> str:
    """Return the scripts of a page."""
    return '<script>\n"use strict";\n' + "\n".join(_read("static", name) for name in scripts) + "\n</script>"


@cache
def _packed_program(scripts: tuple[str, ...]) -> str:
    """Return the scripts of a page that simulates, deflated: a third of their size, and with the engine's class."""
    text = '"use strict";\n' + _engine() + "\n".join(_read("static", name) for name in scripts)
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")
    return f'<script type="text/plain" id="program">{packed}</script>\n<script>\n{UNPACK}</script>'


@cache
def _engine() -> str:
    """Return the engine's class for JavaScript."""
    text = (files("haugmbd.engine") / "engine.mjs").read_text(encoding="utf-8")
    return "const Mechanism = (() => {\n" + re.sub(r"^export ", "", text, flags=re.MULTILINE) + "\nreturn Mechanism;\n})();\n"


@cache
def _read(folder: str, name: str) -> str:
    """Return the text of a file of this package."""
    return (files("haugmbd.viewer") / folder / name).read_text(encoding="utf-8")


def animate(result: Seen, path: str | Path, *, frames: int | None = None, other: Seen | None = None) -> Path:
    """Write the motion as one HTML file that plays in every browser, without a network.

    Parameters
    ----------
    result : Result
        The motion, with its model.
    path : str or Path
        The file, .html.
    frames : int, optional
        Number of drawn instants, at equal steps; by default the stored states, up to the size limit of a page.
    other : Result, optional
        A second run of the same bodies, shown as a ghost.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    UsageError
        If `result` is not a result, frames is not valid, the second run has no body in common, the ending is not .html, or the
        file cannot be written.

    Warns
    -----
    UserWarning
        If states are not finite; they are left out.
    """
    text = animation(result, frames=frames, other=other)
    return written(text, path)


def animation(
    result: Seen,
    *,
    frames: int | None = None,
    other: Seen | None = None,
    simulates: tuple[Mapping[str, Any], str] | None = None,
) -> str:
    """Return the page of `animate` as text; simulates: see `html_page`."""
    seen, known = maximal(result)
    packer = Packer()
    drawn = frames_of(seen, frames)
    meshes = MeshTable(packer)
    mechanism = mechanism_of(seen)
    scene = describe(mechanism, drawn, packer, meshes)
    if seen._switched:
        scene |= switched_parts(scene, mechanism, drawn, seen)
    if simulates is None:
        scene["curves"] = describe_quantities(seen, drawn, packer, reactions=known)
        scene["notes"] = [*drawn.notes, *scene["curves"].pop("notes")]
    else:  # it computes its own curves, and its ghost is the run that it begins with
        scene |= {"curves": {"t": packer.add_exact(seen.t[[0, -1]])}, "notes": list(drawn.notes), "ghost": {"label": ""}}
    if other is not None:
        scene["ghost"] = _ghost(seen, maximal(other)[0], frames, scene["size"], packer, meshes)
    return html_page(scene, packer.text(), simulates)


def _ghost(result: Result, other: Result, frames: int | None, size: float, packer: Packer, meshes: MeshTable) -> dict[str, Any]:
    """Return the second run as the page reads it. Raise UsageError if it has no body of the first."""
    names = result.model.body_names[1:]
    if not set(names) & set(other.model.body_names[1:]):
        have = ", ".join(map(repr, other.model.body_names[1:]))
        raise UsageError(f"other has no body in common with this run: it has {have}, this one {', '.join(map(repr, names))}.")
    mechanism, drawn = mechanism_of(other), frames_of(other, frames)
    bodies = describe_bodies(mechanism, shapes_of(mechanism, size), meshes)
    label = ", ".join(
        re.sub(r", \w+=None", "", value) for key, value in other.settings.items() if value != result.settings.get(key)
    )
    return {"bodies": bodies, "motion": motion(drawn, packer), "label": label}


def mechanism_of(result: Result) -> Mechanism:
    """Return the mechanism of a result."""
    contacts = result.contacts.values()
    return of_model(result.model, [contact for contact in contacts if not isinstance(contact, (JointStop, *TWO_BODY_LIMITS))])


def switched_parts(scene: Mapping[str, Any], mechanism: Mechanism, frames: Frames, result: Result) -> dict[str, Any]:
    """Return joints and loads of a scene with the spans of time in which they are off; those that are off at the start stand in `late`.

    off: pairs [from, to) [s], to = None at the end of the run.  A part that grips at several poses is one part for each pose. The view
    is one of all of them.
    """
    pieces = [piece for piece in result.segments if len(piece)]
    starts, contacts = [float(piece.t[0]) for piece in pieces], set(result.contacts)
    drawn = {id(piece.model): of_model(piece.model) for piece in pieces}
    made: dict[str, Any] = {"late": {}}
    whole: dict[str, Any] = {}
    for kind in ("joints", "loads"):
        parts = {
            name: {json.dumps(part.data()): part for part in getattr(some, kind) if part.name not in contacts}
            for name, some in drawn.items()
        }
        own = [json.dumps(part) for part in scene[kind]]
        late = {key: part for some in parts.values() for key, part in some.items() if key not in set(own)}
        whole[kind] = (*getattr(mechanism, kind), *late.values())
        for place, keys in ((made, own), (made["late"], list(late))):
            off = [_spans(starts, [key not in parts[id(piece.model)] for piece in pieces]) for key in keys]
            place[kind] = [json.loads(key) | ({"off": spans} if spans else {}) for key, spans in zip(keys, off, strict=True)]
    size = scene["size"]
    return made | {"view": view(replace(mechanism, **whole), frames, size, shapes_of(mechanism, size))}


def _spans(starts: list[float], off: list[bool]) -> list[list[float | None]]:
    """Return the spans [from, to) in which a part is off, of the starts of segments and whether it is off in them."""
    spans: list[list[float | None]] = []
    for k, (t, now) in enumerate(zip(starts, off, strict=True)):
        if now and not (k and off[k - 1]):
            spans.append([t, None])
        elif not now and k and off[k - 1]:
            spans[-1][1] = t
    return spans


def maximal(result: Seen) -> tuple[Result, bool]:
    """Return the result in maximal coordinates, and whether its forces are known. Raise UsageError for another type.

    If a function tau moved the chain, the model in maximal coordinates does not have this force, and reactions are not shown.
    """
    if isinstance(result, ReducedResult):
        try:
            return result.maximal(), True
        except UsageError:
            return result.maximal(result.chain.to_system().compile()), False
    if not isinstance(result, Result):
        raise UsageError(f"{type(result).__name__} is not a result to draw: give what mbd.simulate(...) returned.")
    return result, True


def written(text: str, path: str | Path) -> Path:
    """Write a page to a file and return its path. Raise UsageError if this fails, or if the name is not that of a page."""
    where = path_of(path)
    if where.suffix.lower() not in PAGES:
        raise UsageError(
            f"{str(where)!r} does not end with .html: it is a page for a browser. film(...) writes .gif, .mp4 and .webm, to_gltf(...) .glb."
        )
    try:
        where.write_text(text, encoding="utf-8")
    except OSError as error:
        raise unwritable(where, error) from None
    return where
