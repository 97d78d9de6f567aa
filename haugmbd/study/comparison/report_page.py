"""The page of a report: its head, style and the script that sorts tables; braces of the script are doubled for `str.format`."""

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
