r"""Rows in symbols: every equation is a function F of a few scalar products and of time, and all of its derivatives follow from that.

    products     a . b       a . d_ij       d_ij . d_ij       c . d_ij        the four of DP1, DP2, D and CD
    variation    delta a = A (delta pi_bar x a_bar)       delta d_ij = delta r_j + A_j (delta pi_bar_j x s_bar_j) - ...
    rates        a' = A (w x a_bar)        a'' = A (w x (w x a_bar))      at w' = 0,   w = omega_bar
    row          Phi = F(c, t)             delta Phi = sum F_c delta c              nu = -F_t
                 gamma = -( sum F_c c'' + sum F_cc c' c' + 2 sum F_ct c' + F_tt )

DP1, DP2, D and CD are one product each. Rotation, ConstantVelocity and DiscOnPlane are functions of two, an angle is atan2 of two, a
coupling a sum of angles and displacements, and a curve a function of the three coordinates of a point. Slip and KnifeEdge have no Phi.
`KINDS` says which function: nothing else is written for a kind of equation. Source: Haug (2021), spatial kinematics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint
from haugmbd.drivers import Constant, Driver, Expression
from haugmbd.drivers.expression_grammar import parse
from haugmbd.equations.symbols import Symbols, identifier, snapped, tex_name
from haugmbd.errors import UsageError
from haugmbd.model.model import Model


def cross(sp: Any, a: Any, b: Any) -> Any:
    """Return a x b, (3, 1)."""
    return sp.Matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dot(a: Any, b: Any) -> Any:
    """Return a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


Gradient = dict[int, tuple[Any, Any]]
"""Phi_r (3, 1) and PiBar (3, 1) by the number of the body, without the ground."""


class Vector:
    """A vector in symbols: its value, first and second rate (at u_dot = 0), (3, 1); global frame."""

    tex = ""
    rate_tex = ""

    def __init__(self, sp: Any, value: Any, rate: Any, second: Any) -> None:
        self.sp, self.value, self.rate, self.second = sp, value, rate, second

    def along(self, g: Any) -> Gradient:
        """Return the gradient of g . x for a constant global g."""
        return {}

    def along_p(self, symbols: Symbols, g: Any) -> dict[int, Any]:
        """Return the derivative of g . x by the Euler parameters of the bodies: g^T B(p, x_bar), (1, 4)."""
        return {}


class Direction(Vector):
    """A constant global direction."""

    def __init__(self, sp: Any, c: Any, tex: str) -> None:
        zero = sp.zeros(3, 1)
        super().__init__(sp, c, zero, zero)
        self.tex, self.bodies = tex, ()


class Arrow(Vector):
    """A vector fixed on a body: a = A a_bar."""

    def __init__(self, symbols: Symbols, body: Body, name: str, x_bar: Any) -> None:
        sp, b = symbols.sp, symbols.body(body)
        turn = cross(sp, b.omega_bar, x_bar)
        super().__init__(sp, b.A * x_bar, b.A * turn, b.A * cross(sp, b.omega_bar, turn))
        self.name, self.x_bar, self.frame, self.number = name, x_bar, b, symbols.number(body)
        bar = symbols.vector_tex[name]
        self.tex = f"{b.frame_tex} {bar}".strip()
        self.bar_tex = bar

    def along(self, g: Any) -> Gradient:
        if self.number == 0:
            return {}
        return {self.number: (self.sp.zeros(3, 1), cross(self.sp, self.x_bar, self.frame.A.T * g))}

    def along_p(self, symbols: Symbols, g: Any) -> dict[int, Any]:
        return {} if self.number == 0 else {self.number: g.T * B(self.sp, self.frame.p, self.x_bar)}


class Distance(Vector):
    """The vector from a point of body i to a point of body j: d = r_j + A_j s_j - r_i - A_i s_i."""

    def __init__(self, i: Arrow, j: Arrow) -> None:
        sp = i.sp
        super().__init__(
            sp, j.frame.r + j.value - i.frame.r - i.value, j.frame.v + j.rate - i.frame.v - i.rate, j.second - i.second
        )
        self.ends = ((i, -1), (j, 1))
        parts = []
        for end, sign in ((j, "+"), (i, "-")):
            r = f"{sign} r_{{{end.frame.frame_tex[3:-1]}}}" if end.number else ""
            parts += [r, f"{sign} {end.tex}" if any(x != 0 for x in end.x_bar) else ""]
        text = " ".join(part for part in parts if part).removeprefix("+ ")
        self.tex = rf"\left({text}\right)" if text else "0"

    def along(self, g: Any) -> Gradient:
        total: Gradient = {}
        for end, sign in self.ends:
            if end.number:
                add_gradient(self.sp, total, {end.number: (sign * g, sign * cross(self.sp, end.x_bar, end.frame.A.T * g))}, 1)
        return total

    def along_p(self, symbols: Symbols, g: Any) -> dict[int, Any]:
        total: dict[int, Any] = {}
        for end, sign in self.ends:
            for number, row in end.along_p(symbols, sign * g).items():
                total[number] = total[number] + row if number in total else row
        return total


def B(sp: Any, p: Any, a: Any) -> Any:
    """Return B(p, a_bar) = d(A(p) a_bar)/dp = 2 [ (e0 I + e~) a, e a^T - (e0 I + e~) a~ ], (3, 4)."""
    e0, e = p[0], sp.Matrix(p[1:4])
    M = e0 * sp.eye(3) + tilde(sp, e)
    return 2 * (M * a).row_join(e * a.T - M * tilde(sp, a))


