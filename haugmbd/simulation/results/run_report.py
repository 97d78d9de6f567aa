"""A page about one run: how it ended, what its joints, drivers and loads carried at most, how far it drifted, and what happened when.

The page is one file that needs no network. The largest values are those of the stored states.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.simulation.results.study_data import facts_of_here

SHOWN = 100
"""Lines of a table on the page: what happened, and parts of a large mechanism."""
LEVELS = (("position", "m or rad"), ("velocity", "m/s or rad/s"), ("acceleration", "m/s2 or rad/s2"))
PLOTS = ("energy", "violation")
EFFORTS = ("force", "torque", "forces")
"""Quantities of loads that are forces."""
PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title><style>
body {{ font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 72em; padding: 0 1em; color: #111; background: #fff }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums }} th, td {{ padding: .2em .7em; border-bottom: 1px solid #ddd;
text-align: left; white-space: nowrap }} td:last-child {{ white-space: normal }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .2em 1em }} dt {{ color: #555 }}
dd {{ margin: 0; overflow-wrap: anywhere }} div {{ overflow-x: auto }} img {{ max-width: 100% }}
</style></head><body><h1>{title}</h1>
{body}
</body></html>
"""

Lines = list[tuple[str, ...]]


def write_report(result: Any, path: str | Path) -> Path:
    """Write the page, and return its path."""
    path = path_of(path)
    if path.suffix not in (".html", ".htm"):
        raise UsageError(f"report: path is {str(path)!r:.200}: a page ends with .html.")
    if not len(result):
        raise UsageError("report: the result has no states.")
    parts = [
        _facts(result),
        _list("Warnings", result.warnings),
        _table("What joints carry at most", ("joint", "force [N]", "at [s]", "torque [N m]", "at [s]", ""), _joints(result)),
        _table("Drivers", ("driver", "largest force or torque", "at [s]", "work [J]"), _drivers(result)),
        _table("Loads", ("load", "kind", "quantity", "largest", "at [s]", "work [J]"), _loads(result)),
        _table("Constraints and energy", ("quantity", "largest", "at [s]", "where"), _drifts(result)),
        _table("What happened", ("at [s]", "what"), [(f"{event.t:.9g}", event.name) for event in result.events]),
        _figures(result),
    ]
    page = PAGE.format(title=escape(result.names.model), body="\n".join(part for part in parts if part))
    with replace_file(path) as file:
        file.write(page.encode())
    return path


def _facts(result: Any) -> str:
    t = result.t
    facts = {
        "states": f"{len(t)}, from {t[0]:g} s to {t[-1]:g} s",
        "ended": result.message,
        **result.settings,
        "steps": f"{result.counters.steps}, {result.counters.evaluations} evaluations, {result.counters.cpu:.3g} s of CPU",
        **facts_of_here(),
    }
    return f"<dl>{''.join(f'<dt>{escape(name)}</dt><dd>{escape(str(text))}</dd>' for name, text in facts.items() if text)}</dl>"


def _list(title: str, texts: Iterable[str]) -> str:
    items = "".join(f"<li>{escape(str(text))}</li>" for text in texts)
    return f"<h2>{title}</h2><ul>{items}</ul>" if items else ""


def _table(title: str, head: tuple[str, ...], lines: Lines) -> str:
    if not lines:
        return ""
    heads = "".join(f"<th>{escape(text)}</th>" for text in head)
    rows = "".join("<tr>" + "".join(f"<td>{escape(text)}</td>" for text in line) + "</tr>" for line in lines[:SHOWN])
    more = f"<p>and {len(lines) - SHOWN} more</p>" if len(lines) > SHOWN else ""
    return f"<h2>{title}</h2><div><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>{more}"


def _largest(t: Any, values: Any) -> tuple[str, str]:
    """Return the largest size of a quantity over time, and its time; vectors by their lengths."""
    sizes = np.asarray(values, dtype=np.float64)
    sizes = np.linalg.norm(sizes, axis=-1) if sizes.ndim > 1 else np.abs(sizes)
    sizes = sizes.reshape(len(t), -1).max(axis=1, initial=0.0)
    if not np.isfinite(sizes).any():
        return "not finite", ""
    k = int(np.nanargmax(sizes))
    return f"{sizes[k]:.6g}", f"{t[k]:.6g}"


def _joints(result: Any) -> Lines:
    lines: Lines = []
    for name in result.names.joints[: SHOWN + 1]:
        reaction = result.reaction(name)
        note = "" if np.all(reaction.unique) else "not unique"
        lines.append((name, *_largest(reaction.t, reaction.force), *_largest(reaction.t, reaction.torque), note))
    return lines + [("",) * 6] * max(0, len(result.names.joints) - SHOWN - 1)


def _drivers(result: Any) -> Lines:
    lines: Lines = []
    for name in result.names.joints:
        try:
            driver = result.driver(name)
        except UsageError:  # not a driver
            continue
        for effort, unit in (("torque", "N m"), ("force", "N")):
            try:
                size, at = _largest(driver.t, getattr(driver, effort))
            except UsageError:  # it is driven by the other one
                continue
            lines.append((name, f"{size} {unit}", at, f"{driver.work[-1]:.6g}"))
    return lines


def _loads(result: Any) -> Lines:
    lines: Lines = []
    for entry in result.model.loads[: SHOWN + 1]:
        load = result.load(entry.load.name)
        for quantity in EFFORTS:
            if quantity in load.quantities:
                lines.append((load.load, load.kind, quantity, *_largest(load.t, getattr(load, quantity)), f"{load.work[-1]:.6g}"))
    return lines


def _drifts(result: Any) -> Lines:
    lines: Lines = []
    for level, unit in LEVELS:
        rows = np.abs(result.violation(level))
        if rows.size:
            where = int(np.nanargmax(np.nan_to_num(rows).max(axis=0)))
            lines.append((f"violation, {level} [{unit}]", *_largest(result.t, rows.max(axis=1)), result.names.rows[where]))
    return [*lines, ("drift of the energy [J]", *_largest(result.t, result.energy().drift), "")]


def _figures(result: Any) -> str:
    """Return the figures; a sentence where they cannot be drawn."""
    try:
        import matplotlib as mpl  # noqa: PLC0415  only where a report is written
        from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
        from matplotlib.figure import Figure  # noqa: PLC0415
    except ImportError:
        return "<p>There are no figures: matplotlib is not installed (pip install matplotlib).</p>"
    images = []
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "haugmbd"}):
        for name in PLOTS:
            figure, data = Figure(figsize=(8.0, 3.6), layout="constrained"), io.BytesIO()
            FigureCanvasSVG(figure)
            result.plot(name, ax=figure.add_subplot())
            figure.savefig(data, format="svg", metadata={"Date": None})
            images.append(f'<img alt="{name}" src="data:image/svg+xml;base64,{base64.b64encode(data.getvalue()).decode()}">')
    return "<h2>Figures</h2>" + "\n".join(images)
