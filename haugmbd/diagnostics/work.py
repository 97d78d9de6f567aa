"""Work along a run: the powers of loads and drivers, integrated by Gauss's rule over dense output between the method's steps.

The balance is kept element by element, recomputed from states; friction in joints as the accelerations find it.

    d(T + V)/dt = applied - dissipated                summed over all force elements, gravity in V, and joints that do no work

The power of friction depends on the multipliers: the states are accelerated for it.

    W(t_(k+1)) - W(t_k) = h sum w_i P(t_k + c_i h),   h = t_(k+1) - t_k        three points: exact for polynomials of degree five

The states at the Gauss points are quintic Hermite interpolants of (r, p), with the second rates of the equations of motion at the
states. The error is of order six in the distance of the states; that of a cubic spline through the powers is of order four.
With contact forces the points are those of a rule that is graded towards both ends of the interval, which may be touch and release.

Each load and each driven row has its own column, so that the work of one and the whole ledger agree.  The states between which the work
is integrated are the steps of the method, whatever a result stores of them (`simulation.replay` makes the others again).  Where nothing
but some states is known, the error is measured:

    error(t_(2k)) = max over j <= k of | W(t_(2j)) from all states - W(t_(2j)) from every second state |

This is the error of the coarser of both, larger than that of W wherever the rule converges; of two states, that of the trapezoidal rule.
Source: Abramowitz, Stegun, 25.4.30 (Gauss); Hairer, Norsett, Wanner, Solving ODE I, sec. II.4 (step doubling); `dense_states`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.jit import entry
from haugmbd.compiled.status_codes import OK
from haugmbd.control.output_values import with_outputs
from haugmbd.diagnostics.dense_states import rates_of, states_between
from haugmbd.diagnostics.violation import NU, rows_over_time
from haugmbd.drivers.driver import Constant
from haugmbd.errors import SingularKKTError
from haugmbd.forces.base import EnergyLedger, ForceElement
from haugmbd.forces.joint_friction import JointFriction
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.formulations.accelerations import solve_states
from haugmbd.formulations.error_messages import explain
from haugmbd.formulations.newton_euler import accelerate
from haugmbd.friction import columns as at
from haugmbd.model.compiling.loads import LoadEntry
from haugmbd.model.model import Model
from haugmbd.workspace import accessors as ws
from haugmbd.workspace.layout import WIDTH, Pack


def load_ledger(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, EnergyLedger]:
    """Return, by element name, (potential [J], dissipated power [W], applied power [W]), each (nt,), at states y (nt, ny).

    Functions of the user are called at every state; their exceptions are raised with a note that names the element.
    """
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    n = model.nb + 1
    bodies = np.swapaxes(states[:, : WIDTH * n].reshape(len(times), n, WIDTH), 0, 1)
    friction = friction_over_time(model, times, states)
    return {
        entry.load.name: entry.load.dissipation(friction[entry.load.name].power)
        if isinstance(entry.load, JointFriction)
        else with_known_outputs(model, entry, times, states).ledger(
            times, bodies[list(entry.bodies)], own_states(model, entry, states)
        )
        for entry in model.loads
    }


def with_known_outputs(model: Model, entry: LoadEntry, t: Array, y: Array) -> ForceElement:
    """Return a force element with the values that outputs of blocks have at states y (nt, ny), in place of the outputs."""
    network = model.network
    if isinstance(entry.load, MassInTime):
        return model.known_mass(entry, t, y)
    return entry.load if network is None else with_outputs(entry.load, lambda output: network.output_over_time(t, y, output))


def own_states(model: Model, entry: LoadEntry, y: Array) -> Array:
    """Return the integrated angles of a load, or its internal states (nt, n), at states y (nt, ny); zeros (nt,) if it has neither."""
    n = len(entry.load.states())
    if n:
        first = y.shape[1] - model.n_states + entry.state
        return y[:, first : first + n]
    return entry.own_angles(y[:, WIDTH * (model.nb + 1) :])


class FrictionValues(NamedTuple):
    """Friction of one joint over time.

    force: (nt, channels) along the rates [N, N m];  rate: (nt, channels) [m/s, rad/s];  normal: (nt,) [N]
    limit: (nt,) largest friction at rest [N; N m in a bearing that only turns]
    """

    force: Array
    rate: Array
    normal: Array
    limit: Array

    @property
    def power(self) -> Array:
        """Return the power that the friction gives to the bodies (nt,) [W]."""
        power: Array = np.sum(self.force * self.rate, axis=1)
        return power


@entry
def friction_entry(P: Pack, t: Array, y: Array, out: Array) -> tuple[int, int]:
    """Write the terms of all joints with friction at states y (n, ny) to out (n, nf columns); return the code and the number done."""
    terms = ws.friction_terms(P)
    for n in range(t.shape[0]):
        code = accelerate(P, t[n], y[n])
        if code != OK:
            return code, n
        for k in range(terms.shape[0]):
            for a in range(terms.shape[1]):
                out[n, terms.shape[1] * k + a] = terms[k, a]
    return OK, t.shape[0]


def friction_over_time(model: Model, t: npt.ArrayLike, y: npt.ArrayLike) -> dict[str, FrictionValues]:
    """Return friction at states y (nt, ny), by name of the element.  Raise the errors of the accelerations."""
    loads = model.loads_of(JointFriction)
    if not loads:
        return {}
    times, states = np.asarray(t, dtype=np.float64), np.asarray(y, dtype=np.float64)
    pack = model.pack()
    out = np.zeros((len(times), len(loads) * at.TERM_COLUMNS))
    code, done = friction_entry(pack, for_kernels(times), for_kernels(states), out)
    if code != OK:
        model.raise_user_error(pack)
        raise explain(model, pack, code, float(times[done]))
    by_name = {}
    for load, terms in zip(loads, np.moveaxis(out.reshape(len(times), len(loads), -1), 1, 0), strict=True):
        n = load.channels
        arm = terms[:, at.ARM] if load.is_torque else 1.0
        force, rate = (terms[:, first : first + n].copy() for first in (at.FRICTION, at.RATE))
        by_name[load.name] = FrictionValues(force, rate, terms[:, at.NORMAL] + terms[:, at.PRESSED], terms[:, at.LIMIT] * arm)
    return by_name


POINTS = 0.5 + 0.5 * np.sqrt(0.6) * np.array([-1.0, 0.0, 1.0])
WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0
"""Gauss's rule of three points on 0 ... 1."""