def tilde(sp: Any, a: Any) -> Any:
    """Return a~, with a~ b = a x b, (3, 3)."""
    return sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def add_gradient(sp: Any, total: Gradient, more: Gradient, factor: Any) -> None:
    """Add factor times a gradient to a total."""
    for number, (force, moment) in more.items():
        f, m = total.get(number, (sp.zeros(3, 1), sp.zeros(3, 1)))
        total[number] = f + factor * force, m + factor * moment


class Scalar:
    """A scalar in symbols: value, gradient, derivative by p, first and second rate (at u_dot = 0), explicit rate; `tex` in vectors."""

    def __init__(self, value: Any, gradient: Gradient, by_p: Any, rate: Any, second: Any, tex: str) -> None:
        self.value, self.gradient, self.by_p, self.rate, self.second, self.tex = value, gradient, by_p, rate, second, tex
        self.parts: tuple[Vector, Vector] | None = None


def product(symbols: Symbols, a: Vector, b: Vector) -> Scalar:
    """Return the scalar product a . b."""
    sp = symbols.sp
    gradient: Gradient = {}
    add_gradient(sp, gradient, a.along(b.value), 1)
    add_gradient(sp, gradient, b.along(a.value), 1)
    second = dot(a.second, b.value) + 2 * dot(a.rate, b.rate) + dot(a.value, b.second)

    def by_p() -> dict[int, Any]:
        total = dict(a.along_p(symbols, b.value))
        for number, row in b.along_p(symbols, a.value).items():
            total[number] = total[number] + row if number in total else row
        return total

    left = a.tex if not a.tex.startswith("A_") else transposed(a)
    if left == a.tex:
        left = rf"{a.tex}^{{T}}"
    made = Scalar(dot(a.value, b.value), gradient, by_p, dot(a.rate, b.value) + dot(a.value, b.rate), second, f"{left} {b.tex}")
    made.parts = (a, b)
    return made


def transposed(a: Any) -> str:
    """Return (A a_bar)^T in TeX: a_bar^T A^T."""
    frame = a.frame.frame_tex
    return f"{a.bar_tex}^{{T}} {frame}^{{T}}" if frame else f"{a.bar_tex}^{{T}}"


def composed(symbols: Symbols, scalars: list[Scalar], value: Any, first: list[Any], second: list[list[Any]], tex: str) -> Scalar:
    """Return F(scalars) without explicit time, from its value and partial derivatives."""
    sp = symbols.sp
    gradient: Gradient = {}
    for F, c in zip(first, scalars, strict=True):
        add_gradient(sp, gradient, c.gradient, F)

    def by_p() -> dict[int, Any]:
        total: dict[int, Any] = {}
        for F, c in zip(first, scalars, strict=True):
            for number, row in c.by_p().items():
                total[number] = total[number] + F * row if number in total else F * row
        return total

    rate = sum((F * c.rate for F, c in zip(first, scalars, strict=True)), sp.Integer(0))
    curved = sum((F * c.second for F, c in zip(first, scalars, strict=True)), sp.Integer(0))
    for k, c in enumerate(scalars):
        for m, other in enumerate(scalars):
            curved += second[k][m] * c.rate * other.rate
    return Scalar(value, gradient, by_p, rate, curved, tex)


def function_of(symbols: Symbols, scalars: list[Scalar], F: Callable[..., Any], tex: str) -> Scalar:
    """Return F(scalars), F written with SymPy, without explicit time."""
    sp = symbols.sp
    c = [sp.Symbol(f"_c{k}", real=True) for k in range(len(scalars))]
    formula = F(*c)
    put = dict(zip(c, (each.value for each in scalars), strict=True))
    first = [sp.diff(formula, each) for each in c]
    second = [[sp.diff(each, other).xreplace(put) for other in c] for each in first]
    return composed(symbols, scalars, formula.xreplace(put), [each.xreplace(put) for each in first], second, tex)


@dataclass(frozen=True, eq=False)
class Row:
    """A row in symbols.

    Phi, nu, gamma: expressions;  gradient: Phi_r (3, 1) and PiBar (3, 1) by the number of the body;  by_p: Phi_p (1, 4) likewise
    tex: Phi in vectors;  scalars: the products that it is a function of;  joint, primitive, number: where it comes from
    """

    joint: Joint
    primitive: Primitive
    number: int
    Phi: Any
    nu: Any
    gamma: Any
    gradient: Gradient
    by_p: Callable[[], dict[int, Any]]
    tex: str
    scalars: tuple[Scalar, ...] = field(default=())

    @property
    def kind(self) -> str:
        """The kind of the equation."""
        return self.primitive.kind


