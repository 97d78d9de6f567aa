r"""Derivatives of equilibria and eigenvalues by parameters.

At an equilibrium F = Q - Phi_q^T lam = 0 and Phi = 0.  With x a small displacement (dr, dpi_bar) of all bodies:

    [ K  Phi_q^T ] (dq  )     ( F_p  )                       K = -dF/dq at fixed lam
    [ Phi_q   0  ] (dlam)  =  (-Phi_p)                       a parameter moves the pose, and the multipliers

Small motions: (s^2 M + s C + K) x + Phi_q^T mu = 0, Phi_q x = 0, with the left vectors (l, nu) of the same pencil:

    ds/dp = -( l^T (s^2 M' + s C' + K') x + l^T Phi_q'^T mu + nu^T Phi_q' x ) / ( l^T (2 s M + C) x )

A prime is the derivative along (dq, dlam, dp): the mixed derivative of the residual along the mode and along the parameter, two numbers a
mode and parameter, whatever the size of the matrices.
Source: Nelson (1976), Murthy and Haftka (1988), derivatives of eigenvalues of general matrices.
"""

from __future__ import annotations

from math import cos, sin, sqrt
from typing import Any

import numpy as np
import scipy.linalg
from scipy.spatial.transform import Rotation

from haugmbd.analysis.equilibrium.equilibrium import equilibrium
from haugmbd.analysis.equilibrium.small_motions.linearize import linearize
from haugmbd.compiled.array_types import Array, Ints
from haugmbd.compiled.status_codes import OK
from haugmbd.errors import UsageError
from haugmbd.formulations.accelerations import accelerations
from haugmbd.math.body_columns import VELOCITY, WIDTH
from haugmbd.model.evaluate import evaluate_rows
from haugmbd.model.state import State
from haugmbd.sensitivity.direct import Tangents, at_fixed_times
from haugmbd.sensitivity.parameters import failure
from haugmbd.sensitivity.variations import Design
from haugmbd.simulation.results.named_outputs import Output
from haugmbd.workspace.layout import workspace_array

STEP = 2e-3
"""Of differences of fourth order, relative to the size of the mechanism and the parameter: truncation and rounding are about 1e-12."""
FOURTH = ((1.0, 2.0 / 3.0), (-1.0, -2.0 / 3.0), (2.0, -1.0 / 12.0), (-2.0, 1.0 / 12.0))
"""Points and weights of differences of fourth order."""
REPEATED = 1e-5
"""Distance of two eigenvalues, relative to the larger one, below which they are repeated."""
OSCILLATES = 1e-9
"""Imaginary part, relative to the eigenvalue, above which a mode oscillates."""
SINGULAR = 1e-10
"""Singular value of the matrix of an equilibrium, relative to the largest, below which the pose is not determined."""


