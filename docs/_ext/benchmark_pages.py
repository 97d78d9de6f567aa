"""Diagrams of the page on benchmarks, drawn from the record that the page shows."""

from __future__ import annotations

import html
from pathlib import Path

from tests.benchmarks.page import DIAGRAMS, diagrams
from tests.benchmarks.recorded import RECORD, Recorded


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the part of the page with the diagrams, and write them."""
    made = diagrams(Recorded(RECORD), generated / "figures") if RECORD.exists() else []
    return {
        "benchmark_diagrams.inc": "\n\n".join(
            f"![{html.escape(title)}: error against CPU time](/generated/figures/{file})" for title, file in made
        )
    }


__all__ = ["DIAGRAMS", "pages"]
