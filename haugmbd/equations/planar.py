r"""Planar mechanisms: which rows are left of a spatial model that moves in a plane.

    r = (x, z) and the distance from the plane, constant;  A = R(phi) A_0;  v = (x', z'),  omega = phi' n

A row that is zero for all positions in the plane falls away, and so does one that follows from others of its joint. The motion stays in
the plane if it starts there and the accelerations of the spatial model lie in it: both are checked, the second also for moving bodies.
Source: Haug (1989), Nikravesh (1988): planar kinematics.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import accelerations

NOTHING_TOL = 1e-12
"""A row that is smaller than this, relative to the size of the mechanism, at random positions in the plane is zero."""
RANK_TOL = 1e-9
"""A row whose part across the rows before it is smaller than this relative to it follows from them."""
LEAVES_TOL = 1e-8
"""An acceleration across the plane, relative to the largest of all or to 1, that is rounding."""
N_STATES = 3


class InPlane(NamedTuple):
    """The rows of the plane by number, and which fell away."""

    kept: tuple[int, ...]
    removed: tuple[str, ...]


def check_plane(eq: Any) -> None:
    """Raise UsageError if a body moves or is accelerated across the plane at the modelled state."""
    state = eq.model.state()
    for k, body in enumerate(eq.symbols.bodies[1:], start=1):
        made = eq.symbols.body(body)
        omega = body.A @ state.omega_bar[k]
        out = max(abs(float(made.n @ state.v[k])), float(np.abs(omega - made.n * (made.n @ omega)).max()))
        if out > LEAVES_TOL:
            raise UsageError(
                f"the model is not planar in {eq.planar!r}: body {body.name!r} starts with a velocity across the plane, {out:.3g}."
            )
    _check_accelerations(eq, state)


def _check_accelerations(eq: Any, state: Any) -> None:
    """Raise UsageError if an acceleration leaves the plane."""
    answer = accelerations(eq.model, state)
    size = max(1.0, float(np.abs(answer.v_dot).max()), float(np.abs(answer.omega_bar_dot).max()))
    for k, body in enumerate(eq.symbols.bodies[1:], start=1):
        made = eq.symbols.body(body)
        alpha = made.turned @ answer.omega_bar_dot[k]
        out = max(abs(float(made.n @ answer.v_dot[k])), float(np.abs(alpha - made.n * (made.n @ alpha)).max()))
        if out > LEAVES_TOL * size:
            raise UsageError(
                f"the model is not planar in {eq.planar!r}: body {body.name!r} is accelerated across the plane, by {out:.3g}. "
                "Ask mbd.equations(system) without planar=, or give another plane."
            )


def keep_rows(eq: Any) -> InPlane:
    """Return the rows of the plane. Raise UsageError for one that cannot hold there, or if nothing can move in the plane alone."""
    kept: list[int] = []
    removed: list[str] = []
    rng = np.random.default_rng(7)
    gradients: list[Any] = []
    for name in eq.joints:
        rows = eq.all_rows_of(name)
        rows_of_plane: list[Any] = []
        for row in rows:
            what = f"{name!r} row {row.number} {row.kind}"
            if not row.primitive.velocity_only and _is_nothing(eq, row, rng):
                removed.append(f"{what}: zero everywhere in the plane")
                continue
            gradient = _gradient(eq, row)
            left = gradient.copy()
            for other in rows_of_plane:
                left = left - (left @ other) * other
            if np.linalg.norm(left) <= RANK_TOL * max(1.0, float(np.linalg.norm(gradient))):
                removed.append(f"{what}: follows from the other rows of the joint in the plane")
                continue
            rows_of_plane.append(left / np.linalg.norm(left))
            gradients.append(gradient)
            kept.append(row.number)
    J = np.array(gradients).reshape(len(gradients), eq.n)
    free = eq.n - (np.linalg.matrix_rank(J, tol=1e-8) if len(J) else 0)
    _check_motion(eq, J, free)
    return InPlane(tuple(sorted(kept)), tuple(removed))


def _is_nothing(eq: Any, row: Any, rng: Any) -> bool:
    """Return whether Phi is zero at random positions in the plane, with whatever the functions of time are at the modelled state."""
    values = eq.symbols.values(eq.model.state())
    if eq.sp.expand(row.Phi) == 0:
        return True
    names = sorted(row.Phi.free_symbols | row.Phi.atoms(eq.sp.Function), key=str)
    names = [each for each in names if each in values]
    f = eq.sp.lambdify(names, row.Phi, modules="numpy")
    moving = {x for body in eq.symbols.bodies[1:] for x in eq.symbols.body(body).coordinates}
    for _ in range(N_STATES):
        at = [values[x] + (rng.normal() if x in moving else 0.0) for x in names]
        if abs(float(f(*at))) > NOTHING_TOL * max(1.0, max(map(abs, at), default=1.0)) ** 2:
            return False
    return True


def _gradient(eq: Any, row: Any) -> Any:
    """Return a row of the planar Jacobian at the modelled state, (n,)."""
    values = eq.symbols.values(eq.model.state())
    return np.array([float(eq.sp.sympify(x).xreplace({s: eq.sp.Float(v) for s, v in values.items()})) for x in eq.gradient_of(row)])


def _check_motion(eq: Any, J: Any, free: int) -> None:
    """Raise UsageError if the spatial model can move where the plane cannot, or is accelerated across the plane when it moves."""
    from haugmbd.model.inspection.constraint_rows import evaluate  # noqa: PLC0415

    state = eq.model.state()
    spatial = evaluate(eq.model, state).Phi_q.toarray()
    freedom = 6 * eq.model.nb - (np.linalg.matrix_rank(spatial, tol=1e-8) if len(spatial) else 0)
    if free == 0 and freedom > 0:
        what = f"nothing can move in {eq.planar!r}, and {freedom} degree{'s' * (freedom > 1)} of freedom leave it"
        raise UsageError(f"the model is not planar: {what}. Ask mbd.equations(system) without planar=.")
    if (
        free == 0
        or np.abs(state.v).max(initial=0.0) > 0.0
        or any(row.f is not None and not _constant(row.f) for name in eq.joints for row in _primitives(eq, name))
    ):
        return
    directions = np.linalg.svd(J)[2][-free:] if len(J) else np.eye(eq.n)
    u = eq.to_plane(state).T @ directions.sum(axis=0)
    both = u.reshape(-1, 6)
    v, w = np.zeros_like(state.v), np.zeros_like(state.omega_bar)
    v[1:], w[1:] = both[:, :3], both[:, 3:]
    _check_accelerations(eq, state.replace(v=v, omega_bar=w))


def _primitives(eq: Any, name: str) -> Any:
    return [row.primitive for row in eq.all_rows_of(name)]


def _constant(f: Any) -> bool:
    """Return whether a driver is constant around t = 0."""
    return not np.any(f.values(0.0)[1:])
