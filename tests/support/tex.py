"""The rules of TeX that break a formula, checked without a TeX: braces, environments, \\left and \\right, and one script of a kind an atom.

Source: Knuth, The TeXbook, chapters 17 and 18 ("double subscript", "double superscript").
"""

from __future__ import annotations

import re

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^'&$]|[^\s\\{}_^'&$]")


def defect(tex):
    """Return what TeX would stop at in a document or a formula, with the characters before it; "" if nothing."""
    at = tex.find(r"\begin{document}")
    body = tex[max(at, 0) :]
    environments = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+)\*?\}", body):
        if kind == "begin":
            environments.append(name)
        elif not environments or environments.pop() != name:
            return f"\\end{{{name}}} closes another environment"
    if environments:
        return f"{environments} are open"
    if len(re.findall(r"\\left\b", body)) != len(re.findall(r"\\right\b", body)):
        return r"\left without \right"
    depth, stack, scripts = 0, [], ""
    tokens = list(TOKEN.finditer(body))
    n = 0
    while n < len(tokens):
        token = tokens[n].group()
        if token in ("_", "^", "'"):
            kind = "^" if token == "'" else token
            if kind in scripts and not (token == "'" and scripts.endswith("'")) and not (token == "^" and scripts.endswith("'")):
                return f"double script {token}: ...{body[max(0, tokens[n].start() - 60) : tokens[n].end() + 20]}"
            scripts += "'" if token == "'" else kind
            if token != "'":
                n += 1
                if n == len(tokens) or tokens[n].group() in ("_", "^", "}", "&", "$"):
                    return f"a script is missing: ...{body[max(0, tokens[n - 1].start() - 60) :][:80]}"
                if tokens[n].group() == "{":
                    stack.append(scripts)
                    depth += 1
                    scripts = ""
        elif token == "{":
            stack.append("")
            depth += 1
            scripts = ""
        elif token == "}":
            if not stack:
                return f"}} without {{: ...{body[max(0, tokens[n].start() - 60) : tokens[n].end()]}"
            scripts = stack.pop()
            depth -= 1
        else:
            scripts = ""
        n += 1
    return f"{depth} braces are open" if depth else ""
