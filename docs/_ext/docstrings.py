"""Docstrings are plain text with formulas such as |Phi| and -Phi_q^T lam: what reStructuredText would take for markup is escaped."""

from __future__ import annotations

import re
from typing import Any

from sphinx.application import Sphinx

from haugmbd import deprecated

LITERAL = re.compile(r"(``.*?``|`[^`]+`)")
MARKUP = re.compile(r"(?<!\\)(\||(?<=[ (,])\*\*(?=[ ,)]))")
OLD = {name for names in deprecated.ATTRIBUTES.values() for name in names}
"""Attributes that only warn of their new names."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension, behind numpydoc."""
    app.connect("autodoc-process-docstring", escape, priority=900)
    app.connect("autodoc-skip-member", skip_old)
    return {"version": "1", "parallel_read_safe": True}


def escape(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Escape bars, which would be substitutions, and powers, which would be bold."""
    for k, line in enumerate(lines):
        lines[k] = "".join(part if part.startswith("`") else MARKUP.sub(r"\\\g<0>", part) for part in LITERAL.split(line))


def skip_old(app: Sphinx, what: str, name: str, thing: Any, skip: bool, options: Any) -> bool | None:
    """Leave out old names of attributes."""
    return True if name in OLD else None
