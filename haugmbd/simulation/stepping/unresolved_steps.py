r"""Fixed steps that do not resolve the forces of a load, by its name: the rate lambda of its velocity dependence, and a step that does.

    u' = M^-1 ( Q(u) - Phi_q^T lam )      small changes decay as  w' = J w,   J w = [ u'(u + s w) - u'(u) ] / s
    lambda = |w_new| / |w|,  w_new = J w   power iteration in the norm of the mass matrix: the fastest direction that the joints leave free
    f_k(x) = P_k(x w) / x,   lambda_k = - f_k' / w^T M w       the share of load k: its force along w by its power P_k at u = x w

so that every element is measured in the same way: Q_k = -c u has P_k = -c u^2, and lambda_k = c / m.
An explicit method follows a decay while h lambda is below the limit of its stability on the negative real axis.  RK4, RK3 and Heun note
in passing which of their steps are unresolved (`integrators.watches.stiffness_watch`); many in a row, or some with an open energy ledger,
make the result doubtful.  Only then the functions of the user are called again, and an error of one of them is told in a note.
Where they are few and z |k_1' - k_s| h / 6 is not small, or where the velocities bend sharply, as where friction reverses in a step,
some steps are made again in PARTS, and the velocities behind them compared:

    missed = |u_h - u_(h / PARTS)| / max |u|          BEHIND steps later, of velocities v and L omega: what decays meanwhile is none

Source: Hairer, Wanner, Solving ODE II, sec. IV.2 (stability of explicit methods); Golub, Van Loan, sec. 7.3 (power iteration).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from math import sqrt
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.diagnostics.dense_states import body_rates
from haugmbd.diagnostics.energy import kinetic_and_potential, kinetic_energy
from haugmbd.diagnostics.load_history import load_history
from haugmbd.diagnostics.run_warnings import FEWEST_STEPS, SAMPLES, RunNote, unchecked_note
from haugmbd.diagnostics.work import is_driven
from haugmbd.errors import HaugmbdError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.point_force import PointForce
from haugmbd.forces.torque import Torque
from haugmbd.forces.user_function import TIME
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.watches.stiffness_watch import (
    ALL,
    ERROR,
    FIRST,
    LAST,
    LONG_WORST,
    ORDERS_APART,
    SCORE,
    TINY,
    UNRESOLVED,
    WORST,
    StiffnessWatch,
    error_of_accelerations,
)
from haugmbd.math.body_columns import EULER, OMEGA_BAR, VELOCITY
from haugmbd.math.euler_parameters import p_dot_from
from haugmbd.model.immutable import once_per_model
from haugmbd.model.model import Model
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.stepping.crossed_jumps import stores_something
from haugmbd.workspace.layout import WIDTH

PERSISTENT = 13.0
"""Score above which steps are unstable: two of three unresolved, over twenty steps. A decay that is stable with h lambda = 2.5 has 12."""
LONG_PERSISTENT = 25.0
"""Long score above which they are: one of four unresolved, over hundreds. Friction that reverses every ten steps has some ten."""
SOME = 3.0
"""Score above which the energy ledger is asked: three unresolved steps in a row. Kinks and reversals have one or two."""
OPEN, WIDE_OPEN = 1e-2, 0.1
"""Of the energy that is exchanged while steps are unresolved: a drift that is noted, and one that makes the result doubtful."""
WRONG = 0.05
"""Error of the accelerations in unresolved steps, relative to the largest of the run, that makes a result doubtful where several such steps
follow one another: its estimate is about twice the true error, which is then above 2 %."""
LAST_STEPS = 30
"""Steps before the end of a run in which unresolved ones leave an error in its last states."""
RECENT = 1.5
"""Score of a run that fails, above which its last steps are unresolved: two in a row."""
UNSTABLE = 2.0
"""h lambda above which no explicit method of one or two evaluations is stable."""
FIRST_STEPS = 3.0
"""Steps of a run that fails before a score says anything."""
FEW_STATES = 5
"""Number of states at which loads are differentiated."""
NOISE = 1e-9
"""Relative to a force: a smaller change of it with the velocity is rounding of its power."""
BACK = 0.1
"""Cosine of the angle between two changes of the velocities beyond which the second one is against the first."""
FELT = 0.5
"""h lambda of a load below which it is not the cause of unresolved steps."""
ADVISED = 1.0
"""h lambda of the step that is advised: RK4 follows such a decay to 1 % of it."""
ITERATIONS = 6
"""Of the power iteration: a direction that is four times as fast as the next is found to 0.1 %."""
SMALL = 1e-6
"""Relative to the fastest velocity: the change of velocities of a derivative."""
SCAN, ZOOMS = 65, 2
"""Number of states along the way of a step at which a load is differentiated, and how often again in the part in which it falls most: the
steep part of a curve may be short."""
SMALL_CHANGE = 1e-5
"""Relative to the velocity along the direction: the change over which a force is differentiated."""
PARTS, AROUND, BEHIND = 16, 2, 10
"""Into which a step is divided that is made again; steps before an unresolved one at which this begins, and behind it where it ends."""
MOST_AGAIN, SHARP = 4, 3.0
"""Steps that are made again at most of each kind; and how much more than by the median velocities bend at steps that are."""
MISSED, MAY_MISS = 1e-2, 5e-3
"""Velocities that unresolved steps have missed, relative to the largest of the run: worth a note; and as the watch estimates them, below
which no step is made again: the true ones are about half of it."""
UNRESOLVED_STEPS = "whether the steps resolve the forces"
"""What is checked."""
OPEN_LEDGER = "whether the energy ledger is closed"
SENTENCE_END = re.compile(r"\.\s+(?=[A-Z])")
AXIS_LIMITS = {"RK4": 2.79, "RK3": 2.51, "Heun": 2.0}
"""Largest h lambda of a decay for which the methods are stable."""


class FastLoad(NamedTuple):
    """The load whose force depends most on velocities.  name, kind: of the load;  rate: lambda [1/s];  t: the time of this state [s]"""

    name: str
    kind: str
    rate: float
    t: float


def stiff_notes(result: Any, watch: StiffnessWatch | None, method: Any) -> list[RunNote]:
    """Return a note if the fixed steps of a run do not resolve a load.  result: a Result;  watch: what the method noted of its steps.

    A note on the same steps that names their cause, an impact or bristles, is enough, unless they last and a load explains them.
    """
    if method.step is None or method.has_own_matrix:
        return []
    if watch is None or not watch.columns.size:
        return _notes_of_samples(result, method)
    has_doubts = any(note.doubtful for note in result.outcome.notes)
    notes = _notes_of_many(result, watch, method, known=has_doubts) if watch.counts[WORST] >= SOME else []
    if has_doubts or any(note.kind in ("stiff", "jump") for note in (*notes, *result.outcome.notes)):
        return notes
    return [*notes, *_notes_of_few(result, watch, method)]


def _notes_of_many(result: Any, watch: StiffnessWatch, method: Any, *, known: bool) -> list[RunNote]:
    """Return a note if unresolved steps that follow one another last, are wrong, or open the energy ledger."""
    counts, share, error = watch.counts, 0.0, 0.0
    lasting = is_lasting(watch)
    if not lasting:
        if known:
            return []
        error = error_at_the_end(watch, float(result.t[-1]), float(method.step))
        if not error > WRONG:
            share = _open_share(result, counts[FIRST], counts[LAST], method.step)
            if not share > OPEN:
                return []
    failed: list[Exception] = []
    fast = fastest_load(result.model, watch, failed)
    if fast is None and (known or failed or result.model.network is None):  # the gains of a stabilization, a fast turn, a kink
        return cause_notes(failed)
    how = steps_words(counts[UNRESOLVED], counts[ALL], counts[FIRST], counts[LAST], share, error if error > WRONG else 0.0)
    gains = ", or for the gains of its stabilization" if "Baumgarte" in result.settings.get("stabilization", "") else ""
    text = too_large(method, fast, how, _forces_of(result.model) + gains)
    return [RunNote("stiff", text, float(counts[WORST]), lasting or error > WRONG or share > WIDE_OPEN), *cause_notes(failed)]


class Missed(NamedTuple):
    """What the steps around one have missed.  gap: of the velocities, relative to the largest;  t: its end [s];  fine: the parts"""

    gap: float
    t: float
    fine: Any


def _notes_of_few(result: Any, watch: StiffnessWatch, method: Any) -> list[RunNote]:
    """Return a note if the velocities behind single steps are off, of a run whose steps can be made again.

    Such steps are unresolved, or go across a steep part of a force, so that both their ends are on smooth ones.
    """
    model, h = result.model, float(method.step)
    again = result._again is not None and len(result._replays) == 1 and not (result._segments or result._contact_problem)
    if not again or model.network is not None or result._mechanism is not None or not _has_dampers(model):
        return []
    if watch.counts[ALL] < FEWEST_STEPS:
        return []
    u, error = result.y[:, watch.columns], h * float(np.sqrt(watch.counts[ERROR])) / ORDERS_APART
    unresolved = error > 0.0 and error > MAY_MISS * float(np.sqrt((u**2).sum(axis=1).max()))
    if not (unresolved or len(_bends(result.t, u))) or _stores_something(model):
        return []
    whole = result if result._all_steps else result._again(result, result._replays[0], None, float(result.t[-1]), None)
    times: list[float] = whole.t[_bends(whole.t, whole.y[:, watch.columns])[:MOST_AGAIN]].tolist()
    times += watch.t[watch.h > 0.0][:MOST_AGAIN].tolist() if unresolved else []
    missed = max(_missed(whole, watch.columns, method, times), key=lambda at: at.gap, default=None)
    if missed is None or not missed.gap > MISSED:
        return []
    failed: list[Exception] = []
    fast = felt(_cause_of(whole, watch.columns, missed, h, failed), h)
    how = f"velocities are off by {100.0 * missed.gap:.2g} % of the largest ones behind the step to t = {missed.t:.6g} s"
    text = too_large(method, fast, how, _forces_of(model, by_name=True), h * MISSED / missed.gap)
    return [RunNote("stiff", text, missed.gap, missed.gap > WRONG), *cause_notes(failed)]


def _missed(whole: Any, columns: Ints, method: Any, times: Sequence[float]) -> Iterator[Missed]:
    """Yield what the steps to some times [s] have missed, those between two stops of the run."""
    speeds = partial(_speeds, whole.model)
    largest, stops = float(speeds(whole.y[:, columns]).max()), np.array([event.t for event in whole.events])
    for t in times:
        k = int(np.searchsorted(whole.t, t))
        a, b = max(k - AROUND, 0), min(k + BEHIND, len(whole.t) - 1)
        if a >= b or ((stops > whole.t[a]) & (stops <= whole.t[b])).any():
            continue
        try:
            fine = _in_parts(whole, method, a, b)
        except HaugmbdError:  # a state that has drifted from its constraints is no start of a run
            continue
        if fine.t[-1] == whole.t[b]:
            yield Missed(float(speeds((fine.y[-1:] - whole.y[b])[:, columns])[0]) / max(largest, TINY), t, fine)


def _cause_of(whole: Any, columns: Ints, missed: Missed, h: float, failed: list[Exception]) -> FastLoad | None:
    """Return the load that depends most on velocities along the change of the steps before and behind a time, or within their parts."""
    k, loads = int(np.searchsorted(whole.t, missed.t)), list[FastLoad | None]()
    for j in range(max(k - 1, 0), min(k + 1, len(whole.t) - 1)):
        change = (whole.y[j + 1] - whole.y[j])[columns]
        loads.append(fastest_at_states(partial(_fastest_along, whole.model, change), [(float(whole.t[j]), whole.y[j])], failed))
    fast = max((load for load in loads if load is not None), key=lambda load: load.rate, default=None)
    if felt(fast, h) is not None:
        return fast
    t, y = missed.fine.t, missed.fine.y
    near = np.unique(np.linspace(0, min(len(t), (AROUND + 1) * PARTS) - 1, FEW_STATES).astype(int)).tolist()
    return _fastest_of(whole.model, [(float(t[j]), y[j]) for j in near], h, failed)


@once_per_model
def _has_dampers(model: Model) -> bool:
    """Return whether a load of a model may have a force that changes with the velocity."""
    of_state = {call.user_function.where for call in model.force_callbacks.force_calls if call.user_function.form != TIME}
    loads = [entry.load for entry in model.loads if _depends_on_velocities(entry.load)]
    return any(not isinstance(load, PointForce | Torque) or load.where in of_state for load in loads)


def _bends(t: Array, u: Array) -> Ints:
    """Return the states at which velocities u (nt, m) bend so sharply that a step there may miss a part of them, the sharpest first."""
    none = np.zeros(0, dtype=np.int64)
    if len(t) < FEWEST_STEPS:
        return none
    least, steps = MISSED * max(u.max(), -u.min()), t[1:] - t[:-1]
    change = u[1:] - u[:-1]
    shortest = steps.min()
    if shortest > 0.0 and steps.max() - shortest < EVEN * shortest:
        bend = change[1:] - change[:-1]
        if not max(bend.max(), -bend.min()) > least:
            return none
    else:
        with np.errstate(all="ignore"):
            bend = np.diff(change / steps[:, None], axis=0) * np.minimum(steps[1:], steps[:-1])[:, None]
        bend[~np.isfinite(bend)] = 0.0  # both sides of a stop of the run
    size = np.abs(bend).max(axis=1)
    sharp: Ints = np.flatnonzero(size > max(least, SHARP * float(np.median(size))))
    return 1 + sharp[np.argsort(-size[sharp])]


def _in_parts(whole: Any, method: Any, a: int, b: int) -> Any:
    """Return the motion between two states of a run, made again with shorter steps."""
    replay = whole._replays[0]
    methods = replace(replay.methods, integrator=replace(method, h=float(method.step) / PARTS))
    start, end = float(whole.t[a]), float(whole.t[b])
    return whole._again(whole, Replay(start, whole.y[a], end, end, methods, exact=True), None, end, None)


def _speeds(model: Model, u: Array) -> Array:
    """Return the largest of the velocities (nt, 6 nb) at each time, (nt,) [m/s]: those of rotation at the length of the model."""
    speeds: Array = (np.abs(u).reshape(len(u), -1, 2, 3).max(axis=(1, 3)) * [1.0, model.length]).max(axis=1)
    return speeds


LEDGER_STEPS, WINDOWS = 16, 4
"""Steps of a window in which the energy ledger is looked at first, and windows: all of a long run would cost half as much as the run."""
FIRST_TRIPLES, PER_TRIPLE = 20, 40
"""Triples of states that are looked at first, and states of the run for each triple at which the equations of motion are asked then."""
BESIDE = np.array([-1, 0, 1])
"""The states of a triple."""
SMOOTH_AT, FIVE, FOURTH_DIFFERENCE = 12, np.arange(5), np.array([1.0, -4.0, 6.0, -4.0, 1.0])
"""Places at which the fourth difference of the velocities is looked at, its states, and its weights."""
ERROR_OF_A_STEP = 0.01
"""Relative to the fourth difference: h^5 u(5) / 120 is the first term that a method of fourth order leaves out."""
FOURTH = 4
"""Order of a method from which the errors of its steps are as small as the fourth difference."""
EVEN = 1e-6
"""Relative difference of the lengths of two steps that are equal but for rounding of the time."""
SURE = 0.1
"""Part of the drift that is noted, below which what the triples miss is none of it."""
LEAST_OPEN = 1e-6
"""Relative to the largest kinetic energy: a smaller drift is no error that anybody sees."""
ROUNDING = 1e-13
"""Relative to the largest potential energy: a smaller drift is rounding of a mechanism at rest."""


def ledger_notes(result: Any, watch: StiffnessWatch | None, method: Any) -> list[RunNote]:
    """Return a note if the energy ledger of a run with fixed steps is open, work counted, where nothing else has been noted of its steps.

    Conservative runs are judged by their energy alone, and implicit methods damp what they do not resolve. A function that stores something
    is not called behind the run.
    """
    model, n = result.model, len(result.t)
    if method.step is None or method.has_own_matrix or n <= WINDOWS * LEDGER_STEPS or not result._all_steps or model.network:
        return []
    conservative = not is_driven(model) and all(entry.load.keeps_energy for entry in model.loads)
    if conservative or any(note.kind in ("stiff", "energy", "jump") for note in result.outcome.notes):
        return []
    if _stores_something(model):
        return []
    with np.errstate(all="ignore"):
        seen = watch is not None and watch.columns.size > 0
        unresolved = bool(watch.counts[UNRESOLVED]) if seen and watch is not None else _has_dampers(model)
        if not unresolved and getattr(method, "order", 0) >= FOURTH and _is_smooth(model, result.t, result.y):
            return []
        if not _may_be_open(model, result.t, result.y):
            return []
        starts = np.linspace(0, n - 1 - LEDGER_STEPS, WINDOWS).astype(int)
        parts = [result.at_states((np.arange(n) >= a) & (np.arange(n) <= a + LEDGER_STEPS)).energy() for a in starts.tolist()]
        lost = sum(float(np.abs(part.drift).max()) for part in parts) * n / (WINDOWS * LEDGER_STEPS)
        some = np.unique(np.linspace(0, n - 1, SAMPLES).astype(int))
        kinetic, potential = kinetic_and_potential(model, result.t[some], result.y[some])
        if not lost > 0.5 * OPEN * max(np.ptp(kinetic), np.ptp(potential), LEAST_OPEN * kinetic.max()):
            return []
        energy = result.energy()
        drift, kinetic = np.abs(energy.drift), energy.kinetic
        works = (np.abs(energy.applied_work).max(), np.abs(energy.dissipated_work).max())
        share = float(drift.max() / max(np.ptp(kinetic), np.ptp(energy.potential), *works, 1e-300))
    rounding = ROUNDING * float(np.abs(energy.potential).max())
    if not (share > OPEN and drift.max() > max(LEAST_OPEN * kinetic.max(), rounding)):
        return []
    what = f"the energy ledger, work counted, is open by {drift.max():.3g} J by t = {result.t[int(drift.argmax())]:.6g} s"
    text = f"{what}, {100.0 * share:.2g} % of what is exchanged: give a smaller h than {float(method.step):.3g} s, or rtol= in place of h."
    return [RunNote("energy", text, share)]


def _is_smooth(model: Model, t: Array, y: Array) -> bool:
    """Return whether the velocities of a method of fourth order, whose steps are resolved, have no part that changes from step to step.

    d = u_0 - 4 u_1 + 6 u_2 - 4 u_3 + u_4        about h^4 u(4), at some of the states;  an error of a step is about d / 100
    lost = |d| |u| / 100  for each step          of the energy, weighted by masses
    """
    bodies, n, weights = model.nb + 1, len(t), _weights(model)[1]
    rows, ends = _places(n)
    h = float(t[-1] - t[0]) / (n - 1)
    if max(abs(float(gap) - 4.0 * h) for gap in (t[ends + 4] - t[ends]).tolist()) > EVEN * h:
        return False
    five = y[rows, : WIDTH * bodies].reshape(SMOOTH_AT, 5, bodies, WIDTH)[..., VELOCITY:].reshape(SMOOTH_AT, 5, -1)
    rough = FOURTH_DIFFERENCE @ five
    twice = ((five[:, 2] ** 2) @ weights).tolist()
    lost = sum(sqrt(d * e) for d, e in zip(((rough**2) @ weights).tolist(), twice, strict=True)) * ERROR_OF_A_STEP * n / SMOOTH_AT
    return bool(lost <= 0.5 * SURE * OPEN * max(max(twice) - min(twice), LEAST_OPEN * max(twice)))


@lru_cache(maxsize=64)
def _places(n: int) -> tuple[Ints, Ints]:
    """Return the numbers of five states beside each other at some places among n, (SMOOTH_AT, 5), and of the first of each five."""
    first: Ints = np.linspace(0, n - 5, SMOOTH_AT).astype(int)
    return first[:, None] + FIVE, first


def _may_be_open(model: Model, t: Array, y: Array) -> bool:
    """Return whether states at some triples of equal steps miss the equations of motion by energy that matters over the run.

    d = y_2 - y_0 - (h / 3) (y'_0 + 4 y'_1 + y'_2)      Simpson's rule: of order h^5, as the error of a step
    lost = |d| |q'| / h of q = (r, p), |d| |u| of u     weighted by masses: a bound of the energy that the two steps lose

    First by positions alone, which asks no equation; only where that is not small by the accelerations, too.
    """
    bodies, every = model.nb + 1, max(1, len(t) // FIRST_TRIPLES)
    middle = np.arange(1, len(t) - 1, every)
    h = t[middle + 1] - t[middle]
    if np.abs(t[middle] - t[middle - 1] - h).max() > EVEN * h.max():  # a step ends at an event
        return True
    three = y[middle[:, None] + BESIDE, : WIDTH * bodies].reshape(-1, 3, bodies, WIDTH)
    rates = np.concatenate([three[..., VELOCITY:OMEGA_BAR], p_dot_from(three[..., EULER:VELOCITY], three[..., OMEGA_BAR:])], axis=3)
    if not _misses(three[..., :VELOCITY], rates, h, len(t) / h, _weights(model)[0]):
        return False
    keep = slice(None, None, max(1, PER_TRIPLE // every))
    middle, three, h = middle[keep], three[keep], h[keep]
    some = (middle[:, None] + BESIDE).ravel()
    rates = body_rates(y[some], solve_states(model, t[some], y[some]), bodies).reshape(three.shape)[..., VELOCITY:]
    return _misses(three[..., VELOCITY:], rates, h, np.full(len(h), float(len(t))), _weights(model)[1], three[:, 1, :, VELOCITY:])


def _misses(x: Array, rates: Array, h: Array, times: Array, weights: Array, against: Array | None = None) -> bool:
    """Return whether triples x (n, 3, nb + 1, k) miss their rates by energy that matters.

    h: (n,) steps;  times: (n,) twice how often such a triple occurs, per second for positions;  weights: (nb + 1) k of the squares of rates
    against: (n, nb + 1, k) the velocities that take the energy, by default the rates in the middle
    """
    u = rates[:, 1] if against is None else against
    missed = x[:, 2] - x[:, 0] - (h / 3.0)[:, None, None] * (rates[:, 0] + 4.0 * rates[:, 1] + rates[:, 2])
    n = len(h)
    twice = (u * u).reshape(n, -1) @ weights
    lost = float((np.sqrt(((missed * missed).reshape(n, -1) @ weights) * twice) * times).sum()) * 0.5 / n
    least, most = 0.5 * float(twice.min()), 0.5 * float(twice.max())
    return not lost <= SURE * OPEN * max(most - least, LEAST_OPEN * most)


@once_per_model
def _stores_something(model: Model) -> bool:
    """Return whether a function of a load stores something when it is called."""
    return any(stores_something(call.user_function.function) for call in model.force_callbacks.force_calls)


@once_per_model
def _weights(model: Model) -> tuple[Array, Array]:
    """Return weights of squares of (r', p') and of (v, omega_bar), whose sums are twice the kinetic energy, or more."""
    m, J = model.mass[:, None], np.trace(model.J_bar, axis1=1, axis2=2)[:, None]
    return np.hstack([m] * 3 + [4.0 * J] * 4).ravel(), np.hstack([m] * 3 + [J] * 3).ravel()


def cause_notes(failed: Sequence[Exception]) -> list[RunNote]:
    """Return a note on the first error of a function of the user in the search for the load that is too fast; none without an error."""
    return [unchecked_note("which load unresolved steps are of", failed[0])] if failed else []


def _depends_on_velocities(load: ForceElement) -> bool:
    """Return whether a load may have a force that changes with the velocity: not exact friction, whose reversals are events."""
    return not load.conservative and not load.is_exact


def is_lasting(watch: StiffnessWatch) -> bool:
    """Return whether unresolved steps follow one another for long."""
    return bool(watch.counts[WORST] >= PERSISTENT or watch.counts[LONG_WORST] >= LONG_PERSISTENT)


def error_at_the_end(watch: StiffnessWatch, t_end: float, h: float) -> float:
    """Return the error of the accelerations of unresolved steps that go on to the end of a run, relative to the largest; else 0.

    The steps behind a short decay remove its error.
    """
    return error_of_accelerations(watch) if watch.counts[LAST] >= t_end - LAST_STEPS * h else 0.0


def steps_words(unresolved: float, steps: float, first: float, last: float, share: float, error: float = 0.0) -> str:
    """Return the words on unresolved steps from `first` to `last` [s], the share of energy by which the ledger is open, and the error.

    error: of the accelerations, relative to the largest of the run
    """
    how = f"{unresolved:.0f} of {steps:.0f} steps from t = {first:.6g} s to {last:.6g} s are unresolved"
    how += f", and accelerations are off by up to {100.0 * error:.2g} % of the largest ones" if error else ""
    return how + (f", and the energy ledger is open by {100.0 * share:.2g} % of what is exchanged there" if share else "")


def _forces_of(model: Model, *, by_name: bool = False) -> str:
    """Return the words for the forces of a model where no load is the cause: blocks with states may be, or those that are named."""
    loads = (
        [f"{entry.load.kind} {entry.load.name!r}" for entry in model.loads if _depends_on_velocities(entry.load)] if by_name else []
    )
    if loads:
        return "the forces of " + " or ".join(loads[:3]) + (f" or {len(loads) - 3} more loads" if loads[3:] else "")
    blocks = [] if model.network is None else [repr(block.name) for block in model.network.at]
    return "the forces of this model" + (f", or for the states of its blocks {', '.join(blocks)}" if blocks else "")


def too_large(method: Any, fast: FastLoad | None, how: str, forces: str, advised: float | None = None) -> str:
    """Return the sentence on steps that are too large for a load, the same for every element.

    how: it shows;  forces: words for all of them, where no load is the cause;  advised: a step [s] that does, where no load tells it
    """
    h, name = float(method.step), type(method).__name__
    remedy = "rtol= in place of h, or an implicit method: BDF(), RadauIIA() or GeneralizedAlpha(h=...)"
    if fast is None:
        smaller = "a smaller h" if advised is None else f"h = {advised:.2g} s or less"
        return f"the step h = {h:.3g} s is too large for {forces}: {how}. Give {smaller}, {remedy}."
    limit = f", and {name} is stable up to {AXIS_LIMITS[name]:g}" if name in AXIS_LIMITS else ""
    return (
        f"the step h = {h:.3g} s is too large for {fast.kind} {fast.name!r}: its force depends on the velocity at the rate lambda = "
        f"{fast.rate:.3g} 1/s (t = {fast.t:.6g} s), h lambda = {h * fast.rate:.3g}{limit}. {how[0].upper()}{how[1:]}: this force and its "
        f"motion are errors of the steps. Give h = {ADVISED / fast.rate:.2g} s or less, {remedy}."
    )


def failed_text(model: Model, watch: StiffnessWatch | None, method: Any, t: float, words: str, states: Sequence[Array] = ()) -> str:
    """Return why a run with fixed steps has failed at t [s], if its last steps are unresolved; "" if they are not.

    words: of the error, which says what the steps have led to;  states: the first and the last, of a method that notes nothing
    """
    if method.step is None or method.has_own_matrix:
        return ""
    if watch is None or not watch.columns.size or watch.counts[ALL] <= FIRST_STEPS:
        fast = _fastest_of(model, [(t, y) for y in states], method.step, [])
        if fast is None or method.step * fast.rate < UNSTABLE:
            return ""
    elif watch.counts[SCORE] < RECENT or t - watch.counts[LAST] > 3.0 * method.step:
        return ""
    else:
        failed: list[Exception] = []  # the error of the run is the first
        fast = fastest_load(model, watch, failed)
        fast = fast or felt(_fastest_of(model, [(t, y) for y in states], method.step, failed), method.step)
    sure = fast is not None and type(method).__name__ in AXIS_LIMITS
    led_to = first_sentence(words) if sure else words.rstrip(".")
    return too_large(method, fast, f"the run stops at t = {t:.6g} s ({led_to})", _forces_of(model))


def first_sentence(text: str) -> str:
    """Return the first sentence of the text of an error, without the remedies behind it: those are for other causes than a load."""
    return SENTENCE_END.split(text, maxsplit=1)[0].rstrip(".")


def _notes_of_samples(result: Any, method: Any) -> list[RunNote]:
    """Return the note of a method that notes nothing: some states have a load with h lambda > 2, and the energy ledger is open."""
    model, h = result.model, float(method.step)
    if all(entry.load.keeps_energy for entry in model.loads) or len(result.t) < 2:  # noqa: PLR2004
        return []
    if result._all_steps and not _turns_back(result.y[:, _columns(model)]):
        return []
    some = np.unique(np.linspace(0, len(result.t) - 1, FEW_STATES).astype(int)).tolist()
    failed: list[Exception] = []
    fast = _fastest_of(model, [(float(result.t[k]), result.y[k]) for k in some], h, failed)
    if fast is None or h * fast.rate < UNSTABLE:
        return cause_notes(failed)
    share = _open_share(result, -np.inf, np.inf, h)
    if not share > OPEN:
        return cause_notes(failed)
    how = f"the energy ledger is open by {100.0 * share:.2g} % of what is exchanged"
    return [RunNote("stiff", too_large(method, fast, how, _forces_of(model)), share, share > WIDE_OPEN), *cause_notes(failed)]


def _turns_back(v: Array) -> bool:
    """Return whether a change of the velocities v (nt, m) is followed by one against it, as behind every step with h lambda > 1."""
    change = np.diff(v, axis=0)
    size = np.linalg.norm(change, axis=1)
    back = np.einsum("tm,tm->t", change[1:], change[:-1]) < -BACK * size[1:] * size[:-1]
    return bool((back & (np.minimum(size[1:], size[:-1]) > SMALL * SMALL * np.abs(v).max(initial=0.0))).any())


def _open_share(result: Any, first: float, last: float, h: float) -> float:
    """Return the drift of the energy while steps are unresolved, relative to the energy that is exchanged in the run.

    0 for a segment of a motion with impacts that stores only some of its steps: it is not made again on its own.
    """
    if not (result._all_steps or result._replays):
        return 0.0
    with np.errstate(all="ignore"):
        whole = result
        if result._all_steps:
            keep = (result.t >= first - 1.5 * h) & (result.t <= last + 1.5 * h)
            whole = result.at_states(keep) if keep.sum() > 1 else result
        energy = whole.energy()
        some = np.unique(np.linspace(0, len(result.t) - 1, min(len(result.t), SAMPLES)).astype(int))
        kinetic, potential = kinetic_and_potential(result.model, result.t[some], result.y[some])
        sizes = [kinetic.max(), np.ptp(potential), np.abs(energy.applied_work).max(), np.abs(energy.dissipated_work).max()]
        share = float(np.abs(energy.drift).max()) / max(*map(float, sizes), 1e-300)
    return share if np.isfinite(share) else np.inf


def fastest_load(model: Model, watch: StiffnessWatch, failed: list[Exception]) -> FastLoad | None:
    """Return the load that depends most on velocities at the unresolved steps; None if none of them does.

    failed: takes the errors of states at which the loads cannot be evaluated
    """
    h = float(watch.h.max())
    return felt(_fastest_of(model, sampled_states(watch), h, failed), h)


def sampled_states(watch: StiffnessWatch) -> list[tuple[float, Array]]:
    """Return some of the states (t, y) at the ends of unresolved steps."""
    used = np.flatnonzero((watch.h > 0.0) & np.isfinite(watch.y).all(axis=1)).tolist()
    some = [used[k] for k in np.unique(np.linspace(0, len(used) - 1, FEW_STATES).astype(int)).tolist()] if used else []
    return [(float(watch.t[k]), watch.y[k]) for k in some]


def felt(fast: FastLoad | None, h: float) -> FastLoad | None:
    """Return a load that may be the cause of unresolved steps of length h; None for a slow one."""
    return fast if fast is not None and fast.rate * h > FELT else None


def _fastest_of(model: Model, states: Sequence[tuple[float, Array]], h: float, failed: list[Exception]) -> FastLoad | None:
    """Return the load that depends most on velocities at some states (t, y); None if none does.  failed: as above"""
    return fastest_at_states(lambda t, y: _fastest_at(model, t, y, h), states, failed)


def fastest_at_states(
    at: Callable[[float, Array], FastLoad | None], states: Sequence[tuple[float, Array]], failed: list[Exception]
) -> FastLoad | None:
    """Return the fastest load of all states (t, y) that are finite; an error at one of them is kept, and the others are asked."""
    fastest: FastLoad | None = None
    for t, y in states:
        if not np.isfinite(y).all():
            continue
        try:
            load = at(t, y)
        except Exception as error:  # noqa: BLE001  of a function of the user; or the state of a run that grows without bound
            failed.append(error)
            continue
        if load is not None and (fastest is None or load.rate > fastest.rate):
            fastest = load
    return fastest


def _fastest_at(model: Model, t: float, y: Array, h: float) -> FastLoad | None:
    """Return the load that depends most on velocities at a state, and where a step leads from it."""
    with np.errstate(all="ignore"):
        return _fastest_on(model, t, y, *_directions(model, t, y, h))


def _fastest_along(model: Model, change: Array, t: float, y: Array) -> FastLoad | None:
    """Return the load that depends most on velocities between those of a state and those that a step has changed by `change` (6 nb,).

    Also around the state at rest: friction falls where the rate of one joint reverses, however fast the others are.
    """
    with np.errstate(all="ignore"):
        reach, still = np.sqrt(_size(model, change)), y.copy()
        still[_columns(model)] = 0.0
        if not reach > 0.0:
            return None
        loads = [_fastest_on(model, t, at, [change / reach], reach) for at in (y, still)]
        return max((load for load in loads if load is not None), key=lambda load: load.rate, default=None)


def _fastest_on(model: Model, t: float, y: Array, directions: Sequence[Array], reach: float) -> FastLoad | None:
    """Return the load that depends most on velocities along some directions (6 nb,) at a state, as far as `reach` leads."""
    loads = [entry for entry in model.loads if _depends_on_velocities(entry.load)]
    rates = [max((_rate_of(model, one.load.name, t, y, w, reach) for w in directions), default=0.0) for one in loads]
    if not rates or not np.isfinite(rates).any():
        return None
    k = int(np.nanargmax(rates))
    return FastLoad(loads[k].load.name, loads[k].load.kind, float(rates[k]), t)


def _columns(model: Model) -> Ints:
    """Return the columns of velocities in a flat state, (6 nb,)."""
    bodies = WIDTH * np.arange(1, model.nb + 1)[:, None]
    columns: Ints = (bodies + np.arange(VELOCITY, WIDTH)).ravel()
    return columns


def _accelerations(model: Model, t: float, y: Array) -> Array:
    """Return the accelerations (6 nb,) at a state."""
    u_dot: Array = solve_states(model, np.array([t]), y[None])[0, 1 : model.nb + 1].ravel()
    return u_dot


def _size(model: Model, w: Array) -> float:
    """Return w^T M w of velocities (6 nb,)."""
    u = np.concatenate([np.zeros(6), w]).reshape(1, -1, 6)
    return 2.0 * float(kinetic_energy(model, u)[0])


def _directions(model: Model, t: float, y: Array, h: float) -> tuple[list[Array], float]:
    """Return directions w (6 nb,), w^T M w = 1, and how far a step moves: the fastest decay of the velocities, and the accelerations.

    Where a force is saturated it does not depend on the velocity just here, and a step along the accelerations leads to where it does.
    """
    columns, w = _columns(model), np.random.default_rng(0).standard_normal(6 * model.nb)
    base = _accelerations(model, t, y)
    reach = h * np.sqrt(_size(model, base))
    if not (reach > 0.0 and np.isfinite(reach)):
        return [], 0.0
    along = base * (h / reach)
    for _ in range(ITERATIONS):
        w = w / np.sqrt(_size(model, w))
        s = _small(y, columns, w, reach)
        moved = y.copy()
        moved[columns] += s * w
        w = _accelerations(model, t, moved) - base
        if not (w.any() and np.isfinite(w).all()):
            return [along], reach
    return [along, w / np.sqrt(_size(model, w))], reach


def _small(y: Array, columns: Any, w: Array, reach: float) -> float:
    """Return a small change of the velocities along w: of a part SMALL of the fastest of them, or of what a step changes."""
    return SMALL * max(float(np.abs(y[columns]).max()) / float(np.abs(w).max()), reach, 1e-300)


def _rate_of(model: Model, name: str, t: float, y: Array, w: Array, reach: float) -> float:
    """Return the largest lambda of a load along w, at the velocity of a state along w and at those to which a step leads."""
    columns = _columns(model)
    u = np.concatenate([np.zeros(6), y[columns]]).reshape(1, -1, 6)
    w_body = np.concatenate([np.zeros(6), w]).reshape(1, -1, 6)
    along = float(kinetic_energy(model, u + w_body)[0] - kinetic_energy(model, u)[0]) - 0.5  # u^T M w
    still = [0.0] if abs(along) <= 2.0 * reach else []
    line = along + reach * np.linspace(-1.0, 1.0, SCAN)
    s = SMALL_CHANGE * max(abs(along), reach)

    def force(speeds: Array) -> Array:
        speeds = np.where(speeds == 0.0, s, speeds)
        states = np.repeat(y[None], len(speeds), axis=0)
        states[:, columns] = speeds[:, None] * w
        forces: Array = load_history(model, np.full(len(states), t), states, name).power / speeds
        return forces

    def rates(x: Array) -> Array:
        forces = force((x[:, None] + s * np.array([1.0, -1.0])).ravel()).reshape(-1, 2)
        change = forces[:, 1] - forces[:, 0]
        slopes: Array = np.where(np.abs(change) > NOISE * np.abs(forces).max(axis=1), change, 0.0) / (2.0 * s)
        return slopes

    there = rates(np.concatenate([[along, *still], line]))
    around = rates(_steepest_part(force, line))
    return float(np.nanmax([np.nanmax(there), np.nanmax(around)]))


def _steepest_part(force: Callable[[Array], Array], x: Array) -> Array:
    """Return points (SCAN,) in the part of the way x (SCAN,) in which a force falls most, however short: the part of a part, and so on."""
    for _ in range(ZOOMS):
        fall = -np.diff(force(x))
        k = int(np.nanargmax(fall)) if np.isfinite(fall).any() else 0
        x = np.linspace(x[k], x[k + 1], SCAN)
    return x