class RowMaker:
    """Makes the rows of a joint."""

    def __init__(self, symbols: Symbols, model: Model) -> None:
        self.symbols, self.sp, self._model = symbols, symbols.sp, model
        self._drivers: dict[str, Driver] = {}

    def rows(self, joint: Joint, first: int) -> list[Row]:
        """Return the rows of a joint, whose first is number `first`."""
        return [self.row(joint, primitive, first + k) for k, primitive in enumerate(joint.primitives())]

    def row(self, joint: Joint, primitive: Primitive, number: int) -> Row:
        """Return the row of an equation."""
        for kind in type(primitive).__mro__:
            if kind.__name__ in KINDS:
                return KINDS[kind.__name__](self, joint, primitive, number)
        known = ", ".join(KINDS)
        what = f"joint {joint.name!r} has an equation {primitive.kind!r}, whose formula is not known"
        raise UsageError(f"mbd.equations: {what}: it is made of {known}.")

    def arrow(self, joint: Joint, body: Body, x_bar: Any, what: str = "a_bar") -> Arrow:
        """Return the vector or point of a body; it has the name of the joint's frame axis that it is."""
        side = "i" if body is joint.i else "j" if body is joint.j else identifier(body.name)
        frame = joint.frame_i if body is joint.i else joint.frame_j
        if what != "s_bar" and body is frame.body:
            axes = {"f_bar": frame.f, "g_bar": frame.g, "h_bar": frame.h}
            what = next((name for name, axis in axes.items() if np.array_equal(axis, x_bar)), what)
        name, parts = self.symbols.vector(joint, body, what, side, x_bar)
        return Arrow(self.symbols, body, name, parts)

    def distance(self, joint: Joint, i: Body, s_bar_i: Any, j: Body, s_bar_j: Any) -> Distance:
        """Return the vector from a point of body i to a point of body j."""
        return Distance(self.arrow(joint, i, s_bar_i, "s_bar"), self.arrow(joint, j, s_bar_j, "s_bar"))

    def driver(self, owner: Any, f: Driver, what: str = "f") -> tuple[Any, Any, Any, str]:
        """Return f, f', f'' in symbols, and f in TeX."""
        sp, symbols = self.sp, self.symbols
        name = f"{what}_{symbols.names.of(owner)}"
        letter, _, component = what.partition("_")
        head = letter if len(letter) == 1 else rf"\mathrm{{{letter}}}"
        below = ",".join(filter(None, (component, tex_name(owner.name))))
        tex = f"{head}_{{{below}}}"
        if isinstance(f, Constant):
            value = symbols.parameter(name, f.value, tex)
            return value, sp.Integer(0), sp.Integer(0), "" if value == 0 else tex
        if isinstance(f, Expression):
            if not f.parameters and f.names:  # made anew by the joint: the model has read another one
                f.bind(symbols.named_parameters, "the system")
            formula = translated(sp, symbols, f)
            if formula is not None:
                return formula, sp.diff(formula, symbols.t), sp.diff(formula, symbols.t, 2), symbols.tex(formula)
        base, number = name, 2
        while self._drivers.setdefault(name, f) is not f:  # another function of the same joint
            name, number = f"{base}_{number}", number + 1
        if name != base:
            tex = f"{head}_{{{below},{number - 1}}}"
        function = sp.Function(name, real=True)(symbols.t)
        derivatives = [sp.Derivative(function, (symbols.t, k)) for k in (1, 2)]
        for k, atom in enumerate((function, *derivatives)):
            words = f"{name}(t): {f} of {owner.name!r}" if k == 0 else ""
            symbols.atoms.add(atom, _component(lambda numbers, state: self._values(f, state), k), words)
        return function, *derivatives, rf"{tex}(t)"

    def _values(self, f: Driver, state: Any) -> Any:
        """Return f, f', f'' of a driver at a state, which one that follows a block reads."""
        network = self._model.network
        followed = {} if network is None else network.motion_values(state.t, state.flat)
        slot = next((k for k in followed if self._model.drivers[k] is f), None)
        return f.values(state.t) if slot is None else followed[slot]

    def of_products(self, joint: Joint, p: Primitive, number: int, scalar: Scalar, driver: Driver | None, power: int = 1) -> Row:
        """Return the row Phi = scalar - f(t)^power."""
        f, f1, f2, tex = self.driver(joint, driver) if driver is not None else (0, 0, 0, "")
        if power == 2:
            f, f1, f2, tex = f**2, 2 * f * f1, 2 * (f1**2 + f * f2), f"{tex}^{{2}}"
        words = f"{scalar.tex} - {tex}" if tex and f != 0 else scalar.tex
        return Row(
            joint,
            p,
            number,
            scalar.value - f,
            self.sp.sympify(f1),
            f2 - scalar.second,
            scalar.gradient,
            scalar.by_p,
            words,
            (scalar,),
        )

    def coordinate(self, q: Coordinate) -> Scalar:
        """Return a joint's coordinate: an angle through any number of turns, or a displacement, from the modelled pose."""
        sp, symbols, joint = self.sp, self.symbols, q.joint
        name = identifier(q.label)
        offset = symbols.parameter(f"offset_{name}", q.modelled() - q.q0, rf"o_{{{tex_name(q.label)}}}")
        if q.turns:
            (a, e_bar), (_, n_bar), (b, v_bar) = q.markers()
            e, n, v = self.arrow(joint, a, e_bar), self.arrow(joint, a, n_bar), self.arrow(joint, b, v_bar)
            c, s = product(symbols, e, v), product(symbols, n, v)
            turns = sp.Symbol(f"turns_{name}", integer=True)
            symbols.tex_of[turns] = rf"k_{{{tex_name(q.label)}}}"
            bare = sp.atan2(s.value, c.value) - offset
            value = turned_value(symbols, q, bare)
            symbols.atoms.add(
                turns, value, f"turns_{name}: whole turns of {q.label}, nearest to the angle that the state integrates"
            )
            tex = rf"\operatorname{{atan2}}\left({s.tex},\; {c.tex}\right)" + (rf" - {symbols.tex(offset)}" if offset != 0 else "")
            return function_of(
                symbols, [c, s], lambda x, y: sp.atan2(y, x) - offset + 2 * sp.pi * turns, tex + rf" + 2\pi {symbols.tex(turns)}"
            )
        (body, h_bar), (i, s_i), (j, s_j) = q.markers()
        scalar = product(symbols, self.arrow(joint, body, h_bar), self.distance(joint, i, s_i, j, s_j))
        tex = scalar.tex + (f" - {symbols.tex(offset)}" if offset != 0 else "")
        return function_of(symbols, [scalar], lambda x: x - offset, tex)


