r"""linearize: small motions about an equilibrium or a steady motion, along the tangent space of the constraints.

    M x'' + C x' + K x = 0            u = B x',  Phi_q B = 0           x: as many coordinates as degrees of freedom
    M = B^T M B      C = -B^T d(Q - M bias)/du B      K = -B^T d(Q - M bias - Phi_q^T lam)/dq B
    (x, x')' = A (x, x')              eigenvalues s:  omega = |s|,  zeta = -Re s / |s|,  x(t) = Re( x e^(s t) )

x are displacements and turns of bodies, chosen so that all others follow from them with the smallest factors.  In a steady motion
(`Spin`, `RotorSpin`) they are seen from the frame that turns; C then holds the Coriolis and gyroscopic terms, and K the centrifugal.
Source: Haug sec. 11 for the equations; Neto and Ambrosio (2003), Lehner and Eberhard (2006) for linearized equations on the null space.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from haugmbd.algebra.euler import rotation_matrix
from haugmbd.algebra.vec3 import Array
from haugmbd.analysis.bench import Bench, bodies_in, door, make_bench, motions_of, state_of
from haugmbd.analysis.going_on import check_steady
from haugmbd.analysis.modes import find_modes
from haugmbd.analysis.poised import Equilibrium
from haugmbd.analysis.search import Place, place_at
from haugmbd.analysis.small_motion import Linearization, Mode
from haugmbd.analysis.steady import SteadyLike, read_steady
from haugmbd.analysis.stiffness import NOISE, damping, inertia, scale_of, stiffness
from haugmbd.analysis.twist_text import SHOWN_PART, Complex, largest, leading, words
from haugmbd.errors import ModelError, UsageError
from haugmbd.model.consistency import position_faults
from haugmbd.model.model import Model
from haugmbd.model.state import State
from haugmbd.model.system import System

EQUILIBRIUM_TOL = 1e-8
"""Force left over along the motions, relative to the forces at work: what `equilibrium` leaves is 1e-14, and a pose typed with nine
digits 1e-9.  K is off by about as much."""


REST_TOL = 1e-9
"""Speed, relative to 1 rad/s (L/s), or to the steady motion, that is none."""


NO_DAMPING = 1e-12
"""C [J s] relative to the forces at work [J] that is rounding of differences."""


AXES = "xyz"


SHOWN = 4
"""Bodies whose left-over forces are said."""


def linearize(system: System | Model | Equilibrium, state: State | None = None, *, steady: SteadyLike = None) -> Linearization:
    """Linearize the equations of motion about an equilibrium, or about a steady motion.

    system: with `state` (by default the modelled one), or what `equilibrium` returned
    steady: a `Spin` of everything and `RotorSpin` of rotors; the state is then at rest, or moves so
    Forces that depend on time are taken at state.t.  Raises UsageError where the state is no equilibrium, and says what is left over.
    """
    if isinstance(system, Equilibrium):
        if state is not None or steady is not None:
            raise UsageError("linearize got an Equilibrium, which has its own state and steady motion. Leave out state and steady.")
        return linearize(system.model, system.state, steady=system.steady)
    model, start = door(system, state)
    faults = position_faults(model, start)
    if faults:
        raise ModelError(faults)
    bench = make_bench(model, read_steady(model, steady), start.t)
    place = place_at(bench, start.y)
    _check_rest(bench, start, place)
    K = stiffness(bench, place.y, place.at)
    scale = scale_of(place.work, K)
    _check_balance(bench, place, scale)
    if bench.steady.moves:
        check_steady(bench, place, scale)
    return _linearized(bench, place, K, scale)


def _linearized(bench: Bench, place: Place, K: Array, scale: float) -> Linearization:
    """Everything, at a place in balance."""
    N = place.at.N
    M, C = inertia(bench, N), damping(bench, place.y, place.at)
    quiet = float(np.abs(C).max(initial=0.0)) <= NO_DAMPING * scale
    potential = float(np.abs(K - K.T).max(initial=0.0)) <= NOISE * scale
    found = find_modes(M, C, K, scale, conservative=quiet and potential)
    T, names = _coordinates(bench, N)
    state = state_of(bench, place.y)
    shapes = motions_of(bench, N @ found.shapes.real) + 1j * motions_of(bench, N @ found.shapes.imag)
    modes = tuple(
        _mode(bench, state, k, complex(s), shape)
        for k, (s, shape) in enumerate(zip(found.eigenvalues, shapes, strict=True), start=1)
    )
    M, C, K = (T.T @ X @ T for X in (M, np.zeros_like(C) if quiet else C, K))
    return Linearization(bench.model, state, bench.steady, M, C, K, names, motions_of(bench, N @ T), modes)


def _coordinates(bench: Bench, N: Array) -> tuple[Array, tuple[str, ...]]:
    """T with N T x the motion of the coordinates x: displacements and turns of bodies, as independent as can be; and what they are."""
    nd = N.shape[1]
    if nd == 0:
        return np.zeros((0, 0)), ()
    _, _, pivots = linalg.qr(N.T, pivoting=True, mode="economic")
    chosen = np.sort(pivots[:nd])
    T = np.linalg.inv(N[chosen]) / bench.scale[chosen]
    names = []
    for k in chosen.tolist():
        name, axis = bench.model.body_names[k // 6 + 1], AXES[k % 3]
        names.append(f"{name!r} moves along {axis} [m]" if k % 6 < 3 else f"{name!r} turns about its {axis} [rad]")
    return T, tuple(names)


def _mode(bench: Bench, state: State, number: int, eigenvalue: complex, shape: Complex) -> Mode:
    """A mode with its shape scaled, and said in words."""
    first = leading(shape, state.p, bench.length)
    shape = shape * (abs(first) / first)
    shape = shape / (largest(shape.real, bench.length) or 1.0)
    names, p = bench.model.body_names, state.p
    text = words(shape.real, p, names, bench.length, unit=1.0)
    if largest(shape.imag, bench.length) > SHOWN_PART * largest(shape.real, bench.length):
        text += f"; a quarter of a period later {words(-shape.imag, p, names, bench.length, unit=1.0)}"
    return Mode(number, eigenvalue, shape, text)


def _check_rest(bench: Bench, start: State, place: Place) -> None:
    """Raise UsageError where the state moves otherwise than the steady motion, or a driver moves."""
    model, wanted = bench.model, bodies_in(bench.model, state_of(bench, place.y).y)[:, 7:13]
    u = np.hstack([start.v, start.omega_bar])
    allowed = REST_TOL * (1.0 + float(np.abs(wanted).max()))
    if u.any() and np.abs(u - wanted).max() > allowed:
        text = words(u - wanted, start.p, model.body_names, bench.length, unit=1.0)
        motion = "otherwise than in the steady motion" if bench.steady.moves else "and is no equilibrium"
        raise UsageError(
            f"the state moves {motion} [m/s, rad/s]: {text}. Give the state at rest: state.replace(v=0 * state.v, "
            "omega_bar=0 * state.omega_bar), or the motion itself as steady=Spin(...) or RotorSpin(...)."
        )
    if not bench.steady.moves:
        _check_drivers(bench)


def _check_drivers(bench: Bench) -> None:
    """Raise UsageError where a driver moves, or is about to."""
    model = bench.model
    for row, driver in zip(model.labels, model.drivers_of_rows(), strict=True):
        _, f_dot, f_ddot = model.drivers[driver].values(bench.t)
        if max(abs(f_dot), abs(f_ddot)) > REST_TOL:
            raise UsageError(
                f"the driver of joint {row.joint!r} moves at t = {bench.t:g} s (f' = {f_dot:.6g}, f'' = {f_ddot:.6g}). Linearize where "
                "it rests, or give the motion that it drives as steady=Spin(...) or RotorSpin(...)."
            )


def _check_balance(bench: Bench, place: Place, scale: float) -> None:
    """Raise UsageError with what is left over, by body, unless the forces are in balance."""
    left = float(np.abs(place.g).max(initial=0.0))
    if left <= EQUILIBRIUM_TOL * scale:
        return
    model = bench.model
    wrench = ((place.sight.force - place.sight.J.T @ place.at.lam) / bench.scale).reshape(-1, 6)
    A = rotation_matrix(bodies_in(model, place.y)[1:, 3:7])
    torque = np.einsum("kab,kb->ka", A, wrench[:, 3:])
    size = np.maximum(bench.length * np.linalg.norm(wrench[:, :3], axis=1), np.linalg.norm(torque, axis=1))
    order = [k for k in np.argsort(-size, kind="stable") if size[k] > SHOWN_PART * size.max()][:SHOWN]
    small = 1e-9 * scale
    texts = [
        f"{model.body_names[k + 1]!r} force {_three(wrench[k, :3], small / bench.length)} N, torque {_three(torque[k], small)} N m"
        for k in order
    ]
    raise UsageError(
        f"the state at t = {bench.t:g} s is no equilibrium: {left / scale:.3g} of the forces at work is left over "
        f"(allowed {EQUILIBRIUM_TOL:.0e}): {'; '.join(texts)}. Linearize what mbd.equilibrium(system) finds."
    )


def _three(x: Array, small: float) -> str:
    """Three numbers, those below `small` as zero."""
    return "(" + ", ".join(f"{0.0 if abs(v) <= small else float(v):.4g}" for v in x) + ")"
