r"""Symbols of a model: every number that an equation reads, as a SymPy symbol with the name of its owner, and its value at a state.

    r_crank_x, r_crank_y, r_crank_z          centre of mass, global         v_crank_x, ...             its velocity
    A_crank_xx, A_crank_xy, ...              rotation matrix                omega_bar_crank_x, ...     angular velocity, body frame
    p_crank_0 ... p_crank_3                  Euler parameters, A = E G^T    lam_0, lam_1, ...          multipliers
    s_bar_pin_i_x, f_bar_pin_j_z, ...        points and vectors of joint 'pin' on body i and j, body frames
    m_crank, J_bar_crank_xx, k_spring, g_z   parameters of bodies, forces, and gravity
    f_motor(t)                               a function of the user
    x_crank, z_crank, phi_crank              a planar body, in the plane "xz"; phi from the first axis of the plane to the second

A component that is 0, 1 or -1 is written as that number. The ground has r = 0 and A = I.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.errors import UsageError
from haugmbd.model.state import State

SNAP = 4e-15
"""A component of a unit vector or of an inertia that is nearer to 0, 1 or -1 than this is that number: twenty roundings."""

AXES = "xyz"
GREEK = ("phi", "omega", "gamma", "lam", "theta", "pi", "nu", "alpha")


def need_sympy() -> Any:
    """Return SymPy. Raise UsageError, with what to install, if it is not there."""
    try:
        return importlib.import_module("sympy")
    except ImportError as error:
        what = "mbd.equations writes formulas by SymPy, which is not installed"
        raise UsageError(f'{what}: python -m pip install "haugmbd[equations]", or python -m pip install sympy.') from error


def identifier(name: str) -> str:
    """Return a name as it may stand in a symbol: letters, digits and _."""
    return re.sub(r"\W+", "_", name).strip("_") or "unnamed"


def tex_name(name: str) -> str:
    r"""Return the name of a part in TeX: \mathrm{crank}."""
    return rf"\mathrm{{{re.sub(r'[^A-Za-z0-9]+', ' ', name).strip().replace(' ', '~')}}}"


class Names:
    """Identifiers of parts, each used for one part only."""

    def __init__(self) -> None:
        self._of: dict[int, str] = {}
        self._parts: list[Any] = []

    def of(self, part: Any) -> str:
        """Return the identifier of a body, joint or force element; a number is added to one that another part has."""
        if id(part) not in self._of:
            self._parts.append(part)  # so that its id stays its own
            base, taken = identifier(part.name), set(self._of.values())
            name, number = base, 2
            while name in taken:
                name, number = f"{base}_{number}", number + 1
            self._of[id(part)] = name
        return self._of[id(part)]


class BodySymbols:
    """The motion of a body in symbols.

    r, v, omega_bar: (3, 1);  A: (3, 3);  p: (4, 1) Euler parameters of A;  coordinates, velocities: the symbols of q and u
    to_velocity: (6, n) with (v, omega_bar) = to_velocity u
    """

    def __init__(self, sp: Any, name: str, tex: str, tex_of: dict[Any, str]) -> None:
        def column(what: str, marks: Iterable[str], form: str) -> Any:
            return sp.Matrix([named(sp, tex_of, f"{what}_{name}_{mark}", form.format(mark, tex)) for mark in marks])

        self.r = column("r", AXES, "{}_{{{}}}")
        self.p = column("p", "0123", "e_{{{}}}^{{{}}}")
        self.v = column("v", AXES, r"\dot{{{}}}_{{{}}}")
        self.omega_bar = column("omega_bar", AXES, r"\bar{{\omega}}_{{{1},{0}}}")
        pairs = [a + b for a in AXES for b in AXES]
        self.A = column("A", pairs, "A^{{{1}}}_{{{0}}}").reshape(3, 3)
        self.a = column("v_dot", AXES, r"\ddot{{{}}}_{{{}}}")
        self.alpha = column("omega_bar_dot", AXES, r"\dot{{\bar{{\omega}}}}_{{{1},{0}}}")
        self.coordinates = (*self.r, *self.p)
        self.velocities = (*self.v, *self.omega_bar)
        self.accelerations = (*self.a, *self.alpha)
        self.to_velocity = sp.eye(6)
        self.turned = np.eye(3)
        self.frame_tex = f"A_{{{tex}}}"

    def values(self, sp: Any, state: State, row: int) -> dict[Any, float]:
        """Return the numbers of the symbols at a state."""
        A = rotation(state.p[row])
        parts = (
            (self.r, state.r[row]),
            (self.p, state.p[row]),
            (self.A, A),
            (self.v, state.v[row]),
            (self.omega_bar, state.omega_bar[row]),
        )
        return {symbol: float(x) for symbols, numbers in parts for symbol, x in zip(symbols, np.ravel(numbers), strict=True)}


class PlanarBodySymbols:
    """The motion of a body in a plane: two coordinates and an angle, as `BodySymbols`.

    turned: A = R(angle) turned, the identity where the body frame itself turns in the plane
    """

    def __init__(self, sp: Any, body: Body, name: str, tex: str, tex_of: dict[Any, str], plane: str) -> None:
        first, second = (AXES.index(axis) for axis in plane)
        e1, e2 = np.eye(3)[first], np.eye(3)[second]
        n = np.cross(e1, e2)
        self.first, self.second, self.n = first, second, n
        x, z, angle = (
            named(sp, tex_of, f"{c}_{name}", f"{t}_{{{tex}}}") for c, t in zip((*plane, "phi"), (*plane, r"\varphi"), strict=True)
        )
        rates = [
            named(sp, tex_of, f"{c}_dot_{name}", rf"\dot{{{t}}}_{{{tex}}}")
            for c, t in zip((*plane, "phi"), (*plane, r"\varphi"), strict=True)
        ]
        self.accelerations = tuple(
            named(sp, tex_of, f"{c}_ddot_{name}", rf"\ddot{{{t}}}_{{{tex}}}")
            for c, t in zip((*plane, "phi"), (*plane, r"\varphi"), strict=True)
        )
        self.coordinates, self.velocities = (x, z, angle), tuple(rates)
        normal = sp.Matrix([int(c) for c in n])
        out = 3 - first - second
        self.r = sp.zeros(3, 1)
        self.r[first], self.r[second] = x, z
        self.r[out] = snapped(sp, float(body.r[out])) if abs(body.r[out]) < SNAP else sp.Float(float(body.r[out]))
        self.out = out
        c, s = sp.cos(angle), sp.sin(angle)
        self.A = sp.zeros(3, 3)
        self.A[first, first] = self.A[second, second] = c
        self.A[first, second], self.A[second, first], self.A[out, out] = -s, s, sp.Integer(1)
        cos0, sin0 = float(body.A[first, first]), float(body.A[second, first])
        R0 = plane_rotation(e1, e2, np.arctan2(sin0, cos0))
        self.in_plane = bool(np.abs(body.A - R0).max() < 1e-12)
        self.turned = np.eye(3) if self.in_plane else body.A
        self.v = sp.zeros(3, 1)
        self.v[first], self.v[second] = rates[0], rates[1]
        self.omega_bar = rates[2] * normal  # of the frame that turns in the plane
        self.to_velocity = sp.zeros(6, 3)
        self.to_velocity[first, 0] = self.to_velocity[second, 1] = 1
        self.to_velocity[3:, 2] = normal
        self.e1, self.e2 = e1, e2
        self.frame_tex = f"A_{{{tex}}}"

    def values(self, sp: Any, state: State, row: int) -> dict[Any, float]:
        """Return the numbers of the symbols at a state."""
        A = rotation(state.p[row]) @ self.turned.T
        angle = float(np.arctan2(A[self.second, self.first], A[self.first, self.first]))
        phi_dot = float(self.n @ (rotation(state.p[row]) @ state.omega_bar[row]))
        numbers = (
            state.r[row, self.first],
            state.r[row, self.second],
            angle,
            state.v[row, self.first],
            state.v[row, self.second],
            phi_dot,
        )
        return {symbol: float(x) for symbol, x in zip((*self.coordinates, *self.velocities), numbers, strict=True)}


class GroundSymbols:
    """The ground: at rest, r = 0, A = I, without coordinates."""

    def __init__(self, sp: Any, planar: bool) -> None:
        self.r, self.v, self.omega_bar = sp.zeros(3, 1), sp.zeros(3, 1), sp.zeros(3, 1)
        self.A, self.turned = sp.eye(3), np.eye(3)
        self.coordinates = self.velocities = self.accelerations = ()
        self.frame_tex = ""

    def values(self, sp: Any, state: State, row: int) -> dict[Any, float]:
        """Return no numbers."""
        return {}


def plane_rotation(e1: Any, e2: Any, angle: float) -> Any:
    """Return the rotation by angle from e1 to e2, (3, 3)."""
    n = np.cross(e1, e2)
    tilde = np.array([[0.0, -n[2], n[1]], [n[2], 0.0, -n[0]], [-n[1], n[0], 0.0]])
    return np.eye(3) + np.sin(angle) * tilde + (1.0 - np.cos(angle)) * tilde @ tilde


def rotation(p: Any) -> Any:
    """Return A = E G^T of numbers p (4,), not normalized: as the kernels do for a unit p."""
    e0, e = p[0], p[1:]
    return (
        (e0 * e0 - e @ e) * np.eye(3)
        + 2.0 * np.outer(e, e)
        + 2.0 * e0 * np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    )


def named(sp: Any, tex_of: dict[Any, str], name: str, tex: str) -> Any:
    """Return a real symbol, and note how it is typeset."""
    symbol = sp.Symbol(name, real=True)
    tex_of[symbol] = tex
    return symbol


def snapped(sp: Any, x: float) -> Any:
    """Return 0, 1 or -1 for a number that is one of them up to rounding, else None."""
    for whole in (0, 1, -1):
        if abs(x - whole) <= SNAP:
            return sp.Integer(whole)
    return None


class Atoms:
    """Symbols whose values are computed at a state: functions of the user, whole turns, values of splines; in the order of need."""

    def __init__(self) -> None:
        self.of: dict[Any, Callable[[dict[Any, float], State], float]] = {}
        self.words: dict[Any, str] = {}
        self.of_loads: set[Any] = set()

    def add(self, atom: Any, value: Callable[[dict[Any, float], State], float], words: str = "") -> Any:
        """Note how the value of an atom is computed, from those before it and the state."""
        self.of.setdefault(atom, value)
        if words:
            self.words.setdefault(atom, words)
        return atom


class Symbols:
    """All symbols of a system, made when they are first used."""

    def __init__(self, system: Any, planar: str | None) -> None:
        sp = self.sp = need_sympy()
        self.planar = planar
        self.names = Names()
        self.tex_of: dict[Any, str] = {}
        self.parameters: dict[Any, float] = {}
        self.vectors: dict[str, Any] = {}
        self.vector_tex: dict[str, str] = {}
        self.atoms = Atoms()
        self.angles: tuple[Any, ...] = ()
        self.named_parameters = dict(system.parameters)
        self.t = named(sp, self.tex_of, "t", "t")
        self.bodies = list(system.bodies)
        self._number = {id(body): k for k, body in enumerate(self.bodies)}
        self._of: list[Any] = [GroundSymbols(sp, planar is not None)]
        for body in self.bodies[1:]:
            name, tex = self.names.of(body), tex_name(body.name)
            made = (
                BodySymbols(sp, name, tex, self.tex_of)
                if planar is None
                else PlanarBodySymbols(sp, body, name, tex, self.tex_of, planar)
            )
            self._of.append(made)
            for what in ("r", "A", "v", "omega_bar", "p"):
                if hasattr(made, what):
                    self.vectors[f"{what}_{name}"] = getattr(made, what)
        self._vector_keys: dict[Any, tuple[str, Any]] = {}

    def body(self, body: Body) -> Any:
        """Return the symbols of a body."""
        return self._of[self._number[id(body)]]

    def number(self, body: Body) -> int:
        """Return the number of a body: 0 of the ground."""
        return self._number[id(body)]

    def parameter(self, name: str, value: float, tex: str = "") -> Any:
        """Return a parameter: a symbol with its number, or 0 where it is zero."""
        if value == 0.0:
            return self.sp.Integer(0)
        free, number = name, 2
        while self._means_another(free, float(value)):
            free, number = f"{name}_{number}", number + 1
        symbol = named(self.sp, self.tex_of, free, tex or free)
        self.parameters[symbol] = float(value)
        return symbol

    def _means_another(self, name: str, value: float) -> bool:
        """Return whether a symbol of this name is there already and is not a parameter of this value."""
        symbol = self.sp.Symbol(name, real=True)
        return symbol in self.tex_of and self.parameters.get(symbol) != value

    def vector(self, owner: Any, body: Body, what: str, side: str, x_bar: Any) -> tuple[str, Any]:
        """Return name and components of a point or vector of a body, body frame; equal ones of one owner have one name."""
        sp = self.sp
        x = self.body(body).turned @ np.asarray(x_bar, dtype=np.float64)
        key = (id(owner), side, self.number(body), what, x.tobytes())
        if key in self._vector_keys:
            return self._vector_keys[key]
        suffix = f"_{side}" if side else ""
        base = f"{what}_{self.names.of(owner)}{suffix}"
        name, number = base, 2
        while name in self.vectors:
            name, number = f"{base}_{number}", number + 1
        size = float(np.abs(x).max()) or 1.0
        letter = what.removesuffix("_bar")
        mark = f"{tex_name(owner.name)}{',' + side if side else ''}{f',{number - 1}' if number > 2 else ''}"
        bar = rf"\bar{{{letter}}}" if what.endswith("_bar") else letter
        parts = []
        for axis, component in zip(AXES, x.tolist(), strict=True):
            small = abs(component) <= SNAP * size
            whole = sp.Integer(0) if small else None if what == "s_bar" else snapped(sp, component)  # a length of 1 is a parameter
            parts.append(self.parameter(f"{name}_{axis}", component, f"{bar}_{{{mark},{axis}}}") if whole is None else whole)
        vector = (name, sp.Matrix(parts))
        self._vector_keys[key] = vector
        self.vectors[name] = vector[1]
        self.vector_tex[name] = f"{bar}_{{{mark}}}"
        return vector

    def integrated(self, q: Any, state: State) -> float:
        """Return the angle of a coordinate that the state integrates [rad]; its value at the modelled pose where none is."""
        column = next((k for other, k in self.angles if other.key == q.key), -1)
        return float(state.angles[column]) if column >= 0 else float(q.q0)

    def values(self, state: State, loads: bool = True) -> dict[Any, float]:
        """Return the number of every symbol at a state; without `loads`, no function of a force is called."""
        numbers: dict[Any, float] = {self.t: float(state.t), **self.parameters}
        for row, made in enumerate(self._of):
            numbers.update(made.values(self.sp, state, row))
        for atom, value in self.atoms.of.items():
            if not loads and atom in self.atoms.of_loads:
                continue
            numbers[atom] = float(value(numbers, state))
        return numbers

    def tex(self, expression: Any) -> str:
        """Return an expression in TeX."""
        return str(self.sp.latex(expression, symbol_names=self.tex_of, mat_delim="[", mat_str="matrix"))
