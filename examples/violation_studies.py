"""What the violation of a pendulum follows: the law of its drift, Baumgarte's gains, orders of methods, and the violation by joint.

python examples/violation_studies.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.gallery import double_pendulum
from joints import Distance

H = 1e-2


def point_pendulum() -> mbd.System:
    """Return a point of 1 kg on a distance of 1 m, released from horizontal: Phi = |r|^2 - 1."""
    system = mbd.System("point pendulum", gravity=(0.0, -9.81, 0.0))
    mass = system.add(mbd.Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(1.0, 0.0, 0.0)))
    system.add(Distance("bar", system.ground, mass, point_i=(0.0, 0.0, 0.0), point_j=(1.0, 0.0, 0.0)))
    return system


def main(folder: Path) -> dict[str, Any]:
    model = point_pendulum().compile()
    drifting = mbd.drift_law(mbd.simulate(model, 40.0, integrator=mbd.Heun(H), stabilization=None))
    print(drifting)
    gains = np.linspace(20.0, 320.0, 16)
    stable = mbd.gain_map(model, alpha=gains, beta=gains, h=H, t_end=2.0)
    print(stable)
    methods = [
        mbd.Method(integrator=mbd.RK4(), label="RK4, projection"),
        mbd.Method(integrator=mbd.RK4(), stabilization=None, label="RK4"),
        mbd.Method(integrator=mbd.Heun(), label="Heun, projection"),
        mbd.Method(integrator=mbd.RATTLE(), label="RATTLE"),
    ]
    orders = mbd.convergence(model, methods, 0.8, h=[0.04, 0.02, 0.01, 0.005], groups=["positions", "multipliers"])
    print(orders)
    joints = mbd.violation_by_joint(mbd.simulate(double_pendulum(), 2.0, h=5e-3, stabilization=None))

    figure, axes = pyplot.subplots(2, 2, figsize=(12.0, 7.0), layout="constrained")
    drifting.plot(axes[0, 0])
    stable.plot(ax=axes[0, 1])
    orders.plot("multipliers", ax=axes[1, 0])
    joints.plot(axes[1, 1])
    figure.savefig(folder / "violation_studies.png", dpi=68)
    return {"drift": drifting, "gains": stable, "orders": orders, "joints": joints}


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
