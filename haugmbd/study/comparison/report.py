"""The report of a comparison: one HTML page that needs no network, with tables that sort and figures in SVG.

Every text is escaped; figures are images in the page itself, and a policy in its head forbids anything from elsewhere.
Braces of its script are doubled for `str.format`.
"""

from __future__ import annotations

import base64
import io
import platform
import sys
from collections.abc import Iterable, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from haugmbd.citations import cite
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file
from haugmbd.simulation.results.study_data import versions
from haugmbd.study.comparison.plots import ENERGY, UNITS, name_of, overlay_curves, plot_columns
from haugmbd.study.comparison.rows import ComparisonRows, number, text_of
from haugmbd.study.comparison.runs import CONTACT, COSTS, COUNTS, DRIFTS, LEVELS, error_columns, violation_columns

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ font: 15px/1.45 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 0 auto; padding: 1rem 1.5rem; max-width: 80rem; }}
h1 {{ font-size: 1.5rem; margin: .5rem 0 1rem; }}
h2 {{ font-size: 1.15rem; margin: 2rem 0 .5rem; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; }}
dt {{ font-weight: 600; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
.wide {{ overflow-x: auto; margin: .5rem 0 1rem; }}
table {{ border-collapse: collapse; font-size: 13px; }}
th, td {{ padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; vertical-align: top; }}
td {{ font-variant-numeric: tabular-nums; }}
td {{ white-space: nowrap; }}
th.text {{ text-align: left; }}
td.text {{ text-align: left; min-width: 6rem; max-width: 42rem; white-space: normal; overflow-wrap: break-word; }}
td.text:first-child {{ min-width: 15rem; max-width: 24rem; }}
th {{ border-bottom: 2px solid #555; vertical-align: bottom; }}
th:first-child, td:first-child {{ text-align: left; position: sticky; left: 0; background: #fff; }}
th button {{ all: unset; cursor: pointer; font-weight: 600; max-width: 9rem; }}
th button:focus-visible {{ outline: 2px solid #0072B2; }}
th[aria-sort=ascending] button::after {{ content: " \\25B2"; }}
th[aria-sort=descending] button::after {{ content: " \\25BC"; }}
td.below {{ background: #dcdcdc; }}
tbody tr:hover td {{ background: #f2f6fa; }}
img {{ display: block; max-width: 100%; height: auto; margin: 1rem 0; }}
@media print {{ .wide {{ overflow: visible; }} th:first-child, td:first-child {{ position: static; }} }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
<script>
"use strict";
const key = (row, column) => {{
  const cell = row.cells[column];
  return cell.dataset.value === undefined ? cell.textContent : Number(cell.dataset.value === "inf" ? Infinity : cell.dataset.value);
}};
const order = (a, b, sign) => {{
  if (typeof a === "string") return sign * a.localeCompare(b);
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return sign * (a < b ? -1 : a > b ? 1 : 0);
}};
for (const head of document.querySelectorAll("th")) {{
  head.querySelector("button").addEventListener("click", () => {{
    const up = head.getAttribute("aria-sort") !== "ascending", table = head.closest("table"), body = table.tBodies[0];
    for (const other of table.querySelectorAll("th")) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...body.rows].sort((a, b) => order(key(a, head.cellIndex), key(b, head.cellIndex), up ? 1 : -1));
    body.append(...rows);
  }});
}}
</script>
</body>
</html>
"""


GROUP_UNITS = {
    "positions": "m",
    "orientations": "rad",
    "velocities": "m/s",
    "multipliers": "J (lam times the unit of its row)",
    "reactions": "N",
    "energy": "J",
}
BELOW_NOTE = "Grey: below the uncertainty of the reference, which is not good enough for this value."


class TableCell(NamedTuple):
    """One entry of a table: its text, what it is sorted by, and whether it is below the uncertainty of the reference."""

    text: str
    key: float | str
    below: bool = False


def write_report(comparison: ComparisonRows, path: Path) -> Path:
    """Write the page to `path`; an old file is replaced when the new one is complete."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"path is {str(path)!r}: the report is an .html file.")
    page = report_of(comparison)
    with replace_file(path) as file:
        file.write(page.encode())
    return path


def report_of(comparison: ComparisonRows) -> str:
    """Return the page."""
    title = f"{comparison.model.name}: comparison of {counted(len(comparison.labels), 'method')}"
    summary = [_summary(comparison), _not_completed(comparison), _errors(comparison)]
    sections = [*summary, _figures(comparison), *_tables(comparison), *_words(comparison)]
    return PAGE.format(title=escape(title), body="\n".join(part for part in sections if part))


def _summary(comparison: ComparisonRows) -> str:
    """Return the facts of the comparison."""
    model, status = comparison.model, [cell.status for cell in comparison.cells.values()]
    ended = ", ".join(f"{status.count(each)} {each}" for each in dict.fromkeys(status))
    facts = [
        (
            "mechanism",
            f"{model.name}: {counted(model.nb, 'body', 'bodies')}, {counted(len(model.joints), 'joint')}, "
            f"{counted(model.nc, 'constraint row')}",
        ),
        ("time", f"{comparison.t_start:g} s to {comparison.t_end:g} s"),
        ("methods", ended),
        ("reference", "none" if comparison.reference is None else comparison.reference.name),
        ("budget", "none" if comparison.budget is None else f"{comparison.budget:g} s for each run"),
        ("versions", versions()),
        ("computer", f"Python {sys.version.split()[0]}, {platform.system()} {platform.machine()}"),
    ]
    return _list(facts) + "".join(f"<p>{escape(note)}</p>" for note in (comparison.reference.notes if comparison.reference else ()))


def counted(n: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{n} {one if n == 1 else many or one + 's'}"


def _not_completed(comparison: ComparisonRows) -> str:
    """Return the methods that did not reach the end, with the whole reason."""
    rows = [
        [TableCell(label, label), TableCell(cell.status, cell.status), TableCell(cell.reason, cell.reason)]
        for label, cell in comparison.cells.items()
        if not cell.completed
    ]
    return _section("Methods that did not reach the end", _table(["method", "status", "reason"], rows)) if rows else ""


def _figures(comparison: ComparisonRows) -> str:
    """Return the figures; a sentence where they cannot be drawn."""
    if not any(cell.result is not None and len(cell.result) for cell in comparison.cells.values()):
        return ""
    try:
        import matplotlib as mpl  # noqa: PLC0415  only where a report is written
        from matplotlib.figure import Figure  # noqa: PLC0415, F401
    except ImportError:
        return _section("Figures", "<p>There are no figures: matplotlib is not installed (pip install matplotlib).</p>")
    first = comparison.groups[0] if comparison.groups else ""
    error = f"error_{first}_max" if comparison.reference is not None and first else ""
    drawn: list[tuple[str, Any]] = []
    with mpl.rc_context({"svg.fonttype": "path", "svg.hashsalt": "haugmbd"}):
        if any(cell.completed for cell in comparison.cells.values()):
            columns = [(x, y) for x in ("cpu", "evaluations") for y in (error or "violation_position_max",)]
            drawn += [(f"{name_of(y)}, over {name_of(x)}", plot_columns(comparison, x, y, None)) for x, y in columns]
        levels = [*LEVELS, *([CONTACT] if comparison.model.contacts else []), ENERGY, *([first] if error else [])]
        drawn += [(f"{level} over time", overlay_curves(comparison, level, None)) for level in levels]
        images = [f'<img alt="{escape(name)}" src="{_svg(ax)}">' for name, ax in drawn]
    return _section("Figures", "\n".join(images))


def _svg(ax: Any) -> str:
    """Return the figure of the Axes as an address that contains it, and close it."""
    from matplotlib import pyplot  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415

    data, figure = io.BytesIO(), ax.get_figure()
    FigureCanvasSVG(figure)
    figure.get_layout_engine().execute(figure)
    figure.set_layout_engine(None)  # for a layout `savefig` draws everything twice
    figure.savefig(data, format="svg", metadata={"Date": None})
    pyplot.close(figure)
    return f"data:image/svg+xml;base64,{base64.b64encode(data.getvalue()).decode()}"


def _errors(comparison: ComparisonRows) -> str:
    """Return the table of errors, with the scales; "" without a reference."""
    if comparison.reference is None:
        return ""
    errors = error_columns(comparison.groups, dict.fromkeys(comparison.outputs))  # type: ignore[arg-type]
    note = f"<p>Relative to the scales below; orientations in rad. {BELOW_NOTE}</p>"
    return _section("Errors", note + _columns(comparison, errors) + _scales(comparison))


def _tables(comparison: ComparisonRows) -> list[str]:
    """Return the tables of violations, costs, and violations by joint."""
    parts = []
    note = (
        "<p>Of the largest row at each time, in the units of the rows; at acceleration level with the method's own accelerations. "
        "Drift of the energy in J.</p>"
    )
    parts.append(_section("Violations and drifts", note + _columns(comparison, (*violation_columns(comparison.model), *DRIFTS))))
    parts.append(_section("Costs", _columns(comparison, (*COUNTS, *COSTS))))
    joints = list(comparison.model.joints)
    for level in LEVELS if joints else ():
        rows = [
            [TableCell(label, label), *(_number(one.by_joint.get(level, {}).get(joint, np.nan)) for joint in joints)]
            for label, one in comparison.measures.items()
        ]
        parts.append(_section(f"Largest violation of each joint, {level} level", _table(["method", *joints], rows)))
    return parts


def _columns(comparison: ComparisonRows, names: Iterable[str]) -> str:
    """Return the table of some columns, one line for each method."""
    names, rows = tuple(names), []
    for label in comparison.labels:
        row, below = comparison.row(label), comparison.limited[label]
        rows.append([TableCell(label, label), *(_number(row[name], name, name in below) for name in names)])
    return _table(["method", *(head_of(name) for name in names)], rows)


def head_of(column: str) -> str:
    """Return the head of a column, in a table that says what it is about."""
    words = name_of(column) + UNITS.get(column, "")
    for prefix in ("error of ", "violation at "):
        words = words.removeprefix(prefix)
    return words.replace(" level", "")


def _scales(comparison: ComparisonRows) -> str:
    """Return the table of scales and uncertainties."""
    assert comparison.reference is not None
    reference, rows = comparison.reference, []
    for group, scale in reference.scales.items():
        end, largest = reference.uncertainty.get(group, (np.nan, np.nan))
        unit = GROUP_UNITS.get(group, "unit of the output")
        rows.append([TableCell(group, group), _number(scale), TableCell(unit, unit), _number(end), _number(largest)])
    return _table(["group", "scale", "unit", "uncertainty at the end", "largest uncertainty"], rows)


def _words(comparison: ComparisonRows) -> list[str]:
    """Return settings, references, warnings."""
    rows = [
        [TableCell(label, label), *(TableCell(text_of(part), text_of(part)) for part in comparison.parts[label])]
        for label in comparison.labels
    ]
    settings = _table(["method", "formulation", "integrator", "stabilization"], rows)
    known = [part for three in comparison.parts.values() for part in three if not isinstance(part, str)]  # a Result has their texts
    sources = dict(cite(*known).lines)
    notes = [(label, text) for label, texts in comparison.notes.items() for text in texts]
    found = [_section("Settings", settings), _section("Sources", _list(sources.items()))]
    if notes:
        rows = [[TableCell(label, label), TableCell(text, text)] for label, text in notes]
        found.insert(0, _section("Warnings and notes", _table(["method", "note"], rows)))
    return found


def _number(x: float, name: str = "", below: bool = False) -> TableCell:
    """Return the entry of a number; unknown numbers are sorted to the end."""
    return TableCell(number(x, name), float(x), below)


def _section(title: str, body: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{body}\n</section>"


def _list(facts: Iterable[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(text)}</dd>" for name, text in facts) + "</dl>"


def _table(head: Sequence[str], rows: Sequence[Sequence[TableCell]]) -> str:
    """Return a table whose heads sort it."""
    texts = [bool(rows) and isinstance(rows[0][k].key, str) for k in range(len(head))]
    heads = "".join(
        f'<th scope="col"{" class=text" if text else ""}><button type="button">{escape(name)}</button></th>'
        for name, text in zip(head, texts, strict=True)
    )
    lines = "\n".join(f"<tr>{''.join(map(_entry, row))}</tr>" for row in rows)
    return f'<div class="wide"><table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{lines}\n</tbody></table></div>'


def _entry(cell: TableCell) -> str:
    """Return one entry of a table."""
    if isinstance(cell.key, str):
        return f'<td class="text">{escape(cell.text)}</td>'
    kind = ' class="below"' if cell.below else ""
    return f'<td data-value="{cell.key!r}"{kind}>{escape(cell.text)}</td>'
