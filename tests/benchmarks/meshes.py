"""The section of `make bench` on nets and trusses: factorization and solution beside SciPy's SuperLU of the same matrix.

A state is one evaluation: the rows are there, and M u_dot + Phi_q^T lam = Q, Phi_q u_dot = gamma is factored and solved.  SuperLU gets the
matrix in its own format, and may take the better of two thresholds of its pivoting in symmetric mode.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spl

import haugmbd as mbd
from haugmbd.formulations.newton_euler import factorize_and_solve_entry
from haugmbd.model.evaluate import rows_entry
from haugmbd.workspace.layout import workspace_array
from joints import SJ, Distance
from tests.benchmarks import record
from tests.benchmarks.turns import best, in_turn, verdict

SCATTER = 0.1
"""[m]: how far bodies and points are from the grid of 1 m, so that rows are independent."""

CASES: tuple[tuple[str, tuple[tuple[int, ...], ...], float, float], ...] = (
    ("rods", ((20, 20), (30, 30), (50, 50), (100, 100)), 0.2, 1.35),
    ("rods", ((6, 6, 6), (8, 8, 8), (12, 12, 12), (20, 20, 20)), 0.2, 1.6),
    ("spherical joints", ((20, 20), (30, 30), (50, 50)), 0.35, 1.35),
)
"""Kind of joint, grids, bar of the ratio, bar of the exponent."""

SLOW_PEER = 1000
"""Bodies of a net of spherical joints, beyond which SuperLU is left out: it takes minutes."""

THRESHOLDS = (0.0, 0.1)
REPEATS, SECONDS = 5, 0.02


def mesh(shape: tuple[int, ...], kind: str, seed: int = 0) -> mbd.System:
    """Bodies on a grid, held at three corners, neighbours joined at generic points."""
    rng = np.random.default_rng(seed)
    system = mbd.System(f"{kind}, {' x '.join(map(str, shape))}", gravity=(0.0, 0.0, -9.81))
    numbers = np.arange(int(np.prod(shape))).reshape(shape)
    points = np.zeros((numbers.size, 3))
    points[:, : len(shape)] = np.stack(np.unravel_index(numbers.ravel(), shape), axis=1)
    points += SCATTER * rng.normal(size=points.shape)
    bodies = [system.add(mbd.Body(f"body {k}", 1.0 + rng.random(), 0.1 + 0.1 * rng.random(3), r=r)) for k, r in enumerate(points)]

    def join(name: str, i: mbd.Body, j: mbd.Body, start: Any, end: Any) -> None:
        off, other = SCATTER * rng.normal(size=(2, 3))
        if kind == "rods":
            system.add(Distance(name, i, j, point_i=start + off, point_j=end + other))
        else:
            system.add(SJ(name, i, j, point=0.5 * (start + end) + off))

    for k in {0, shape[-1] - 1, len(bodies) - 1}:
        join(f"corner {k}", system.ground, bodies[k], points[k] + (1.0, 0.0, 0.0), points[k])
    for axis in range(len(shape)):
        first = np.take(numbers, range(shape[axis] - 1), axis=axis).ravel()
        second = np.take(numbers, range(1, shape[axis]), axis=axis).ravel()
        for i, j in zip(first.tolist(), second.tolist(), strict=True):
            join(f"{axis} {i}", bodies[i], bodies[j], points[i], points[j])
    return system


@cache
def prepared(kind: str, shape: tuple[int, ...], solver: str | None = None) -> tuple[mbd.Model, Any, Any, Any]:
    """The model, a workspace with its rows, the matrix, and a right-hand side."""
    model = mesh(shape, kind).compile(solver=solver)
    pack = model.pack()
    rows_entry(pack, 0.0, model.state().y)
    rows, rng = mbd.evaluate(model), np.random.default_rng(1)
    blocks = [sp.block_diag([model.mass[k] * np.eye(3), model.J_bar[k]]) for k in range(1, model.nb + 1)]
    K = sp.bmat([[sp.block_diag(blocks), rows.Phi_q.T], [rows.Phi_q, None]], format="csc")
    b, n = workspace_array(pack, "RIGHT"), model.nb + 1
    b[1:n] = rng.normal(size=(model.nb, 6))
    b[n:].reshape(-1)[model.slot_of_row] = rng.normal(size=model.nc)
    return model, pack, K, np.concatenate([b[1:n].ravel(), model.lam_of(b)])


def ours(kind: str, shape: tuple[int, ...]) -> dict[str, Any]:
    """One sample [us], and the residual."""
    model, pack, K, b = prepared(kind, shape)
    us = _us(lambda: factorize_and_solve_entry(pack))[0]
    x = workspace_array(pack, "SOLUTION")
    return {"us": us, "residual": _residual(K, np.concatenate([x[1 : model.nb + 1].ravel(), model.lam_of(x)]), b)}


def superlu(kind: str, shape: tuple[int, ...], threshold: float) -> dict[str, Any]:
    """One sample [us], and the residual."""
    _, _, K, b = prepared(kind, shape)
    options = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": threshold, "options": {"SymmetricMode": True}}
    us, x = _us(lambda: spl.splu(K, **options).solve(b))
    return {"us": us, "residual": _residual(K, x, b)}


def _us(solve: Any) -> tuple[float, Any]:
    """CPU time of one of the evaluations that fit into SECONDS, one after the other, and the last result."""
    count, start = 0, time.process_time()
    while count == 0 or time.process_time() - start < SECONDS:
        found = solve()
        count += 1
    return 1e6 * (time.process_time() - start) / count, found


def _residual(K: Any, x: Any, b: Any) -> float:
    """|K x - b|, relative to the largest number in x."""
    return float(np.abs(K @ x - b).max() / np.abs(x).max())


def section() -> None:
    """Print the table."""
    print(
        "\nNets and trusses: factorization and solution of the augmented matrix [ms], haugmbd beside SciPy's SuperLU (symmetric mode,"
    )
    print(
        "minimum degree on A^T + A, the better of two pivot thresholds); residuals relative to the solution; growth with the bodies"
    )
    for kind, shapes, ratio_bar, exponent_bar in CASES:
        found = {shape: _line(kind, shape, ratio_bar) for shape in shapes}
        sizes = [float(np.prod(shape)) for shape in shapes]
        slope = np.polyfit(np.log(sizes), np.log(list(found.values())), 1)[0]
        print(f"{kind}, {len(shapes[0])}-D: growth exponent {slope:.2f}; {verdict(slope, exponent_bar)}", flush=True)


def _line(kind: str, shape: tuple[int, ...], bar: float) -> float:
    """Print one line; return our time."""
    asks = {"ours": lambda: ours(kind, shape)}
    if kind == "rods" or np.prod(shape) < SLOW_PEER:
        for threshold in THRESHOLDS:
            asks[f"SuperLU {threshold}"] = lambda threshold=threshold: superlu(kind, shape, threshold)
    answers = in_turn(asks, REPEATS)
    for name, found in answers.items():
        for answer in found:
            record.keep(name.split()[0], "mesh", {"kind": kind, "shape": list(shape), "solver": name}, answer)
    model, mine = prepared(kind, shape)[0], best(answers["ours"])
    text = f"{kind:>16} {' x '.join(map(str, shape)):>12} {model.nc:>6} rows {model.solver:>13} {mine / 1e3:>8.3f}"
    peers = [(best(x), x[0]["residual"]) for name, x in answers.items() if name != "ours"]
    if peers:
        theirs, residual = min(peers)
        text += f" {theirs / 1e3:>9.2f} ratio {mine / theirs:>6.3f}  residuals {answers['ours'][0]['residual']:.0e} {residual:.0e}"
        text += f"  {verdict(mine / theirs, bar)}"
    print(text, flush=True)
    return mine


if __name__ == "__main__":
    section()
