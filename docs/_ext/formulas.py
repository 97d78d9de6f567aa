r"""Formulas of docstrings, which are plain text, as TeX: sign by sign, so that nothing is changed, or not at all.

    Phi = a_i . d_ij - f(t)        becomes   \Phi = a_i \cdot d_{ij} - f(t)
    s_bar_j, omega_bar_dot, q''    become    \bar{s}_{j}, \dot{\bar{\omega}}, q''

A text that has a sign or a name that is not in the tables below is not translated: `tex` returns None, and the text is shown as it is.
A cross between two operands, as in `s_i x c`, is the cross product; elsewhere x is a name.
"""

from __future__ import annotations

import re
import textwrap

GREEK = {
    "lam": r"\lambda",
    "Lam": r"\Lambda",
    **{name: f"\\{name}" for name in "alpha beta gamma delta kappa mu nu omega phi pi rho sigma tau theta".split()},
    **{name: f"\\{name}" for name in "Omega Phi Pi Theta".split()},
}
"""Names of more than one letter; all letters are names, too."""
WORDS = {name: rf"\{name}" for name in "sin cos tan exp sinh cosh tanh cot ln max min".split()} | {
    name: rf"\operatorname{{{name}}}" for name in "atan2 sqrt diag sum round dexpinv".split()
}
"""Functions, and operators that stand before what they act on."""
SMALL = {"dr": "dr", "dq": "dq", "du": "du", "dpi_bar": r"d\bar{\pi}", "PiBar": r"\bar{\Pi}"}
"""Displacements, and names with accents of their own."""
SIGNS = {"<-": r"\leftarrow", "<=": r"\le", ">=": r"\ge", ".": r"\cdot", "...": r"\ldots", "~": None} | {
    sign: sign for sign in ("+", "-", "=", "/", ",", ";", "(", ")", "<", ">", "|")
}
PLUS = "+"
TOKEN = re.compile(
    r"\s*(?:(?P<number>\d+(?:\.\d+)?)|(?P<name>[A-Za-z][A-Za-z0-9]*)(?P<tail>(?:_(?:[A-Za-z0-9]+|\([^()]*\)))*)(?P<primes>'*)"
    r"|(?P<power>\^(?:-?[A-Z0-9a-z]\b|\+|\([^()]*\)))|(?P<sign><-|<=|>=|\.\.\.|[-+=/.,;()<>|]))"
)
WIDE = 48
"""A row with more signs is broken before its words: so many fit on a phone."""
ALIGNED = re.compile(r"(?<=\S)\s+(=|<-)\s+")
"""Signs that stand below each other, with blanks before them."""
ACCENTS = {"bar": r"\bar", "dot": r"\dot", "ddot": r"\ddot"}


def tex(text: str) -> str | None:
    """Return a formula in TeX; None if any part of it is not known for certain."""
    made, place, operand = [], 0, False
    text = text.strip()
    if text.endswith(".") and not text.endswith("..."):
        return None  # the end of a sentence
    while place < len(text):
        match = TOKEN.match(text, place)
        if match is None:
            return None
        place = match.end()
        if match["name"] == "x" and not match["tail"] and not match["primes"] and operand and _operand_follows(text, place):
            made.append(r"\times")
            operand = False
            continue
        one = _token(match)
        if one is None:
            return None
        made.append(one)
        operand = bool(match["number"] or match["name"] or match["power"] or match["sign"] in (")", "|"))
    return " ".join(made).replace(" ^", "^") if made and not text.startswith("^") else None


def _operand_follows(text: str, place: int) -> bool:
    return re.match(r" +[A-Za-z0-9(]", text[place:]) is not None


def _token(match: re.Match[str]) -> str | None:
    """Return one token in TeX."""
    if match["number"]:
        return match["number"]
    if match["sign"]:
        return SIGNS[match["sign"]]
    if match["power"]:
        inner = match["power"][1:]
        if inner == PLUS:
            return "^{+}"
        plain = inner.strip("()")
        power = plain if re.fullmatch(r"-?\w", plain) else tex(plain)
        return None if power is None else f"^{{{f'({power})' if inner != plain else power}}}"
    return _name(match["name"], match["tail"], match["primes"])


def _name(name: str, tail: str, primes: str) -> str | None:
    """Return a name with its accents, subscripts and primes."""
    parts = re.findall(r"_([A-Za-z0-9]+|\([^()]*\))", tail)
    if name == "dpi" and parts[:1] == ["bar"]:
        base, parts = SMALL["dpi_bar"], parts[1:]
    else:
        base = _base(name)
    if base is None:
        return None
    low: list[str] = []
    for part in parts:
        if part in ACCENTS and not low:
            base = f"{ACCENTS[part]}{{{base}}}"
        else:
            inner = _subscript(part)
            if inner is None:
                return None
            low.append(inner)
    return base + (f"_{{{','.join(low)}}}" if low else "") + primes


def _base(name: str) -> str | None:
    """Return a name without its tail."""
    if len(name) == 1:
        return name
    if re.fullmatch(r"[A-Za-z]\d", name):
        return f"{{{name[0]}_{{{name[1]}}}}}"
    return GREEK.get(name) or WORDS.get(name) or SMALL.get(name)


def _subscript(part: str) -> str | None:
    """Return a subscript: letters and digits, a Greek letter, or an expression in parentheses."""
    if part.startswith("("):
        inner = tex(part[1:-1])
        return None if inner is None else f"({inner})"
    if part in GREEK:
        return GREEK[part]
    return part if len(part) <= 2 else rf"\mathrm{{{part}}}"


def block(lines: list[str]) -> str | None:
    """Return lines of formulas as one display, a formula in a row; None if words or matrices prevail, which stay as they are.

    Parts of a line that stand two blanks apart are formulas, or words that belong to the formula before them.
    """
    if any(re.search(r"[\[\]\\{}$~#%&]|--", line) for line in lines):
        return None
    rows: list[str] = []
    formulas = 0
    for line in lines:
        begun, width = False, 0
        for part in filter(None, re.split(r"\s{2,}", ALIGNED.sub(r" \1 ", line).strip())):
            ending = part[-1] if part[-1] in ",;:" else ""
            made = tex(part.removesuffix(ending)) if not part.endswith("...") else tex(part)
            if made is None or not re.search(r"[=<>]|leftarrow", made):
                made = made if made is not None and re.search(r"[\\^_]", made) else rf"\text{{{part.removesuffix(ending)}}}"
                if begun and width + len(part) < WIDE:
                    width += len(part)
                    rows[-1] += rf" \quad {made}{_stop(ending)}"
                    continue
            else:
                formulas += 1
            rows.append(made + _stop(ending))
            begun, width = True, len(part)
    if formulas < 1 or formulas < sum(row.startswith(r"\text") for row in rows):
        return None
    return "\\begin{array}{l}\n" + " \\\\[4pt]\n".join(rows) + "\n\\end{array}"


def _stop(ending: str) -> str:
    return rf"\,\text{{{ending}}}" if ending == ":" else ending


def markdown(lines: list[str]) -> str:
    """Return lines of formulas for a page of Markdown, typeset or as they are."""
    if not lines:
        return ""
    made = block(lines)
    return f"$$\n{made}\n$$\n" if made else "```text\n" + textwrap.dedent("\n".join(lines)) + "\n```\n"
