"""What the tests of implicit methods share: every class that exists, and the last step of a run with the method's own multipliers."""

from __future__ import annotations

import inspect

import numpy as np

import haugmbd as mbd
from haugmbd.integrators.base import RTOL, Integrator
from haugmbd.integrators.stabilization.none import Unstabilized
from haugmbd.integrators.state_space import MaximalStateSpace
from haugmbd.integrators.step_context import Problem


def classes_below(base: type[Integrator] = Integrator) -> set[type[Integrator]]:
    """All public classes derived from `base` that can be used, found by walking: not those of the same name that other tests make."""
    below = {c for direct in base.__subclasses__() for c in classes_below(direct)}
    public = {c for c in base.__subclasses__() if not inspect.isabstract(c) and c.__name__ in mbd.__all__}
    return below | {c for c in public if getattr(mbd, c.__name__) is c}


def with_step(method: Integrator, h: float) -> Integrator:
    """The method with steps of h; one with error control is held to them by its first and its largest step."""
    if getattr(method, "rtol", RTOL) is RTOL:
        return method.with_arguments(h, None, None)
    return method.starting_with(h).limited(h)


def end_of(method: Integrator, system: mbd.System, t_end: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """r and (v, omega_bar) of all bodies, and the multipliers lam of M u' + Phi_q^T lam = Q for the u' of the METHOD, at t_end.

    Q comes from the accelerations of the library at the same state; lam is the least-squares solution for the method's own u'.
    """
    model, rule = system.compile(), Unstabilized()
    problem = Problem(MaximalStateSpace(model), model.pack(), rule.rates, rule.post_step, rule.options(), 0.0, model.y0.copy())
    k1 = np.zeros_like(problem.y)
    assert problem.post_step(problem.pack, problem.options, 0.0, problem.y, k1) == 0
    for batch in method.batches(problem, k1, t_end):
        assert batch.code == 0
        last = batch
    assert last.t[-1] == t_end
    state = mbd.State.from_y(t_end, last.y[-1], model.nb + 1)
    here = mbd.accelerations(model, state)
    n = model.nb + 1
    Phi_q = mbd.evaluate(model, state).Phi_q.toarray()
    u_dot = last.y_dot[-1][: 13 * n].reshape(n, 13)[1:, 7:]
    change = np.concatenate([here.v_dot, here.omega_bar_dot], axis=1)[1:] - u_dot
    force = np.concatenate(
        [np.concatenate([m * c[:3], J @ c[3:]]) for m, J, c in zip(model.mass[1:], model.J_bar[1:], change, strict=True)]
    )
    lam = here.lam + np.linalg.lstsq(Phi_q.T, force, rcond=None)[0]
    return state.r.ravel(), np.concatenate([state.v, state.omega_bar], axis=1).ravel(), lam
