"""Every kind of output of a study of a design: its derivative is that of whole runs, by differences of sixth order."""

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.sensitivity.outputs import OF_STATES
from haugmbd.simulation.results.named_outputs import FORMS, Reader, parse_output
from tests.support.designs import differences, four_bar, pendulum

EXACT = 1e-8
END = 0.06


def carried(l1, k):
    """Return a driven four-bar with a spring, a block and an event."""
    system = four_bar(l1=l1, speed=2.0, redundant=False)
    crank, _, rocker = system.bodies[1:]
    system.add(mbd.TSDA("spring", system.ground, rocker, point_i=(1.2, 0.1, 0), point_j=rocker.r, k=k, c=3.0, l0=0.2))
    system.add(mbd.LowPass("filter", "A.rate", 0.1, x0=0.3))
    return system, {
        "project_velocity": True,
        "events": [mbd.Event("level", lambda t, state: state.r[1, 1] - 0.137)],
    }


def stopped(L, e):
    """Return a pendulum that strikes a stop."""
    system = pendulum(L=L, rate=6.0)
    system.add(mbd.JointLimit("stop", system.joints[0], upper=0.2, restitution=e))
    return system, {}


OUTPUTS = {
    "carried": """body.coupler.r[0] body.coupler.p[3] body.coupler.v[1] body.coupler.a[0] body.coupler.omega[2]
        body.coupler.omega_bar[2] body.coupler.omega_dot[2] point.coupler(0.1,0.2,0).r[1] point.coupler(0.1,0.2,0).v[0]
        point.coupler(0.1,0.2,0).a[0] joint.B.angle joint.B.rate joint.B.acceleration reaction.B.force[1] reaction.A.force[0]
        driver.drive.value driver.drive.torque driver.drive.power driver.drive.work load.spring.force load.spring.length
        load.spring.rate load.spring.power load.spring.energy load.spring.work block.filter.x[0] block.filter.out energy.kinetic
        energy.potential energy.applied_work energy.dissipated_work energy.total event.level[0].t""".split(),
    "stopped": """body.bob.r[0] body.bob.a[1] joint.pin.angle joint.pin.rate reaction.pin.force[0] load.spring.torque energy.kinetic
        impact[0].t""".split(),
}


def read(result, names):
    """Return outputs at the end of a run, and times of its events and impacts."""
    reader, found = Reader(result), []
    for output in map(parse_output, names):
        if output.kind in ("event", "impact"):
            records = result.impacts if output.kind == "impact" else [one for one in result.events if one.name == output.owner]
            found.append(records[output.component[0]].t)
        else:
            found.append(reader.values(output)[-1])
    return np.array(found)


@pytest.mark.slow
@pytest.mark.parametrize(("build", "p"), [(carried, {"l1": 0.4, "k": 80.0}), (stopped, {"L": 0.5, "e": 0.6})])
def test_the_derivative_of_every_kind_of_output_is_that_of_whole_runs(build, p):
    names = OUTPUTS[build.__name__]
    integrator = mbd.DOP853(rtol=1e-11, atol=1e-12, h_max=0.02)
    S = mbd.sensitivity(build, p, names, t_end=END, integrator=integrator)

    def f(**p):
        system, arguments = build(**p)
        return read(mbd.simulate(system, END, integrator=integrator, **arguments), names)

    exact = differences(f, p)
    size = np.abs(exact).max(axis=1) + 1e-3 * (1.0 + np.abs(S.values))
    wrong = {name: float(x) for name, x in zip(names, np.abs(S.jacobian - exact).max(axis=1) / size, strict=True) if not x < EXACT}
    assert not wrong
    assert np.abs(S.values - f(**p)).max() < 1e-8 * (1.0 + np.abs(S.values).max())


def test_every_kind_of_output_is_walked():
    walked = {parse_output(name).kind for names in OUTPUTS.values() for name in names}
    kinds = {form.strip().strip("'").partition(".")[0].partition("[")[0] for form in FORMS.split(", '")}
    assert kinds - {"eigenvalue"} == walked  # an eigenvalue is no quantity of a motion
    some = {(parse_output(name).kind, parse_output(name).what) for names in OUTPUTS.values() for name in names}
    assert {(kind, what) for kind, whats in OF_STATES.items() for what in whats} - some == {("joint", "displacement")}
