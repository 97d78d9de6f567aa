"""The contents of the site, and the pages that are made from the code before it is read.

The pages in docs/ stay plain Markdown: the contents are added to the index when it is read, and links into the repository become links
to pages of the site.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import api_pages
import benchmark_pages
import error_pages
import force_pages
import gallery_pages
import joint_pages
import lab_pages
import mathjax_files
import notation_pages
import sign_figures
import validation_pages
from sphinx.application import Sphinx

CONTENTS = {
    "First steps": ("start", "concepts", "other-programs", "gallery", "generated/gallery_pictures", "labs", *lab_pages.PAGES),
    "Models": (
        "joints",
        "generated/joints",
        "couplings",
        "ropes",
        "assemblies",
        "poses-in-time",
        "rolling",
        "forces",
        "generated/forces",
        "controllers",
        "stepper",
        "shapes",
        "model-files",
        "urdf",
        "other-formats",
        "assembly",
        "mobility",
        "equations",
    ),
    "Methods": (
        "formulations",
        "integrators",
        "stiff-systems",
        "redundant-constraints",
        "impacts",
        "contact",
        "contact-geometry",
        "dry-friction",
        "changing-structure",
        "serial-chains",
    ),
    "Results": ("quantities", "animation", "kinematics", "equilibrium"),
    "Studies": ("comparing-methods", "violation-studies", "sweeps", "batch", "gpu", "design", "faults-and-checks"),
    "Reference": (
        "generated/api/index",
        "command-line",
        "errors",
        "generated/error_texts",
        "extending",
        "generated/contributing",
        "generated/security",
        "generated/notation",
        "validation",
        "compilation",
        "engine",
        "fmu",
        "c-interface",
        "benchmarks",
        "costs",
        "cite",
        "generated/changelog",
    ),
}
"""The pages of the site, by chapter."""

LINKS = {
    "../CONTRIBUTING.md": "generated/contributing.md",
    "../CHANGELOG.md": "generated/changelog.md",
    "../SECURITY.md": "generated/security.md",
    "../CITATION.cff": "cite.md",
}
"""Links from pages into the repository, and where they lead on the site."""

PARTS = {
    "<!-- the table of the site stands here -->": "validation_table.inc",
    benchmark_pages.DIAGRAMS: "benchmark_diagrams.inc",
    lab_pages.DOWNLOADS: "lab_downloads.inc",
}
"""Where pages get tables and diagrams that are made when the site is built."""

FIRST = "![A four-bar"
"""The picture of the first page, in whose place the mechanism moves on the site."""
PLAYER = """```{raw} html
<iframe class="gallery-player" src="_animations/gallery-four_bar.html" title="A four-bar in motion"></iframe>
```"""
POWER = re.compile(r"\| n\^(\d) \|")
"""The work of a method in the tables of the code."""

FIGURE = re.compile(r"<!-- figure (\w+): (.*?) -->")
"""Where a page gets a figure that is drawn when the site is built: its name, and what it shows."""

MAKERS: tuple[Callable[[Path, Path], dict[str, str]], ...] = (
    joint_pages.pages,
    force_pages.pages,
    gallery_pages.pages,
    error_pages.pages,
    notation_pages.pages,
    sign_figures.pages,
    benchmark_pages.pages,
    validation_pages.pages,
    api_pages.pages,
    lab_pages.pages,
)
"""Each returns pages by name, without docs/generated/ and with their endings."""


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the extension."""
    app.connect("builder-inited", make_pages)
    app.connect("source-read", complete, priority=400)
    return {"version": "1", "parallel_read_safe": True}


def make_pages(app: Sphinx) -> None:
    """Write the pages that are made from the code; those that have not changed stay as they are."""
    docs = Path(app.srcdir)
    generated = docs / "generated"
    mathjax_files.copy(generated / "static" / "mathjax")
    texts = {name.lower(): (docs.parent / name).read_text() for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")}
    made = {name: text.replace("](docs/", "](../").replace("](SECURITY.md)", "](security.md)") for name, text in texts.items()}
    for maker in MAKERS:
        made |= maker(docs.parent, generated)
    for name, text in made.items():
        write(generated / name, text)
    wanted = {generated / name for name in made}
    for page in pages_in(generated):
        if page not in wanted:
            page.unlink()


def pages_in(generated: Path) -> Iterator[Path]:
    """Yield the generated pages that are on disk."""
    for ending in ("md", "rst", "ipynb"):
        yield from (path for path in generated.rglob(f"*.{ending}") if lab_pages.FOLDER not in path.parts)


def write(path: Path, text: str) -> None:
    """Write a file if its text is another one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def complete(app: Sphinx, docname: str, source: list[str]) -> None:
    """Add the contents to the index, and lead links into the repository to pages of the site."""
    for link, page in LINKS.items():
        source[0] = re.sub(rf"\]\({re.escape(link)}(#[\w-]*)?\)", f"]({page})", source[0])
    for mark, file in PARTS.items():
        if mark in source[0]:
            source[0] = source[0].replace(mark, (Path(app.srcdir) / "generated" / file).read_text())
    source[0] = FIGURE.sub(r"![\2](/generated/figures/sign-\1.png)", source[0])
    source[0] = POWER.sub(r"| $n^\1$ |", source[0])
    if docname == app.config.root_doc:
        source[0] = re.sub(rf"^{re.escape(FIRST)}.*$", PLAYER, source[0], flags=re.MULTILINE)
        for caption, pages in CONTENTS.items():
            listed = "\n".join(pages)
            source[0] += f"\n```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n"
