"""The table of symbols: ours, and what each source writes instead."""

from __future__ import annotations

import re
from pathlib import Path

import formulas

from haugmbd.notation import NOTATION

HEAD = """# Symbols, and those of other sources

One symbol has one name in code and one meaning. The last column says what other sources write, and how to convert; data in other
conventions are converted where they enter the library. The table is that of `haugmbd.notation`, to which the tests hold the code.

| symbol | in code | shape | unit | meaning | other sources |
|---|---|---|---|---|---|
"""


def pages(root: Path, generated: Path) -> dict[str, str]:
    """Return the page."""
    lines = []
    for one in NOTATION:
        other = "; ".join(f"*{source}*: {text}" for source, text in one.clashes.items())
        cells = (symbol(one.symbol), ", ".join(f"`{name}`" for name in one.code), one.shape, one.unit, one.meaning, other)
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return {"notation.md": HEAD + "\n".join(lines) + "\n"}


def symbol(text: str) -> str:
    """Return a symbol, typeset: `J-bar` is an accent in texts; names in words stay words."""
    made = formulas.tex(re.sub(r"-(bar|dot)\b", r"_\1", text))
    return text if made is None or re.search(r"[a-z]{3,}", re.sub(r"\\[a-z]+", "", made)) else f"${made}$"
