r"""The equations of a model as a page and as TeX: joint by joint, each row with its formula and its number at the modelled pose.

The page is one file with MathML, which browsers show by themselves: no script, no font and no network. The TeX file needs amsmath only.
Formulas of TeX become MathML by a parser of the part of TeX that these equations use, and of nothing else.
row = { atom [ _ atom ] [ ^ atom ] }        atom = letter | number | sign | { row } | \command ...
"""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from haugmbd.equations.derivation import gamma_tex, gradient_tex
from haugmbd.equations.rows import Row
from haugmbd.errors import UsageError
from haugmbd.simulation.results.io.atomic import replace_file

TOKEN = re.compile(
    r"\s+|\\begin\{(?P<begin>[a-z]+)\}|\\end\{(?P<end>[a-z]+)\}|\\(?P<command>[A-Za-z]+|[,;:!\\{}|])|(?P<number>\d+(?:\.\d+)?)|(?P<sign>.)"
)
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "theta": "θ", "lambda": "λ", "mu": "μ", "nu": "ν", "pi": "π", "varphi": "φ",
    "phi": "φ", "omega": "ω", "Phi": "Φ", "Pi": "Π", "partial": "∂", "ell": "ℓ", "rho": "ρ", "tau": "τ",
}  # fmt: skip
SIGNS = {
    "cdot": "·",
    "times": "×",
    "sum": "∑",
    "ldots": "…",
    "neq": "≠",
    "leq": "≤",
    "geq": "≥",
    "|": "‖",
    "{": "{",
    "}": "}",
    "in": "∈",
    "to": "→",
}
SPACES = {"quad": "1em", ",": "0.17em", ";": "0.28em", ":": "0.22em", "!": "0em", "qquad": "2em"}
WORDS = ("sin", "cos", "tan", "log", "exp", "asin", "acos", "atan", "sinh", "cosh", "tanh", "arcsin", "arccos", "arctan")
ACCENTS = {"bar": "¯", "dot": "˙", "ddot": "¨", "tilde": "~", "hat": "^", "overline": "¯", "dddot": "⃛"}