def turned_value(symbols: Symbols, q: Coordinate, bare: Any) -> Callable[[dict[Any, float], Any], float]:
    """Return a function for the whole turns of an angle: those nearest to the one that the state integrates."""
    function: list[Any] = []

    def turns(numbers: dict[Any, float], state: Any) -> float:
        if not function:
            arguments = sorted(bare.free_symbols, key=str)
            function.extend((arguments, symbols.sp.lambdify(arguments, bare, modules="numpy")))
        angle = float(function[1](*(numbers[each] for each in function[0])))
        near = symbols.integrated(q, state)
        return float(np.floor((near - angle) / (2.0 * np.pi) + 0.5))

    return turns


def _component(values: Callable[[dict[Any, float], Any], Any], k: int) -> Callable[[dict[Any, float], Any], float]:
    """Return a function for one number of several."""
    return lambda numbers, state: float(values(numbers, state)[k])


def translated(sp: Any, symbols: Symbols, f: Expression) -> Any:
    """Return the formula of an Expression in SymPy; None if it has a function that SymPy writes in another way."""
    known = {
        np.add: lambda a, b: a + b, np.subtract: lambda a, b: a - b, np.multiply: lambda a, b: a * b, np.divide: lambda a, b: a / b,
        np.power: lambda a, b: a**b, np.negative: lambda a: -a, np.sin: sp.sin, np.cos: sp.cos, np.tan: sp.tan, np.arcsin: sp.asin,
        np.arccos: sp.acos, np.arctan: sp.atan, np.sinh: sp.sinh, np.cosh: sp.cosh, np.tanh: sp.tanh, np.exp: sp.exp, np.log: sp.log,
        np.sqrt: sp.sqrt, np.square: lambda a: a**2, np.arctan2: sp.atan2,
    }  # fmt: skip
    stack: list[Any] = []
    for step in parse(f.text):
        if step.function is not None:
            if step.function not in known:
                return None
            arguments = stack[-step.arguments :]
            del stack[-step.arguments :]
            stack.append(known[step.function](*arguments))
        elif step.variable:
            is_time = step.variable == "t"
            stack.append(
                symbols.t
                if is_time
                else symbols.parameter(
                    step.variable, {**symbols.named_parameters, **f.parameters}[step.variable], rf"\mathrm{{{step.variable}}}"
                )
            )
        else:
            whole = snapped(sp, step.number)
            stack.append(
                sp.Integer(int(step.number))
                if step.number == int(step.number)
                else sp.Float(step.number)
                if whole is None
                else whole
            )
    return stack[0]


def dp1(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = a_i . a_j - f."""
    a, b = make.arrow(joint, p.i, p.a_bar_i), make.arrow(joint, p.j, p.a_bar_j)
    return make.of_products(joint, p, number, product(make.symbols, a, b), p.f)


def dp2(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = a_i . d_ij - f."""
    a, d = make.arrow(joint, p.i, p.a_bar_i), make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j)
    return make.of_products(joint, p, number, product(make.symbols, a, d), p.f)


def d(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = d_ij . d_ij - f^2."""
    x = make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j)
    return make.of_products(joint, p, number, product(make.symbols, x, x), p.f, power=2)


def cd(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = c . d_ij - f."""
    sp, symbols = make.sp, make.symbols
    parts = [snapped(sp, float(x)) for x in p.c]
    axis = "".join(name for name, x in zip("xyz", p.c, strict=True) if x)
    tex = rf"\hat{{{axis}}}" if len(axis) == 1 and abs(p.c).max() == 1.0 and p.c.max() == 1.0 else "c"
    name = f"c_{symbols.names.of(joint)}"
    c = sp.Matrix(
        [symbols.parameter(f"{name}_{a}", float(x)) if s is None else s for a, x, s in zip("xyz", p.c, parts, strict=True)]
    )
    scalar = product(symbols, Direction(sp, c, tex), make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j))
    return make.of_products(joint, p, number, scalar, p.f)


