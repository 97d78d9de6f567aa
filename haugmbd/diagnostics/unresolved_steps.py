r"""Fixed steps that do not resolve the forces of a load, by its name: the rate lambda of its velocity dependence, and a step that does.

    u' = M^-1 ( Q(u) - Phi_q^T lam )      small changes decay as  w' = J w,   J w = [ u'(u + s w) - u'(u) ] / s
    lambda = |w_new| / |w|,  w_new = J w   power iteration in the norm of the mass matrix: the fastest direction that the joints leave free
    lambda_k = - [ P_k(u + s w) - 2 P_k(u) + P_k(u - s w) ] / (2 s^2 w^T M w)      the share of load k, by its power P_k = Q_k^T u alone

so that every element is measured in the same way: Q_k = -c u has P_k = -c u^2, and lambda_k = c / m.
An explicit method follows a decay while h lambda is below the limit of its stability on the negative real axis.  RK4, RK3 and Heun note
in passing which of their steps are unresolved (`integrators.watches.stiffness_watch`); many in a row, or some with an open energy ledger,
make the result doubtful.  Only then the functions of the user are called again.
Source: Hairer, Wanner, Solving ODE II, sec. IV.2 (stability of explicit methods); Golub, Van Loan, sec. 7.3 (power iteration).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.diagnostics.energy import kinetic_energy
from haugmbd.diagnostics.histories.load_history import load_history
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.formulations.accelerations import solve_states
from haugmbd.integrators.watches.stiffness_watch import ALL, FIRST, LAST, SCORE, UNRESOLVED, WORST, StiffnessWatch
from haugmbd.math.body_columns import VELOCITY
from haugmbd.model.model import Model
from haugmbd.workspace.layout import WIDTH

PERSISTENT = 13.0
"""Score above which steps are unstable: two of three unresolved, over twenty steps. A decay that is stable with h lambda = 2.5 has 12."""
SOME = 3.0
"""Score above which the energy ledger is asked: three unresolved steps in a row. Kinks and reversals have one or two."""
OPEN, WIDE_OPEN = 1e-2, 0.1
"""Of the energy that is exchanged while steps are unresolved: a drift that is noted, and one that makes the result doubtful."""
RECENT = 1.5
"""Score of a run that fails, above which its last steps are unresolved: two in a row."""
FELT = 0.5
"""h lambda of a load below which it is not the cause of unresolved steps."""
ADVISED = 1.0
"""h lambda of the step that is advised: RK4 follows such a decay to 1 % of it."""
ITERATIONS = 6
"""Of the power iteration: a direction that is four times as fast as the next is found to 0.1 %."""
SMALL = 1e-6
"""Relative to the fastest velocity: the change of velocities of a derivative."""
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
    if watch is None or method.step is None or watch.counts[WORST] < SOME:
        return []
    counts, share = watch.counts, 0.0
    lasting, known = bool(counts[WORST] >= PERSISTENT), any(note.doubtful for note in result.outcome.notes)
    if not lasting:
        if known:
            return []
        share = _open_share(result, counts[FIRST], counts[LAST], method.step)
        if not share > OPEN:
            return []
    fast = fastest_load(result.model, watch)
    if fast is None and known:
        return []
    how = (
        f"{counts[UNRESOLVED]:.0f} of {counts[ALL]:.0f} steps from t = {counts[FIRST]:.6g} s to {counts[LAST]:.6g} s are unresolved"
    )
    if share:
        how += f", and the energy ledger is open by {100.0 * share:.2g} % of what is exchanged there"
    text = too_large(method, fast, how)
    return [RunNote("stiff", text, float(counts[WORST]), lasting or share > WIDE_OPEN)]


def too_large(method: Any, fast: FastLoad | None, how: str) -> str:
    """Return the sentence on steps that are too large for a load, the same for every element.  how: it shows"""
    h, name = float(method.step), type(method).__name__
    remedy = "rtol= in place of h, or an implicit method, BDF() or RadauIIA()"
    if fast is None:
        return f"the step h = {h:.3g} s is too large for the forces of this model: {how}. Give a smaller h, {remedy}."
    limit = f", and {name} is stable up to {AXIS_LIMITS[name]:g}" if name in AXIS_LIMITS else ""
    return (
        f"the step h = {h:.3g} s is too large for {fast.kind} {fast.name!r}: its force depends on the velocity at the rate lambda = "
        f"{fast.rate:.3g} 1/s (t = {fast.t:.6g} s), h lambda = {h * fast.rate:.3g}{limit}. {how[0].upper()}{how[1:]}: this force and its "
        f"motion are errors of the steps. Give h = {ADVISED / fast.rate:.2g} s or less, {remedy}."
    )


def failed_text(model: Model, watch: StiffnessWatch | None, method: Any, t: float, words: str) -> str:
    """Return why a run with fixed steps has failed at t [s], if its last steps are unresolved; "" if they are not.

    words: of the error, which says what the steps have led to
    """
    if watch is None or method.step is None or watch.counts[SCORE] < RECENT or t - watch.counts[LAST] > 3.0 * method.step:
        return ""
    fast = fastest_load(model, watch)
    if fast is None or method.step * fast.rate < FELT:
        return ""
    return too_large(method, fast, f"the run stops at t = {t:.6g} s ({words.rstrip('.')})")


def _open_share(result: Any, first: float, last: float, h: float) -> float:
    """Return the drift of the energy while steps are unresolved, relative to the energy that is exchanged in the run."""
    with np.errstate(all="ignore"):
        whole = result
        if result._all_steps:
            keep = (result.t >= first - 1.5 * h) & (result.t <= last + 1.5 * h)
            whole = result.at_states(keep) if keep.sum() > 1 else result
        energy = whole.energy()
        sizes = [
            energy.kinetic.max(),
            np.ptp(energy.potential),
            np.abs(energy.applied_work).max(),
            np.abs(energy.dissipated_work).max(),
        ]
        share = float(np.abs(energy.drift).max()) / max(*map(float, sizes), 1e-300)
    return share if np.isfinite(share) else np.inf


def fastest_load(model: Model, watch: StiffnessWatch) -> FastLoad | None:
    """Return the load that depends most on velocities at the unresolved steps; None if none of them does."""
    used = np.flatnonzero((watch.h > 0.0) & np.isfinite(watch.y).all(axis=1))
    found: FastLoad | None = None
    for k in used[np.unique(np.linspace(0, max(len(used) - 1, 0), 5).astype(int))].tolist() if len(used) else ():
        one = _fastest_at(model, float(watch.t[k]), watch.y[k], float(watch.h[k]))
        found = one if found is None or (one is not None and one.rate > found.rate) else found
    return found if found is not None and found.rate * watch.h.max() > FELT else None


def _fastest_at(model: Model, t: float, y: Array, h: float) -> FastLoad | None:
    """Return the load that depends most on velocities at a state, and where a step leads from it."""
    loads = [entry for entry in model.loads if not entry.load.conservative]
    try:
        with np.errstate(all="ignore"):
            w, reach = _fastest_direction(model, t, y, h)
            if not np.isfinite(w).all() or not w.any():
                return None
            rates = [_rate_of(model, entry.load.name, t, y, w, reach) for entry in loads]
    except Exception:  # noqa: BLE001  a state of a run that grows without bound may not be evaluated
        return None
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
    found: Array = solve_states(model, np.array([t]), y[None])[0, 1 : model.nb + 1].ravel()
    return found


def _size(model: Model, w: Array) -> float:
    """Return w^T M w of velocities (6 nb,)."""
    u = np.concatenate([np.zeros(6), w]).reshape(1, -1, 6)
    return 2.0 * float(kinetic_energy(model, u)[0])


def _fastest_direction(model: Model, t: float, y: Array, h: float) -> tuple[Array, float]:
    """Return the direction w (6 nb,), w^T M w = 1, in which changes of the velocities decay fastest, and how far a step moves along it."""
    columns, w = _columns(model), np.random.default_rng(0).standard_normal(6 * model.nb)
    base = _accelerations(model, t, y)
    reach = h * np.sqrt(_size(model, base))
    for _ in range(ITERATIONS):
        w = w / np.sqrt(_size(model, w))
        s = _small(y, columns, w, reach)
        moved = y.copy()
        moved[columns] += s * w
        w = _accelerations(model, t, moved) - base
        if not w.any():
            return w, reach
    return w / np.sqrt(_size(model, w)), reach


def _small(y: Array, columns: Any, w: Array, reach: float) -> float:
    """Return a small change of the velocities along w: of a part SMALL of the fastest of them, or of what a step changes."""
    return SMALL * max(float(np.abs(y[columns]).max()) / float(np.abs(w).max()), reach, 1e-300)


def _rate_of(model: Model, name: str, t: float, y: Array, w: Array, reach: float) -> float:
    """Return the largest lambda of a load along w, at a state and at those to which a step leads, by second differences of its power."""
    columns = _columns(model)
    u = np.concatenate([np.zeros(6), y[columns]]).reshape(1, -1, 6)
    w_body = np.concatenate([np.zeros(6), w]).reshape(1, -1, 6)
    along = float(kinetic_energy(model, u + w_body)[0] - kinetic_energy(model, u)[0]) - 0.5  # u^T M w
    shifts = np.array([0.0, *([-along] if abs(along) <= 2.0 * reach else []), -reach, -0.5 * reach, 0.5 * reach, reach])
    s = SMALL_POWER * max(abs(along), reach, 1e-300)
    states = np.repeat(y[None], 3 * len(shifts), axis=0)
    states[:, columns] += (shifts[:, None] + s * np.array([1.0, 0.0, -1.0])).reshape(-1, 1) * w
    power = load_history(model, np.full(len(states), t), states, name).power.reshape(-1, 3)
    rates = -(power[:, 0] - 2.0 * power[:, 1] + power[:, 2]) / (2.0 * s * s)
    return float(np.nanmax(rates))


SMALL_POWER = 1e-4
"""Relative to the velocity along the direction: second differences lose twice the digits of first ones."""
