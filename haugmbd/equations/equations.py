r"""`mbd.equations`: the equations of a model as SymPy objects, in three levels and in motion.

    position       Phi(q, t) = 0
    velocity       Phi_q u = nu                             u = (v, omega_bar), or (x', z', phi') in a plane
    acceleration   Phi_q u_dot = gamma
    motion         M u_dot + Phi_q^T lam = Q                with the acceleration equations:  K (u_dot, lam) = (Q, gamma)

A property is derived when it is first read. Numbers of all symbols at a state: `values`; fast functions of a state: `lambdify`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.bodies.plane import read_plane
from haugmbd.choices import is_one_of
from haugmbd.deprecated import check_keywords, did_you_mean
from haugmbd.equations.derivation import Derivation, derive
from haugmbd.equations.loads import Forces
from haugmbd.equations.planar import InPlane, check_plane, keep_rows
from haugmbd.equations.report import tex_of_equations, write_report
from haugmbd.equations.rows import Row, RowMaker
from haugmbd.equations.student import Check, check_expressions
from haugmbd.equations.symbols import Symbols
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.model.inspection.given import state_of_model
from haugmbd.model.inspection.run_memory import need_constant_masses, need_no_freewheels
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.simulation.results.io.paths import path_of
from haugmbd.system.system import System

LEVELS = ("position", "velocity", "acceleration", "motion")

MOST_BODIES = 20
"""The largest number of bodies whose equations are typeset at once: a page of a megabyte. Any number is shown joint by joint."""

QUANTITIES = ("Phi", "Phi_q", "nu", "gamma", "M", "Q")


class KKT(NamedTuple):
    """The system K x = b of accelerations and multipliers.

    K: (n + nc, n + nc) = [[M, Phi_q^T], [Phi_q, 0]];  b: (n + nc, 1) = (Q, gamma);  x: (n + nc, 1) = (u_dot, lam)
    """

    K: Any
    b: Any
    x: Any


class Numbers(NamedTuple):
    """What `lambdify()` returns at a state: Phi, nu, gamma (nc,), Phi_q (nc, n), M (n, n), Q (n,)."""

    Phi: Any
    Phi_q: Any
    nu: Any
    gamma: Any
    M: Any
    Q: Any


class Equations:
    """The equations of a model in symbols; made by `mbd.equations`.

    Attributes
    ----------
    rows : tuple of Row
        The rows, each with `joint`, `kind`, `Phi`, `nu`, `gamma`, `gradient` and `tex`.
    removed : tuple of str
        Which rows fell away in the plane, and why; empty without one.
    symbols : Symbols
        All symbols.
    level : str
        The level that the texts show.

    Notes
    -----
    Matrices are SymPy's. With n = 6 nb (3 nb in a plane): Phi, nu, gamma (nc, 1), Phi_q (nc, n), M (n, n), Q (n, 1).
    Source: Haug (2021), spatial kinematics and dynamics.
    """

    def __init__(self, system: System, model: Model, planar: str | None, level: str) -> None:
        self.system, self.model, self.planar, self.level = system, model, planar, level
        self.symbols = Symbols(system, planar)
        self.symbols.angles = model.angles
        self.sp = self.symbols.sp
        self._make = RowMaker(self.symbols, model)
        self._by_joint: dict[str, tuple[Row, ...]] = {}
        self._in_plane: InPlane | None = None
        if planar is not None:
            check_plane(self)
            self._in_plane = keep_rows(self)

    def __repr__(self) -> str:
        where = "" if self.planar is None else f" in the plane {self.planar!r}"
        return f"Equations({self.model.name!r}: {len(self.numbers_of_rows)} rows{where}, {self.n} velocities)"

    @property
    def removed(self) -> tuple[str, ...]:
        """Return which rows fell away in the plane, and why."""
        return () if self._in_plane is None else self._in_plane.removed

    @property
    def joints(self) -> tuple[str, ...]:
        """Return the names of the joints, in the order of their rows."""
        return tuple(self.model.joints)

    @property
    def n(self) -> int:
        """Return the number of velocities: 6 for each body, 3 in a plane."""
        return (6 if self.planar is None else 3) * self.model.nb

    @cached_property
    def numbers_of_rows(self) -> tuple[int, ...]:
        """The numbers of these rows among those of the model."""
        return tuple(range(self.model.nc)) if self._in_plane is None else self._in_plane.kept

    def joint_named(self, name: Any) -> Any:
        """Return a joint. Raise UsageError, with the nearest name, if there is none."""
        named = next((joint for joint in self.system.joints if isinstance(name, str) and joint.name == name), None)
        if named is None:
            near = did_you_mean(str(name), self.joints) or f": it has {', '.join(map(repr, self.joints[:12]))}"
            raise UsageError(f"model {self.model.name!r} has no joint {name!r}{near}.")
        return named

    def all_rows_of(self, name: str) -> tuple[Row, ...]:
        """Return the rows of a joint, also those that fall away in the plane."""
        joint = self.joint_named(name)
        if name not in self._by_joint:
            first = int(self.model.joints[name].rows[0]) if len(self.model.joints[name].rows) else 0
            self._by_joint[name] = tuple(self._make.rows(joint, first))
        return self._by_joint[name]

    def rows_of(self, joint: str) -> tuple[Row, ...]:
        """Return the rows of a joint by its name. Raise UsageError if there is no such joint."""
        kept = set(self.numbers_of_rows)
        return tuple(row for row in self.all_rows_of(joint) if row.number in kept)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows of all joints."""
        return tuple(sorted((row for name in self.joints for row in self.rows_of(name)), key=lambda row: row.number))

    def _column(self, entries: Any) -> Any:
        return self.sp.ImmutableMatrix(len(list(entries := list(entries))), 1, entries)

    @cached_property
    def Phi(self) -> Any:
        """The constraints, (nc, 1)."""
        return self._column(row.Phi for row in self.rows)

    @cached_property
    def nu(self) -> Any:
        """The right-hand side of the velocity equations, (nc, 1)."""
        return self._column(row.nu for row in self.rows)

    @cached_property
    def gamma(self) -> Any:
        """The right-hand side of the acceleration equations, (nc, 1)."""
        return self._column(row.gamma for row in self.rows)

    def gradient_of(self, row: Row) -> list[Any]:
        """Return the entries of a row of Phi_q."""
        entries: list[Any] = []
        for k, body in enumerate(self.symbols.bodies[1:], start=1):
            made = self.symbols.body(body)
            if k not in row.gradient:
                entries += [self.sp.Integer(0)] * made.to_velocity.shape[1]
                continue
            both = row.gradient[k][0].col_join(row.gradient[k][1])
            entries += list(both) if self.planar is None else list(both.T * made.to_velocity)
        return entries

    @cached_property
    def Phi_q(self) -> Any:
        """The Jacobian, (nc, n): by (r, pi_bar) of each body, six columns; by (x, z, phi) in a plane."""
        return self.sp.ImmutableMatrix(len(self.rows), self.n, [x for row in self.rows for x in self.gradient_of(row)])

    @cached_property
    def Phi_p(self) -> Any:
        """The Jacobian by the Euler parameters, (nc, 4 nb): a^T B(p, a_bar) in its rows; Phi_p G^T / 2 is the part by pi_bar.

        Raises
        ------
        UsageError
            In a plane, and for velocity rows, which have no Phi.
        """
        sp = self.sp
        if self.planar is not None:
            raise UsageError("a planar body has an angle and no Euler parameters: ask mbd.equations(system).Phi_p without planar=.")
        entries: list[Any] = []
        for row in self.rows:
            if row.primitive.velocity_only:
                raise UsageError(
                    f"row {row.number} of joint {row.joint.name!r} is an equation of velocities: it has no Phi, and no Phi_p."
                )
            by_p = row.by_p()
            for k in range(1, self.model.nb + 1):
                entries += list(by_p[k]) if k in by_p else [sp.Integer(0)] * 4
        return sp.ImmutableMatrix(len(self.rows), 4 * self.model.nb, entries)

    def B(self, body: str, a_bar: Any) -> Any:
        """Return B(p, a_bar) = d(A(p) a_bar)/dp of a body, (3, 4), for a vector a_bar of three numbers or symbols."""
        from haugmbd.equations.rows import B  # noqa: PLC0415  the name of the formula is that of the method

        return B(self.sp, self._body(body).p, self.sp.Matrix(a_bar))

    def A(self, body: str) -> Any:
        """Return the rotation matrix of a body as a function of its Euler parameters, or of its angle in a plane, (3, 3)."""
        made = self._body(body)
        if self.planar is not None:
            return made.A
        e0, e = made.p[0], self.sp.Matrix(made.p[1:4])
        from haugmbd.equations.rows import tilde  # noqa: PLC0415

        return (e0**2 - e.dot(e)) * self.sp.eye(3) + 2 * e * e.T + 2 * e0 * tilde(self.sp, e)

    def G(self, body: str) -> Any:
        """Return G(p) of a body, with omega_bar = 2 G p_dot, (3, 4)."""
        from haugmbd.equations.rows import tilde  # noqa: PLC0415

        p = self._body(body).p
        e = self.sp.Matrix(p[1:4])
        return (-e).row_join(p[0] * self.sp.eye(3) - tilde(self.sp, e))

    def _body(self, name: str) -> Any:
        names = [body.name for body in self.symbols.bodies]
        if name not in names[1:]:
            raise UsageError(f"model {self.model.name!r} has no body {name!r}{did_you_mean(str(name), names[1:])}.")
        return self.symbols.body(self.symbols.bodies[names.index(name)])

    def in_p(self, expression: Any) -> Any:
        """Return an expression or matrix with the entries of A written in Euler parameters."""
        if self.planar is not None:
            return expression
        put: dict[Any, Any] = {}
        for body in self.symbols.bodies[1:]:
            put.update(zip(self.symbols.body(body).A, self.A(body.name), strict=True))
        return expression.xreplace(put)

    @cached_property
    def forces(self) -> Forces:
        """The generalized forces by body, the laws that are written, and the loads that are not."""
        return Forces(self.system, self._make, self.model)

    @cached_property
    def M(self) -> Any:
        """The mass matrix, (n, n): m I and J_bar of each body; m, m and J_bar about the normal in a plane."""
        blocks = []
        for k, (m, J) in self.forces.inertia.items():
            block = self.sp.diag(m, m, m, J)
            T = self.symbols.body(self.symbols.bodies[k]).to_velocity
            blocks.append(block if self.planar is None else T.T * block * T)
        return self.sp.ImmutableMatrix(self.sp.diag(*blocks))

    @cached_property
    def Q(self) -> Any:
        """The generalized forces, (n, 1), the gyroscopic torque among them; Q_other of a body: loads that are not written."""
        sp = self.sp
        entries: list[Any] = []
        others = self._others()
        for k, body in enumerate(self.symbols.bodies[1:], start=1):
            force, torque = self.forces.Q[k]
            both = force.col_join(torque)
            T = self.symbols.body(body).to_velocity
            forces = list(both if self.planar is None else T.T * both)
            entries += [x + other for x, other in zip(forces, others[k], strict=True)] if others else forces
        return sp.ImmutableMatrix(self.n, 1, entries)

    def _others(self) -> dict[int, list[Any]]:
        """Return symbols for the loads that have no formula, on the bodies; their numbers are what the accelerations need."""
        loads = self.forces.other
        if not loads:
            return {}
        sp, marks = self.sp, ("x", "y", "z", "n_x", "n_y", "n_z") if self.planar is None else (*(self.planar or ""), "phi")
        per = len(marks)
        words = f"the sum of {', '.join(map(repr, loads))}, which have no formula here"
        symbols: dict[int, list[Any]] = {}
        written = sp.Matrix([x for k in range(1, self.model.nb + 1) for x in self._written(k)])
        ready: list[Any] = []

        def number(component: int, numbers: dict[Any, float], state: State) -> float:
            if not ready:
                ready.extend(self._function(written, self.M))
            numbers_of, M = (np.asarray(f(*(numbers[each] for each in ready[0]))) for f in ready[1])
            return float((self._needed(state, M) - numbers_of.ravel())[component])

        for k, body in enumerate(self.symbols.bodies[1:], start=1):
            name = self.symbols.names.of(body)
            symbols[k] = []
            for c, mark in enumerate(marks):
                atom = sp.Symbol(f"Q_other_{name}_{mark}", real=True)
                self.symbols.tex_of[atom] = rf"Q^{{other}}_{{\mathrm{{{name.replace('_', ' ')}}},{mark.replace('_', '')}}}"
                component = per * (k - 1) + c
                self.symbols.atoms.of_loads.add(atom)
                self.symbols.atoms.add(atom, partial(number, component), words if not c and k == 1 else "")
                symbols[k].append(atom)
        return symbols

    def _written(self, k: int) -> list[Any]:
        force, torque = self.forces.Q[k]
        both = force.col_join(torque)
        return list(both if self.planar is None else self.symbols.body(self.symbols.bodies[k]).to_velocity.T * both)

    def _needed(self, state: State, M: Any) -> Any:
        """Return Q = M u_dot + Phi_q^T lam of the library's accelerations, (n,)."""
        from haugmbd.model.inspection.constraint_rows import evaluate  # noqa: PLC0415

        answer = accelerations(self.model, state)
        u_dot = np.hstack([answer.v_dot, answer.omega_bar_dot])[1:].ravel()
        full = np.zeros((6 * self.model.nb, 6 * self.model.nb))
        for k in range(self.model.nb):
            full[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = self.model.mass[k + 1] * np.eye(3)
            full[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = self.model.J_bar[k + 1]
        Q = full @ u_dot + evaluate(self.model, state).Phi_q.T @ answer.lam
        return Q if self.planar is None else self.to_plane(state) @ Q

    def to_plane(self, state: State) -> Any:
        """Return T^T of (v, omega_bar) = T u for the bodies of the plane, (n, 6 nb): omega_bar in the frame of each body."""
        T = np.zeros((6 * self.model.nb, self.n))
        for k, body in enumerate(self.symbols.bodies[1:]):
            made = self.symbols.body(body)
            T_one = np.array(made.to_velocity.tolist(), dtype=np.float64)
            T_one[3:] = made.turned.T @ T_one[3:]
            T[6 * k : 6 * k + 6, 3 * k : 3 * k + 3] = T_one
        return T.T

    @cached_property
    def u(self) -> Any:
        """The velocities, (n, 1)."""
        return self._column(x for body in self.symbols.bodies[1:] for x in self.symbols.body(body).velocities)

    @cached_property
    def q(self) -> Any:
        """The coordinates: (r, p) of each body, or (x, z, phi)."""
        return self._column(x for body in self.symbols.bodies[1:] for x in self.symbols.body(body).coordinates)

    @cached_property
    def u_dot(self) -> Any:
        """The accelerations, (n, 1)."""
        return self._column(x for body in self.symbols.bodies[1:] for x in self.symbols.body(body).accelerations)

    @cached_property
    def lam(self) -> Any:
        """The multipliers, (nc, 1)."""
        return self._column(self.sp.Symbol(f"lam_{row.number}", real=True) for row in self.rows)

    @cached_property
    def KKT(self) -> KKT:
        """The system of accelerations and multipliers."""
        sp, nc = self.sp, len(self.rows)
        K = sp.Matrix(sp.BlockMatrix([[self.M, self.Phi_q.T], [self.Phi_q, sp.zeros(nc, nc)]])) if nc else self.M
        return KKT(sp.ImmutableMatrix(K), self.Q.col_join(self.gamma), self.u_dot.col_join(self.lam))

    @property
    def parameters(self) -> Mapping[Any, float]:
        """Return the parameters: symbols with their numbers."""
        _ = self.rows, self.forces  # makes all of them
        return MappingProxyType(self.symbols.parameters)

    @property
    def functions(self) -> Mapping[Any, str]:
        """Return what is shown as a symbol only, such as functions of the user: symbols with a sentence each."""
        _ = self.rows, self.Q
        return MappingProxyType(self.symbols.atoms.words)

    def values_of_rows(self, state: State) -> dict[Any, float]:
        """Return the numbers of the symbols at a state, without those of forces: no function of a force is called."""
        _ = self.rows
        return self.symbols.values(state_of_model(self.model, state, "equations"), loads=False)

    def values(self, state: State | None = None) -> dict[Any, float]:
        """Return the number of every symbol at a state, by default the modelled one: `eq.Phi.subs(eq.values())`."""
        _ = self.rows, self.Q
        return self.symbols.values(state_of_model(self.model, state, "equations"))

    def _function(self, *matrices: Any) -> tuple[list[Any], list[Callable[..., Any]]]:
        """Return symbols in an order, and functions of their numbers."""
        arguments = [*self.symbols.parameters, self.symbols.t, *self._state_symbols(), *self.symbols.atoms.of]
        inside: set[Any] = set()
        for matrix in matrices:
            for x in matrix:
                inside |= x.free_symbols | x.atoms(self.sp.Function, self.sp.Derivative)
        used = [each for each in arguments if each in inside]
        return used, [self.sp.lambdify(used, matrix, modules="numpy", cse=True) for matrix in matrices]

    def _state_symbols(self) -> Iterator[Any]:
        for body in self.symbols.bodies[1:]:
            made = self.symbols.body(body)
            yield from dict.fromkeys((*made.coordinates, *made.velocities, *(made.A if self.planar is None else ())))

    def lambdify(self, *quantities: str) -> Callable[..., Any]:
        """Return a fast function of a state.

        Parameters
        ----------
        *quantities : {"Phi", "Phi_q", "nu", "gamma", "M", "Q"}
            What the function returns: an array for one, a tuple for several, by default a record of all.

        Returns
        -------
        callable
            `f(state=None, **parameters)`: by default at the modelled state; parameters by their names, such as m_crank=2.0.

        Raises
        ------
        UsageError
            For a quantity or a parameter that there is not.
        """
        for name in quantities:
            if not is_one_of(name, QUANTITIES):
                raise UsageError(f"lambdify has no {name!r}{did_you_mean(str(name), QUANTITIES)}; it has {', '.join(QUANTITIES)}.")
        wanted = quantities or QUANTITIES
        _ = self.rows, self.forces
        matrices = [getattr(self, name) for name in wanted]
        used, functions = self._function(*matrices)
        by_name = {str(symbol): symbol for symbol in self.parameters}

        def numbers(state: State | None = None, **parameters: float) -> Any:
            at_state = state_of_model(self.model, state, "lambdify")
            values = self.values(at_state) if "Q" in wanted else self.values_of_rows(at_state)
            for name, x in parameters.items():
                if name not in by_name:
                    raise UsageError(f"there is no parameter {name!r}{did_you_mean(name, by_name)}.")
                values[by_name[name]] = float(x)
            at = [values[each] for each in used]
            arrays = [
                np.asarray(f(*at), dtype=np.float64).reshape(matrix.shape if name in ("Phi_q", "M") else (-1,))
                for name, matrix, f in zip(wanted, matrices, functions, strict=True)
            ]
            return Numbers(*arrays) if not quantities else arrays[0] if len(arrays) == 1 else tuple(arrays)

        return numbers

    def derive(self, joint: str) -> Derivation:
        """Return the rows of a joint step by step: definition, variation, identity, result; each step is checked by numbers.

        Parameters
        ----------
        joint : str
            The name of the joint.

        Returns
        -------
        Derivation
            The steps; print it, or show it in a notebook.

        Raises
        ------
        UsageError
            If there is no such joint.
        """
        return derive(self, joint)

    def check(self, expressions: Any, joint: str | None = None, *, quantity: str = "Phi") -> Check:
        """Compare a student's expressions with those of the model, at random states.

        Parameters
        ----------
        expressions : str, SymPy expression, or sequence of these
            The rows; a vector stands for three of them. Text has the names of the symbols (`x`, `A_crank_xx`, ...), of vectors and matrices
            (`r_crank`, `A_crank`, `s_bar_pin_i`, `omega_bar_crank`), numbers, + - * / ** @, and dot, cross, tilde, T, sin, cos, sqrt, ...
        joint : str, optional
            The joint whose rows they are; by default all rows.
        quantity : {"Phi", "nu", "gamma"}
            What the expressions are.

        Returns
        -------
        Check
            `ok`, and for each row that is wrong its first wrong term; print it.

        Raises
        ------
        UsageError
            If the text is no expression, has a name that the model does not have, or if the number of rows is wrong.
        """
        return check_expressions(self, expressions, joint, quantity)

    def latex(self, level: str | None = None) -> str:
        """Return the equations in TeX, joint by joint. Raise UsageError for a level that there is not."""
        self._need_few("latex()")
        return tex_of_equations(self, check_level(self.level if level is None else level))

    def _repr_latex_(self) -> str:
        """Return what a notebook shows."""
        if self.model.nb > MOST_BODIES:
            return rf"$$\text{{{self.model.nb} bodies: see derive(joint)}}$$"
        return f"$$\n{self.latex()}\n$$"

    def report(self, path: str | Path) -> Path:
        """Write the equations with the numbers of the modelled pose: a page (.html) that needs no network, or a TeX file (.tex).

        Parameters
        ----------
        path : str or Path
            The file; beside a page, a TeX file of the same name is written.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If the model has too many bodies, if the ending is neither .html nor .tex, or if the file cannot be written.
        """
        self._need_few("report")
        return write_report(self, path_of(path))

    def _need_few(self, what: str) -> None:
        """Raise UsageError for a model whose equations would fill a book."""
        if self.model.nb > MOST_BODIES:
            first = self.joints[0] if self.joints else ""
            raise UsageError(
                f"{what}: model {self.model.name!r} has {self.model.nb} bodies, and at most {MOST_BODIES} are typeset at once. "
                f"Look at one joint: rows_of({first!r}), derive({first!r}); lambdify() takes any number."
            )


def check_level(level: Any) -> str:
    """Return a level. Raise UsageError if there is no such level."""
    if not is_one_of(level, LEVELS):
        raise UsageError(f"level is {level!r}{did_you_mean(str(level), LEVELS)}: give one of {', '.join(LEVELS)}.")
    return str(level)


@check_keywords
def equations(system: System, planar: str | None = None, *, level: str = "motion") -> Equations:
    """Return the equations of a model as SymPy objects, with symbols named like the model.

    Parameters
    ----------
    system : System
        The mechanism.
    planar : {"xz", "zx", "xy", "yx", "yz", "zy"}, optional
        The plane of a planar mechanism, by two global axes: bodies then have two coordinates and an angle phi, from the first axis to
        the second, and rows that say nothing in the plane fall away. By default that of the system.
    level : {"motion", "position", "velocity", "acceleration"}
        How far the texts go: each level has those before it.

    Returns
    -------
    Equations
        Phi, Phi_q, nu, gamma, M, Q, parameters, lambdify(), latex(), report(), derive(), check().

    Raises
    ------
    UsageError
        If SymPy is not installed, system is not a System, the level or plane is not valid, or the mechanism is not planar: which joint or
        body leaves the plane.
    ModelError
        With all faults of the system.

    Notes
    -----
    Needs SymPy: python -m pip install "haugmbd[equations]". Nothing is evaluated before it is read.
    Source: Haug (2021), spatial kinematics and dynamics; Haug (1989) and Nikravesh (1988) for planar bodies.
    """
    if not isinstance(system, System):
        raise UsageError(f"mbd.equations needs a System, got {type(system).__name__}: give what mbd.System(...) returned.")
    planar = system.planar if planar is None else read_plane(planar, "mbd.equations")
    model = system.compile()
    need_constant_masses(model, "mbd.equations")
    need_no_freewheels(model, "mbd.equations")
    return Equations(system, model, planar, check_level(level))