def rotation_row(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = cos f (n . e') - sin f (e . e'), with the explicit time of f."""
    sp, symbols = make.sp, make.symbols
    e, n, q = make.arrow(joint, p.i, p.e_bar_i), make.arrow(joint, p.i, p.n_bar_i), make.arrow(joint, p.j, p.e_bar_j)
    c, s = product(symbols, e, q), product(symbols, n, q)
    f, f1, f2, tex = make.driver(joint, p.f)
    Phi = sp.cos(f) * s.value - sp.sin(f) * c.value
    by_f = -(sp.sin(f) * s.value + sp.cos(f) * c.value)
    moved = function_of(symbols, [c, s], lambda x, y: sp.cos(f) * y - sp.sin(f) * x, "")
    gamma = -(moved.second + 2 * f1 * -(sp.sin(f) * s.rate + sp.cos(f) * c.rate) + f2 * by_f - f1**2 * Phi)
    words = rf"\cos\left({tex or 0}\right) {s.tex} - \sin\left({tex or 0}\right) {c.tex}"
    return Row(joint, p, number, Phi, -f1 * by_f, gamma, moved.gradient, moved.by_p, words, (s, c))


def constant_velocity(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = a_i . b_j - b_i . a_j - f."""
    a_i, b_i = make.arrow(joint, p.i, p.a_bar_i), make.arrow(joint, p.i, p.b_bar_i, "b_bar")
    a_j, b_j = make.arrow(joint, p.j, p.a_bar_j), make.arrow(joint, p.j, p.b_bar_j, "b_bar")
    one, two = product(make.symbols, a_i, b_j), product(make.symbols, b_i, a_j)
    scalar = function_of(make.symbols, [one, two], lambda x, y: x - y, f"{one.tex} - {two.tex}")
    return with_scalars(make.of_products(joint, p, number, scalar, p.f), (one, two))


def disc_on_plane(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = n . d - R sqrt(1 - (n . a)^2)."""
    sp, symbols = make.sp, make.symbols
    n, a = make.arrow(joint, p.i, p.n_bar_i, "n_bar"), make.arrow(joint, p.j, p.a_bar_j)
    height, k = product(symbols, n, make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j)), product(symbols, n, a)
    R = symbols.parameter(f"R_{symbols.names.of(joint)}", p.radius, f"R_{{{tex_name(joint.name)}}}")
    tex = rf"{height.tex} - {symbols.tex(R)} \sqrt{{1 - \left({k.tex}\right)^{{2}}}}"
    scalar = function_of(symbols, [height, k], lambda x, y: x - R * sp.sqrt(1 - y**2), tex)
    return with_scalars(make.of_products(joint, p, number, scalar, None), (height, k))


def with_scalars(row: Row, scalars: tuple[Scalar, ...]) -> Row:
    """Return the row, which is a function of these products."""
    return Row(row.joint, row.primitive, row.number, row.Phi, row.nu, row.gamma, row.gradient, row.by_p, row.tex, scalars)


def coupling(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = sum c_k q_k - f."""
    sp, symbols = make.sp, make.symbols
    coordinates = [make.coordinate(q) for q, _ in p.terms]
    name = symbols.names.of(joint)
    weights = []
    for k, (_, c) in enumerate(p.terms):
        whole = snapped(sp, c)
        weights.append(symbols.parameter(f"c_{name}_{k}", c, f"c_{{{tex_name(joint.name)},{k}}}") if whole is None else whole)
    tex = " + ".join(rf"{symbols.tex(c)} \left({q.tex}\right)" for c, q in zip(weights, coordinates, strict=True))
    n = len(coordinates)
    total = sum((c * q.value for c, q in zip(weights, coordinates, strict=True)), sp.Integer(0))
    scalar = composed(symbols, coordinates, total, weights, [[sp.Integer(0)] * n for _ in range(n)], tex)
    return with_scalars(make.of_products(joint, p, number, scalar, p.f), tuple(coordinates))


def rope(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = sum of w |D| - f. Raise UsageError for a rope around discs, whose formula changes where it meets or leaves one."""
    sp, symbols = make.sp, make.symbols
    if p.drums or any(group.plane is not None for group in p.groups):
        raise UsageError(
            f"joint {joint.name!r}: the length of a rope around discs is told by cases, which of them it touches. Equations in symbols "
            "have ropes over points: give points in place of the discs."
        )
    parts = [(group.weight, a, b) for group in p.groups for a, b in zip(group.elements, group.elements[1:], strict=False)]
    squares = [product(symbols, x, x) for x in (make.distance(joint, a.body, a.s_bar, b.body, b.s_bar) for _, a, b in parts)]
    weights = [snapped(sp, w) or sp.Float(w) for w, _, _ in parts]
    tex = " + ".join(rf"\sqrt{{{each.tex}}}" for each in squares)
    scalar = function_of(
        symbols, squares, lambda *c: sum((w * sp.sqrt(x) for w, x in zip(weights, c, strict=True)), sp.Integer(0)), tex
    )
    return with_scalars(make.of_products(joint, p, number, scalar, p.f), tuple(squares))


def pose(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Raise UsageError: an orientation that is given in time has no symbols yet."""
    raise UsageError(
        f"joint {joint.name!r}: the orientation that a PoseDriver gives has no equation in symbols. Derive those of the system without "
        "it, or give its motions by a RotationDriver and TranslationDrivers."
    )


def coordinate_function(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = q_b - f(q_a), f and its derivatives as symbols."""
    sp, symbols = make.sp, make.symbols
    q_a, q_b = make.coordinate(p.a), make.coordinate(p.b)
    name, tex = f"f_{symbols.names.of(joint)}", f"f_{{{tex_name(joint.name)}}}"
    q = sp.Symbol(f"q_{identifier(p.a.label)}", real=True)
    symbols.tex_of[q] = f"q_{{{tex_name(p.a.label)}}}"
    symbols.atoms.add(q, at_numbers(symbols, q_a.value), f"{q}: the coordinate {p.a.label}")
    f = sp.Function(name, real=True)(q)
    derivatives = [f, sp.Derivative(f, q), sp.Derivative(f, (q, 2))]
    for k, atom in enumerate(derivatives):
        words = f"{name}(q): the function of {joint.name!r}" if k == 0 else ""
        symbols.atoms.add(atom, _component(lambda numbers, state: p.values(numbers[q]), k), words)
    zero = sp.Integer(0)
    scalar = composed(
        symbols, [q_b, q_a], q_b.value - f, [sp.Integer(1), -derivatives[1]], [[zero, zero], [zero, -derivatives[2]]],
        rf"{q_b.tex} - {tex}\left({q_a.tex}\right)",
    )  # fmt: skip
    return with_scalars(make.of_products(joint, p, number, scalar, None), (q_b, q_a))


def at_numbers(symbols: Symbols, expression: Any) -> Callable[[dict[Any, float], Any], float]:
    """Return a function for the number of an expression, once those of its symbols are known."""
    ready: list[Any] = []

    def value(numbers: dict[Any, float], state: Any) -> float:
        if not ready:
            arguments = sorted(expression.free_symbols, key=str)
            ready.extend((arguments, symbols.sp.lambdify(arguments, expression, modules="numpy")))
        return float(ready[1](*(numbers[each] for each in ready[0])))

    return value


class AtCurve(NamedTuple):
    """The nearest point of a curve: x_k, the parameter s, c(s) and another field n(s), and the axes of body i."""

    x: list[Any]
    s: Any
    c: list[Any]
    n: list[Any]
    axes: list[Arrow]


def at_curve(make: RowMaker, joint: Joint, p: Any, number: int) -> AtCurve:
    """Return the nearest point, c'(s) . (x - c(s)) = 0; x_k = a_k . d, a_k the axes of body i."""
    sp, symbols = make.sp, make.symbols
    centre = make.distance(joint, p.i, np.zeros(3), p.j, p.s_bar_j)
    axes = [make.arrow(joint, p.i, axis, f"e{k}_bar") for k, axis in enumerate(symbols.body(p.i).turned.T @ np.eye(3))]
    x = [product(symbols, axis, centre) for axis in axes]
    name = symbols.names.of(joint)
    s = sp.Symbol(f"s_{name}", real=True)
    symbols.tex_of[s] = f"s_{{{tex_name(joint.name)}}}"
    nearest = [at_numbers(symbols, each.value) for each in x]
    symbols.atoms.add(
        s,
        lambda numbers, state: float(p.parameters(np.array([[each(numbers, state) for each in nearest]]))[0]),
        f"{s}: the nearest point",
    )
    row = number  # the rows of a curve have a field n(s) each
    functions = {}
    for what, pieces in (("c", p.c), ("n", p.n)):
        label = f"{what}_{name}" if what == "c" else f"{what}_{name}_{row}"
        for axis in range(3):
            f = sp.Function(f"{label}_{'xyz'[axis]}", real=True)(s)
            functions[what, axis] = f
            for k in range(4):
                atom = f if k == 0 else sp.Derivative(f, s) if k == 1 else sp.Derivative(f, (s, k))
                symbols.atoms.add(atom, _on_spline(p, pieces, axis, s, k))
    return AtCurve(x, s, [functions["c", k] for k in range(3)], [functions["n", k] for k in range(3)], axes)


def point_on_curve(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = n(s) . (x - c(s)) at the nearest point."""
    at = at_curve(make, joint, p, number)
    return of_surface(make, joint, p, number, at, at.n, 0, r"n(s)^{T} \left(x - c(s)\right)")


def curve_distance(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = (b x t) . (x - c(s)) - R at the nearest point."""
    at = at_curve(make, joint, p, number)
    R = make.symbols.parameter(f"R_{make.symbols.names.of(joint)}", p.radius, f"R_{{{tex_name(joint.name)}}}")
    tex = r"\left(b \times t(s)\right)^{T} \left(x - c(s)\right) - " + make.symbols.tex_of[R]
    return of_surface(make, joint, p, number, at, list(across_curve(make.sp, at, p)[1]), R, tex)


def across_curve(sp: Any, at: AtCurve, p: Any) -> tuple[Any, Any, Any, Any]:
    """Return b, n = b x t, t = c' / |c'| and |c'| at the nearest point, frame of body i."""
    slope = sp.Matrix([sp.diff(each, at.s) for each in at.c])
    size = sp.sqrt(dot(slope, slope))
    b = sp.Matrix([sp.Integer(round(x)) if x == round(x) else sp.Float(x) for x in p.b_bar_i.tolist()])
    return b, cross(sp, b, slope / size), slope / size, size


def of_surface(make: RowMaker, joint: Joint, p: Any, number: int, at: AtCurve, n: list[Any], less: Any, tex: str) -> Row:
    """Return Phi = n(s) . (x - c(s)) - less at the nearest point, with its derivatives by x."""
    sp, symbols = make.sp, make.symbols
    x, s, c = at.x, at.s, at.c
    X = [sp.Symbol(f"_x{k}", real=True) for k in range(3)]
    surface = sum(n[k] * (X[k] - c[k]) for k in range(3)) - less
    E = sum(sp.diff(c[k], s) * (X[k] - c[k]) for k in range(3))
    E_s = sp.diff(E, s)
    s_1 = [-sp.diff(E, a) / E_s for a in X]

    def second(F: Any, k: int, m: int) -> Any:
        a, b = X[k], X[m]
        return sp.diff(F, a, b) + sp.diff(F, a, s) * s_1[m] + sp.diff(F, s, b) * s_1[k] + sp.diff(F, s, 2) * s_1[k] * s_1[m]

    surface_s = sp.diff(surface, s)
    put = dict(zip(X, (each.value for each in x), strict=True))
    first = [(sp.diff(surface, X[k]) + surface_s * s_1[k]).xreplace(put) for k in range(3)]
    both = [[(second(surface, k, m) - surface_s * second(E, k, m) / E_s).xreplace(put) for m in range(3)] for k in range(3)]
    scalar = composed(symbols, x, surface.xreplace(put), first, both, tex)
    return with_scalars(make.of_products(joint, p, number, scalar, None), tuple(x))


def _on_spline(p: Any, pieces: Any, axis: int, s: Any, order: int) -> Callable[[dict[Any, float], Any], float]:
    """Return a function for a derivative of a component of a spline at the nearest point."""
    return lambda numbers, state: spline_value(p, pieces, axis, numbers[s], order)


def spline_value(p: Any, pieces: Any, axis: int, s: float, order: int) -> float:
    """Return a derivative of a component of a spline of a curve at s, as its kernel does."""
    if p.period > 0.0:
        s = p.breakpoints[0] + np.remainder(s - p.breakpoints[0], p.period)
    k = int(np.clip(np.searchsorted(p.breakpoints, s, side="right") - 1, 0, len(pieces) - 1))
    return float(np.polyval(np.polyder(pieces[k, axis], order) if order else pieces[k, axis], s - p.breakpoints[k]))


def slip(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return 0 = t . S at the contact point rho = s - R w / |w|, w = n - (n . a) a."""
    sp, symbols = make.sp, make.symbols
    t, n = make.arrow(joint, p.i, p.t_bar_i, "t_bar"), make.arrow(joint, p.i, p.n_bar_i, "n_bar")
    a, centre = make.arrow(joint, p.j, p.a_bar_j), make.arrow(joint, p.j, p.s_bar_j, "s_bar")
    R = symbols.parameter(f"R_{symbols.names.of(joint)}", p.radius, f"R_{{{tex_name(joint.name)}}}")
    k, k_dot = dot(n.value, a.value), dot(n.rate, a.value) + dot(n.value, a.rate)
    w = n.value - k * a.value
    w_dot = n.rate - k_dot * a.value - k * a.rate
    size = sp.sqrt(dot(w, w))
    arm = centre.value - R / size * w
    arm_dot = centre.rate - R / size * (w_dot - dot(w, w_dot) / size**2 * w)
    point = ContactPoint(t.value, t.rate, arm, arm_dot)
    return velocity_row(make, joint, p, number, (t, centre), point, rf"{transposed(t)} S")


def axis_distance(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return Phi = sqrt(d . d - (h . d)^2) - L; of a centre, without an axis, |d| - L."""
    sp, symbols = make.sp, make.symbols
    d = make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j)
    L = symbols.parameter(f"L_{symbols.names.of(joint)}", p.length, f"L_{{{tex_name(joint.name)}}}")
    square = product(symbols, d, d)
    if not np.any(p.h_bar_i):
        tex = rf"\sqrt{{{square.tex}}} - {symbols.tex(L)}"
        return with_scalars(
            make.of_products(joint, p, number, function_of(symbols, [square], lambda x: sp.sqrt(x) - L, tex), None), (square,)
        )
    along = product(symbols, make.arrow(joint, p.i, p.h_bar_i, "h_bar"), d)
    tex = rf"\sqrt{{{square.tex} - \left({along.tex}\right)^{{2}}}} - {symbols.tex(L)}"
    scalar = function_of(symbols, [square, along], lambda x, z: sp.sqrt(x - z**2) - L, tex)
    return with_scalars(make.of_products(joint, p, number, scalar, None), (square, along))


def curved_slip(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return 0 = t . S at the contact point rho = s + c u, u = w / |w|, w = d - (h . d) h.

    t is the direction that the kernel chooses at the modelled pose.
    """
    sp, symbols = make.sp, make.symbols
    centre, d = make.arrow(joint, p.j, p.s_bar_j, "s_bar"), make.distance(joint, p.i, p.s_bar_i, p.j, p.s_bar_j)
    c = symbols.parameter(f"c_{symbols.names.of(joint)}", p.contact, f"c_{{{tex_name(joint.name)}}}")
    h = make.arrow(joint, p.i, p.h_bar_i, "h_bar")
    z, z_dot = dot(h.value, d.value), dot(h.rate, d.value) + dot(h.value, d.rate)
    w, w_dot = d.value - z * h.value, d.rate - z_dot * h.value - z * h.rate
    u, u_dot = unit_and_rate(sp, w, w_dot)
    if np.any(p.h_bar_i):
        t, t_dot = (h.value, h.rate) if p.number == 0 else (cross(sp, h.value, u), cross(sp, h.rate, u) + cross(sp, h.value, u_dot))
    else:
        apart = (p.j.r + p.j.A @ p.s_bar_j - p.i.r - p.i.A @ p.s_bar_i) @ p.i.A
        b = make.arrow(joint, p.i, np.eye(3)[int(np.argmin(np.abs(apart)))], "b_bar")
        t, t_dot = unit_and_rate(sp, cross(sp, b.value, u), cross(sp, b.rate, u) + cross(sp, b.value, u_dot))
        if p.number == 1:
            t, t_dot = cross(sp, u, t), cross(sp, u_dot, t) + cross(sp, u, t_dot)
    point = ContactPoint(t, t_dot, centre.value + c * u, centre.rate + c * u_dot)
    return velocity_row(make, joint, p, number, (h, centre), point, r"t^{T} S")


def curve_slip(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return 0 = l . S at the contact point rho = s - R n, l = b across the plane of the curve, or t along it."""
    sp, symbols = make.sp, make.symbols
    at = at_curve(make, joint, p, number)
    b, n, t, size = across_curve(sp, at, p)
    slope, bend = (sp.Matrix([sp.diff(each, at.s, order) for each in at.c]) for order in (1, 2))
    e, x_dot = sp.Matrix([each.value - c for each, c in zip(at.x, at.c, strict=True)]), sp.Matrix([each.rate for each in at.x])
    turn = dot(b, cross(sp, slope, bend)) / size**2 * dot(slope, x_dot) / (size**2 - dot(bend, e))

    def seen(v: Any, v_dot: Any) -> tuple[Any, Any]:
        value = sum((v[k] * axis.value for k, axis in enumerate(at.axes)), sp.zeros(3, 1))
        return value, sum((v_dot[k] * axis.value + v[k] * axis.rate for k, axis in enumerate(at.axes)), sp.zeros(3, 1))

    R = symbols.parameter(f"R_{symbols.names.of(joint)}", p.radius, f"R_{{{tex_name(joint.name)}}}")
    (N, N_dot), (l, l_dot) = seen(n, -turn * t), seen(t, turn * n) if p.number else seen(b, sp.zeros(3, 1))
    centre = make.arrow(joint, p.j, p.s_bar_j, "s_bar")
    point = ContactPoint(l, l_dot, centre.value - R * N, centre.rate - R * N_dot)
    return velocity_row(make, joint, p, number, (at.axes[0], centre), point, r"t^{T} S" if p.number else r"b^{T} S")


def unit_and_rate(sp: Any, x: Any, x_dot: Any) -> tuple[Any, Any]:
    """Return x / |x| and its rate."""
    size = sp.sqrt(dot(x, x))
    t = x / size
    return t, (x_dot - dot(t, x_dot) * t) / size


def knife_edge(make: RowMaker, joint: Joint, p: Any, number: int) -> Row:
    """Return 0 = (n x e) . S at the point of the blade."""
    sp = make.sp
    n, e = make.arrow(joint, p.i, p.n_bar_i, "n_bar"), make.arrow(joint, p.j, p.e_bar_j, "e_bar")
    s = make.arrow(joint, p.j, p.s_bar_j, "s_bar")
    l, l_dot = cross(sp, n.value, e.value), cross(sp, n.rate, e.value) + cross(sp, n.value, e.rate)
    tex = rf"\left({n.tex} \times {e.tex}\right)^{{T}} S"
    return velocity_row(make, joint, p, number, (n, s), ContactPoint(l, l_dot, s.value, s.rate), tex)


class ContactPoint(NamedTuple):
    """The point at which a relative velocity vanishes along l: rho_j from the origin of body j, and the rates of both."""

    l: Any
    l_dot: Any
    rho_j: Any
    rho_j_dot: Any


def velocity_row(
    make: RowMaker, joint: Joint, p: Any, number: int, ends: tuple[Arrow, Arrow], point: ContactPoint, tex: str
) -> Row:
    """Return l . S = 0, S = v_j + omega_j x rho_j - v_i - omega_i x rho_i:  gamma = -(l' . S + l . S');  ends: vectors on i and on j."""
    sp = make.sp
    on_i, on_j = ends
    l, l_dot, rho_j, rho_j_dot = point
    i, j = on_i.frame, on_j.frame
    rho_i, rho_i_dot = rho_j + j.r - i.r, rho_j_dot + j.v - i.v
    omega_i, omega_j = i.A * i.omega_bar, j.A * j.omega_bar
    S = j.v + cross(sp, omega_j, rho_j) - i.v - cross(sp, omega_i, rho_i)
    S_dot = cross(sp, omega_j, rho_j_dot) - cross(sp, omega_i, rho_i_dot)
    gradient: Gradient = {}
    if on_j.number:
        gradient[on_j.number] = l, j.A.T * cross(sp, rho_j, l)
    if on_i.number:
        add_gradient(sp, gradient, {on_i.number: (-l, -(i.A.T * cross(sp, rho_i, l)))}, 1)
    zero = sp.Integer(0)
    return Row(joint, p, number, zero, zero, -dot(l_dot, S) - dot(l, S_dot), gradient, lambda: {}, tex)


KINDS: dict[str, Callable[..., Row]] = {
    "DP1": dp1,
    "DP2": dp2,
    "D": d,
    "CD": cd,
    "Rotation": rotation_row,
    "ConstantVelocityRow": constant_velocity,
    "CoordinateFunctionRow": coordinate_function,
    "CouplingRow": coupling,
    "PointOnCurveRow": point_on_curve,
    "PoseRow": pose,
    "RopeRow": rope,
    "DiscOnPlane": disc_on_plane,
    "Slip": slip,
    "KnifeEdgeRow": knife_edge,
    "AxisDistance": axis_distance,
    "CurvedSlip": curved_slip,
    "CurveDistance": curve_distance,
    "CurveSlip": curve_slip,
}
"""What each kind of equation is in symbols."""
