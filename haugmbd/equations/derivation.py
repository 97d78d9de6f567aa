r"""The rows of a joint step by step, in the order of a lecture; every step is checked by numbers at random states.

definition     Phi in vectors                                          against the kernel
variation      delta Phi by the product rule                           against differences of Phi
identity       delta (A a_bar) = -A a_bar~ delta pi_bar,  (A a_bar)'' = A w~ w~ a_bar      against differences of A a_bar
result         Phi_r, PiBar, nu, gamma                                 against the kernel
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.equations.rows import Arrow, Direction, Distance, Row
from haugmbd.math.euler_parameters import normalized
from haugmbd.model.inspection.constraint_rows import Rows, evaluate
from haugmbd.model.state import State

KERNEL_TOL = 1e-11
"""Relative difference of a formula and a kernel: some hundred roundings."""
DIFFERENCE_TOL = 1e-6
"""Relative error of central differences with steps of 1e-5."""
STEP = 1e-5
SEED = 39


class Step(NamedTuple):
    """A step: its title, its formula in TeX, what it was compared with, the largest relative difference, and whether that is rounding."""

    title: str
    tex: str
    against: str
    difference: float
    ok: bool


class RowDerivation(NamedTuple):
    """The steps of a row."""

    number: int
    kind: str
    words: str
    steps: tuple[Step, ...]


class Derivation(NamedTuple):
    """The rows of a joint, step by step."""

    joint: str
    rows: tuple[RowDerivation, ...]

    @property
    def ok(self) -> bool:
        """Return whether every step agrees with its numbers."""
        return all(step.ok for row in self.rows for step in row.steps)

    def latex(self) -> str:
        """Return the formulas in TeX, one below the other."""
        lines = [rf"\text{{{step.title}:}} \quad & {step.tex}" for row in self.rows for step in row.steps]
        return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}"

    def _repr_latex_(self) -> str:
        return f"$$\n{self.latex()}\n$$"

    def __str__(self) -> str:
        lines = [f"joint {self.joint!r}: {len(self.rows)} rows"]
        for row in self.rows:
            lines.append(f"  row {row.number}, {row.kind}: {row.words}")
            for step in row.steps:
                lines.append(f"    {step.title:11s} {step.tex}")
                lines.append(f"    {'':11s} {'agrees' if step.ok else 'DIFFERS'} with {step.against}, {step.difference:.1e}")
        return "\n".join(lines)


def derive(eq: Any, joint: str) -> Derivation:
    """Return the rows of a joint step by step."""
    rows = eq.rows_of(joint)
    state = random_state(eq, np.random.default_rng(SEED))
    kernel = evaluate(eq.model, state)
    return Derivation(
        joint, tuple(RowDerivation(row.number, row.kind, row.primitive.words(), _steps(eq, row, state, kernel)) for row in rows)
    )


def random_state(eq: Any, rng: Any, t: float = 0.3) -> State:
    """Return a state with poses and velocities of size 1; in the plane, if the equations are planar."""
    state = eq.model.state()
    size = max(1.0, float(np.abs(state.r).max()))
    r, v, omega_bar = size * rng.normal(size=state.r.shape), rng.normal(size=state.r.shape), rng.normal(size=state.r.shape)
    p = np.array(normalized(rng.normal(size=state.p.shape)))
    if eq.planar is not None:
        for k, body in enumerate(eq.symbols.bodies[1:], start=1):
            made = eq.symbols.body(body)
            r[k, made.out], v[k, made.out] = state.r[k, made.out], 0.0
            half, rate = rng.uniform(-1.5, 1.5), rng.normal()
            turn = np.array([np.cos(half), *(np.sin(half) * made.n)])
            p0 = state.p[k] if not made.in_plane else np.array([1.0, 0.0, 0.0, 0.0])
            p[k] = [turn[0] * p0[0] - turn[1:] @ p0[1:], *(turn[0] * p0[1:] + p0[0] * turn[1:] + np.cross(turn[1:], p0[1:]))]
            omega_bar[k] = rate * (made.turned.T @ made.n)
    r[0], p[0], v[0], omega_bar[0] = 0.0, (1.0, 0.0, 0.0, 0.0), 0.0, 0.0
    there: State = state.replace(t=t, r=r, p=p, v=v, omega_bar=omega_bar)
    return there


def turned(state: State, body: int, axis: Any) -> State:
    """Return the state with a body turned by a small vector of angles (3,) in its own frame."""
    angle = float(np.linalg.norm(axis))
    q0, q = np.cos(angle / 2), (np.sin(angle / 2) / angle if angle else 0.5) * np.asarray(axis)
    p = np.array(state.p)
    p0, e = p[body, 0], p[body, 1:].copy()
    p[body] = [p0 * q0 - e @ q, *(p0 * q + q0 * e + np.cross(e, q))]
    return state.replace(p=p)


def moved(state: State, h: float) -> State:
    """Return the state after the time h with constant v and omega_bar, its functions of time at t + h."""
    there = state.replace(t=state.t + h, r=np.asarray(state.r) + h * np.asarray(state.v))
    for body in range(1, len(state.r)):
        there = turned(there, body, h * np.asarray(state.omega_bar[body]))
    return there


def _steps(eq: Any, row: Row, state: State, kernel: Rows) -> tuple[Step, ...]:
    """Return the steps of a row: definition, variation, identity, Phi_q, velocity, gamma, and gamma along a motion."""
    k = row.number
    numbers = eq.values_of_rows(state)

    def value(x: Any) -> float:
        return float(eq.sp.N(eq.sp.sympify(x).xreplace(_floats(eq, numbers)), 17))

    velocity_only = row.primitive.velocity_only
    left = "0" if velocity_only else r"\Phi"
    Phi_q = kernel.Phi_q.toarray()[k]
    in_coordinates = Phi_q if eq.planar is None else eq.to_plane(state) @ Phi_q
    gradient = np.array([value(x) for x in eq.gradient_of(row)])
    nu_tex, gamma = rf"\Phi_q u = \nu = {eq.symbols.tex(row.nu)}", rf"\Phi_q \dot{{u}} = \gamma = {gamma_tex(eq, row)}"
    return (
        _step("definition", f"{left} = {row.tex}", "the kernel's Phi", value(row.Phi), kernel.Phi[k], KERNEL_TOL),
        *(() if velocity_only else _variation_steps(eq, row, state, Phi_q)),
        _step("Phi_q", gradient_tex(eq, row), "the kernel's Phi_r and PiBar", gradient, in_coordinates, KERNEL_TOL),
        _step("velocity", nu_tex, "the kernel's nu", value(row.nu), kernel.nu[k], KERNEL_TOL),
        _step("gamma", gamma, "the kernel's gamma", value(row.gamma), kernel.gamma[k], KERNEL_TOL),
        _step_along_motion(eq, row, state, kernel),
    )


def _step(title: str, tex: str, against: str, a: Any, b: Any, tol: float) -> Step:
    """Return a step with the largest difference of a and b, relative to b where b is larger than 1."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    difference = float(np.abs(a - b).max(initial=0.0)) / max(1.0, float(np.abs(b).max(initial=0.0)))
    return Step(title, tex, against, difference, difference <= tol)