class Balance:
    """The residuals of a model at a state of rest, with the multipliers that balance it: along motions, and along parameters."""

    def __init__(self, design: Design, state: State, lam: Array) -> None:
        model = design.model
        if design.calls_python:
            raise UsageError(
                "sensitivity of equilibria and eigenvalues with functions of Python or blocks is not there yet: a parameter inside of them "
                "is in no table. Put the numbers into TSDA, RSDA, JointSpring or another element of the library."
            )
        if model.n_states:
            raise UsageError("sensitivity of equilibria and eigenvalues with internal states of forces or blocks is not there yet.")
        if len(model.velocity_rows):
            raise UsageError("sensitivity of equilibria and eigenvalues of mechanisms that roll is not there yet.")
        self.design, self.model, self.t, self.y = design, model, state.t, np.array(state.y)
        pack = model.pack()
        self._pack = pack._replace(reals=pack.reals.copy())
        self._reals, self._F = self._pack.reals.copy(), design.lanes.F0
        self.rows: Ints = np.setdiff1d(np.arange(model.nc), np.array(model.redundancy.dropped, dtype=np.int64))
        self.slots = model.slot_of_row[self.rows]
        self.lam = np.array(lam)[self.rows]
        self.n = 6 * model.nb
        edges = model.tables["EDGES"][self.slots // 6]
        self._lines = np.arange(len(self.slots))[:, None]
        self._columns = [6 * edges[:, side][:, None] + np.arange(6) for side in range(edges.shape[1])]
        self.J, self.M = self.rows_at(np.zeros(self.n))[1], self.mass()
        self.unit = np.tile([model.length] * 3 + [1.0] * 3, model.nb)

    def moved(self, x: Array, u: Array | None) -> Array:
        """Return the state displaced by x = (dr, theta_bar) of each body, with the velocities u added."""
        y = self.y.copy()
        for b in range(self.model.nb):
            at, own = WIDTH * (b + 1), x[6 * b : 6 * b + 6]
            y[at : at + 3] += own[:3]
            y[at + 3 : at + 7] = _turned(y[at + 3 : at + 7], own[3:])
            if u is not None:
                y[at + VELOCITY : at + WIDTH] += u[6 * b : 6 * b + 6]
        return y

    def rows_at(self, x: Array, u: Array | None = None, lane: int = -1, d: float = 0.0) -> tuple[Array, Array, Array]:
        """Return Q (6 nb,), Phi_q (rows, 6 nb) and Phi (rows,) at a displacement, with the parameter `lane` moved by d."""
        model, pack, lanes = self.model, self._pack, self.design.lanes
        F = workspace_array(pack, "F")
        pack.reals[:], F[:] = self._reals, self._F
        if lane >= 0:
            of_lane = slice(lanes.first[lane], lanes.first[lane + 1])
            pack.reals[lanes.place[of_lane]] += d * lanes.slope[of_lane]
            of_lane = slice(lanes.driver_first[lane], lanes.driver_first[lane + 1])
            F.ravel()[lanes.driver_place[of_lane]] += d * lanes.driver_slope[of_lane]
        code = evaluate_rows(pack, self.t, self.moved(x, u))
        if code != OK:
            raise failure(model, pack, code, self.t)
        rows, J = workspace_array(pack, "J")[self.slots], np.zeros((len(self.slots), 6 * (model.nb + 1)))
        for side, columns in enumerate(self._columns):
            J[self._lines, columns] = rows[:, 6 * side : 6 * side + 6]
        return workspace_array(pack, "Q")[1:].ravel(), J[:, 6:], workspace_array(pack, "LEVEL")[self.slots, 0]

    def mass(self) -> Array:
        """Return M (6 nb, 6 nb) of the numbers of the last evaluation."""
        start, rows, columns = self.model.tables.place("INERTIA")
        inertia = self._pack.reals[start : start + rows * columns].reshape(rows, columns)[1:]
        M: Array = scipy.linalg.block_diag(*(x for b in inertia for x in (b[0] * np.eye(3), b[1:].reshape(3, 3))))
        return M

    def force(self, x: Array, u: Array | None = None, dlam: Array | float = 0.0, lane: int = -1, d: float = 0.0) -> Array:
        """Return F = Q - Phi_q^T lam (6 nb,)."""
        Q, J, _ = self.rows_at(x, u, lane, d)
        return Q - (self.lam + dlam) @ J

    def along_motions(self) -> tuple[Array, Array]:
        """Return K = -dF/dq and C = -dF/du, (6 nb, 6 nb) each."""
        K, C = np.zeros((self.n, self.n)), np.zeros((self.n, self.n))
        for k in range(self.n):
            e = np.zeros(self.n)
            e[k] = STEP * self.unit[k]
            for point, weight in FOURTH:
                K[:, k] -= weight * self.force(point * e) / e[k]
                C[:, k] -= weight * self.force(0.0 * e, point * e) / e[k]
        return K, C

    def along_parameters(self) -> tuple[Array, Array]:
        """Return dF/dp (n, 6 nb) and dPhi/dp (n, rows)."""
        sizes, zero = self.design.p.sizes, np.zeros(self.n)
        F, Phi = np.zeros((len(sizes), self.n)), np.zeros((len(sizes), len(self.rows)))
        for lane, size in enumerate(sizes):
            for point, weight in FOURTH:
                Q, J, values = self.rows_at(zero, lane=lane, d=point * STEP * size)
                F[lane] += weight * (Q - self.lam @ J) / (STEP * size)
                Phi[lane] += weight * values / (STEP * size)
        return F, Phi

    def tangents(self, K: Array) -> tuple[Array, Array]:
        """Return the derivatives of pose (n, 6 nb) and multipliers (n, rows). Raise UsageError if the pose is not determined."""
        matrix = np.block([[K, self.J.T], [self.J, np.zeros((len(self.J),) * 2)]])
        scale = np.concatenate([self.unit, np.full(len(self.J), 1.0)])
        scaled = scale[:, None] * matrix * scale
        values = np.linalg.svd(scaled, compute_uv=False)
        if values[-1] < SINGULAR * values[0]:
            raise UsageError(
                "the equilibrium has no derivative: a motion of it has no stiffness, or its pose is singular. Give the motion a spring, "
                "or hold it by a joint."
            )
        F, Phi = self.along_parameters()
        x = np.linalg.solve(matrix, np.hstack([F, -Phi]).T).T
        return x[:, : self.n], x[:, self.n :]

    def state_tangents(self, dq: Array) -> Array:
        """Return displacements (n, 6 nb) as derivatives of flat states, (n, ny)."""
        dY = np.zeros((len(dq), len(self.y)))
        for line, x in zip(dY, dq, strict=True):
            for b in range(self.model.nb):
                at = WIDTH * (b + 1)
                e0, e1, e2, e3 = self.y[at + 3 : at + 7]
                line[at : at + 3] = x[6 * b : 6 * b + 3]
                half_G = 0.5 * np.array([[-e1, -e2, -e3], [e0, -e3, e2], [e3, e0, -e1], [-e2, e1, e0]])
                line[at + 3 : at + 7] = half_G @ x[6 * b + 3 : 6 * b + 6]
        return dY


def balanced(design: Design, arguments: dict[str, Any]) -> Tangents:
    """Return the equilibrium and its tangents."""
    if arguments.get("steady") is not None or arguments.get("state") is not None:
        raise UsageError("sensitivity of an equilibrium is of rest, from the modelled state: leave out steady and state.")
    found = equilibrium(design.model, **arguments)
    design.ran()
    balance = Balance(design, found.state, found.lam)
    dq, _ = balance.tangents(balance.along_motions()[0])
    return at_fixed_times(np.array([found.state.t]), balance.y[None], balance.state_tangents(dq)[None])


def eigenvalues(design: Design, arguments: dict[str, Any]) -> tuple[Array, Array]:
    """Return values (m,) and Jacobian (m, n) of eigenvalues of small motions.

    They are about the modelled state, or with settle=True about the equilibrium, which moves with the parameters.
    """
    arguments = dict(arguments)
    settle = arguments.pop("settle", False)
    if arguments.get("steady") is not None or arguments.get("state") is not None:
        raise UsageError("sensitivity of eigenvalues is about rest: leave out steady and state, and build the state.")
    wrong = [o.text for o in design.outputs if o.kind != "eigenvalue"]
    if wrong:
        raise UsageError(f"run='linearize' has the outputs eigenvalue[k].real and .imag, not {wrong[0]!r}.")
    state = equilibrium(design.model).state if settle else design.model.state()
    linearization = linearize(design.model, state, **arguments)
    design.ran()
    lam = accelerations(design.model, linearization.state).lam
    balance = Balance(design, linearization.state, lam)
    K, C = balance.along_motions()
    dq, dlam = _tangents_of_rest(design, balance, K, settle=settle)
    values, spectrum = ordered(linearization.eigenvalues), _spectrum(balance, K, C)
    out, jacobian = np.zeros(len(design.outputs)), np.zeros((len(design.outputs), len(design.p)))
    derivatives: dict[int, Array] = {}
    for row, output in enumerate(design.outputs):
        k = output.component[0]
        if k >= len(values):
            raise UsageError(f"output {output.text!r}: there are {len(values)} eigenvalues, numbered from 0.")
        if k not in derivatives:
            derivatives[k] = _derivatives(balance, spectrum, values[k], output, (dq, dlam, K, C))
        out[row], jacobian[row] = getattr(values[k], output.what), getattr(derivatives[k], output.what)
    return out, jacobian


def ordered(found: Any) -> Any:
    """Return eigenvalues in the order of their names: those that oscillate by frequency, then the real ones."""
    s = np.asarray(found)
    turns = np.abs(s.imag) > OSCILLATES * np.abs(s)
    return np.concatenate([sorted(s[turns], key=lambda x: (abs(x.imag), x.real)), sorted(s[~turns], key=lambda x: x.real)])


def _tangents_of_rest(design: Design, balance: Balance, K: Array, *, settle: bool) -> tuple[Array, Array]:
    """Return the derivatives of the pose and the multipliers of a state of rest."""
    if settle:
        return balance.tangents(K)
    model, p = design.model, balance.y
    dq = np.zeros((len(design.p), balance.n))
    for line, dy in zip(dq, design.start, strict=True):
        for b in range(model.nb):
            at = WIDTH * (b + 1)
            e0, e1, e2, e3 = p[at + 3 : at + 7]
            line[6 * b : 6 * b + 3] = dy[at : at + 3]
            G = np.array([[-e1, e0, e3, -e2], [-e2, -e3, e0, e1], [-e3, e2, -e1, e0]])
            line[6 * b + 3 : 6 * b + 6] = 2.0 * G @ dy[at + 3 : at + 7]
    F, Phi = balance.along_parameters()
    left = F - dq @ K.T  # of the force, which the multipliers must balance
    dlam: Array = np.asarray(np.linalg.lstsq(balance.J.T, left.T, rcond=None)[0].T, dtype=np.float64)
    unbalanced = np.abs(left - dlam @ balance.J).max(initial=0.0)
    if unbalanced > 1e-6 * (1.0 + np.abs(left).max(initial=0.0)):
        raise UsageError(
            "the modelled state is an equilibrium for these values only: a parameter puts it out of balance. Give settle=True, so that "
            "the equilibrium moves with the parameters."
        )
    return dq, dlam


def _spectrum(balance: Balance, K: Array, C: Array) -> tuple[Any, Any, Any]:
    """Return eigenvalues, and right and left vectors on the tangent space of the constraints, as displacements."""
    N = scipy.linalg.null_space(balance.J * balance.unit) * balance.unit[:, None] if len(balance.J) else np.diag(balance.unit)
    m, c, k = (N.T @ X @ N for X in (balance.M, C, K))
    zero, one = np.zeros_like(m), np.eye(len(m))
    A, B = np.block([[zero, one], [-k, -c]]), np.block([[one, zero], [zero, m]])
    values, left, right = scipy.linalg.eig(A, B, left=True, right=True)
    half = len(m)
    return values, N @ right[:half], (N @ left[half:]).conj()


def _derivatives(balance: Balance, spectrum: Any, value: complex, output: Output, along: Any) -> Any:
    """Return ds/dp (n,) of one eigenvalue. Raise UsageError if it is repeated."""
    values, right, left = spectrum
    dq, dlam, K, C = along
    near = np.abs(values - value)
    k = int(near.argmin())
    alike = np.flatnonzero(near < REPEATED * max(abs(value), 1e-12))
    if len(alike) > 1:
        raise UsageError(
            f"output {output.text!r}: the eigenvalue {value:.6g} is repeated. A repeated eigenvalue has no derivative of its own: those of "
            f"its subspace of {len(alike)} part by {_parting(balance, spectrum, alike, along)}. Move a parameter so that the frequencies "
            "part, or take a symmetric function of them."
        )
    s, x, left_x = values[k], right[:, k], left[:, k]
    pencil = s**2 * balance.M + s * C + K
    mu = np.linalg.lstsq(balance.J.T.astype(complex), -(pencil @ x), rcond=None)[0]
    nu = np.linalg.lstsq(balance.J.T.astype(complex), -(pencil.T @ left_x), rcond=None)[0]
    by = left_x @ ((2.0 * s * balance.M + C) @ x)
    sizes = balance.design.p.sizes
    return -np.array([_change(balance, k, sizes[k], (dq[k], dlam[k]), (s, x, left_x, mu, nu)) for k in range(len(sizes))]) / by


def _parting(balance: Balance, spectrum: Any, alike: Ints, along: Any) -> str:
    """Return how repeated eigenvalues part by each parameter: the eigenvalues of the change of the pencil in their subspace."""
    values, right, left = spectrum
    dq, dlam, K, C = along
    s, X, Y = values[alike].mean(), right[:, alike], left[:, alike]
    pencil, J = s**2 * balance.M + s * C + K, balance.J.T.astype(complex)
    mu, nu = (np.linalg.lstsq(J, -(P @ V), rcond=None)[0] for P, V in ((pencil, X), (pencil.T, Y)))
    weights, texts = Y.T @ ((2.0 * s * balance.M + C) @ X), []
    for lane, (name, size) in enumerate(zip(balance.design.p, balance.design.p.sizes, strict=True)):
        change = [
            [
                _change(balance, lane, size, (dq[lane], dlam[lane]), (s, X[:, b], Y[:, a], mu[:, b], nu[:, a]))
                for b in range(len(alike))
            ]
            for a in range(len(alike))
        ]
        slopes = np.linalg.eigvals(-np.linalg.solve(weights, np.array(change)))
        texts.append(f"{name!r}: " + ", ".join(f"{x:.4g}" for x in slopes))
    return "; ".join(texts)


def _change(balance: Balance, lane: int, size: float, along: tuple[Array, Array], mode: Any) -> complex:
    """Return l^T (s^2 M' + s C' + K') x + l^T Phi_q'^T mu + nu^T Phi_q' x along a parameter."""
    dq, dlam = along
    s, x, left, mu, nu = mode
    d = STEP / max(1.0 / size, np.abs(dq / balance.unit).max(initial=0.0))
    e = STEP / (np.abs(x / balance.unit).max() * max(1.0, abs(s)))
    total = 0.0 + 0.0j
    for point, weight in FOURTH:
        to = point * d
        q, lam = to * dq, to * dlam
        J = balance.rows_at(q, lane=lane, d=to)[1]
        change = s**2 * (left @ (balance.mass() @ x)) + left @ (J.T @ mu) + nu @ (J @ x)
        for displacement, velocity, unit in ((x.real, (s * x).real, 1.0), (x.imag, (s * x).imag, 1j)):
            if not (displacement.any() or velocity.any()):
                continue
            for small, of in FOURTH:
                h = small * e
                F = balance.force(_along(balance, q, h * displacement), h * velocity, lam, lane, to)
                change -= unit * of / e * (left @ F)
        total += weight * change / d
    return total


def _along(balance: Balance, q: Array, x: Array) -> Array:
    """Return the displacement that leads to the pose q, then on by x in the bodies' frames there."""
    moved = q + x
    for b in range(balance.model.nb):
        turn = slice(6 * b + 3, 6 * b + 6)
        if x[turn].any() and q[turn].any():
            moved[turn] = (Rotation.from_rotvec(q[turn]) * Rotation.from_rotvec(x[turn])).as_rotvec()
    return moved


def _turned(p: Array, theta_bar: Array) -> Array:
    """Return p exp(theta_bar)."""
    e0, e1, e2, e3 = p.tolist()
    a, b, c = theta_bar.tolist()
    half = 0.5 * sqrt(a * a + b * b + c * c)
    ratio = 0.5 * (sin(half) / half if half > 0.0 else 1.0)
    x, y, z, w = ratio * a, ratio * b, ratio * c, cos(half)
    return np.array(
        [
            w * e0 - e1 * x - e2 * y - e3 * z,
            w * e1 + e0 * x - e3 * y + e2 * z,
            w * e2 + e3 * x + e0 * y - e1 * z,
            w * e3 - e2 * x + e1 * y + e0 * z,
        ]
    )
