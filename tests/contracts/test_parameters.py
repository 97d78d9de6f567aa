"""Every number of every kind of part is a parameter: its derivative is that of the product's own runs, or it is refused by name."""

import re

import numpy as np
import pytest

import haugmbd as mbd
import joints
from haugmbd.integrators.initial_state import projected
from haugmbd.sensitivity.parameters import Parameters, builder_of, nominal_model, varied_model
from haugmbd.sensitivity.paths import numbers_of
from haugmbd.simulation.results.named_outputs import Reader, parse_output
from tests.support.coupling_samples import carrier, sample
from tests.support.designs import pendulum

EXACT = 1e-8
RUN = {"t_end": 0.03, "integrator": mbd.DOP853(rtol=1e-11, atol=1e-12)}
ANGLE = ("joint.pin.angle", "joint.pin.rate", "reaction.pin.force[0]")
MOST = 24
"""Numbers of one part that are tried, drawn at random."""


def on_a_pendulum(make):
    def build():
        system = pendulum()
        make(system, system["bob"], system["pin"])
        return system

    return build


def with_output(block):
    """Return what drives the pendulum by the output of a block."""

    def make(system, bob, pin):
        system.add(mbd.Motor("motor", pin, torque=system.add(block)["out"]))

    return make


PARTS = {
    "Body": lambda system, bob, pin: None,
    "TSDA": lambda s, b, j: s.add(mbd.TSDA("x", s.ground, b, point_i=(1, 1, 0.2), point_j=b.r, k=30.0, c=2.0, l0=0.4)),
    "RSDA": lambda s, b, j: s.add(mbd.RSDA("x", j, k=3.0, c=0.2, theta0=0.1)),
    "Bushing": lambda s, b, j: s.add(
        mbd.Bushing("x", s.ground, b, point=(0.2, -0.1, 0), K=(100, 120, 140, 3, 4, 5), preload=(1,) * 6)
    ),
    "PointForce": lambda s, b, j: s.add(mbd.PointForce("x", b, point=(0.6, -0.2, 0), force=(1.0, 2.0, 0.5))),
    "Torque": lambda s, b, j: s.add(mbd.Torque("x", b, torque=(0.1, 0.2, 1.5))),
    "JointSpring": lambda s, b, j: s.add(mbd.JointSpring("x", j, k=3.0, c=0.1, free=0.2)),
    "JointForce": lambda s, b, j: s.add(mbd.JointForce("x", j, 1.3)),
    "LinearActuator": lambda s, b, j: s.add(mbd.LinearActuator("x", s.ground, b, point_i=(1, 1, 0), point_j=b.r, force=3.0)),
    "JointLimit": lambda s, b, j: s.add(mbd.JointLimit("x", j, lower=-0.5, upper=0.03, k=20.0, c=0.2)),
    "Viscous": lambda s, b, j: s.add(mbd.JointFriction("x", j, mbd.Viscous(0.2), radius=0.1)),
    "Coulomb": lambda s, b, j: s.add(mbd.JointFriction("x", j, mbd.Coulomb(0.3), radius=0.05, length=0.2, preload=2.0)),
    "smooth": lambda s, b, j: s.add(mbd.JointFriction("x", j, mbd.Coulomb(0.3, velocity=0.1), radius=0.05, preload=2.0)),
    "BrownMcPhee": lambda s, b, j: s.add(mbd.JointFriction("x", j, mbd.BrownMcPhee(0.4, 0.3, 0.1), radius=0.05)),
    "LuGre": lambda s, b, j: s.add(mbd.JointFriction("x", j, mbd.LuGre(0.4, 0.3, 0.1, 1e2, 10.0, 0.1), radius=0.05)),
    "PID": with_output(mbd.PID("x", "pin.angle", setpoint=0.2, kp=3.0, ki=1.0, kd=0.4, tau=0.1, integral0=0.1)),
    "LowPass": with_output(mbd.LowPass("x", "pin.rate", 0.1, x0=0.3)),
    "TransferFunction": with_output(mbd.TransferFunction("x", "pin.rate", [1.0, 2.0], [0.1, 1.0, 3.0])),
    "Contact": lambda s, b, j: s.add(
        mbd.Contact("x", s.ground, b, point=b.r, normal=(0, 1, 0), plane_point=(0, -0.3, 0), restitution=0.5)
    ),
}
SYSTEMS = {name: (on_a_pendulum(make), r"(x|bob|pin)\." if name == "Body" else r"x\.", ANGLE) for name, make in PARTS.items()}


