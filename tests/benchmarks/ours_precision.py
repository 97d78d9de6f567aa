"""haugmbd, as one of the tools whose work is compared with its precision: whole runs by many methods, at a tolerance or a step."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd import inertia
from haugmbd.gallery import andrews, heavy_top, net
from haugmbd.gallery.planar_linkages import beta
from haugmbd.math.euler_parameters import rotation_matrix
from joints import RJ
from tests.benchmarks import cloth, loops, squeezer, top, windows
from tests.benchmarks.worker import serve

ADAPTIVE: dict[str, Callable[[float], Any]] = {
    "DOP853": lambda tol: mbd.DOP853(rtol=tol, atol=tol),
    "Dormand-Prince": lambda tol: mbd.DormandPrince(rtol=tol, atol=tol),
    "Radau IIA": lambda tol: mbd.RadauIIA(rtol=tol, atol=tol),
    "BDF": lambda tol: mbd.BDF(rtol=tol, atol=tol),
    "adaptive gen.-alpha": lambda tol: mbd.GeneralizedAlpha(rtol=tol, atol=tol),
}
FIXED: dict[str, Callable[[float], Any]] = {
    "RK4": mbd.RK4,
    "RKMK4": mbd.RKMK4,
    "HEM4": mbd.HEM4,
    "generalized-alpha": mbd.GeneralizedAlpha,
    "trapezoidal": mbd.Trapezoidal,
    "RATTLE": mbd.RATTLE,
}
"""Explicit ones with projection, which is the default."""


def integrator(method: str, setting: float, h: float) -> Any:
    """The method with its tolerance, or with the step h [s]."""
    return ADAPTIVE[method](setting) if method in ADAPTIVE else FIXED[method](h)


def timed(model: mbd.Model, t_end: float, method: Any, every: int = 1, **options: Any) -> tuple[float, mbd.Result]:
    """CPU time [s] of a run, and the run."""
    start = time.process_time()
    result = mbd.simulate(model, t_end, integrator=method, store_every=every, **options)
    return time.process_time() - start, result


@cache
def squeezing() -> mbd.Model:
    """Andrews' mechanism, compiled."""
    return andrews().compile()


def squeeze(method: str, setting: float) -> dict[str, Any]:
    """Andrews' mechanism to its end, by a tolerance or a number of steps; error of the crank angle [rad]."""
    seconds, result = timed(squeezing(), squeezer.T_END, integrator(method, setting, squeezer.T_END / setting))
    return {"seconds": seconds, "error": abs(float(beta(result)[-1]) - squeezer.END)}


@cache
def framed(n: int) -> mbd.Model:
    """N four-bar windows, compiled."""
    rods, system = windows.windows(n), mbd.System("windows", gravity=(0.0, 0.0, -windows.GRAVITY))
    bodies = [system.ground]
    for k, angle in enumerate(rods.angle):
        mass, J_bar = inertia.rod(windows.LENGTH, density=windows.MASS / windows.LENGTH, axis=(np.cos(angle), 0, np.sin(angle)))
        motion = {"v": _spatial(rods.v[k]), "omega_bar": (0.0, -rods.rate[k], 0.0)}  # from x to z is against a turn about y
        bodies.append(system.add(mbd.Body(f"rod {k}", mass, J_bar, r=_spatial(rods.r[k]), **motion)))
    for k, (i, j, point) in enumerate(rods.joints):
        system.add(RJ(f"hinge {k}", bodies[i], bodies[j], point=_spatial(point), axis=(0, 1, 0)))
    return system.compile()


def _spatial(x: Any) -> tuple[float, float, float]:
    """(x, z) in space."""
    return (float(x[0]), 0.0, float(x[1]))


def frame(n: int, method: str, setting: float) -> dict[str, Any]:
    """N windows over 10 s, by a tolerance or a number of steps each 0.1 s."""
    every = int(setting) if method in FIXED else 1
    try:
        seconds, result = timed(framed(n), windows.T_END, integrator(method, setting, windows.SAMPLE / setting), every)
    except mbd.SimulationError as error:
        return {"failed": str(error)}
    energy = windows.energies(result.r[:, 1:, ::2], result.v[:, 1:, ::2], result.omega_bar[:, 1:, 1])
    return windows.judged(n, seconds, energy, 2.0 * result.r[-1, 1, ::2])


