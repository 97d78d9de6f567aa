"""Configuration of the documentation site: `make docs` builds it into build/docs, without a network."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import matplotlib

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
matplotlib.use("Agg")  # of this process; the kernels that run the labs show their figures
os.environ["MPLBACKEND"] = "module://matplotlib_inline.backend_inline"
os.environ["HAUGMBD_QUIET"] = "1"
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))  # kernels of the labs
(DOCS / "generated" / "static").mkdir(parents=True, exist_ok=True)
sys.path[:0] = [str(DOCS / "_ext"), str(ROOT)]

from haugmbd import __version__  # noqa: E402  the folders are set above

project, author = "haugmbd", "the haugmbd developers"
copyright = author
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "numpydoc",
    "docstrings",
    "site_pages",
    "executed_programs",
    "animations",
    "small_pictures",
]
root_doc = "index"
exclude_patterns = ["_ext", "_static", "conf.py", "generated/static", "generated/lab_files"]

# Markdown: formulas between dollars, headings as targets; plain pages are not notebooks, their programs run in `executed_programs`.
myst_enable_extensions = ["dollarmath", "amsmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "auto"
nb_execution_timeout = 300
nb_execution_raise_on_error = True
nb_execution_excludepatterns: list[str] = []
nb_merge_streams = True
suppress_warnings = ["ref.python"]  # an attribute such as `labels` that several classes have is linked to the first of them

autodoc_default_options = {"members": True, "undoc-members": False, "show-inheritance": True}
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
add_module_names = False
python_use_unqualified_type_names = True

html_theme = "furo"
html_title = f"haugmbd {__version__}"
html_static_path = ["_static", "generated/static"]
html_css_files = ["site.css"]
html_search_scorer = str(DOCS / "_static" / "search_scorer.js")
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
mathjax_path = "mathjax/tex-svg.js"
templates_path: list[str] = []