class _Reader:
    """Reads the tokens of a formula."""

    def __init__(self, tex: str) -> None:
        self.tex = tex
        self.tokens = [(str(m.lastgroup), str(m.group(m.lastgroup))) for m in TOKEN.finditer(tex) if m.lastgroup]
        self.at = 0

    def fail(self, what: str) -> None:
        """Raise UsageError."""
        raise UsageError(f"the formula {self.tex[:80]!r} cannot be shown: {what}.")

    def peek(self) -> tuple[str, str]:
        """Return the next token."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "")

    def next(self) -> tuple[str, str]:
        """Return the next token, and go on."""
        token = self.peek()
        self.at += 1
        return token

    def row(self, *ends: tuple[str, str]) -> str:
        """Return atoms up to one of `ends`, or to the end of the formula."""
        parts: list[str] = []
        while self.at < len(self.tokens) and self.peek() not in ends:
            parts.append(self.scripted())
        if ends and self.at >= len(self.tokens):
            self.fail(f"{' or '.join(text for _, text in ends)} is missing")
        return "".join(parts)

    def scripted(self) -> str:
        """Return an atom with what stands below and above it."""
        base, below, above = self.atom(), "", ""
        while self.peek() in (("sign", "_"), ("sign", "^"), ("sign", "'")):
            _, mark = self.next()
            if mark == "_":
                below = self.atom()
            elif mark == "'":
                above += "<mo>′</mo>"
            else:
                above += self.atom()
        if below and above:
            return f"<msubsup><mrow>{base}</mrow><mrow>{below}</mrow><mrow>{above}</mrow></msubsup>"
        if below or above:
            tag = "msub" if below else "msup"
            return f"<{tag}><mrow>{base}</mrow><mrow>{below or above}</mrow></{tag}>"
        return base

    def group(self) -> str:
        """Return { row }."""
        if self.next() != ("sign", "{"):
            self.fail("{ is missing")
        inside = self.row(("sign", "}"))
        self.next()
        return f"<mrow>{inside}</mrow>"

    def text(self) -> str:
        """Return the characters of { ... }; ~ is a space."""
        if self.next() != ("sign", "{"):
            self.fail("{ is missing")
        parts: list[str] = []
        while self.peek() != ("sign", "}"):
            kind, text = self.next()
            if not kind:
                self.fail("} is missing")
            parts.append(" " if text == "~" else text)
        self.next()
        return escape("".join(parts))

    def atom(self) -> str:
        """Return one atom."""
        if self.peek() == ("sign", "{"):
            return self.group()
        kind, text = self.next()
        if kind == "number":
            return f"<mn>{text}</mn>"
        if kind == "begin":
            return self.matrix(text)
        if kind == "sign":
            if text in "}^_&":
                self.fail(f"{text} is not expected")
            if text == "~":
                return '<mspace width="0.3em"/>'
            return f"<mi>{escape(text)}</mi>" if text.isalpha() else f"<mo>{'−' if text == '-' else escape(text)}</mo>"
        if kind == "command":
            return self.command(text)
        self.fail("a part is missing")
        return ""

    def command(self, name: str) -> str:
        """Return what a command makes."""
        if name in LETTERS:
            return f"<mi>{LETTERS[name]}</mi>"
        if name in SIGNS:
            return f"<mo>{SIGNS[name]}</mo>"
        if name in SPACES:
            return f'<mspace width="{SPACES[name]}"/>'
        if name in WORDS:
            return f"<mi>{name}</mi><mo>&#x2061;</mo>"
        if name in ACCENTS:
            return f'<mover accent="true">{self._argument()}<mo stretchy="false">{ACCENTS[name]}</mo></mover>'
        if name in ("mathrm", "operatorname", "text", "mathtt"):
            inside = self.text()
            return f"<mtext>{inside}</mtext>" if name == "text" else f'<mi mathvariant="normal">{inside}</mi>'
        if name == "frac":
            return f"<mfrac>{self._argument()}{self._argument()}</mfrac>"
        if name == "sqrt":
            return f"<msqrt>{self._argument()}</msqrt>"
        if name == "left":
            return self.fence()
        self.fail(f"\\{name} is not known")
        return ""

    def _argument(self) -> str:
        return f"<mrow>{self.atom()}</mrow>"

    def fence(self) -> str:
        r"""Return \left( row \right)."""
        opening = self._fence_sign()
        inside = self.row(("command", "right"))
        self.next()
        return f"<mrow>{opening}{inside}{self._fence_sign()}</mrow>"

    def _fence_sign(self) -> str:
        kind, text = self.next()
        if kind == "begin" or not text:
            self.fail("a bracket is missing")
        return "" if text == "." else f"<mo>{escape(SIGNS.get(text, text))}</mo>"

    def matrix(self, kind: str) -> str:
        """Return a matrix or aligned lines."""
        if kind not in ("matrix", "bmatrix", "aligned", "cases", "array"):
            self.fail(f"the environment {kind} is not known")
        lines: list[list[str]] = [[]]
        while True:
            lines[-1].append(f"<mtd>{self.row(('sign', '&'), ('command', chr(92)), ('end', kind))}</mtd>")
            mark = self.next()
            if mark == ("end", kind):
                break
            if mark[0] == "command":
                lines.append([])
        table = "".join(f"<mtr>{''.join(line)}</mtr>" for line in lines)
        table = f'<mtable columnalign="{"left" if kind in ("aligned", "cases") else "center"}">{table}</mtable>'
        return f"<mrow><mo>[</mo>{table}<mo>]</mo></mrow>" if kind == "bmatrix" else table


def mathml(tex: str, block: bool = True) -> str:
    """Return a formula as MathML. Raise UsageError for TeX that these equations do not use."""
    reader = _Reader(tex)
    inside = reader.row()
    display = ' displaystyle="true"' if block else ""
    return f'<math xmlns="http://www.w3.org/1998/Math/MathML"{display}><mrow>{inside}</mrow></math>'


LONGEST_COMPONENTS = 400
"""Characters of TeX of a formula in components that is still shown beside its form in vectors."""
LONGEST_LINE = 250
"""Characters of TeX of a formula that fits a line of the TeX file."""
NOTATION = (
    (r"\Phi = 0", "position"),
    (r"\Phi_{q} u = \nu", "velocity"),
    (r"\Phi_{q} \dot{u} = \gamma", "acceleration"),
    (r"M \dot{u} + \Phi_{q}^{T} \lambda = Q", "motion"),
)


def levels_to(level: str) -> int:
    """Return how many of the four levels are shown."""
    return [name for _, name in NOTATION].index(level) + 1


def formulas(eq: Any, row: Row, depth: int) -> list[tuple[str, str]]:
    """Return the formulas of a row, each with the name of its level."""
    zero = "0" if row.primitive.velocity_only else r"\Phi"
    lines = [("position", rf"{zero} = {row.tex if eq.planar is None else eq.symbols.tex(row.Phi)}")]
    components = eq.symbols.tex(row.Phi)
    if eq.planar is None and not row.primitive.velocity_only and len(components) <= LONGEST_COMPONENTS:
        lines.append(("in components", rf"\Phi = {components}"))
    if depth > 1:
        lines.append(("velocity", gradient_tex(eq, row)))
        lines.append(("", rf"\nu = {eq.symbols.tex(row.nu)}"))
    if depth > 2:
        lines.append(("acceleration", rf"\gamma = {gamma_tex(eq, row)}"))
    return lines


def motion_formulas(eq: Any) -> list[tuple[str, str]]:
    """Return the laws of the forces, and the equations of motion of each body."""
    sp = eq.sp
    lines = [(load.name, law) for load, law in eq.forces.written]
    n = eq.n // max(1, eq.model.nb)
    rows = list(eq.Q)
    for k, body in enumerate(eq.symbols.bodies[1:]):
        block = eq.M[n * k : n * k + n, n * k : n * k + n]
        u_dot = sp.Matrix(eq.symbols.body(body).accelerations)
        left = eq.symbols.tex(block * u_dot)
        right = eq.symbols.tex(sp.Matrix(rows[n * k : n * k + n]))
        name = eq.symbols.body(body).frame_tex[3:-1]
        equation = rf"{left} + \Phi_{{q_{{{name}}}}}^{{T}} \lambda = {right}"
        if len(equation) > 6 * LONGEST_COMPONENTS:
            equation = rf"M_{{{name}}} \dot{{u}}_{{{name}}} + \Phi_{{q_{{{name}}}}}^{{T}} \lambda = Q_{{{name}}}"
        lines.append((body.name, equation))
    return lines


def tex_of_equations(eq: Any, level: str) -> str:
    """Return the equations in TeX: aligned lines, joint by joint."""
    depth, lines = levels_to(level), []
    for name in eq.joints:
        for row in eq.rows_of(name):
            for k, (_, formula) in enumerate(formulas(eq, row, depth)):
                label = rf"\text{{{tex_text(name)}, row {row.number}:}}" if k == 0 else ""
                lines.append(rf"{label} \quad & {formula}")
    if depth > 3:
        lines += [rf"\text{{{tex_text(name)}:}} \quad & {formula}" for name, formula in motion_formulas(eq)]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"


def tex_text(text: str) -> str:
    """Return words as they may stand in TeX."""
    kept = "".join(c if c.isascii() and (c.isalnum() or c in " .,:;()+-/'=|") else {"_": r"\_"}.get(c, "~") for c in text)
    return kept.replace("|", "")


def write_report(eq: Any, path: Path) -> Path:
    """Write the page, with a TeX file beside it, or the TeX file alone."""
    if path.suffix not in (".html", ".tex"):
        raise UsageError(f"report got {str(path)!r}: give a file that ends in .html or .tex.")
    tex = path.with_suffix(".tex")
    with replace_file(tex) as file:
        file.write(tex_document(eq).encode())
    if path.suffix == ".html":
        with replace_file(path) as file:
            file.write(page(eq).encode())
    return path


def sections(eq: Any) -> list[tuple[str, str, list[tuple[Row, list[tuple[str, str]], tuple[float, float, float]]]]]:
    """Return the joints: name, kind, and each row with its formulas and the numbers of Phi, nu, gamma at the modelled state."""
    depth = levels_to(eq.level)
    numbers = np.column_stack(eq.lambdify("Phi", "nu", "gamma")()) if eq.rows else np.zeros((0, 3))
    number = {row.number: k for k, row in enumerate(eq.rows)}
    joints = []
    for name in eq.joints:
        rows = []
        for row in eq.rows_of(name):
            Phi, nu, gamma = numbers[number[row.number]].tolist()
            rows.append((row, formulas(eq, row, depth), (Phi, nu, gamma)))
        joints.append((name, eq.model.joints[name].kind, rows))
    return joints


def parameter_table(eq: Any) -> list[tuple[str, str, float]]:
    """Return the parameters: formula, name, number."""
    return [(eq.symbols.tex(symbol), str(symbol), value) for symbol, value in eq.parameters.items()]


STYLE = """
:root { color-scheme: light dark; --line: #8884; --soft: #8882; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.7rem } h2 { font-size: 1.2rem; margin-top: 2.2rem; border-bottom: 1px solid var(--line) }
table { border-collapse: collapse; width: 100%; margin: .4rem 0 1rem }
td, th { padding: .35rem .6rem; text-align: left; vertical-align: top }
tr { border-bottom: 1px solid var(--line) } .n { font-variant-numeric: tabular-nums; white-space: nowrap }
.level { opacity: .65; white-space: nowrap; font-size: .85em }
.scroll { overflow-x: auto } math { font-size: 1.08rem } .scroll math { margin-left: 1rem }
.row { margin: 1rem 0; padding: .6rem .9rem; background: var(--soft); border-radius: .5rem;
  display: grid; grid-template-columns: minmax(0, 1fr) 13rem; gap: 1rem }
.words { opacity: .75; font-size: .92em } @media (max-width: 50rem) { .row { grid-template-columns: minmax(0, 1fr) } }
ul { padding-left: 1.2rem }
"""


def _row_of_page(row: Row, lines: list[tuple[str, str]], values: tuple[float, ...]) -> str:
    """Return a row: its words, its formulas, and the numbers of Phi, nu and gamma, as far as they are shown."""
    formulas = "".join(
        f"<div class=scroll><span class=level>{escape(label)}</span><div>{mathml(tex)}</div></div>" for label, tex in lines
    )
    numbers = "".join(
        f"<tr><td>{mathml(symbol, block=False)}</td><td class=n>{x + 0.0:.9g}</td></tr>"
        for symbol, x in zip((r"\Phi", r"\nu", r"\gamma"), values, strict=False)
    )
    words = f"row {row.number}, {escape(row.kind)}: {escape(row.primitive.words())}"
    return f"<div class=row><div><div class=words>{words}</div>{formulas}</div><div><table>{numbers}</table></div></div>"


def page(eq: Any) -> str:
    """Return the page."""
    where = "" if eq.planar is None else f" in the plane {eq.planar}"
    parts = [
        "<!DOCTYPE html>", f'<html lang="en"><head><meta charset="utf-8"><title>Equations of {escape(eq.model.name)}</title>',
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}</style></head><body>',
        f"<h1>Equations of {escape(eq.model.name)}</h1>",
        f"<p>{len(eq.numbers_of_rows)} rows{where}, {eq.n} velocities; numbers are those of the modelled pose.</p>",
        "".join(f"<div class=scroll>{mathml(tex)}</div>" for tex, _ in NOTATION[: levels_to(eq.level)]),
    ]  # fmt: skip
    for name, kind, rows in sections(eq):
        parts.append(f"<h2>{escape(name)} <span class=level>{escape(kind)}</span></h2>")
        parts += [_row_of_page(row, lines, values[: levels_to(eq.level)]) for row, lines, values in rows]
        if not rows:
            parts.append("<p>No row of this joint is left in the plane.</p>")
    if levels_to(eq.level) > 3:
        parts.append("<h2>Motion</h2>")
        parts += [
            f'<div class="scroll row"><div><div class=words>{escape(name)}</div>{mathml(tex)}</div></div>'
            for name, tex in motion_formulas(eq)
        ]
    if eq.removed:
        parts.append(
            "<h2>Rows that fell away in the plane</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in eq.removed) + "</ul>"
        )
    functions = [*eq.functions.values(), *(f"Q_other: {name}, without a formula here" for name in eq.forces.other)]
    if functions:
        parts.append("<h2>Symbols for functions</h2><ul>" + "".join(f"<li>{escape(text)}</li>" for text in functions) + "</ul>")
    rows_of_table = "".join(
        f"<tr><td>{mathml(tex, block=False)}</td><td><code>{escape(name)}</code></td><td class=n>{x:.12g}</td></tr>"
        for tex, name, x in parameter_table(eq)
    )
    parts.append(f"<h2>Parameters</h2><table>{rows_of_table}</table></body></html>")
    return "\n".join(parts)


def tex_document(eq: Any) -> str:
    """Return the TeX file."""
    lines = [
        r"\documentclass{article}", r"\usepackage{amsmath}", r"\usepackage[margin=20mm,landscape]{geometry}", r"\allowdisplaybreaks",
        r"\setcounter{MaxMatrixCols}{60}", r"\begin{document}", rf"\section*{{Equations of {tex_text(eq.model.name)}}}",
    ]  # fmt: skip
    lines += [rf"\[ {tex} \]" for tex, _ in NOTATION[: levels_to(eq.level)]]
    for name, kind, rows in sections(eq):
        lines.append(rf"\subsection*{{{tex_text(name)} ({tex_text(kind)})}}")
        for row, formulas_of_row, (Phi, nu, gamma) in rows:
            lines.append(rf"\noindent Row {row.number}, {tex_text(row.kind)}: {tex_text(row.primitive.words())}.")
            lines += [displayed(tex) for _, tex in formulas_of_row]
            lines.append(
                rf"\noindent At the modelled pose $\Phi = {_tex_number(Phi)}$, $\nu = {_tex_number(nu)}$, "
                rf"$\gamma = {_tex_number(gamma)}$.\par\medskip"
            )
    if levels_to(eq.level) > 3:
        lines.append(r"\subsection*{Motion}")
        for name, tex in motion_formulas(eq):
            lines += [rf"\noindent {tex_text(name)}", displayed(tex)]
    if eq.removed:
        lines.append(r"\subsection*{Rows that fell away in the plane}")
        lines += [rf"\noindent {tex_text(text)}\par" for text in eq.removed]
    lines.append(r"\subsection*{Parameters}")
    lines += [rf"\noindent $ {tex} = {_tex_number(x)} $\par" for tex, _, x in parameter_table(eq)]
    return "\n".join([*lines, r"\end{document}", ""])


def displayed(tex: str) -> str:
    """Return a formula that stands alone; a long one in a paragraph, where TeX breaks it at its signs."""
    if len(tex) <= LONGEST_LINE:
        return rf"\[ {tex} \]"
    return rf"\par\smallskip{{\raggedright\hangindent=2em\noindent $\displaystyle {tex} $\par}}\smallskip"


def _tex_number(x: float) -> str:
    """Return a number in TeX."""
    text = f"{x + 0.0:.9g}"
    if "e" not in text:
        return text
    mantissa, exponent = text.split("e")
    return rf"{mantissa} \cdot 10^{{{int(exponent)}}}"
