"""The inlining of `inlined` functions before type inference.

Numba reads a function anew, with all that it inlines itself, at every call, and copies it twice with a general deep copy. Here each
function is read once, and one copy is made, in which the variables already have the names that they get in the caller.
"""

from __future__ import annotations

from typing import Any

from numba.core import ir, ir_utils
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler import DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.inline_closurecall import (
    InlineWorker,
    _add_definitions,
    _created_inlined_var_name,
    _get_callee_args,
    _replace_args_with,
    _replace_returns,
    callee_ir_validator,
)
from numba.core.untyped_passes import InlineInlinables

from haugmbd.compiled.quick_contexts import quick_passes

_read: dict[Any, Any] = {}
"""The code of the inlined functions, by function."""


@register_pass(mutates_CFG=True, analysis_only=False)
class QuickInlining(InlineInlinables):  # type: ignore[misc]  # Numba has no types
    """Numba's inlining, with a memory and a quicker copy."""

    _name = "quick_inlining"

    def run_pass(self, state: Any) -> bool:
        """Inline all calls of inlined functions, and those in what has been inlined."""
        code, waiting, found = state.func_ir, list(state.func_ir.blocks.values()), False
        while waiting:
            block = waiting.pop()
            for i, statement in enumerate(block.body):
                function = ir_utils.guard(_inlined_function, code, statement)
                if function is not None:
                    waiting += inline_call(code, block, i, _code_of(state, function))
                    found = True
                    break  # the rest of the block is a block of its own now
        if found:
            for label in compute_cfg_from_blocks(code.blocks).dead_nodes():
                del code.blocks[label]
            code.blocks = ir_utils.simplify_CFG(code.blocks)
        return True


def _inlined_function(code: Any, statement: Any) -> Any:
    """Return the Python function that a statement calls, if it is an inlined one; None otherwise."""
    call = statement.value if isinstance(statement, ir.Assign) else None
    if not (isinstance(call, ir.Expr) and call.op == "call"):
        return None
    definition = ir_utils.get_definition(code, call.func)
    if isinstance(definition, ir.Expr):
        called: Any = ir_utils.resolve_func_from_module(code, definition) if definition.op == "getattr" else None
    else:
        called = getattr(definition, "value", None)
    return called.py_func if getattr(called, "targetoptions", {}).get("inline") == "always" else None


def inline_call(caller: Any, block: Any, i: int, callee: Any) -> list[Any]:
    """Replace the call in statement `i` of a block by a copy of the callee's code; return the new blocks."""
    statement, scope = block.body[i], block.scope
    call, target = statement.value, statement.target
    offset = max(ir_utils._the_max_label.next(), *caller.blocks) + 1
    names = {}
    for variable in _scope(callee).localvars._con.values():
        name = _created_inlined_var_name(callee.func_id.unique_name, variable.name)
        names[variable.name] = scope.redefine(name, loc=variable.loc)

    blocks = ir_utils.add_offset_to_labels(
        {label: _copied_block(one, scope, names) for label, one in callee.blocks.items()}, offset
    )
    ir_utils._the_max_label.update(max(blocks))
    _replace_args_with(blocks, _get_callee_args(call, callee.func_id.func, statement.loc, caller))
    rest, label = ir.Block(scope, block.loc), ir_utils.next_label()
    rest.body = block.body[i + 1 :]
    block.body = [*block.body[:i], ir.Jump(min(blocks), statement.loc)]
    _replace_returns(blocks, target, label)

    definitions = caller._definitions.get(target.name, [])
    if call in definitions:
        definitions.remove(call)
    for one in blocks.values():
        _add_definitions(caller, one)
    caller.blocks |= {label: rest} | blocks
    return [rest, *blocks.values()]


def _scope(code: Any) -> Any:
    """Return the scope of a function's variables."""
    return next(iter(code.blocks.values())).scope


def _copied_block(block: Any, scope: Any, names: dict[str, Any]) -> Any:
    """Return a copy of a block with the variables of the caller."""
    copy = ir.Block(scope, block.loc)
    copy.body = [_copied_statement(statement, names) for statement in block.body]
    return copy


def _copied_statement(statement: Any, names: dict[str, Any]) -> Any:
    """Return a copy of a statement."""
    copy = object.__new__(type(statement))
    vars(copy).update({field: _renamed(value, names) for field, value in vars(statement).items()})
    return copy


def _renamed(value: Any, names: dict[str, Any]) -> Any:
    """Return a field of a statement with the variables of the caller; what has none is shared."""
    if isinstance(value, ir.Var):
        return names.get(value.name, value)
    if isinstance(value, ir.Expr):
        return ir.Expr(value.op, value.loc, **{field: _renamed(one, names) for field, one in value._kws.items()})
    if type(value) in (list, tuple):
        return type(value)([_renamed(one, names) for one in value])
    return value


def _code_of(state: Any, function: Any) -> Any:
    """Return the code of an inlined function, which its callers copy."""
    state.flags.enable_ssa = False
    if function not in _read:
        worker = InlineWorker(state.typingctx, state.targetctx, state.locals, state.pipeline, state.flags)
        worker._compiler_pipeline = _untyped_passes
        code = worker.run_untyped_passes(function)
        callee_ir_validator(code)
        code.blocks = ir_utils.simplify_CFG(code.blocks)
        _read[function] = code
    return _read[function]


def _untyped_passes(state: Any) -> Any:
    """Return Numba's passes before type inference, with this inlining."""
    return quick_passes(DefaultPassBuilder.define_untyped_pipeline(state), {InlineInlinables: QuickInlining})
