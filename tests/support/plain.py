"""What runs without the compiler, in one process with NUMBA_DISABLE_JIT=1, and in this one to be compared: numbers by name.

python -m tests.support.plain FILE.npz
"""

from __future__ import annotations

import sys

import numpy as np

import haugmbd as mbd
from haugmbd import RSDA, TSDA, Body, PointForce, System, Torque, evaluate
from haugmbd.gallery import double_pendulum, heavy_top
from haugmbd.model.evaluate import rows_entry
from haugmbd.simulation.compatibility import STABILIZATIONS, incompatibility, integrators
from haugmbd.workspace.layout import workspace_array
from joints import RJ
from tests.support.samples import SEED, everything, random_state

N_STATES = 5


def levels():
    """{name: (N_STATES, nc, ...)} of everything that the row kernels write for all samples at a few states."""
    model, _ = everything()
    rng = np.random.default_rng(SEED)
    rows = [evaluate(model, random_state(model, rng, t=0.3 * k)) for k in range(N_STATES)]
    return {name: np.array([getattr(r, name) for r in rows]) for name in ("Phi", "nu", "gamma", "Phi_r", "PiBar")}


def range_space_run():
    """The last state of a run with a formulation in Python."""
    return mbd.simulate(double_pendulum(), 4e-3, h=1e-3, formulation=mbd.RangeSpace()).y[-1]


def user_forces():
    """Generalized forces of the user's functions of every kind."""
    system = System("rig")
    a = system.add(Body("a", 2.0, (0.4, 0.5, 0.6), r=(0.2, -0.1, 0.3), p=(0.8, 0.2, -0.4, 0.4)))
    b = system.add(Body("b", 3.0, (0.7, 0.8, 0.9), r=(0.9, 0.5, -0.2)))
    hinge = system.add(RJ("hinge", a, b, point=(0.4, 0.1, 0.3), axis=(1.0, 2.0, 2.0)))
    system.add(PointForce("push", a, point=(1, 0, 0), force=lambda t, r, p, v, w: (r[0], t, v[2]), frame="body"))
    system.add(Torque("turn", b, torque=lambda t: (1.0, np.sin(t), 0.0)))
    ends = {"point_i": (0, 0, 0), "point_j": (1, 1, 0)}
    system.add(TSDA("spring", a, b, **ends, k=3.0, c=0.2, l0=1.0, actuator=lambda t, l, l_dot: l * l))
    system.add(RSDA("torsion", hinge, k=2.0, c=0.1, theta0=1.0))
    model = system.compile()
    y = model.y0.copy()
    y[13 + 7 : 26] = 0.1, 0.2, 0.3, 0.4, 0.5, 0.6
    y[-1] = 13.0
    pack = model.pack()
    assert rows_entry(pack, 0.3, y) == 0
    return workspace_array(pack, "Q").copy()


def explicit_runs():
    """The last states of a few steps of each explicit method, with each stabilization that goes with it."""
    model, ends = heavy_top().compile(), []
    for method in integrators().values():
        if method.solves_constraints:
            continue
        for rule in STABILIZATIONS.values():
            if not incompatibility(mbd.NewtonEuler(), method, rule):
                numbers = {"h": 1e-3} if method.step is None and hasattr(method, "h") else {"rtol": 1e-4, "atol": 1e-4}
                ends.append(mbd.simulate(model, 2e-3, integrator=method, stabilization=rule, **numbers).y[-1])
    return np.array(ends)


if __name__ == "__main__":
    runs = {"range space": range_space_run(), "user forces": user_forces(), "explicit": explicit_runs()}
    np.savez(sys.argv[1], **levels(), **runs)
