"""Pinocchio, as one of the tools: articulated-body algorithm in minimal coordinates, no multipliers, C++.

A batch of states goes through `abaInParallel` with one thread: a loop in C++, so that no call from Python is in the time.
It takes the convention WORLD, which is the faster one; `pin.aba` called from Python takes LOCAL where nothing is said.
"""

from __future__ import annotations

import time
from functools import cache
from typing import Any

import numpy as np
import pinocchio as pin

from tests.benchmarks import chain, squeezer
from tests.benchmarks.worker import serve


@cache
def model(shape: str, n: int) -> tuple[chain.Links, Any, Any]:
    """The links, the model, a pool of one."""
    links = getattr(chain, shape)(n, moving=True)
    built, inertia = pin.Model(), np.diag(chain.INERTIA)
    built.gravity.linear = np.array([0.0, 0.0, -chain.GRAVITY])
    origin = np.vstack([np.zeros(3), links.point])
    for k, i in enumerate(links.parent):
        place = pin.SE3(np.eye(3), links.point[k] - origin[i])
        joint = built.addJoint(int(i), pin.JointModelRevoluteUnaligned(links.axis[k]), place, f"j{k}")
        body = pin.Inertia(chain.MASS, links.r[k] - links.point[k], inertia)
        built.appendBodyToJoint(joint, body, pin.SE3.Identity())
    return links, built, pin.ModelPool(built, 1)


def rhs(shape: str, n: int, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of ABA in a C++ loop and called from Python, and the joint accelerations at the modelled pose."""
    links, built, pool = model(shape, n)
    count = max(8, int(seconds / (0.4e-6 * n)))
    q, v, tau, a = (np.zeros((built.nv, count), order="F") for _ in range(4))
    v[:] = links.rate[:, None]
    pin.abaInParallel(1, pool, q[:, :8], v[:, :8], tau[:, :8], a[:, :8])
    start = time.process_time()
    pin.abaInParallel(1, pool, q, v, tau, a)
    us = (time.process_time() - start) / count * 1e6
    data, q0, v0, tau0 = built.createData(), q[:, 0].copy(), v[:, 0].copy(), tau[:, 0].copy()
    pin.aba(built, data, q0, v0, tau0)
    start = time.process_time()
    for _ in range(count):
        pin.aba(built, data, q0, v0, tau0)
    called = (time.process_time() - start) / count * 1e6
    return {"us": us, "called": called, "acceleration": a[:, 0].tolist()}


def recursion(algorithm: str, n: int, seconds: float = 0.01) -> dict[str, Any]:
    """One sample [us] of aba, rnea or crba called from Python, and its answer (at most the last hundred numbers)."""
    links, built, _ = model("chain", n)
    data, q, v, zero = built.createData(), np.zeros(built.nv), links.rate.copy(), np.zeros(built.nv)
    function, given = getattr(pin, algorithm), (built, data, q) if algorithm == "crba" else (built, data, q, v, zero)
    answer = np.array(function(*given))
    count = max(4, int(seconds / (2e-6 + 4e-7 * n)))
    start = time.process_time()
    for _ in range(count):
        function(*given)
    us = (time.process_time() - start) / count * 1e6
    if algorithm == "crba":
        answer = np.triu(answer) + np.triu(answer, 1).T
    return {"us": us, "answer": answer.ravel()[-100:].tolist()}


@cache
def squeezing() -> tuple[Any, ...]:
    """Andrews' mechanism: a tree of seven hinges, three point contacts that close its loops, the proximal solver."""
    built, number, points = pin.Model(), {"": 0}, {"": np.zeros(3)}
    built.gravity.linear = np.zeros(3)
    for name, (parent, hinge, centre, mass, moment) in squeezer.BODIES.items():
        place = pin.SE3(np.eye(3), hinge - points[parent])
        number[name] = built.addJoint(number[parent], pin.JointModelRZ(), place, name)
        points[name] = hinge
        body = pin.Inertia(mass, centre - hinge, np.diag([0.5, 0.5, 1.0]) * moment)
        built.appendBodyToJoint(number[name], body, pin.SE3.Identity())
    contacts, rooms = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    for name in squeezer.CLOSED:
        ends = [(number[n], pin.SE3(np.eye(3), squeezer.E - points[n])) for n in ("BDE", name)]
        contact = pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, built, *ends[0], *ends[1], pin.ReferenceFrame.LOCAL)
        contacts.append(contact)
        rooms.append(contact.createData())
    data = built.createData()
    pin.initConstraintDynamics(built, data, contacts, rooms)
    return built, data, contacts, rooms, pin.ProximalSettings(1e-14, 1e-12, 20)


def spring(gamma: float) -> float:
    """Torque of the spring on BDE about its hinge, turned by gamma from the start."""
    d = squeezer.turn(gamma, *(squeezer.D - squeezer.B)[:2])
    x, y = squeezer.B[0] + d[0] - squeezer.C[0], squeezer.B[1] + d[1] - squeezer.C[1]
    length = (x * x + y * y) ** 0.5
    f = -squeezer.STIFFNESS * (length - squeezer.FREE_LENGTH) / length
    return float(d[0] * f * y - d[1] * f * x)


def squeeze(setting: float) -> dict[str, Any]:
    """CPU time [s] and error of the crank angle [rad] of RK4 with so many steps, driven from Python."""
    built, data, contacts, room, settings = squeezing()
    steps = int(setting)
    tau, q, v, h = np.zeros(7), np.zeros(7), np.zeros(7), squeezer.T_END / steps
    tau[0] = squeezer.TORQUE

    def a(q: Any, v: Any) -> Any:
        tau[2] = spring(q[2])
        return pin.constraintDynamics(built, data, q, v, tau, contacts, room, settings).copy()

    start = time.process_time()
    for _ in range(steps):
        a1 = a(q, v)
        v2 = v + 0.5 * h * a1
        a2 = a(q + 0.5 * h * v, v2)
        v3 = v + 0.5 * h * a2
        a3 = a(q + 0.5 * h * v2, v3)
        v4 = v + h * a3
        a4 = a(q + h * v3, v4)
        q, v = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4), v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
    seconds = time.process_time() - start
    return {"seconds": seconds, "error": abs(q[0] + squeezer.START - squeezer.END)}


if __name__ == "__main__":
    serve(rhs=rhs, recursion=recursion, squeeze=squeeze)
