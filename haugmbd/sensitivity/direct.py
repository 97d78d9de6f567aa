r"""Direct differentiation: the motion of each kind of run, with a tangent of its states by each parameter.

simulate        the tape of accepted steps, each with its tangents (`tangents`)
kinematics      dPhi = 0, d(nu - Phi_q u) = 0 at each time: every state by itself
accelerations   the modelled state
assemble        the least mass-weighted change that closes the mechanism
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.errors import UsageError
from haugmbd.sensitivity.kernels import OK, Pack
from haugmbd.sensitivity.models import EmbeddedRungeKutta, Model, Projection, RungeKutta, choose_integrator, failure, simulate
from haugmbd.sensitivity.tangents import Memory, new_memory, place_lanes, run_lanes
from haugmbd.sensitivity.variations import Design

FAR = 1e-6
"""Distance of a step that is made again from the run's own [m, rad], at which the lanes would belong to another motion."""
LOCKED = 1e-6
"""Part of the size of the mechanism by which a dropped row opens for a change of a parameter by its size: it locks the mechanism."""


class Tangents(NamedTuple):
    """A motion and its tangents.

    t: (nt,)  y: (nt, ny)  dY: (nt, n, ny);  runs: what it cost, in runs, of which differences are no part
    """

    t: Array
    y: Array
    dY: Array


def memory_of(model: Model, stages: int, n: int) -> Memory:
    """Return work arrays for a model."""
    edges = len(model.tables["EDGES"])
    return new_memory(len(model.y0), model.nb + 1 + edges, 6 * edges, stages, n)


def packs_of(model: Model) -> tuple[Pack, Pack]:
    """Return a workspace of a model, and one with constants of its own, which lanes shift."""
    V = model.pack()
    return model.pack(), V._replace(reals=V.reals.copy())


def refuse_locks(design: Design, memory: Memory) -> None:
    """Raise UsageError if a parameter opens a row that depends on others: off its value the mechanism is locked, or less mobile."""
    model = design.model
    dropped = np.array(model.redundancy.dropped, dtype=np.int64)
    if not len(dropped):
        return
    slack = memory.slack[:, model.slot_of_row[dropped]] * design.p.sizes[:, None]
    for name, line in zip(design.p, slack, strict=True):
        if line.max() > LOCKED * max(1.0, model.length):
            joints = sorted(
                {model.labels[row].joint for row, x in zip(dropped, line, strict=True) if x > LOCKED * max(1.0, model.length)}
            )
            raise UsageError(
                f"parameter {name!r} locks the mechanism: redundant rows of {', '.join(map(repr, joints))} hold at this value only, and a "
                "change opens them. There is no derivative. Let the parameter move the special lengths together, or take the redundant "
                "rows away: a CJ or SJ in place of an RJ."
            )


def simulated(design: Design, arguments: dict[str, Any]) -> Tangents:
    """Return the tangents of a simulation, at the ends of its steps, or at the times t_eval."""
    arguments = dict(arguments)
    times = arguments.pop("t_eval", None)
    if arguments.get("store_every", 1) != 1:
        raise UsageError("sensitivity needs every step of the run: leave out store_every, and give times in t_eval.")
    result = simulate(design.model, **arguments)
    design.ran()
    refuse_what_is_not_smooth(result)
    tableau = tableau_of(arguments)
    return along_tape(design, tableau, result.t, result.y, None if times is None else np.asarray(times, dtype=np.float64))


def tableau_of(arguments: dict[str, Any]) -> Any:
    """Return the tableau of the method of a run. Raise UsageError for a method whose tangents are not known."""
    method = choose_integrator(*(arguments.get(name) for name in ("h", "rtol", "atol", "integrator")))
    if not isinstance(method, RungeKutta | EmbeddedRungeKutta):
        raise UsageError(
            f"sensitivity of a run by {type(method).__name__} is not there yet: take an explicit Runge-Kutta method, such as RK4(h=...), "
            "DormandPrince() or DOP853()."
        )
    rule, formulation = arguments.get("stabilization", ...), arguments.get("formulation")
    if rule is not ... and not (isinstance(rule, Projection) and rule == Projection(rule.tol)):
        raise UsageError(f"sensitivity with stabilization = {rule!r} is not there yet: take Projection(), the default.")
    if formulation is not None and type(formulation).__name__ != "NewtonEuler":
        raise UsageError(f"sensitivity with formulation = {formulation!r} is not there yet: take NewtonEuler(), the default.")
    if arguments.get("state") is not None:
        raise UsageError(
            "sensitivity starts from the modelled state, which moves with the parameters: leave out state, and build it."
        )
    return method.tableau


def refuse_what_is_not_smooth(result: Any) -> None:
    """Raise UsageError for a run with events that change its law."""
    model = result.model
    if len(model.tables["FRICTION_INTS"]):
        names = ", ".join(repr(e.name) for e in model.loads if type(e.load).__name__ == "JointFriction")
        raise UsageError(f"sensitivity through exact friction ({names}) is not there yet: difference whole runs.")
    if getattr(result, "singular_crossings", ()):
        raise UsageError("the run crosses a singular configuration, where the derivative by a parameter does not exist.")


def along_tape(design: Design, tableau: Any, T: Array, Y: Array, times: Array | None) -> Tangents:
    """Return the tangents along the steps of a run that ends at T in the states Y."""
    model, n, ny = design.model, len(design.p), Y.shape[1]
    P, V = packs_of(model)
    memory, dY = memory_of(model, len(tableau.c), n), np.zeros((len(T), n, ny))
    dY[0] = design.start
    inside = np.zeros(0) if times is None else times[~np.isin(times, T)]
    if times is not None and ((times < T[0]) | (times > T[-1])).any():
        raise UsageError(f"t_eval must be within the run, {T[0]:g} s to {T[-1]:g} s.")
    beside = np.searchsorted(T, inside, side="right") - 1
    beside_y, beside_dY = np.zeros((len(inside), ny)), np.zeros((len(inside), n, ny))
    code, done, far = run_lanes(
        P, V, design.lanes, memory, tableau, np.array(T), np.array(Y), dY, beside, inside, beside_y, beside_dY
    )
    if code != OK:
        raise failure(model, P, code, float(T[min(done, len(T) - 1)]))
    if not far <= FAR:
        raise UsageError(
            f"the steps of the run cannot be made again: a state differs by {far:.1e}. Events or jumps change its law; sensitivities "
            "through them are not there yet."
        )
    refuse_locks(design, memory)
    if times is None:
        return Tangents(T, Y, dY)
    t = np.concatenate([T, inside])
    order = [int(np.flatnonzero(t == x)[0]) for x in times]
    return Tangents(times, np.concatenate([Y, beside_y])[order], np.concatenate([dY, beside_dY])[order])


def placed(design: Design, t: Array, y: Array, dY: Array) -> Tangents:
    """Return states with the tangents dY brought to dPhi = 0 and d(Phi_q u - nu) = 0, each by itself."""
    model = design.model
    if model.n_states:
        raise UsageError(
            "sensitivity of this kind of run, with internal states of forces or blocks, is not there yet: use run='simulate', or forces "
            "without them."
        )
    P, V = packs_of(model)
    memory, Y = memory_of(model, 1, dY.shape[1]), np.array(y)
    code, done = place_lanes(P, V, design.lanes, memory, np.array(t), Y, dY)
    if code != OK:
        raise failure(model, P, code, float(t[min(done, len(t) - 1)]))
    refuse_locks(design, memory)
    return Tangents(t, Y, dY)