def with_profile(kind):
    """Return the carrier with a coupling by a function of a coordinate whose numbers are named parameters."""
    system, first, _, guide, thread = carrier()
    profile = mbd.Expression("a * (cos(t) - cos(0.3)) + b * sin(t - 0.3)", parameters={"a": 0.02, "b": 0.01})
    screw = mbd.Expression("a * t + b * sin(t)", parameters={"a": 0.03, "b": 0.02})
    turns, slides = thread.coordinate("angle"), thread.coordinate("displacement")
    system.add(kind("sample", first, guide, profile) if kind is joints.Cam else kind("sample", turns, slides, screw))
    return system


SYSTEMS |= {
    kind.__name__: (lambda kind=kind: with_profile(kind), "[ab]$", None) for kind in (joints.CoordinateFunction, joints.Cam)
}
for _kind in (*joints.COUPLINGS, *joints.ROLLING, *joints.GUIDES, *joints.ROPES, *joints.MOTIONS):
    SYSTEMS.setdefault(_kind.__name__, (lambda kind=_kind: sample(kind), r"sample\.", None))


def numbers(system, pattern, rng):
    """Return some paths of a system that match, with their values; of a matrix that is symmetric one half."""
    found = {}
    for path, number in numbers_of(system, system.compile()).items():
        for index in np.ndindex(number.value.shape):
            if re.match(pattern, path) and list(index) == sorted(index):
                text = f"{path}[{','.join(map(str, index))}]" if index else path
                found[text] = float(number.value[index])
    names = sorted(found)
    return {name: found[name] for name in (names if len(names) <= MOST else rng.choice(names, MOST, replace=False).tolist())}


def differentiated(system, p, outputs):
    """Return the sensitivity by all numbers that have derivatives, and why the others have none."""
    p, refused = dict(p), {}
    while p:
        try:
            return mbd.sensitivity(system, p, outputs, **RUN), refused
        except mbd.UsageError as error:
            name = next((name for name in p if f"parameter {name!r}" in str(error)), None)
            if name is None:
                raise
            refused[name] = str(error)
            del p[name]
    return None, refused


def outputs_of(model, outputs):
    result = mbd.simulate(model, state=projected(model, model.pack(), model.state()), **RUN)
    reader = Reader(result)
    return np.array([reader.values(parse_output(name))[-1] for name in outputs])


def along(system, p, direction, outputs, relative=1e-3):
    """Return the derivative of sixth order of whole runs along a direction."""
    build, (names, x) = builder_of(system, Parameters(p)), (list(p), np.array(list(p.values())))
    nominal = nominal_model(build(p).system)

    def at(k):
        values = dict(zip(names, x + k * relative * direction, strict=True))
        return outputs_of(varied_model(build(values).system, nominal), outputs)

    return (45 * (at(1) - at(-1)) - 9 * (at(2) - at(-2)) + at(3) - at(-3)) / (60 * relative)


@pytest.mark.slow
@pytest.mark.parametrize("name", SYSTEMS)
def test_the_derivative_by_every_number_is_that_of_whole_runs_or_is_refused_by_name(name):
    build, pattern, outputs = SYSTEMS[name]
    rng, system = np.random.default_rng(5), build()
    bodies = system.compile().body_names[1:4]
    outputs = outputs or [f"body.{body}.{what}" for body in bodies for what in ("r[0]", "v[1]", "omega[2]")]
    p = numbers(system, pattern, rng)
    S, refused = differentiated(system, p, outputs)
    for path, text in refused.items():
        assert path in text
        if "enters nothing" in text and ".p[" not in path:
            assert np.abs(along(system, {path: p[path]}, np.array([Parameters(p).part(path).size]), outputs)).max() < 1e-10
    if S is None:  # all are whole numbers, or there is none
        assert set(refused) == set(p)
        return
    sizes = S.p.sizes * rng.uniform(0.5, 1.0, len(S.p)) * rng.choice([-1.0, 1.0], len(S.p))
    exact, found = along(system, dict(S.p), sizes, outputs), S.jacobian @ sizes
    scale = np.maximum(np.abs(S.jacobian * sizes).max(axis=1), 1e-9)
    assert np.abs(found - exact).max() < EXACT * scale.max() or (np.abs(found - exact) < EXACT * scale).all(), (found, exact)
