r"""Fixed steps that do not resolve the function tau of a serial chain: how fast it lets joint rates decay, and a step that does.

    qd' = H^-1 (tau(t, q, qd) - C)      small changes decay as  w' = J w,   J = H^-1 d tau / d qd      lambda = max | Re eig J |

by differences, column by column: a chain has few rates.  What its method noted of its steps is judged as in `unresolved_steps`.
Source: Hairer, Wanner, Solving ODE II, sec. IV.2 (stability of explicit methods).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from haugmbd.bodies.validation import for_kernels
from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import RunNote
from haugmbd.integrators.chain_state_space import ChainStateSpace
from haugmbd.integrators.watches.stiffness_watch import ALL, FIRST, LAST, SCORE, UNRESOLVED, WORST, StiffnessWatch
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.simulation.stepping.unresolved_steps import (
    FIRST_STEPS,
    OPEN,
    RECENT,
    SMALL,
    SOME,
    UNSTABLE,
    WIDE_OPEN,
    WRONG,
    FastLoad,
    cause_notes,
    error_at_the_end,
    fastest_at_states,
    felt,
    is_lasting,
    sampled_states,
    steps_words,
    too_large,
)


def chain_stiff_notes(result: Any, watch: StiffnessWatch | None, method: Any) -> list[RunNote]:
    """Return a note if the fixed steps of a run do not resolve tau.  result: of a chain;  watch: what the method noted of its steps"""
    space = result.state_space
    if method.step is None or not callable(space.tau) or watch is None or not watch.columns.size or watch.counts[WORST] < SOME:
        return []
    lasting, share, error = is_lasting(watch), 0.0, error_at_the_end(watch, float(result.t[-1]), float(method.step))
    wrong = not lasting and error > WRONG
    if not (lasting or wrong):
        share = _open_share(result)
        if not share > OPEN:
            return []
    counts = watch.counts
    how = steps_words(counts[UNRESOLVED], counts[ALL], counts[FIRST], counts[LAST], share, error if wrong else 0.0)
    failed: list[Exception] = []
    text = too_large(method, _fastest(space, watch, (), failed), how, f"the forces on chain {space.chain.name!r}")
    return [RunNote("stiff", text, float(counts[WORST]), lasting or wrong or share > WIDE_OPEN), *cause_notes(failed)]


def failed_chain_text(
    space: ChainStateSpace, watch: StiffnessWatch | None, method: Any, t: float, words: str, states: Sequence[Array]
) -> str:
    """Return why a run of a chain with fixed steps has failed at t [s], if its last steps are unresolved; "" if they are not."""
    if method.step is None or not callable(space.tau) or watch is None or not watch.columns.size:
        return ""
    counts, there = watch.counts, [(t, y) for y in states]
    if counts[ALL] <= FIRST_STEPS:
        fast = _fastest_of(space, there, method.step, [])
        if fast is None or method.step * fast.rate < UNSTABLE:
            return ""
    elif counts[SCORE] < RECENT or t - counts[LAST] > 3.0 * method.step:
        return ""
    else:
        fast = _fastest(space, watch, there, [])  # the error of the run is the first
    how = f"the run stops at t = {t:.6g} s ({words.rstrip('.')})"
    return too_large(method, fast, how, f"the forces on chain {space.chain.name!r}")


def _open_share(result: Any) -> float:
    """Return the drift of the energy relative to what is exchanged."""
    with np.errstate(all="ignore"):
        energy = result.energy()
        sizes = [energy.kinetic.max(), np.ptp(energy.potential), np.abs(energy.applied_work).max()]
        share = float(np.abs(energy.drift).max()) / max(*map(float, sizes), 1e-300)
    return share if np.isfinite(share) else np.inf


def _fastest(
    space: ChainStateSpace, watch: StiffnessWatch, states: Sequence[tuple[float, Array]], failed: list[Exception]
) -> FastLoad | None:
    """Return tau with its largest rate at the unresolved steps, or else at other states (t, y); None if it is slow there.

    failed: takes the errors of states at which tau cannot be evaluated
    """
    h = float(watch.h.max())
    for some in (sampled_states(watch), states):
        fast = felt(_fastest_of(space, some, h, failed), h)
        if fast is not None:
            return fast
    return None


def _fastest_of(
    space: ChainStateSpace, states: Sequence[tuple[float, Array]], h: float, failed: list[Exception]
) -> FastLoad | None:
    """Return tau with its largest rate at some states (t, y)."""
    return fastest_at_states(lambda t, y: _fastest_at(space, t, y, h), states, failed)


def _fastest_at(space: ChainStateSpace, t: float, y: Array, h: float) -> FastLoad | None:
    """Return tau with its largest rate at a state and on the way of a step of length h; None where it is not finite.

    Where tau is saturated it does not depend on the rates just here, and the step leads to where it does: friction at a reversal.
    """
    chain = space.chain
    q, qd = y[: chain.nq].copy(), y[chain.nq :].copy()
    external = space.wrenches if len(space.wrenches) else None

    def accelerations(rates: Array) -> Array:
        tau = for_kernels(np.array(space.tau_at(t, q.copy(), rates), dtype=np.float64))
        qdd: Array = aba(chain, q, qd, tau, wrenches=external)
        return qdd

    def rate(u: Array, s: float) -> float:
        columns = [(accelerations(u + s * one) - accelerations(u - s * one)) / (2.0 * s) for one in np.eye(chain.nv)]
        return float(np.abs(np.linalg.eigvals(np.column_stack(columns)).real).max())

    change = h * accelerations(qd)
    reversed_in_it = np.where(np.abs(qd) <= 2.0 * np.abs(change), 0.0, qd)
    places = [qd, reversed_in_it, *(qd + x * change for x in np.linspace(-1.0, 1.0, SCAN))]
    s = SMALL * max(float(np.abs(qd).max()), float(np.abs(change).max()), 1e-300)
    fastest = float(np.nanmax([rate(place, s) for place in places]))
    return FastLoad(chain.name, "tau of chain", fastest, t) if np.isfinite(fastest) else None


SCAN = 17
"""Number of places along the way of a step at which tau is differentiated."""