@cache
def spinning() -> mbd.Model:
    """The heavy top, compiled."""
    return heavy_top().compile()


def spin(method: str, setting: float) -> dict[str, Any]:
    """The heavy top, by a tolerance or a number of steps; error of its place at the end [m]."""
    seconds, result = timed(spinning(), top.T_END, integrator(method, setting, top.T_END / setting), 1000)
    return {"seconds": seconds, "error": float(np.linalg.norm(result.r[-1, 1] - top.END))}


@cache
def looped(name: str) -> mbd.Model:
    """A closed loop, compiled."""
    loop = loops.LOOPS[name]()
    system = mbd.System(name, gravity=loop.gravity)
    bodies = [system.ground]
    for k, (r, J_bar) in enumerate(zip(loop.r, loop.J, strict=True)):
        bodies.append(system.add(mbd.Body(f"rod {k + 1}", loops.MASS, J_bar, r=r)))
    for k, (point, axis) in enumerate(zip(loop.points, loop.axes, strict=True)):
        system.add(RJ(f"hinge {k}", bodies[k], bodies[(k + 1) % len(bodies)], point=point, axis=axis))
    return system.compile()


FORMULATIONS: dict[str, Any] = {
    "minimum norm": {"redundancy": mbd.MinimumNorm()},
    "null space": {"formulation": mbd.NullSpace()},
    "Udwadia-Kalaba": {"formulation": mbd.UdwadiaKalaba()},
    "Udwadia-Phohomsiri": {"formulation": mbd.UdwadiaPhohomsiri()},
    "Euler parameters": {"formulation": mbd.EulerParameters()},
    "partitioning": {"formulation": mbd.CoordinatePartitioning()},
    "range space": {"formulation": mbd.RangeSpace()},
    "augmented Lagrangian": {"formulation": mbd.AugmentedLagrangian()},
    "penalty": {"formulation": mbd.Penalty(omega=20.0), "stabilization": None},
    "Baumgarte": {"stabilization": mbd.Baumgarte(5.0, 5.0)},
    "no stabilization": {"stabilization": None},
    "energy projection": {"stabilization": mbd.EnergyProjection()},
}
"""By RK4."""


def close(name: str, method: str, setting: float) -> dict[str, Any]:
    """A closed loop over 10 s, by a tolerance or a number of steps each 0.1 s."""
    rule = FORMULATIONS.get(method, {})
    method = "RK4" if method in FORMULATIONS else method
    every = int(setting) if method in FIXED else 1
    try:
        seconds, result = timed(looped(name), loops.T_END, integrator(method, setting, loops.SAMPLE / setting), every, **rule)
    except mbd.SimulationError as error:
        return {"failed": str(error)}
    r, v, omega_bar, p = (x[:, 1:] for x in (result.r, result.v, result.omega_bar, result.p))
    return loops.judged(name, seconds, r, v, omega_bar, rotation_matrix(p))


@cache
def hung() -> mbd.Model:
    """The cloth, compiled."""
    return net(cloth.N).compile()


def sway(method: str, setting: float) -> dict[str, Any]:
    """The cloth with so many steps, or a tolerance."""
    if method in ADAPTIVE:
        seconds, result = timed(hung(), cloth.T_END, ADAPTIVE[method](setting))
    else:
        every = max(1, int(setting) // cloth.SAMPLES)
        seconds, result = timed(hung(), cloth.T_END, FIXED[method](cloth.T_END / setting), every)
    r, v = result.r[:, 1:], result.v[:, 1:]
    return cloth.judged(seconds, r, v, cloth.longest_gap(r))


if __name__ == "__main__":
    serve(squeeze=squeeze, frame=frame, spin=spin, close=close, sway=sway)