def _variation_steps(eq: Any, row: Row, state: State, Phi_q: Any) -> tuple[Step, Step]:
    """Return the steps of delta Phi and of the derivatives of A a_bar, against differences."""
    differences = _difference_row(eq, state, row.number)
    a, da = _identity(eq, row, state)
    return (
        _step("variation", rf"\delta\Phi = {variation(row)}", "differences of Phi", differences, Phi_q, DIFFERENCE_TOL),
        _step("identity", IDENTITY, "differences of A a_bar", a, da, DIFFERENCE_TOL),
    )


def _step_along_motion(eq: Any, row: Row, state: State, kernel: Rows) -> Step:
    """Return the step that compares gamma with -d/dt (Phi_q u - nu) of a motion with constant u."""
    k = row.number
    ahead, behind = (evaluate(eq.model, moved(state, sign * STEP)) for sign in (1, -1))
    u = np.hstack([state.v, state.omega_bar])[1:].ravel()
    defect_ahead, defect_behind = (rows.Phi_q.toarray()[k] @ u - rows.nu[k] for rows in (ahead, behind))
    tex = r"\gamma = -\frac{d}{dt}\left(\Phi_q u - \nu\right), \quad \dot{u} = 0"
    gamma = -(defect_ahead - defect_behind) / (2 * STEP)
    return _step("check", tex, "differences along a motion", gamma, kernel.gamma[k], DIFFERENCE_TOL)


