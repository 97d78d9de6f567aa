"""Simulation of a serial chain in joint coordinates: `simulate` calls it for a SerialChain."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from haugmbd.compiled.array_types import Array
from haugmbd.diagnostics.run_warnings import checked, issue
from haugmbd.errors import UsageError
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.chain_state_space import POST_STEP, RATES, ChainStateSpace
from haugmbd.integrators.events import read_events
from haugmbd.integrators.step_context import Problem, make_options
from haugmbd.serial_chain.base import ChainState, need_finite
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.simulation.arguments import check_interval, wanted_times
from haugmbd.simulation.replay import Replay
from haugmbd.simulation.results.chain_result import ReducedResult, energy_notes_of
from haugmbd.simulation.results.records import Recorded
from haugmbd.simulation.results.result import Result
from haugmbd.simulation.run_options import Recording, RunLimits, RunMethods, RunOutput
from haugmbd.simulation.sensor import read_sensors, sensor_notes
from haugmbd.simulation.stepping.crossed_jumps import CROSSED_JUMPS, chain_jump_notes
from haugmbd.simulation.stepping.run import Run
from haugmbd.simulation.stepping.unresolved_chains import chain_stiff_notes
from haugmbd.simulation.stepping.unresolved_steps import UNRESOLVED_STEPS

Tau = npt.ArrayLike | Callable[[float, Array, Array], npt.ArrayLike]


def simulate_chain(
    chain: SerialChain,
    t_end: float,
    method: Integrator,
    output: RunOutput,
    *,
    state: Any,
    tau: Tau | None,
    wrenches: Any,
    budget: float | None = None,
) -> Result:
    """Simulate `chain` from `state` (by default at rest with every joint at zero) to `t_end` [s]; see `simulate`."""
    start = ChainState(chain.q_zero(), np.zeros(chain.nv)) if state is None else state
    if not isinstance(start, ChainState):
        raise UsageError(f"state = {state!r} must be a ChainState(q, qd): a chain is simulated in its own coordinates.")
    need_finite(chain, chain.read("q", start.q, chain.nq), chain.read("qd", start.qd, chain.nv))
    if chain.nv == 0:
        raise UsageError(f"chain {chain.name!r} has no freedom: there is nothing to simulate.")
    times, events = wanted_times(output.t_eval, start.t, t_end), read_events(output.events)
    recording = Recording(times, output.store_every, events, read_sensors(output.sensors))
    check_interval(method, start.t, t_end, output.store_every)
    force = tau if callable(tau) else chain.read("tau", tau, chain.nv).copy()
    state_space = ChainStateSpace(chain, force, chain.read_wrenches(wrenches))
    state_space.tau_at(start.t, np.array(start.q), np.array(start.qd))
    result = _run(state_space, start, t_end, method, recording, RunLimits(budget), progress=output.progress)
    issue(result.outcome)
    return result


def run_chain_again(result: Any, one: Replay, t_eval: npt.ArrayLike | None, until: float, take: Any) -> Result:
    """Return a run made again to the time `until` [s], in one part: all steps, or the states at the times `t_eval`."""
    state_space = result.state_space
    nq = state_space.chain.nq
    recording = Recording(wanted_times(t_eval, one.t0, one.t_end))
    start = ChainState(one.t0, one.y0[:nq], one.y0[nq:])
    return _run(state_space, start, one.t_end, one.methods.integrator, recording, RunLimits(until=until))


def _run(
    state_space: ChainStateSpace,
    start: ChainState,
    t_end: float,
    method: Integrator,
    recording: Recording,
    limits: RunLimits,
    progress: bool = False,
) -> ReducedResult:
    """Return the result of a run, without issuing its warnings."""
    chain, whole = state_space.chain, recording.times is None and recording.every == 1 and method.dense
    problem = Problem(state_space, state_space.pack(), RATES, POST_STEP, make_options(), start.t, start.y)
    settings = {"formulation": "aba, reduced coordinates", "integrator": repr(method)}

    def record(found: Recorded) -> ReducedResult:
        q, qd = found.y[:, : chain.nq], found.y[:, chain.nq :]
        result = ReducedResult(
            state_space,
            found.t,
            q,
            qd,
            counters=found.counters,
            settings=settings,
            interrupted=found.interrupted,
            events=found.events,
            _sensors=found.sensors,
            outcome=found.outcome,
            _replays=(Replay(start.t, start.y, t_end, float(found.t[-1]), RunMethods(method), exact=recording.times is None),),
            _all_steps=whole,
            _again=run_chain_again,
        )
        notes = sensor_notes(found.sensors)
        notes += checked("the energy", lambda: energy_notes_of(result))
        if limits.until == np.inf:
            notes += checked(UNRESOLVED_STEPS, lambda: chain_stiff_notes(result, found.stiffness, method))
            notes += checked(CROSSED_JUMPS, lambda: chain_jump_notes(state_space, found.t, found.y, method, all_steps=whole))
        return result.changed(outcome=found.outcome.with_notes(notes))

    return Run(problem, method, t_end, recording, record, limits=limits).run(progress)
