r"""The generalized forces in symbols:  Q_b = ( m g + sum F,   sum A^T (s x F) + sum n_bar - omega_bar x J_bar omega_bar ).

    TSDA            Q = -f (dl/dq)^T,   f = k (l - l0) + c l' + f_a            LinearActuator    the same, f = -f_a
    RSDA            n_bar_i = n h_bar,  n_bar_j = -n A_j^T A_i h_bar           n = k (theta - theta0) + c theta' + n_a
    joint loads     Q = f (dq/dq)^T along a coordinate of a joint              spring, motor, force
    PointForce, Torque                                                         by their components

What has no short formula (contact, friction, bushings, fluids, tables, blocks, a stranger's class) is one symbol Q_other of a body, the
sum of these loads, by name; its number is  M u_dot + Phi_q^T lam - Q  of the library's own accelerations.
Source: Haug (2021), generalized forces and virtual work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from haugmbd import forces
from haugmbd.drivers import Driver
from haugmbd.equations.rows import (
    Arrow,
    Distance,
    Gradient,
    RowMaker,
    Scalar,
    add_gradient,
    at_numbers,
    cross,
    dot,
    function_of,
    product,
)
from haugmbd.equations.symbols import AXES, tex_name
from haugmbd.forces.user_function import Value
from haugmbd.model.state import State


class Forces:
    """The generalized forces of a system: `Q` by the number of the body, (F (3, 1), n_bar (3, 1)); `other`, loads without a formula."""

    def __init__(self, system: Any, make: RowMaker, model: Any) -> None:
        self.make, self.symbols, self.sp, self.model = make, make.symbols, make.sp, model
        self.Q: Gradient = {}
        self.written: list[tuple[Any, str]] = []
        self.other: list[str] = []
        self.inertia: dict[int, tuple[Any, Any]] = {}
        sp, symbols = self.sp, self.symbols
        g = sp.Matrix(
            [
                symbols.parameter(f"g_{a}", float(x), f"g_{{{a}}}")
                for a, x in zip(AXES, np.asarray(system.gravity, dtype=float), strict=True)
            ]
        )
        for k, body in enumerate(symbols.bodies):
            if k == 0:
                continue
            m, J = self._inertia(body)
            self.inertia[k] = m, J
            w = symbols.body(body).omega_bar
            self.Q[k] = m * g, -cross(sp, w, J * w)
        for load in system.loads:
            law = next((LAWS[kind] for kind in type(load).__mro__ if kind in LAWS), None)
            if law is None or not law(self, load):
                self.other.append(load.name)
        if model.network is not None and system.blocks:
            self.other.extend(block.name for block in system.blocks if block.name not in self.other)

    def _inertia(self, body: Any) -> tuple[Any, Any]:
        """Return mass and inertia of a body in symbols."""
        symbols, sp = self.symbols, self.sp
        name, tex = symbols.names.of(body), tex_name(body.name)
        turned = symbols.body(body).turned
        J = turned @ body.J_bar @ turned.T
        size = float(np.abs(J).max()) or 1.0
        entries = sp.zeros(3, 3)
        for a in range(3):
            for b in range(a, 3):
                x = 0.0 if abs(J[a, b]) <= 1e-15 * size else float(J[a, b])
                pair = AXES[a] + AXES[b]
                entries[a, b] = entries[b, a] = symbols.parameter(f"J_bar_{name}_{pair}", x, rf"\bar{{J}}^{{{tex}}}_{{{pair}}}")
        return symbols.parameter(f"m_{name}", float(body.mass), f"m_{{{tex}}}"), entries

    def number(self, load: Any, what: str, value: float) -> Any:
        """Return a parameter of a load: k_spring."""
        return self.symbols.parameter(
            f"{what}_{self.symbols.names.of(load)}",
            float(value),
            f"{what[:1]}_{{{what[1:]}{',' if what[1:] else ''}{tex_name(load.name)}}}",
        )

    def value(self, load: Any, value: Value, what: str) -> list[Any]:
        """Return the components of a prescribed value in symbols; a function of the user is a symbol with its arguments."""
        symbols, sp = self.symbols, self.sp
        several = len(value.drivers) > 1
        if value.user_function is None:
            return [self._driver(load, driver, f"{what}_{AXES[k]}" if several else what) for k, driver in enumerate(value.drivers)]
        user = value.user_function
        arguments = [sp.Symbol(each.strip(), real=True) for each in user.form.split(",")]
        arguments[0] = symbols.t
        components = []
        for k in range(len(value.drivers)):
            name = f"{user.label}_{symbols.names.of(load)}" + (f"_{AXES[k]}" if several else "")
            atom = sp.Function(name, real=True)(*arguments)
            symbols.atoms.of_loads.add(atom)
            components.append(
                symbols.atoms.add(atom, self._called(load, user, k), f"{atom}: the function {user.words} of {load.name!r}")
            )
        return components

    def _called(self, load: Any, user: Any, k: int) -> Any:
        def number(numbers: dict[Any, float], state: State) -> float:
            arguments = [a[0] for a in load.arguments(self.states(load, state), self.angle(load, state))]
            return float(np.ravel(user.call(state.t, *arguments))[k])

        return number

    def _driver(self, load: Any, driver: Driver, what: str) -> Any:
        return self.make.driver(load, driver, what)[0]

    def states(self, load: Any, state: State) -> Any:
        """Return the states (n, 1, 13) of the bodies of a load."""
        y = np.hstack([state.r, state.p, state.v, state.omega_bar])
        return np.stack([y[self.symbols.number(body)] for body in load.bodies()])[:, None, :]

    def angle(self, load: Any, state: State) -> Any:
        """Return the integrated angles of a load, as its functions take them."""
        entry = next(each for each in self.model.loads if each.load is load)
        return entry.own_angles(state.angles[None, :] if len(state.angles) else np.zeros((1, 1)))

    def add(self, gradient: Gradient, factor: Any) -> None:
        """Add factor (dc/dq)^T to Q."""
        add_gradient(self.sp, self.Q, gradient, factor)


def tsda(all_forces: Forces, load: Any) -> bool:
    """Add a spring, damper and actuator between two points."""
    sp, symbols = all_forces.sp, all_forces.symbols
    ends = []
    for side, frame in (("i", load.frame_i), ("j", load.frame_j)):
        name, parts = symbols.vector(load, frame.body, "s_bar", side, frame.s_bar)
        ends.append(Arrow(symbols, frame.body, name, parts))
    d = Distance(*ends)
    length = function_of(symbols, [product(symbols, d, d)], sp.sqrt, rf"\left|{d.tex}\right|")
    k, c, l0 = (all_forces.number(load, what, getattr(load, what)) for what in ("k", "c", "l0"))
    actuator = all_forces.value(load, load.actuator, "f_a" if load.sign > 0 else "force")[0]
    tension = k * (length.value - l0) + c * length.rate + int(load.sign) * actuator
    all_forces.add(length.gradient, -tension)
    name = tex_name(load.name)
    parts = [
        f"{symbols.tex(k)} \\left(l - {symbols.tex(l0)}\\right)" if k != 0 else "",
        rf"{symbols.tex(c)} \dot{{l}}" if c != 0 else "",
    ]
    parts.append(symbols.tex(int(load.sign) * actuator) if actuator != 0 else "")
    law = " + ".join(part for part in parts if part) or "0"
    all_forces.written.append(
        (
            load,
            rf"f_{{{name}}} = {law}, \quad l = {length.tex}, \quad Q = -f_{{{name}}} \left(\frac{{\partial l}}{{\partial q}}\right)^{{T}}",
        )
    )
    return True


def rsda(all_forces: Forces, load: Any) -> bool:
    """Add a rotational spring, damper and actuator."""
    make, sp, symbols, joint = all_forces.make, all_forces.sp, all_forces.symbols, load.joint
    (i, e_bar), (_, n_bar), (_, h_bar), (j, f_bar) = load.markers()
    e, n, h, f = (make.arrow(joint, body, x) for body, x in ((i, e_bar), (i, n_bar), (i, h_bar), (j, f_bar)))
    turns = sp.Symbol(f"turns_{symbols.names.of(load)}", integer=True)
    symbols.tex_of[turns] = rf"k_{{{tex_name(load.name)}}}"
    alpha = sp.atan2(dot(n.value, f.value), dot(e.value, f.value))
    bare = at_numbers(symbols, alpha)

    def whole(numbers: dict[Any, float], state: State) -> float:
        near = float(np.ravel(all_forces.angle(load, state))[0])
        return float(np.floor((near - bare(numbers, state)) / (2.0 * np.pi) + 0.5))

    symbols.atoms.add(turns, whole, f"{turns}: whole turns of {load.name!r}, nearest to the angle that the state integrates")
    theta = alpha + 2 * sp.pi * turns
    a, b = symbols.body(i), symbols.body(j)
    rate = dot(h.value, b.A * b.omega_bar - a.A * a.omega_bar)
    k, c, theta0 = (all_forces.number(load, what, getattr(load, what)) for what in ("k", "c", "theta0"))
    actuator = all_forces.value(load, load.actuator, "n_a")[0]
    torque = k * (theta - theta0) + c * rate + actuator
    zero = sp.zeros(3, 1)
    for body, sign in ((i, 1), (j, -1)):
        if symbols.number(body):
            all_forces.add({symbols.number(body): (zero, symbols.body(body).A.T * h.value)}, sign * torque)
    name = tex_name(load.name)
    parts = [rf"{symbols.tex(k)} \left(\theta - {symbols.tex(theta0)}\right)" if k != 0 else ""]
    parts += [rf"{symbols.tex(c)} \dot{{\theta}}" if c != 0 else "", symbols.tex(actuator) if actuator != 0 else ""]
    law = rf"n_{{{name}}} = {' + '.join(part for part in parts if part) or '0'}"
    acts = rf"\bar{{n}}_{{i}} = n_{{{name}}} \bar{{h}}, \quad \bar{{n}}_{{j}} = -n_{{{name}}} A_{{j}}^{{T}} A_{{i}} \bar{{h}}"
    all_forces.written.append((load, rf"{law}, \quad {acts}"))
    return True


def along_coordinate(all_forces: Forces, load: Any) -> bool:
    """Add a force along coordinates of joints: a linear spring, a motor, or a force given by the user."""
    make, symbols = all_forces.make, all_forces.symbols
    is_spring = isinstance(load, forces.JointSpring)
    if load.law != 0 or isinstance(load, forces.JointLimit):
        return False
    coordinates: list[Scalar] = [make.coordinate(q) for q in load.coordinates()]
    if is_spring:
        k, c, free = (all_forces.number(load, what, getattr(load, what)) for what in ("k", "c", "free"))
        values = [-(k * (coordinates[0].value - free) + c * coordinates[0].rate)]
    else:
        values = [load.ratio * x if load.ratio != 1.0 else x for x in all_forces.value(load, load.value(), "force")]
        if len(values) != len(coordinates):
            return False
    for q, f in zip(coordinates, values, strict=True):
        all_forces.add(q.gradient, f)
    name = tex_name(load.name)
    law = (
        rf"-\left({symbols.tex(k)} \left(q - {symbols.tex(free)}\right) + {symbols.tex(c)} \dot{{q}}\right)"
        if is_spring
        else ",\\; ".join(map(symbols.tex, values))
    )
    all_forces.written.append(
        (load, rf"f_{{{name}}} = {law}, \quad Q = f_{{{name}}} \left(\frac{{\partial q}}{{\partial q_{{b}}}}\right)^{{T}}")
    )
    return True


def point_force(all_forces: Forces, load: Any) -> bool:
    """Add a force at a point."""
    return _vector_load(all_forces, load, load.force, "force")


def torque(all_forces: Forces, load: Any) -> bool:
    """Add a torque."""
    return _vector_load(all_forces, load, load.torque, "torque")


def _vector_load(all_forces: Forces, load: Any, value: Value, what: str) -> bool:
    sp, symbols = all_forces.sp, all_forces.symbols
    x = sp.Matrix(all_forces.value(load, value, what))
    body = symbols.body(load.body)
    if not symbols.number(load.body):
        return True
    x_bar = x if load.in_body else body.A.T * x
    if load.in_body and symbols.planar:
        x_bar = sp.Matrix(body.turned) * x
    x_global = body.A * x_bar if load.in_body else x
    tex = rf"F_{{{tex_name(load.name)}}}"
    if what == "force":
        _, s_bar = symbols.vector(load, load.body, "s_bar", "", load.frame.s_bar)
        all_forces.add({symbols.number(load.body): (x_global, cross(sp, s_bar, x_bar))}, 1)
        law = rf"{tex} = {symbols.tex(x.T)}^{{T}}, \quad Q = \left({tex},\; \bar{{s}} \times A^{{T}} {tex}\right)"
    else:
        all_forces.add({symbols.number(load.body): (sp.zeros(3, 1), x_bar)}, 1)
        law = rf"n_{{{tex_name(load.name)}}} = {symbols.tex(x.T)}^{{T}}"
    all_forces.written.append((load, law))
    return True


LAWS: dict[type, Any] = {
    forces.TSDA: tsda,
    forces.RSDA: rsda,
    forces.PointForce: point_force,
    forces.Torque: torque,
    forces.JointSpring: along_coordinate,
    forces.Motor: along_coordinate,
    forces.JointForce: along_coordinate,
}
"""The forces that have a formula here; every other one is in `other`."""