def _floats(eq: Any, numbers: dict[Any, float]) -> dict[Any, Any]:
    return {symbol: eq.sp.Float(x, 17) for symbol, x in numbers.items()}


def _difference_row(eq: Any, state: State, k: int) -> Any:
    """Return a row of Phi_q by central differences, (6 nb,)."""
    entries = []
    for body in range(1, len(state.r)):
        for c in range(6):
            ends = []
            for sign in (1.0, -1.0):
                if c < 3:
                    r = np.array(state.r)
                    r[body, c] += sign * STEP
                    there = state.replace(r=r)
                else:
                    there = turned(state, body, sign * STEP * np.eye(3)[c - 3])
                ends.append(float(evaluate(eq.model, there).Phi[k]))
            entries.append((ends[0] - ends[1]) / (2 * STEP))
    return np.array(entries)


def _identity(eq: Any, row: Row, state: State) -> tuple[Any, Any]:
    """Return -A a_bar~ and its difference for the first vector of the row on a moving body, (3, 3)."""
    from haugmbd.equations.symbols import rotation  # noqa: PLC0415

    body, a = next((eq.symbols.number(body), a) for body, a in row.primitive.markers() if eq.symbols.number(body))
    A = rotation(np.asarray(state.p[body]))
    tilde = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    columns = [
        (rotation(np.asarray(turned(state, body, STEP * e).p[body])) - rotation(np.asarray(turned(state, body, -STEP * e).p[body])))
        @ a
        / (2 * STEP)
        for e in np.eye(3)
    ]
    return np.column_stack(columns), -A @ tilde


IDENTITY = (
    r"\delta\left(A \bar{a}\right) = -A \tilde{\bar{a}}\, \delta\bar{\pi}, \quad "
    r"\frac{d^{2}}{dt^{2}}\left(A \bar{a}\right) = "
    r"A \tilde{\bar{\omega}} \tilde{\bar{\omega}} \bar{a} - A \tilde{\bar{a}} \dot{\bar{\omega}}"
)
"""What turns the variation of a vector on a body into its small rotation, and its second rate."""


def variation(row: Row) -> str:
    """Return the variation of a row by the product rule, in TeX."""
    parts = []
    for scalar in row.scalars:
        if scalar.parts is None:
            return r"\sum_{k} F_{c_{k}} \delta c_{k}, \quad " + r"\Phi = F\left(c_{1}, c_{2}, \ldots\right)"
        a, b = scalar.parts
        terms = [] if isinstance(a, Direction) else [rf"\left(\delta {short(a)}\right)^{{T}} {short(b)}"]
        terms.append(rf"{short(a)}^{{T}} \delta {short(b)}")
        parts.append(" + ".join(terms))
    total = (
        parts[0] if len(parts) == 1 else r" + ".join(rf"F_{{c_{{{k + 1}}}}} \left({part}\right)" for k, part in enumerate(parts))
    )
    return total


def short(x: Any) -> str:
    """Return a vector of a row in TeX: a_i, d_ij, or the direction."""
    if isinstance(x, Distance):
        return "d_{ij}"
    if isinstance(x, Arrow):
        return x.tex if not x.frame.frame_tex else rf"\left({x.tex}\right)"
    return str(x.tex)


def gradient_tex(eq: Any, row: Row) -> str:
    """Return Phi_r and PiBar of each body of a row in TeX, or Phi_q in a plane."""
    parts = []
    for k, (force, moment) in sorted(row.gradient.items()):
        made = eq.symbols.body(eq.symbols.bodies[k])
        name = made.frame_tex[3:-1]
        if eq.planar is not None:
            both = force.col_join(moment)
            entries = (both.T * made.to_velocity).applyfunc(eq.sp.expand)
            parts.append(rf"\Phi_{{q_{{{name}}}}} = {eq.symbols.tex(entries)}")
            continue
        parts.append(
            rf"\Phi_{{r_{{{name}}}}} = {vector_gradient(eq, row, k, False)}, \quad "
            rf"\bar{{\Pi}}_{{{name}}} = {vector_gradient(eq, row, k, True)}"
        )
    return r", \quad ".join(parts) or "0"


