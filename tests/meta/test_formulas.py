"""Formulas of docstrings on the site: TeX has the same signs in the same order, or a text is not translated."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SPEC = importlib.util.spec_from_file_location("formulas", ROOT / "docs" / "_ext" / "formulas.py")
formulas = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(formulas)

BACK = {
    r"\\cdot": ".",
    r"\\times": "x",
    r"\\ldots": "...",
    r"\\leftarrow": "<-",
    r"\\le\b": "<=",
    r"\\ge\b": ">=",
    r"\\lambda": "lam",
    r"\\Lambda": "Lam",
    r"\\bar\{\\Pi\}": "PiBar",
    r"\\operatorname\{(\w+)\}": r"\1",
    r"\\mathrm\{(\w+)\}": r"\1",
}
"""What a macro was, beside those that are called as in the text."""


def text_of(made: str) -> str:
    """The signs of a formula in TeX as plain text, without blanks, underscores and braces; accents stand behind their letters."""
    for macro, sign in BACK.items():
        made = re.sub(macro, sign, made)
    for pattern, letters in ((r"\\(bar|dot|ddot)\{([^{}]*)\}", r"\2\1"), (r"\{([^{}]*)\}", r"\1")):
        for _ in range(3):  # the innermost first
            made = re.sub(pattern, letters, made)
    return re.sub(r"[\\_ ,]", "", made)


def heads() -> list[str]:
    """The indented parts of the heads of all files, which stand two blanks apart."""
    parts = []
    for path in sorted((ROOT / "haugmbd").rglob("*.py")) + sorted((ROOT / "joints").rglob("*.py")):
        text = path.read_text()
        if text.startswith(('"""', 'r"""')):
            head = ast.get_docstring(ast.parse(text[: text.index('"""', 5) + 3])) or ""
            lines = [line.strip() for line in head.splitlines() if line.startswith("    ")]
            parts += [part for line in lines for part in re.split(r"\s{2,}", line)]
    return parts


def test_a_formula_has_the_same_signs_as_the_text():
    translated = [(part, made) for part in heads() if (made := formulas.tex(part))]
    assert len(translated) > 600
    for part, made in translated:
        assert text_of(made) == re.sub(r"[\s_,]", "", re.sub(r"\^\(([-+]?\w)\)", r"^\1", part)), (part, made)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("Phi = a_i . d_ij - f(t)", r"\Phi = a_{i} \cdot d_{ij} - f ( t )"),
        ("PiBar_i = -A_i^T (s_i x c)", r"\bar{\Pi}_{i} = - A_{i}^{T} ( s_{i} \times c )"),
        ("omega_bar_dot", r"\dot{\bar{\omega}}"),
        ("k x + 4 x^2 = u_(n+1)", r"k x + 4 x^{2} = u_{(n + 1)}"),
    ],
)
def test_formulas_are_typeset(text, made):
    assert formulas.tex(text) == made


@pytest.mark.parametrize("text", ["the distance of both", "x = 1.", "", "a @ b", "u = [1 2]", "^2", "e = speed"])
def test_what_is_not_known_is_not_translated(text):
    assert formulas.tex(text) is None


def test_a_block_of_words_or_matrices_stays_as_it_is():
    assert formulas.block(["[ M  Phi_q^T ] [ u ] = [ b_u ]"]) is None
    assert formulas.block(["edges along x, y, z of its own axes", "base at the lower end"]) is None
    made = formulas.block(["f = k (l - l0)        tension is positive:  f on body i", "l = 1"])
    assert made.count(r"\\") == 1
    assert r"\text{tension is positive}" in made


def test_equations_that_stand_below_each_other_are_not_broken():
    made = formulas.block(["Phi   = a_i . a_j", "gamma = 0", "u     <- u + du"])
    assert made.splitlines()[1:-1] == [r"\Phi = a_{i} \cdot a_{j} \\[4pt]", r"\gamma = 0 \\[4pt]", r"u \leftarrow u + du"]