class QuadratureRule(NamedTuple):
    """A rule of integration on 0 ... 1: points and weights."""

    points: Array
    weights: Array


def graded_rule(n: int) -> QuadratureRule:
    """Return Gauss's rule of n points in s with c = s^2 (3 - 2 s), for powers that begin or end an interval like c^(3/2)."""
    x, w = np.polynomial.legendre.leggauss(n)
    s = 0.5 + 0.5 * x
    return QuadratureRule(s * s * (3.0 - 2.0 * s), 3.0 * w * s * (1.0 - s))


GAUSS = QuadratureRule(POINTS, WEIGHTS)
AT_CONTACT = graded_rule(8)
"""For models with contact forces: at touch and release the power of the damping begins and ends like the power 3/2 of the time."""


def times_between(t: Array, rule: QuadratureRule = GAUSS) -> Array:
    """Return the times at which powers are evaluated: those of the rule, by default three, in each interval of t (nt,)."""
    times: Array = (t[:-1, None] + np.diff(t)[:, None] * rule.points).ravel()
    return times


def integral(t: Array, power: Array, rule: QuadratureRule = GAUSS) -> Array:
    """Return the integral from t[0], (nt,) or (nt, m), of a power, or of m of them, known at `times_between(t, rule)`."""
    values = power.reshape(len(t) - 1 if len(t) else 0, len(rule.points), *power.shape[1:])
    parts = np.diff(t).reshape(-1, *[1] * (power.ndim - 1)) * np.einsum("kp...,p->k...", values, rule.weights)
    first = np.zeros((min(1, len(t)), *power.shape[1:]))
    work: Array = np.concatenate([first, np.cumsum(parts, axis=0)])
    return work


class Work(NamedTuple):
    """Work since the first of nt states [J].

    applied, dissipated: (nt, nl) of each load in the order of `model.loads`, as its energy ledger divides them
    driven: (nt, nr) of each row that moves, `moving_rows`
    error: (nt,) measured error of the sum, where it was integrated between stored states alone; None along the steps of a run
    """

    applied: Array
    dissipated: Array
    driven: Array
    error: Array | None = None

    @property
    def all_applied(self) -> Array:
        """Return the work of all loads and rows, (nt,)."""
        total: Array = self.applied.sum(axis=1) + self.driven.sum(axis=1)
        return total

    @property
    def all_dissipated(self) -> Array:
        """Return what all loads dissipate, (nt,)."""
        total: Array = self.dissipated.sum(axis=1)
        return total

    def at(self, keep: Any) -> Work:
        """Return the work at some of the states."""
        error = None if self.error is None else self.error[keep]
        return Work(self.applied[keep], self.dissipated[keep], self.driven[keep], error)

    def as_one(self) -> Work:
        """Return the sums over all loads and rows, as of one of each: those of other structures are others."""
        sums = {name: getattr(self, name).sum(axis=1, keepdims=True) for name in ("applied", "dissipated", "driven")}
        return self._replace(**sums)

    def since_first(self) -> Work:
        """Return the work since the first of the states."""
        return self._replace(
            **{name: getattr(self, name) - getattr(self, name)[:1] for name in ("applied", "dissipated", "driven")}
        )


