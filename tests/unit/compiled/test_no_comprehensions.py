"""No compiled function has a comprehension or a function inside: Numba then drops writes to arrays that are fields of a named tuple.

Numba inlines it and removes what it takes for dead, and does not see that  x = record.field; x[k] = ...  writes to the record.
"""

import ast
from pathlib import Path

import pytest

import haugmbd
from tests.support.statements import parsed, statements

DECORATORS = {"kernel", "counted", "inlined", "entry", "counted_entry", "routine"}
INNER = (ast.ListComp, ast.GeneratorExp, ast.SetComp, ast.DictComp, ast.Lambda, ast.FunctionDef)


def is_compiled(node: ast.AST) -> bool:
    """Return whether a node is the definition of a compiled function."""
    if not isinstance(node, ast.FunctionDef):
        return False
    called = [d.func if isinstance(d, ast.Call) else d for d in node.decorator_list]
    return any(isinstance(d, ast.Name) and d.id in DECORATORS for d in called)


@pytest.mark.slow
def test_compiled_functions_are_plain():
    package = Path(haugmbd.__file__).parent
    seen, wrong = 0, []
    for file in package.rglob("*.py"):
        text = file.read_text("utf-8")
        if not any(f"@{name}" in text for name in DECORATORS):
            continue
        for node in statements(parsed(file)):
            if is_compiled(node):
                seen += 1
                wrong += [f"{file.name}: {node.name}" for inner in ast.walk(node) if inner is not node and isinstance(inner, INNER)]
    assert seen > 100
    assert wrong == []
