"""MuJoCo, as one of the tools whose work is compared with its precision: whole runs of RK4 in minimal coordinates.

What closes loops is soft: `connect` with a time constant of a step, the stiffest that was stable, and solved by one iteration of Newton's
method; twice that, its safe default, is worse at every step, and so are its other integrators and solvers.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import mujoco
import numpy as np

from tests.benchmarks import loops, top, windows


@cache
def framed(n: int, h: float, soft: float) -> Any:
    """The windows; soft: time constant of the loops [s]."""
    rods = windows.windows(n)
    inside: dict[int, str] = dict.fromkeys(range(len(rods.r) + 1), "")
    start, tree, closing = {0: np.zeros(2)}, [], ""
    for i, j, point in rods.joints:
        if j in start:
            a, b = (np.array(point) - start[i]).tolist()
            closing += f'<connect body1="b{i}" body2="b{j}" anchor="{a!r} 0 {b!r}" {law(soft)}/>'
        else:
            start[j] = np.array(point)
            tree.append((i, j))
    for i, j in reversed(tree):
        inside[i] += _body(j, start[j] - start[i], rods.r[j - 1] - start[j], rods.angle[j - 1], inside[j])
    return compiled(inside[0], closing, h, (0.0, 0.0, -windows.GRAVITY))


def compiled(bodies: str, closing: str, h: float, gravity: tuple[float, float, float]) -> Any:
    """A model of these bodies and equalities."""
    flag = '<flag contact="disable" refsafe="disable"/>'
    option = f'<option timestep="{h!r}" integrator="RK4" gravity="{numbers(gravity)}" tolerance="1e-12">{flag}</option>'
    text = f'<mujoco><compiler angle="radian"/>{option}<worldbody>{bodies}</worldbody><equality>{closing}</equality></mujoco>'
    return mujoco.MjModel.from_xml_string(text)


def numbers(x: Any) -> str:
    """Full precision."""
    return " ".join(repr(float(a)) for a in x)


def law(soft: float) -> str:
    """Of an equality; soft: its time constant [s]."""
    return f'solref="{soft!r} 1" solimp="0.9999 0.9999 0.001 0.5 2"'


def _body(number: int, place: Any, centre: Any, angle: float, inside: str) -> str:
    """A rod whose hinge stands at `place` in its parent's frame; all frames are parallel at the start."""
    along = abs(np.round(np.cos(angle)))
    moments = [windows.MOMENT * (1 - along) + 1e-9, windows.MOMENT, windows.MOMENT * along + 1e-9]
    J = " ".join(repr(float(x)) for x in moments)
    hinge = f'<joint name="h{number}" type="hinge" axis="0 -1 0"/>'
    inertial = f'<inertial pos="{float(centre[0])!r} 0 {float(centre[1])!r}" mass="{windows.MASS}" diaginertia="{J}"/>'
    return f'<body name="b{number}" pos="{float(place[0])!r} 0 {float(place[1])!r}">{hinge}{inertial}{inside}</body>'


def frame(n: int, setting: float) -> dict[str, Any]:
    """N windows over 10 s, with so many steps each 0.1 s."""
    rods, h = windows.windows(n), windows.SAMPLE / setting
    built = framed(n, h, h)
    data, parents = mujoco.MjData(built), {}
    for i, j, _ in rods.joints:
        parents.setdefault(j, i)
    for j, i in parents.items():
        data.joint(f"h{j}").qvel[0] = rods.rate[j - 1] - (rods.rate[i - 1] if i else 0.0)
    energy, seconds = [_energy(built, data)], 0.0
    for _ in range(round(windows.T_END / windows.SAMPLE)):
        start = time.process_time()
        mujoco.mj_step(built, data, nstep=round(setting))
        seconds += time.process_time() - start
        energy.append(_energy(built, data))
    return windows.judged(n, seconds, np.array(energy), 2.0 * data.body("b1").xipos[::2])


def _energy(built: Any, data: Any) -> float:
    """T + V [J] now."""
    mujoco.mj_forward(built, data)
    mujoco.mj_energyPos(built, data)
    mujoco.mj_energyVel(built, data)
    return float(data.energy.sum())


def spin(setting: float) -> dict[str, Any]:
    """The heavy top with so many steps; error of its place at the end [m]."""
    inertial = f'<inertial pos="{numbers(top.CENTRE)}" mass="{top.MASS}" diaginertia="{numbers(top.MOMENTS)}"/>'
    built = compiled(f'<body><joint type="ball"/>{inertial}</body>', "", top.T_END / setting, (0.0, 0.0, -top.GRAVITY))
    data = mujoco.MjData(built)
    data.qvel[:] = top.OMEGA
    start = time.process_time()
    mujoco.mj_step(built, data, nstep=int(setting))
    seconds = time.process_time() - start
    mujoco.mj_forward(built, data)
    return {"seconds": seconds, "error": float(np.linalg.norm(data.xipos[1] - top.END))}


def close(name: str, setting: float) -> dict[str, Any]:
    """A closed loop over 10 s, with so many steps each 0.1 s; the last hinge is two points of its axis, 1 m apart."""
    loop, h = loops.LOOPS[name](), loops.SAMPLE / setting
    inside = ""
    for k in reversed(range(len(loop.r))):
        J = loop.J[k]
        moments = numbers([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]])
        inertial = f'<inertial pos="{numbers(loop.r[k] - loop.points[k])}" mass="{loops.MASS}" fullinertia="{moments}"/>'
        place = loop.points[k] - (loop.points[k - 1] if k else 0.0)
        inside = f'<body name="b{k + 1}" pos="{numbers(place)}"><joint axis="{numbers(loop.axes[k])}"/>{inertial}{inside}</body>'
    last, axis = loop.points[-1] - loop.points[-2], loop.axes[-1] / np.linalg.norm(loop.axes[-1])
    ends = [numbers(last + side * axis / 2) for side in (-1.0, 1.0)]
    closing = "".join(f'<connect body1="b{len(loop.r)}" anchor="{end}" {law(h)}/>' for end in ends)
    built = compiled(inside, closing, h, loop.gravity)
    data, seconds, states = mujoco.MjData(built), 0.0, []
    for sample in range(round(loops.T_END / loops.SAMPLE) + 1):
        start = time.process_time()
        mujoco.mj_step(built, data, nstep=round(setting) if sample else 0)
        seconds += time.process_time() - start
        states.append(_state(built, data))
    r, v, omega_bar, A = (np.array(x) for x in zip(*states, strict=True))
    return loops.judged(name, seconds, r, v, omega_bar, A)


def _state(built: Any, data: Any) -> tuple[Any, ...]:
    """R, v, omega_bar, A of all bodies now, in axes that were global at the start."""
    mujoco.mj_forward(built, data)
    found, A = np.zeros((built.nbody - 1, 6)), data.xmat[1:].reshape(-1, 3, 3).copy()
    for body in range(1, built.nbody):
        J = np.zeros((2, 3, built.nv))
        mujoco.mj_jacBodyCom(built, data, J[0], J[1], body)
        found[body - 1] = (J @ data.qvel).ravel()
    return data.xipos[1:].copy(), found[:, :3], np.einsum("bji,bj->bi", A, found[:, 3:]), A
