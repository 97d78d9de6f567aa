"""Runs of every integrator with functions of the user in Python: forces, drivers, jacobians, events, formulations, tau of a chain."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

import haugmbd as mbd
from haugmbd import SciPySolver
from haugmbd.drivers.autodiff.interval import Interval
from haugmbd.integrators.base import methods_below
from haugmbd.integrators.explicit.runge_kutta import Explicit
from haugmbd.integrators.explicit.scipy_solver import METHODS
from haugmbd.integrators.implicit.base import Implicit
from joints import RJ, SJ, RotationDriver

INTEGRATORS = {name: method for kind in methods_below() for name, method in kind.examples().items()}
INTEGRATORS = {n: m for n, m in INTEGRATORS.items() if "SciPySolver" not in n} | {
    f"SciPySolver {n}": SciPySolver(n) for n in METHODS
}
"""One of each kind; of SciPy all."""


class Probe:
    """Stands in every function: counts the calls, and raises from the one on that it is told."""

    def __init__(self):
        self.calls, self.fatal = 0, math.inf

    def __call__(self, t=0.0):
        """Count a call at a time; not one with an interval of times, by which jumps are looked for."""
        if isinstance(t, Interval):
            return
        self.calls += 1
        if self.calls >= self.fatal:
            raise Broken(self.calls)


class Broken(Exception):
    """What the probe raises: the number of the call."""


class Watched(mbd.NullSpace):
    """A formulation in Python that is asked through the probe."""

    probe = Probe()

    def solve(self, kkt):
        self.probe()
        return super().solve(kkt)


def pendulum(*loads, driver=None):
    """A link in space on a ball joint, or a driven one on a pin, with loads."""
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    link = system.add(mbd.Body("link", 2.0, (0.1, 0.3, 0.3), r=(1.0, 0.0, 0.0)))
    if driver is None:
        system.add(SJ("ball", system.ground, link, point=(0, 0, 0)))
    else:
        pin = system.add(RJ("pin", system.ground, link, point=(0, 0, 0), axis=(0, 1, 0)))
        system.add(RotationDriver("drive", pin, driver))
    for make in loads:
        system.add(make(link))
    return system.compile()


def force_model(probe):
    def push(t, r, p, v, omega_bar):
        probe(t)
        return (0.3 - 0.1 * v[0], 0.2 * math.cos(3.0 * t), 0.0)

    return pendulum(lambda link: mbd.PointForce("push", link, force=push))


def time_model(probe):
    def push(t):
        probe(t)
        return (0.3, 0.2 * math.cos(3.0 * t), 0.0)

    return pendulum(lambda link: mbd.PointForce("push", link, force=push))


def driver_model(probe):
    def f(t):
        probe(t)
        return 0.1 - 0.1 * math.cos(2.0 * t)

    parts = (f, lambda t: 0.2 * math.sin(2.0 * t), lambda t: 0.4 * math.cos(2.0 * t))
    return pendulum(driver=parts)


def jacobian_model(probe):
    def push(t, r, p, v, omega_bar):
        return -0.5 * v

    def jacobian(t, r, p, v, omega_bar):
        probe()
        zero = np.zeros((3, 3))
        return (zero, zero, -0.5 * np.eye(3), zero)

    return pendulum(lambda link: mbd.PointForce("push", link, force=push, jacobian=jacobian))


@dataclass(frozen=True)
class Kind:
    """A kind of user's function: how a model with it is made, whom it suits, and by what words its errors name it."""

    make: object
    words: str
    suits: object = lambda method: True


def takes_python_formulations(method):
    return isinstance(method, Explicit) or not (method.solves_constraints or method.keeps_factor)


KINDS = {
    "force": Kind(force_model, "push"),
    "force of time": Kind(time_model, "push"),
    "driver": Kind(driver_model, "drive"),
    "jacobian": Kind(jacobian_model, "push", lambda method: isinstance(method, Implicit)),
    "event": Kind(lambda probe: pendulum(), "event"),
    "formulation": Kind(lambda probe: pendulum(), "", takes_python_formulations),
    "tau": Kind(lambda probe: mbd.SerialChain([mbd.Link.revolute("arm", 1.0, (0.1, 0.2, 0.2))]), "tau"),
}


def method_for(method, *, h=0.01):
    """The method with steps about h long."""
    if method.takes_step:
        return method.with_arguments(h, None, None)
    return method.limited(h)


def run(kind, model, probe, method, t_end):
    """Simulate with the probe in a function of this kind."""
    options = {"integrator": method}
    if not method.correctable and not method.solves_constraints:
        options["stabilization"] = None
    if kind == "event":

        def g(t, state):
            probe()
            return 1.0 + 0.1 * math.sin(t)

        options["events"] = [mbd.Event("event", g)]
    if kind == "formulation":
        Watched.probe = probe
        options["formulation"] = Watched()
    if kind == "tau":

        def tau(t, q, qd):
            probe()
            return [0.1 * math.sin(t) - 0.1 * qd[0]]

        options = {"integrator": method, "tau": tau}
    return mbd.simulate(model, t_end, **options)


def cases():
    """(kind, name of the integrator) of all that go together."""
    for kind, (name, method) in itertools.product(KINDS, INTEGRATORS.items()):
        if kind == "tau" and (method.solves_constraints or method.keeps_factor):
            continue
        if KINDS[kind].suits(method):
            yield kind, name
