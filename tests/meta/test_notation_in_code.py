"""Meta test: one symbol, one name in code; and arrays have the shapes of the table."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import haugmbd
import joints
from haugmbd import evaluate
from haugmbd.constraints import KINDS
from haugmbd.notation import NOTATION
from tests.support.samples import geometry, make_joint, model_of, random_body
from tests.support.statements import parsed

PACKAGES = (Path(haugmbd.__file__).parent, Path(joints.__file__).parent)
FILES = sorted(file for package in PACKAGES for file in package.rglob("*.py"))
CODES = {code for entry in NOTATION for code in entry.code}

# What sources and other programs call a thing that the table names otherwise.
ELSEWHERE = {
    "lambda": "lam", "lambda_": "lam", "lmbda": "lam", "lamda": "lam", "pi_bar": "PiBar", "Pi_bar": "PiBar",
    "phi": "Phi", "phi_q": "Phi_q", "phi_r": "Phi_r", "Phi_pi": "PiBar", "inertia_bar": "J_bar", "I_bar": "J_bar",
    "omega_body": "omega_bar", "omega_local": "omega_bar", "w_bar": "omega_bar", "euler_parameters": "p", "quat": "p", "r_dot": "v",
    "f_prime": "f_dot", "df": "f_dot", "ddf": "f_ddot", "d2f": "f_ddot", "dij": "d_ij",
}  # fmt: skip


def names_in(tree):
    """Every identifier that a module binds: arguments, variables, attributes, functions.  Classes are types, not symbols."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.FunctionDef):
            yield node.name


def plain(name):
    """A name without its small differences; one letter stays what it is, because a is a vector and A a matrix."""
    base, *rest = name.lstrip("_").split("_")
    return "".join([base.lower() if len(base) > 1 else base, *rest])


SPELLED = {plain(code): code for code in CODES if len(code) > 2}


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: f"{file.parent.name}/{file.stem}")
def test_code_uses_the_names_of_the_table(file):
    names = set(names_in(parsed(file)))
    assert all(name.isascii() for name in names)
    for name in names:
        assert name not in ELSEWHERE, f"{file.name}: {name} is called {ELSEWHERE[name]} here"
        code = SPELLED.get(plain(name))
        if code is not None and not name.isupper():
            assert name.lstrip("_") in CODES, f"{file.name}: {name} is spelled {code} in the table"


def test_files_say_what_they_are_and_constructors_use_the_names_of_the_table():
    body_frame = re.compile(r"[a-z]+_bar(_[ij])?")
    for make in (*KINDS, *(cls.from_vectors for cls in joints.CATALOGUE if hasattr(cls, "from_vectors"))):
        for name in inspect.signature(make).parameters:
            assert name in CODES | {"name", "i", "j", "c"} or body_frame.fullmatch(name), f"{make}: {name}"
    for make in joints.CATALOGUE:
        frames = [name for name in inspect.signature(make).parameters if name.endswith("_bar") or "_bar_" in name]
        assert not frames, f"{make.__name__} takes global geometry, and {frames} are body-frame names"


@pytest.mark.parametrize(
    "file", [f for f in FILES if f.parent.name in ("joints", "constraints") and f.stem != "__init__"], ids=lambda f: f.stem
)
def test_the_head_of_a_joint_or_constraint_names_its_source(file):
    head = ast.get_docstring(parsed(file))
    assert head
    if file.stem not in ("catalogue", "registry"):
        assert "Source: " in head


def test_arrays_have_the_shapes_of_the_table(rng):
    pin, _ = make_joint(joints.RJ, "pin", random_body("crank", rng), random_body("rod", rng), geometry(rng))
    model = model_of(pin)
    state, rows = model.state(), evaluate(model)
    sizes = {"nb": model.nb, "nc": model.nc}
    found = {name: getattr(owner, name) for owner in (model, state, rows) for name in CODES if hasattr(owner, name)}
    assert {"Phi", "nu", "gamma", "Phi_r", "PiBar", "Phi_q", "r", "p", "v", "omega_bar", "mass", "J_bar"} <= set(found)
    for entry in NOTATION:
        for name in set(entry.code) & set(found):
            terms = re.findall(r"[^(),]+", entry.shape)
            shape = tuple(eval(re.sub(r"(\d) (\w)", r"\1*\2", term.strip()), {}, sizes) for term in terms)  # noqa: S307
            given = np.shape(found[name]) if name != "Phi_q" else found[name].shape
            assert given in (shape, (model.nb + 1, *shape)), f"{name}: {given} is not {entry.shape}"
