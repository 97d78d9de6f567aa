"""haugmbd, as one of the tools: maximal coordinates, multipliers included, 6 n bodies' coordinates and 5 n rows."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.compiled.ffi import NO_CALLBACK
from haugmbd.compiled.jit import entry
from haugmbd.impacts.impulse_equations import FactoredSystem
from haugmbd.integrators.stabilization.none import RATES
from haugmbd.integrators.step_context import make_options
from haugmbd.kkt.block_solver import backward_blocks, eliminated, forward_blocks
from haugmbd.kkt.pivot_trials import copy
from haugmbd.workspace import accessors as ws
from joints import RJ
from tests.benchmarks import chain, formulations
from tests.benchmarks.ours_precision import integrator
from tests.benchmarks.worker import serve


@cache
def model(shape: str, n: int, moving: bool) -> tuple[chain.Links, mbd.Model]:
    """The links and their compiled model."""
    links = getattr(chain, shape)(n, moving=moving)
    system = mbd.System(shape, gravity=(0, 0, -chain.GRAVITY))
    bodies = [system.ground]
    for k, i in enumerate(links.parent):
        state = {"r": links.r[k], "v": links.v[k], "omega_bar": links.omega[k]}
        bodies.append(system.add(mbd.Body(f"b{k}", chain.MASS, chain.INERTIA, **state)))
        system.add(RJ(f"j{k}", bodies[i], bodies[-1], point=links.point[k], axis=links.axis[k]))
    return links, system.compile()


@entry
def many(rates: Any, P: Any, options: Any, y: Any, y_dot: Any, n: int) -> int:
    """n right-hand sides in one compiled loop, as an integrator calls them."""
    code = 0
    for _ in range(n):
        code = max(code, rates(P, options, 0.0, y, y_dot))
    return code


@cache
def room(shape: str, n: int) -> tuple[Any, ...]:
    """What `many` needs."""
    y = model(shape, n, True)[1].state().y.copy()
    return RATES, mbd.NewtonEuler().pack(model(shape, n, True)[1]), make_options(), y, np.zeros(y.size)


def rhs(shape: str, n: int, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of the right-hand side with multipliers, and the joint accelerations at the modelled pose.

    us: in a loop in compiled code;  accelerations, evaluator: one call from Python of `mbd.accelerations`, of `model.evaluator()`
    """
    arguments = room(shape, n)
    many(*arguments, 1)
    count = max(1, int(seconds / (0.7e-6 * n)))
    start = time.process_time()
    many(*arguments, count)
    us = (time.process_time() - start) / count * 1e6
    links, bodies = model(shape, n, True)[0], arguments[-1].reshape(-1, 13)
    omega, parent = np.vstack([np.zeros(3), links.omega]), links.parent
    # axis fixed in the parent: omega_j' - omega_i' = axis q'' + omega_i x axis q'
    relative = bodies[1:, 10:] - bodies[parent, 10:] - np.cross(omega[parent], links.axis) * links.rate[:, None]
    called = {name: _called(call, seconds, n) for name, call in _calls(shape, n).items()}
    return {"us": us, **called, "acceleration": (relative * links.axis).sum(1).tolist()}


@cache
def _calls(shape: str, n: int) -> dict[str, Callable[[], object]]:
    """The calls from Python that give accelerations and multipliers."""
    compiled = model(shape, n, True)[1]
    state, evaluator = compiled.state(), compiled.evaluator()
    y = state.y
    return {"accelerations": lambda: mbd.accelerations(compiled, state), "evaluator": lambda: evaluator(0.0, y)}


def _called(call: Callable[[], object], seconds: float, n: int) -> float:
    """CPU time of a call [us]."""
    call()
    count = max(4, int(seconds / (10e-6 + 0.7e-6 * n)))
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) / count * 1e6


def step(n: int, steps: int, h: float, method: str = "RK4") -> dict[str, Any]:
    """One sample [us] of a step; energy error relative to n m g L; joint gap [m]: the worst of 11 states;
    centres of mass at the end."""
    links, compiled = model("chain", n, False)
    start = time.process_time()
    result = mbd.simulate(compiled, steps * h, integrator=integrator(method, h, h), store_every=max(1, steps // 10))
    us = (time.process_time() - start) / steps * 1e6
    energy = [chain.energy(r[1:], v[1:], w[1:]) for r, v, w in zip(result.r, result.v, result.omega_bar, strict=True)]
    A = np.array([[_rotation(p) for p in row[1:]] for row in result.p])
    scale = n * chain.MASS * chain.GRAVITY * chain.LENGTH
    gap = max(chain.gap(links, r[1:], a) for r, a in zip(result.r, A, strict=True))
    return {
        "us": us,
        "energy": float(np.abs(np.array(energy) - energy[0]).max()) / scale,
        "gap": gap,
        "r": result.r[-1, 1:].tolist(),
    }


def _rotation(p: Any) -> Any:
    """A(p), written once more, apart from the library."""
    e0, e = p[0], p[1:]
    tilde = np.array([[0, -e[2], e[1]], [e[2], 0, -e[0]], [-e[1], e[0], 0]])
    return (e0 * e0 - e @ e) * np.eye(3) + 2 * (np.outer(e, e) + e0 * tilde)


def memory(n: int) -> dict[str, Any]:
    """Bytes a body: of the pack, and of one stored step."""
    compiled = model("chain", n, False)[1]
    pack = compiled.pack()
    result = mbd.simulate(compiled, 3e-3, h=1e-3)
    return {"pack": sum(a.nbytes for a in pack[:3]) / n, "stored": result.y.nbytes / len(result) / n}


def impact(n: int, seconds: float = 0.005) -> dict[str, Any]:
    """One sample [us] of factoring the augmented matrix, of one more question to the factor, and of a whole `mbd.impulse`."""
    compiled = model("chain", n, True)[1]
    tip = compiled.bodies[n]
    blow = mbd.PointImpulse("blow", tip, impulse=(1, 2, 3))
    arrays = (FactoredSystem(compiled, compiled.state()).pack, NO_CALLBACK)
    count = max(1, int(seconds / (0.3e-6 * n)))
    factorizations(*arrays, 1)
    solutions(*arrays, 1)
    return {
        "factorize": _us(lambda: factorizations(*arrays, count), count),
        "solve": _us(lambda: solutions(*arrays, 2 * count), 2 * count),
        "impulse": _us(lambda: [mbd.impulse(compiled, applied=blow) for _ in range(3)], 3),
    }


@entry
def factorizations(w: Any, python_solver: Any, n: int) -> int:
    """n of them in one compiled loop."""
    code = 0
    for _ in range(n):
        code = max(code, eliminated(w, False))
    return code


@entry
def solutions(w: Any, python_solver: Any, n: int) -> int:
    """n back-substitutions in one compiled loop."""
    code = 0
    for _ in range(n):
        copy(ws.right_hand_side(w), ws.solution(w))
        forward_blocks(w, ws.solution(w), False)
        backward_blocks(w, ws.solution(w), False)
    return code


def _us(what: Any, count: int) -> float:
    """CPU time [us] of one of `count` that a call does."""
    start = time.process_time()
    what()
    return (time.process_time() - start) / count * 1e6


if __name__ == "__main__":
    serve(rhs=rhs, formulation=formulations.answer, step=step, memory=memory, impact=impact)
