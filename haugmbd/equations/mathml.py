r"""Formulas of TeX as MathML, which browsers show without any script: the part of TeX that these equations use, and nothing else.

row = { atom [ _ atom ] [ ^ atom ] }        atom = letter | number | sign | { row } | \command ...
"""

from __future__ import annotations

import re
from html import escape

from haugmbd.errors import UsageError

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