def no_work(model: Model, nt: int) -> Work:
    """Return the work of nothing, at nt states."""
    nl, nr = len(model.loads), len(moving_rows(model))
    return Work(np.zeros((nt, nl)), np.zeros((nt, nl)), np.zeros((nt, nr)))


def joined_work(parts: Sequence[Work]) -> Work:
    """Return works that each begin at zero as one continuous history; the errors add up."""
    if len(parts) == 1:
        return parts[0]
    ends = {name: _continued([getattr(part, name) for part in parts]) for name in ("applied", "dissipated", "driven")}
    if all(part.error is None for part in parts):
        return Work(**ends)
    errors = [np.zeros(len(part.applied)) if part.error is None else part.error for part in parts]
    return Work(**ends, error=_continued(errors))


def _continued(works: Sequence[Array]) -> Array:
    """Return works one after the other, each counted on from the end of the one before."""
    start, whole = np.zeros(works[0].shape[1:]), []
    for work in works:
        whole.append(start + work)
        start = whole[-1][-1] if len(work) else start
    return np.concatenate(whole)


def does_work(model: Model) -> bool:
    """Return whether a load or a driven row may do work that is no difference of a potential."""
    return any(not entry.load.keeps_energy for entry in model.loads) or is_driven(model)


def rule_of(model: Model) -> QuadratureRule:
    """Return the rule of integration between steps of a model."""
    return AT_CONTACT if model.has_contacts else GAUSS


def work_between(model: Model, t: Array, y: Array, solutions: Callable[[], Array], nodes: Array | None = None) -> Work:
    """Return the work from t[0] at the states y (nt, ny), which are the steps of a method; or at `nodes` (k,) among and between them.

    `solutions()` returns (u_dot, lam) by nodes of the equations at the states, (nt, nn, 6).
    """
    at = t if nodes is None else nodes
    if len(at) < 2 or at[-1] == t[0] or not does_work(model):  # noqa: PLR2004  states of one instant: no time, no work
        return no_work(model, len(at))
    rule, spans = rule_of(model), _spans(t, at)
    times = (spans.start[:, None] + (spans.end - spans.start)[:, None] * rule.points).ravel()
    order = np.argsort(times, kind="stable")
    try:
        rates = rates_of(t, y, solutions(), model.nb + 1)
        states = states_between(model, times[order], t, y, rates)
        hold_touch_speeds(model, t, y, times[order], states)
        of_nodes = powers(model, times[order], states)
    except SingularKKTError:  # a stored state at a singular position has no rates: use the spline through the powers at the states
        return spline_of(model, t, y, at)
    back = np.argsort(order, kind="stable")
    return Work(*(spans.work(power[back], rule) for power in of_nodes)).since_first()


class _Spans(NamedTuple):
    """The spans of an integral: steps, then from the step before each time that is none to that time.

    start, end: (m,);  steps: number of spans that are steps;  before: (k,) for each time asked the number of steps before it;  part: (k,)
    its own span, -1 for the end of a step
    """

    start: Array
    end: Array
    steps: int
    before: Ints
    part: Ints

    def work(self, power: Array, rule: QuadratureRule) -> Array:
        """Return the integral from the first step to the times asked, (k, m), of powers (., m) at the points of the spans."""
        values = power.reshape(len(self.start), len(rule.points), power.shape[1])
        parts = (self.end - self.start)[:, None] * np.einsum("kpm,p->km", values, rule.weights)
        whole = np.concatenate([np.zeros((1, power.shape[1])), np.cumsum(parts[: self.steps], axis=0)])
        rest = np.concatenate([parts, np.zeros((1, power.shape[1]))])[self.part]
        done: Array = whole[self.before] + rest
        return done


