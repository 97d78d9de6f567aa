r"""simulate: from a system to a Result.

fixed step        simulate(system, t_end, h=1e-3)                RK4 with projection
adaptive          simulate(system, t_end, rtol=1e-8, atol=1e-10)  Dormand-Prince 5(4) with projection and dense output
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy.typing as npt

from haugmbd.arguments import (
    Integrator,
    Stabilization,
    check_drivers,
    check_interval,
    check_kinds,
    choose_integrator,
    wanted_times,
)
from haugmbd.errors import UsageError
from haugmbd.formulations import NewtonEuler
from haugmbd.integrators import Event, Projection, Unstabilized
from haugmbd.integrators.events import read_events
from haugmbd.integrators.initial import consistent_start
from haugmbd.integrators.stepping import Problem
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.system import System
from haugmbd.result import Result
from haugmbd.running import Run


def simulate(
    system: System | Model,
    t_end: float,
    *,
    h: float | None = None,
    rtol: float | None = None,
    atol: float | None = None,
    t_eval: npt.ArrayLike | None = None,
    events: Sequence[Event] = (),
    state: State | None = None,
    formulation: NewtonEuler = NewtonEuler(),  # noqa: B008  frozen
    integrator: Integrator | None = None,
    stabilization: Stabilization | None = Projection(),  # noqa: B008  frozen
    repair_velocity: bool = False,
    store_every: int = 1,
    progress: bool = False,
) -> Result:
    """Simulate from `state` (by default the modelled one) to `t_end` [s].

    Parameters
    ----------
    h: fixed step [s], with RK4;  rtol, atol: error a step, with Dormand-Prince (rtol 1e-8, atol 1e-10 where nothing is said)
    events: zeros to look for, `Event(name, g)`; the result tells them in `events`, and ends at a terminal one, with the state there
    t_eval: times [s] at which states are wanted, by dense output; otherwise every `store_every`-th step is kept
    integrator, stabilization: objects: RK4(h), DormandPrince(...);  Projection(), Baumgarte(alpha, beta), None
    repair_velocity: project inconsistent initial velocities, instead of refusing them
    progress: show a bar

    Returns a Result; after Ctrl-C the result so far, with `interrupted` set.
    Raises ModelError (faults of the model), UsageError (bad arguments), SimulationError or SingularKKT, whose `.result` holds
    what was computed so far.
    """
    if not isinstance(formulation, NewtonEuler):
        raise UsageError(f"formulation={formulation!r} is none of this version's; it has NewtonEuler().")
    check_kinds(system, t_end, h, rtol, atol, state, integrator, stabilization, store_every)
    method = choose_integrator(h, rtol, atol, integrator)
    model = system if isinstance(system, Model) else system.compile()
    start = model.state() if state is None else state
    times = wanted_times(t_eval, start.t, t_end)
    watched = read_events(events)
    check_interval(method, start.t, t_end, store_every)
    check_drivers(model, start.t, t_end)
    rule = Unstabilized() if stabilization is None else stabilization
    pack = model.pack()
    start = consistent_start(model, pack, start, repair_velocity=repair_velocity)
    problem = Problem(model, pack, rule.rates, rule.settle, rule.options(), start.t, start.y)
    settings = {"formulation": repr(formulation), "integrator": repr(method), "stabilization": repr(stabilization)}
    return Run(problem, method, t_end, times, store_every, settings, watched).go(progress)
