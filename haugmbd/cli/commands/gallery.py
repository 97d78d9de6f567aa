r"""The command `haugmbd gallery`: the ready-made mechanisms, as a table, or as a page with pictures.

Exit codes: 0 success, 2 the page cannot be written.
"""

from __future__ import annotations

import argparse
import base64
import html
import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from haugmbd.cli.answers import NOT_VALID, OK
from haugmbd.cli.model_argument import by_name
from haugmbd.errors import UsageError
from haugmbd.system.system import System
from haugmbd.text_table import first_line, table_lines
from haugmbd.viewer.animate import written
from haugmbd.viewer.mechanism import of_system
from haugmbd.viewer.still import save_drawing

WIDTH = 120
"""Of the table [characters]."""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Gallery of haugmbd</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.4 system-ui, sans-serif; margin: 1.5rem; }}
main {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(min(20rem, 100%), 1fr)); gap: 1.5rem; }}
figure {{ margin: 0; }} img {{ width: 100%; background: white; border-radius: 6px; }}
</style></head><body><h1>Gallery of haugmbd</h1>
<p>To see one move: <code>haugmbd demo NAME</code>.</p><main>
{figures}
</main></body></html>
"""

FIGURE = """<figure><img alt="{name}" src="data:image/png;base64,{data}">
<figcaption><b>{name}</b><br>{what}<br>{counts}</figcaption></figure>"""


def run_gallery(arguments: argparse.Namespace) -> int:
    """List the mechanisms, and write the page if it is asked for."""
    systems = {name: build() for name, build in by_name().items()}
    rows = [(name, title(build), *counts(systems[name])) for name, build in by_name().items()]
    if arguments.out is not None:
        try:
            written(page(rows, systems), arguments.out)
        except UsageError as error:
            print(f"haugmbd: {error}", file=sys.stderr)
            return NOT_VALID
    if arguments.json:
        keys = ("name", "what", "bodies", "rows", "degrees_of_freedom")
        print(json.dumps({"ok": True, "mechanisms": [dict(zip(keys, row, strict=True)) for row in rows]}))
        return OK
    head = ("name", "what", "bodies", "rows", "freedoms")
    print("\n".join(table_lines(head, [tuple(map(str, row)) for row in rows], right={2, 3, 4}, width=WIDTH, may_be_cut={1})))
    if arguments.out is not None:
        print(f"\npictures: {arguments.out}  (open it in a browser)")
    return OK


def title(build: Callable[[], System]) -> str:
    """Return the first sentence of the docstring of a builder."""
    text = first_line(build).removeprefix("Return ").rstrip(".")
    return f"{text[:1].upper()}{text[1:]}"


def counts(system: System) -> tuple[int, int, int]:
    """Return the numbers of bodies, of rows, and of degrees of freedom."""
    model = system.compile()
    return model.nb, model.nc, 6 * model.nb - model.redundancy.rank


def page(rows: list[tuple[str, str, int, int, int]], systems: dict[str, System]) -> str:
    """Return the page with the pictures, from the rows of the table."""
    figures = []
    with tempfile.TemporaryDirectory() as folder:
        for name, what, bodies, equations, freedoms in rows:
            drawing = save_drawing(of_system(systems[name]), Path(folder) / f"{name}.png")
            data = base64.b64encode(drawing.read_bytes()).decode()
            counted = f"{bodies} {'body' if bodies == 1 else 'bodies'}, {equations} rows"
            note = f"{counted}, {freedoms} degree{'s' * (freedoms != 1)} of freedom"
            figures.append(FIGURE.format(name=html.escape(name), what=html.escape(what), counts=note, data=data))
    return PAGE.format(figures="\n".join(figures))
