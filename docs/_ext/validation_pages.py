"""The table of published problems: what the tests in tests/reference compared, with tolerance and result, from the report of their run."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from pathlib import Path
from typing import Any

REPORT = "build/published.xml"

MISSING = """
*The tests had not been run when this page was built, so that it has no results. `make docs` runs them.*
"""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the table, which the page `validation` includes."""
    path = Path(os.environ.get("HAUGMBD_PUBLISHED", root / REPORT))
    if not path.exists():
        return {"validation_table.inc": MISSING}
    found = recorded(path)
    if not found:
        raise ValueError(f"{path} has no recorded comparison: has tests/reference/conftest.py changed?")
    by_source: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for one in found:
        by_source[one["problem"]].append(one)
    lines = ["| problem | quantity | values | largest difference | tolerance | of the tolerance |", "|---|---|---|---|---|---|"]
    for problem, members in by_source.items():
        for one in members:
            part = one["difference"] / one["tolerance"] if one["tolerance"] else 0.0
            lines.append(
                f"| {problem} | {one['quantity']} | {one['values']} | {one['difference']:.1e} "
                f"| {one['tolerance']:.0e} | {100 * part:.2g} % |"
            )
            problem = ""
    head = f"{len(found)} comparisons of {len(by_source)} problems, {sum(one['values'] for one in found)} numbers in all.\n\n"
    return {"validation_table.inc": head + "\n".join(lines) + "\n"}


def recorded(path: Path) -> list[dict[str, Any]]:
    """Return the comparisons of a report in JUnit's form, in the order of the tests. Raise ValueError if a test has failed."""
    tree = ElementTree.parse(path)
    found = []
    for case in tree.iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            raise ValueError(f"{case.get('name')} has failed: the table would be wrong")
        found += [json.loads(one.get("value", "")) for one in case.iter("property") if one.get("name") == "published"]
    return found