def _spans(t: Array, at: Array) -> _Spans:
    """Return the spans for the work at times `at` (k,): that at a step does not depend on which other times are asked for."""
    last = int(np.searchsorted(t, at[-1], side="right")) - 1
    before = (np.searchsorted(t, at, side="right") - 1).clip(0, last)
    between = t[before] != at
    part = np.where(between, last + np.cumsum(between) - 1, -1)
    start, end = np.concatenate([t[:last], t[before[between]]]), np.concatenate([t[1 : last + 1], at[between]])
    return _Spans(start, end, last, before, part)


def work_between_stored(model: Model, t: Array, y: Array, solutions: Callable[[], Array]) -> Work:
    """Return the work between states of which nothing says that they are the steps of a method, with its error, which is measured."""
    work = work_between(model, t, y, solutions)
    if len(t) < 2 or not does_work(model):  # noqa: PLR2004
        return work
    some = np.unique(np.append(np.arange(0, len(t), 2), len(t) - 1))
    fine = work.at(some)
    if len(t) == 2:  # noqa: PLR2004
        coarse = Work(*(0.5 * np.diff(t) * np.array([[0.0], [1.0]]) * power.sum(axis=0) for power in powers(model, t, y)))
    else:
        coarse = work_between(model, t[some], y[some], lambda: solutions()[some])
    balance = (fine.all_applied - fine.all_dissipated) - (coarse.all_applied - coarse.all_dissipated)
    error = np.maximum.accumulate(np.abs(balance))
    after = np.minimum(np.searchsorted(some, np.arange(len(t))), len(some) - 1)
    return work._replace(error=error[after])


def work_of_powers(model: Model, nodes: Array, times: Array, states: Array) -> Work:
    """Return the work at nodes (k,), from the states at `times_between(nodes, rule_of(model))`."""
    return Work(*(integral(nodes, power, rule_of(model)) for power in powers(model, times, states)))


def hold_touch_speeds(model: Model, t: Array, y: Array, t_new: Array, states: Array) -> None:
    """Overwrite the touch speeds of contacts in interpolated states by those of the previous stored state, because they jump."""
    if len(model.touch_columns):
        before = np.searchsorted(t, t_new, side="right") - 1
        states[:, model.touch_columns] = y[np.ix_(before, model.touch_columns)]


def is_driven(model: Model) -> bool:
    """Return whether a row has a driver that moves, and may do work."""
    return any(not isinstance(model.drivers[k], Constant) for k in model.drivers_of_rows())


def moving_rows(model: Model) -> list[int]:
    """Return the rows whose drivers move, and may do work."""
    return [row for row, k in enumerate(model.drivers_of_rows()) if not isinstance(model.drivers[k], Constant)]


def powers(model: Model, t: Array, y: Array) -> tuple[Array, Array, Array]:
    """Return applied and dissipated power (nt, nl) of each load, and that of each moving row, -lam nu (nt, nr), at states y (nt, ny).

    Raises the errors of the accelerations.
    """
    ledgers, rows = load_ledger(model, t, y), moving_rows(model)
    applied, dissipated, driven = np.zeros((len(t), len(ledgers))), np.zeros((len(t), len(ledgers))), np.zeros((len(t), len(rows)))
    for k, element in enumerate(ledgers.values()):
        applied[:, k], dissipated[:, k] = element.applied, element.dissipated
    nu = rows_over_time(model, t, y).gaps[:, rows, NU] if rows else driven
    if nu.any():
        slots = solve_states(model, t, y)[:, model.nb + 1 :].reshape(len(t), -1)
        driven = -slots[:, model.slot_of_row[rows]] * nu
    return applied, dissipated, driven


def work_of_impulse(model: Model, t: float, y: Array, Lam: Array) -> Array:
    """Return the work of each moving row in an impulse, -Lam nu (nr,), at a state y (ny,).  Lam: (nc,) multipliers [N s, N m s]"""
    rows = moving_rows(model)
    nu = rows_over_time(model, np.array([t]), y[None]).gaps[0, rows, NU] if rows else np.zeros(0)
    return np.asarray(-Lam[rows] * nu)


def spline_of(model: Model, t: Array, y: Array, nodes: Array) -> Work:
    """Return the work from nodes[0] by cubic splines through the powers at the states."""
    from scipy.interpolate import CubicSpline  # noqa: PLC0415  only where there is nothing better

    pieces = []
    for power in powers(model, t, y):
        work = np.zeros((len(nodes), power.shape[1]))
        if power.shape[1]:
            work = CubicSpline(t, power).antiderivative()(nodes)
        pieces.append(work - work[:1])
    return Work(*pieces)
