"""MuJoCo, as one of the tools: minimal coordinates, RK4, no contacts, steps in a C loop; for scale only."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

from tests.benchmarks import chain
from tests.benchmarks import mujoco_precision as runs
from tests.benchmarks.mujoco_precision import numbers
from tests.benchmarks.worker import serve


def model(links: chain.Links, h: float) -> Any:
    """The chain in MJCF."""
    text, moments, origin = "", numbers(chain.INERTIA), np.vstack([np.zeros(3), links.point])
    for k, i in enumerate(links.parent):
        text += f'<body pos="{numbers(links.point[k] - origin[i])}"><joint type="hinge" axis="{numbers(links.axis[k])}"/>'
        text += f'<inertial pos="{numbers(links.r[k] - links.point[k])}" mass="{chain.MASS}" diaginertia="{moments}"/>'
    flags = '<flag contact="disable" constraint="disable" energy="enable"/>'
    option = f'<option timestep="{h}" integrator="RK4" gravity="0 0 {-chain.GRAVITY}">{flags}</option>'
    head = f'<mujoco><compiler angle="radian"/>{option}'
    return mujoco.MjModel.from_xml_string(f"{head}<worldbody>{text}{'</body>' * len(links)}</worldbody></mujoco>")


def step(n: int, steps: int, h: float) -> dict[str, Any]:
    """One sample [us] of a step; energy error relative to n m g L between 11 states; centres of mass at the end."""
    built = model(chain.chain(n, moving=False), h)
    data = mujoco.MjData(built)
    mujoco.mj_forward(built, data)
    energy, cpu = [data.energy.sum()], 0.0
    for _ in range(10):
        start = time.process_time()
        mujoco.mj_step(built, data, nstep=steps // 10)
        cpu += time.process_time() - start
        mujoco.mj_forward(built, data)
        energy.append(data.energy.sum())
    scale = n * chain.MASS * chain.GRAVITY * chain.LENGTH
    return {
        "us": cpu / steps * 1e6,
        "energy": float(np.abs(np.array(energy) - energy[0]).max()) / scale,
        "gap": 0.0,
        "r": data.xipos[1:].tolist(),
    }


def rollout(n: int, members: int, steps: int, h: float) -> dict[str, Any]:
    """One sample [us] of a step of many short runs, from states near that of the chain."""
    built = model(chain.chain(n, moving=False), h)
    data = mujoco.MjData(built)
    starts = np.zeros((members, mujoco.mj_stateSize(built, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    starts[:, 1 : 1 + built.nq] = np.random.default_rng(0).uniform(-0.1, 0.1, (members, built.nq))
    call = partial(mujoco.rollout.rollout, built, data, starts, nstep=steps)
    call()
    begun = time.process_time()
    call()
    return {"us": (time.process_time() - begun) / (members * steps) * 1e6}


def pile(places: list[list[float]], edges: list[float], density: float, mu: float, h: float, steps: int) -> dict[str, Any]:
    """One sample [us] of a step of boxes at rest on a plane, with Newton's method and elliptic cones; how far one has moved [m]."""
    box = f'<freejoint/><geom type="box" size="{numbers(0.5 * np.array(edges))}" density="{density}"/>'
    bodies = "".join(f'<body pos="{numbers(x)}">{box}</body>' for x in places)
    option = f'<option timestep="{h}" cone="elliptic" solver="Newton"/><default><geom friction="{mu}" condim="3"/></default>'
    world = f'<worldbody><geom type="plane" size="50 50 .1"/>{bodies}</worldbody>'
    built = mujoco.MjModel.from_xml_string(f"<mujoco>{option}{world}</mujoco>")
    data = mujoco.MjData(built)
    mujoco.mj_step(built, data, nstep=200)
    first, start = data.xpos.copy(), time.process_time()
    mujoco.mj_step(built, data, nstep=steps)
    return {"us": (time.process_time() - start) / steps * 1e6, "moved": float(np.abs(data.xpos - first).max())}


if __name__ == "__main__":
    serve(pile=pile, rollout=rollout, step=step, frame=runs.frame, spin=runs.spin, close=runs.close)