def vector_gradient(eq: Any, row: Row, number: int, moments: bool) -> str:
    """Return Phi_r or PiBar of a body in vectors, for rows that are one product; F_c with the products of others."""
    terms: list[str] = []
    for n, scalar in enumerate(row.scalars):
        if scalar.parts is None:
            by = r"\bar{\pi}" if moments else "r"
            return rf"\sum_{{k}} F_{{c_{{k}}}} \frac{{\partial c_{{k}}}}{{\partial {by}}}"
        factor = "" if len(row.scalars) == 1 else f"F_{{c_{{{n + 1}}}}} "
        a, b = scalar.parts
        doubled = a is b
        for this, other in ((a, b),) if doubled else ((a, b), (b, a)):
            ends = this.ends if isinstance(this, Distance) else ((this, 0),) if isinstance(this, Arrow) else ()
            for end, sign in ends:
                if end.number != number:
                    continue
                mark = "-" if sign < 0 else "+"
                two = "2 " if doubled else ""
                if not moments and sign:
                    terms.append(f"{mark} {factor}{two}{short(other)}^{{T}}")
                if moments and any(x != 0 for x in end.x_bar):
                    mark = "+" if sign < 0 else "-"
                    terms.append(rf"{mark} {factor}{two}{short(other)}^{{T}} {end.frame.frame_tex} {tilded(end.bar_tex)}")
    return " ".join(terms).removeprefix("+ ") or "0"


def tilded(bar_tex: str) -> str:
    """Return the tilde over a vector in TeX, not over its subscript."""
    letter, subscript = bar_tex.split("}_", 1)
    return rf"\tilde{{{letter}}}}}_{subscript}"


def gamma_tex(eq: Any, row: Row) -> str:
    """Return gamma in vectors: second rates of the products, without accelerations."""
    if eq.planar is not None:
        return str(eq.symbols.tex(eq.sp.expand(row.gamma)))
    if len(row.scalars) == 1 and row.scalars[0].parts is not None:
        a, b = row.scalars[0].parts
        f = row.gamma + row.scalars[0].second
        driven = eq.symbols.tex(f) if f != 0 else ""
        ta, tb = second_tex(a), second_tex(b)
        terms = []
        if ta != "0" and a is not b:
            terms.append(rf"- {wrapped(ta)}^{{T}} {short(b)}")
        if not isinstance(a, Direction) and ta != "0" and tb != "0":
            terms.append(rf"- 2 {wrapped(rate_tex(a))}^{{T}} {wrapped(rate_tex(b))}")
        if tb != "0":
            terms.append(rf"- {'2 ' if a is b else ''}{short(a)}^{{T}} {wrapped(tb)}")
        return " ".join((driven, *terms)).strip() or "0"
    return (
        r"-\sum_{k} F_{c_{k}} \ddot{c}_{k} - \sum_{k,m} F_{c_{k} c_{m}} \dot{c}_{k} \dot{c}_{m} "
        r"- 2 \sum_{k} F_{c_{k} t} \dot{c}_{k} - F_{tt}"
        if row.scalars
        else r"-\frac{d}{dt}\left(\Phi_q\right) u"
    )


def wrapped(text: str) -> str:
    """Return a sum in brackets."""
    return rf"\left({text}\right)"


def rate_tex(x: Any) -> str:
    """Return the rate of a vector in TeX."""
    return _sum_of(
        x, lambda end: rf"{end.frame.frame_tex} \tilde{{\bar{{\omega}}}}_{{{end.frame.frame_tex[3:-1]}}} {end.bar_tex}", r"\dot{r}"
    )


def second_tex(x: Any) -> str:
    """Return the second rate of a vector at u_dot = 0 in TeX."""

    def arrow(end: Any) -> str:
        omega = rf"\tilde{{\bar{{\omega}}}}_{{{end.frame.frame_tex[3:-1]}}}"
        return rf"{end.frame.frame_tex} {omega} {omega} {end.bar_tex}"

    return _sum_of(x, arrow, "")


def _sum_of(x: Any, arrow: Any, r: str) -> str:
    if isinstance(x, Direction):
        return "0"
    if isinstance(x, Arrow):
        return arrow(x) if x.number else "0"
    terms = []
    for end, sign in reversed(x.ends):
        mark = "-" if sign < 0 else "+"
        if end.number and r:
            terms.append(f"{mark} {r}_{{{end.frame.frame_tex[3:-1]}}}")
        if end.number and any(c != 0 for c in end.x_bar):
            terms.append(f"{mark} {arrow(end)}")
    return " ".join(terms).removeprefix("+ ") or "0"
