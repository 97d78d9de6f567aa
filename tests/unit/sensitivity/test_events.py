import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.simulation.results.named_outputs import Reader, parse_output
from joints import RJ, TJ, Coupling
from tests.support.designs import differences, four_bar, pendulum, worst

EXACT = 1e-8
TIGHT = mbd.DOP853(rtol=1e-12, atol=1e-13)


def outputs_of(result, names):
    """Return outputs at the end of a run, and times of its events and impacts."""
    reader, found = Reader(result), []
    for output in map(parse_output, names):
        if output.kind == "event":
            found.append([one.t for one in result.events if one.name == output.owner][output.component[0]])
        elif output.kind == "impact":
            found.append(result.impacts[output.component[0]].t)
        else:
            found.append(reader.values(output)[-1])
    return np.array(found)


def of_run(build, names, t_end, **arguments):
    def f(**p):
        built = build(**p)
        system, more = built if isinstance(built, tuple) else (built, {})
        return outputs_of(mbd.simulate(system, t_end, **arguments, **more), names)

    return f


def ball(e, h, g=9.81, v=0.3, floor=0.1):
    system = mbd.System("ball", gravity=(0, 0, -g))
    body = system.add(mbd.Body("ball", 1.3, (0.1, 0.1, 0.1), r=(0, 0, h), v=(v, 0, 0)))
    where = {"point": (0, 0, h), "normal": (0, 0, 1), "plane_point": (0, 0, floor)}
    system.add(mbd.Contact("floor", system.ground, body, **where, restitution=e))
    return system


def bounced(e, h, g, v, floor, t_end=1.3):
    """Return place and speed at the end, and the times of the first two bounces, in closed form."""
    times, rate = [np.sqrt(2 * (h - floor) / g)], e * np.sqrt(2 * (h - floor) * g)
    while times[-1] + 2 * rate / g < t_end:
        times.append(times[-1] + 2 * rate / g)
        rate *= e
    rest = t_end - times[-1]
    return np.array([floor + rate * rest - g * rest**2 / 2, rate - g * rest, v * t_end, *times[:2]])


def test_a_bouncing_ball_in_closed_form_with_the_times_of_its_impacts():
    p = {"e": 0.7, "h": 1.0, "g": 9.81, "v": 0.3, "floor": 0.1}
    outputs = ["body.ball.r[2]", "body.ball.v[2]", "body.ball.r[0]", "impact[0].t", "event.floor meets[1].t"]
    S = mbd.sensitivity(ball, p, outputs, t_end=1.3, h=2e-2)
    assert np.abs(S.values - bounced(**p)).max() < 1e-12
    assert worst(S.jacobian, differences(bounced, p)) < EXACT
    t = np.array([0.2, 0.9, 1.1])
    over = mbd.sensitivity(ball, p, outputs[0], t_end=1.3, h=2e-2, t_eval=t).over_time
    for k in range(3):
        exact = differences(lambda k=k, **p: bounced(**p, t_end=t[k])[:1], p)
        assert np.abs(over.jacobian[k] - exact).max() < EXACT or t[k] < 0.4


def test_contacts_that_are_arguments_of_the_run_are_those_of_the_system():
    def build(e, h):
        system = ball(e, h)
        (contact,) = system.contacts
        system.remove(contact)
        return system, {"contacts": [contact]}

    p, outputs = {"e": 0.7, "h": 1.0}, ["body.ball.r[2]", "impact[1].t"]
    S, known = (
        mbd.sensitivity(made, p, outputs, run=run, t_end=1.1, h=2e-2)
        for made, run in ((build, "simulate_impacts"), (ball, "simulate"))
    )
    assert np.array_equal(S.values, known.values)
    assert np.array_equal(S.jacobian, known.jacobian)
    with pytest.raises(mbd.UsageError, match="needs contacts between the bodies"):
        mbd.sensitivity(ball, p, outputs, run="simulate_impacts", t_end=1.1, h=2e-2)


def limited(e, L, upper, m):
    system = pendulum(m=m, L=L)
    system.add(mbd.JointLimit("stop", system["pin"], upper=upper, lower=-0.5, restitution=e))
    return system


def looped(e, l2, upper):
    system = four_bar(l2=l2, d=1.0003)
    system.add(mbd.JointLimit("stop", system["A"], lower=-upper, restitution=e))
    return system


def lifted(k, level, m):
    """Return a mass that falls on a floor, rests there, and is lifted."""
    system = mbd.System("lifted", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("mass", m, (0.1, 0.1, 0.1), r=(0, 0, 0.2)))
    system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(0, 0, 1)))
    where = {"point": (0, 0, 0.2), "normal": (0, 0, 1), "plane_point": (0, 0, level)}
    system.add(mbd.Contact("floor", system.ground, body, **where, restitution=0.0))
    force = (0, 0, mbd.Expression("k * t**2", parameters={"k": k}))
    system.add(mbd.PointForce("lift", body, point=(0, 0, 0.2), force=force))
    return system


def switched(L, at, kick):
    """Return a pendulum that throws a body, and is struck."""
    system = pendulum(L=L, rate=6.0)
    bob = system["bob"]
    load = system.add(mbd.Body("load", 0.5, (0.01, 0.02, 0.03), r=bob.r, v=bob.v, omega_bar=bob.omega_bar))
    system.add(RJ("hook", bob, load, point=bob.r, axis=(0, 0, 1)))
    throw = mbd.Event("throw", lambda t, state: state.r[1, 1] - at).then(release=["hook"])
    blow = mbd.PointImpulse("blow", bob, point=bob.r, impulse=(kick, 0, 0))
    return system, {"events": [throw, mbd.Event("struck", lambda t, state: t - 2 * at).then(kick=[blow])]}


def clutch(inertia, w, at):
    """Return two rotors that a coupling joins, parts, and joins again where the first one has turned far enough."""
    system = mbd.System("clutch", gravity=(0, 0, 0))
    rotors = [system.add(mbd.Body(n, 1.0, (inertia,) * 3, r=(0, 0, z), omega_bar=(0, 0, w))) for n, z in (("a", 0.0), ("b", 1.0))]
    a, b = (system.add(RJ(f"pin {r.name}", system.ground, r, point=r.r, axis=(0, 0, 1))) for r in rotors)
    system.add(mbd.RSDA("spring", a, k=2.0, c=0.1))
    system.add(Coupling("grip", {a: 1.0, b: -1.0}))
    parts = mbd.Event("parts", lambda t, state: t - 1e-3).then(release=["grip"])
    joins = mbd.Event("joins", lambda t, state: t - at).then(kick=[mbd.AngularImpulse("blow", rotors[0], impulse=(0, 0, inertia))])
    return system, {"events": [parts, joins]}


def caught(m, k, w, s):
    """Return a mass that leaves another one on parallel rails: as it comes back, a coupling and a spring that are off catch it."""
    system = mbd.System("caught", gravity=(0, 0, 0))
    comes, rests = (
        system.add(mbd.Body(name, mass, (0.1, 0.1, 0.1), r=(0, y, 0), v=(v, 0, 0)))
        for name, mass, y, v in (("comes", m, 0.0, w), ("rests", 2.0, 1.0, 0.0))
    )
    a, b = (system.add(TJ(f"rail {x.name}", system.ground, x, point=x.r, axis=(1, 0, 0))) for x in (comes, rests))
    system.add(Coupling("grip", {a: 1.0, b: -1.0}), active=False)
    system.add(mbd.JointSpring("buffer", b, k=k, c=0.5), active=False)
    system.add(mbd.JointSpring("brake", a, k=s, c=0.2))
    meets = mbd.Event("meets", lambda t, state: state.r[1, 0] - state.r[2, 0], direction=-1)
    return system, {"events": [meets.then(lock=["grip", "buffer"])]}


def dragged(m, mu, a):
    """Return a mass on a rail with dry friction under a force that goes back and forth."""
    system = mbd.System("dragged", gravity=(0, 0, -9.81))
    body = system.add(mbd.Body("mass", m, (0.1, 0.1, 0.1), v=(0.5, 0, 0)))
    rail = system.add(TJ("rail", system.ground, body, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(mbd.JointFriction("friction", rail, mbd.Coulomb(mu)))
    force = (mbd.Expression("a * sin(7 * t)", parameters={"a": a}), 0, 0)
    system.add(mbd.PointForce("pull", body, point=(0, 0, 0), force=force))
    return system


def arms(m, mu, L):
    """Return two arms whose joints have dry friction that presses with the reactions."""
    system = mbd.System("arms", gravity=(0, -9.81, 0))
    upper = system.add(mbd.Body("upper", m, (0.02, 0.02, 0.02), r=(L / 2, 0, 0)))
    lower = system.add(mbd.Body("lower", 0.7, (0.02, 0.02, 0.02), r=(L + 0.2, 0, 0)))
    shoulder = system.add(RJ("shoulder", system.ground, upper, point=(0, 0, 0), axis=(0, 0, 1)))
    elbow = system.add(RJ("elbow", upper, lower, point=(L, 0, 0), axis=(0, 0, 1)))
    system.add(mbd.RSDA("spring", shoulder, k=3.0, c=0.0))
    system.add(mbd.JointFriction("upper friction", shoulder, mbd.Coulomb(mu), radius=0.05))
    system.add(mbd.JointFriction("lower friction", elbow, mbd.Coulomb(mu), radius=0.05, length=0.1))
    return system


def with_law(law):
    def build(L, mu):
        system = pendulum(L=L, rate=3.0)
        system.add(mbd.JointFriction("friction", system["pin"], law(mu), radius=0.1))
        return system

    return build


def buffered(k, c, upper):
    system = pendulum(rate=3.0)
    system.add(mbd.JointLimit("stop", system["pin"], upper=upper, k=k, c=c))
    return system


ANGLE = ["joint.pin.angle", "joint.pin.rate"]
RUNS = {
    "stick-slip": (dragged, {"m": 1.1, "mu": 0.3, "a": 6.0}, 1.0, ["body.mass.r[0]", "event.friction stops[0].t"]),
    "arms": (
        arms,
        {"m": 1.1, "mu": 0.2, "L": 0.5},
        1.0,
        ["joint.shoulder.angle", "joint.elbow.rate", "reaction.shoulder.force[0]"],
    ),
    "smooth friction": (with_law(lambda mu: mbd.BrownMcPhee(1.2 * mu, mu, 0.05)), {"L": 0.5, "mu": 0.3}, 0.4, ANGLE),
    "bristles": (with_law(lambda mu: mbd.LuGre(1.2 * mu, mu, 0.05, 1e3, 10.0)), {"L": 0.5, "mu": 0.3}, 0.15, ANGLE),
    "bristles that turn": (
        with_law(lambda mu: mbd.LuGre(1.2 * mu, mu, 0.05, 1e3, 10.0)),
        {"L": 0.5, "mu": 0.3},
        0.6,
        ANGLE,
    ),
    "buffer": (buffered, {"k": 200.0, "c": 2.0, "upper": 0.1}, 0.8, ANGLE),
    "spring with a gap": (lambda k, upper: buffered(k, 0.0, upper), {"k": 200.0, "upper": 0.1}, 0.8, ANGLE),
    "stop": (
        limited,
        {"e": 0.6, "L": 0.5, "upper": 0.25, "m": 1.2},
        0.6,
        ["joint.pin.angle", "reaction.pin.force[0]", "impact[0].t"],
    ),
    "loop": (looped, {"e": 0.5, "l2": 1.1, "upper": 0.1}, 0.2, ["joint.A.angle", "body.rocker.omega[2]", "impact[0].t"]),
    "rest": (
        lifted,
        {"k": 20.0, "level": 0.05, "m": 1.1},
        1.2,
        ["body.mass.r[2]", "event.floor meets[0].t", "event.floor opens[0].t"],
    ),
    "switch": (switched, {"L": 0.5, "at": 0.1, "kick": 1.0}, 0.4, ["joint.pin.angle", "body.load.r[0]", "event.throw[0].t"]),
    "parts that are off": (
        caught,
        {"m": 1.1, "k": 30.0, "w": 2.0, "s": 60.0},
        0.6,
        ["joint.rail comes.displacement", "joint.rail rests.rate", "event.meets[0].t"],
    ),
    "clutch": (clutch, {"inertia": 0.2, "w": 3.0, "at": 0.3}, 0.5, ["joint.pin a.angle", "joint.pin b.rate", "event.joins[0].t"]),
}


@pytest.mark.slow
@pytest.mark.parametrize(("build", "p", "t_end", "outputs"), RUNS.values(), ids=RUNS)
def test_impacts_openings_and_switches_agree_with_differences_of_whole_runs(build, p, t_end, outputs):
    S = mbd.sensitivity(build, p, outputs, t_end=t_end, integrator=TIGHT)
    assert worst(S.jacobian, differences(of_run(build, outputs, t_end, integrator=TIGHT), p)) < EXACT


@pytest.mark.slow
def test_behind_an_event_steps_of_a_given_length_tell_the_derivative_to_the_order_of_the_method():
    p, missed = {"k": 200.0, "c": 2.0, "upper": 0.1}, []
    for h in (2.5e-3, 1.25e-3):
        steps = {"integrator": mbd.RK4(h=h)}
        S = mbd.sensitivity(buffered, p, ANGLE, t_end=0.2, **steps)
        missed.append(worst(S.jacobian, differences(of_run(buffered, ANGLE, 0.2, **steps), p)))
    assert EXACT < missed[0] < 1e-6
    assert missed[1] < missed[0] / 2**3


def test_a_cascade_of_bounces_that_ends_has_the_derivatives_of_its_impacts():
    p, outputs = {"e": 0.5, "h": 1.0}, ["impact[0].t", "impact[5].t"]

    def exact(e, h):
        t = np.sqrt(2 * (h - 0.1) / 9.81)
        return np.array([t, t * (1 + 2 * sum(e**k for k in range(1, 6)))])

    S = mbd.sensitivity(ball, p, outputs, t_end=1.6, h=1e-2)
    assert worst(S.jacobian, differences(exact, p)) < EXACT


def test_a_grazing_impact_is_refused_by_name():
    def grazes(level):
        system = ball(0.5, 1.0, v=0.0, floor=level)
        rise = mbd.Expression("4 * 9.81 * 1.3 * t", parameters={})  # it falls until t = 1/2 s, and is least there
        system.add(mbd.PointForce("lift", system["ball"], point=system["ball"].r, force=(0, 0, rise)))
        return system

    lowest = 1.0 - 9.81 / 2 * 0.25 + 4 * 9.81 / 6 * 0.125
    with pytest.raises(mbd.UsageError, match="'floor meets'.*grazing"):
        mbd.sensitivity(grazes, {"level": lowest + 1e-13}, "body.ball.r[2]", t_end=0.9, h=1e-3)


def test_an_impact_at_the_edge_of_two_is_refused():
    def twice(gap):
        system = ball(0.5, 1.0)
        where = {"point": system["ball"].r, "normal": (0, 0, 1), "plane_point": (0, 0, 0.1 + gap)}
        system.add(mbd.Contact("other", system.ground, system["ball"], **where, restitution=0.2))
        return system

    with pytest.raises(mbd.UsageError, match="'gap'|instant|other"):
        mbd.sensitivity(twice, {"gap": 0.0}, "body.ball.r[2]", t_end=0.6, h=1e-2)


def test_impacts_of_one_instant_have_times_of_their_own_where_nothing_joins_them():
    def build(e, low, high, k):
        system = mbd.System("balls", gravity=(0, 0, -9.81))
        for number, (h, mass) in enumerate(((low, 1.3), (high, 0.4))):
            body = system.add(mbd.Body(f"ball {number}", mass, (0.1, 0.1, 0.1), r=(2 * number, 0, h)))
            where = {"point": body.r, "normal": (0, 0, 1), "plane_point": (0, 0, 0)}
            system.add(mbd.Contact(f"floor {number}", system.ground, body, **where, restitution=e))
        if k:
            ends = {"point_i": system["ball 0"].r, "point_j": system["ball 1"].r}
            system.add(mbd.TSDA("spring", system["ball 0"], system["ball 1"], **ends, k=k, c=0.0, l0=2.0))
        return system

    def exact(e, low, high):
        balls = [bounced(e, h, 9.81, 0.0, 0.0, t_end=0.6) for h in (low, high)]
        return np.array([x[k] for x in balls for k in (0, 1, 3)])

    p = {"e": 0.7, "low": 1.0, "high": 1.0}
    outputs = [
        f"{name} {k}{what}"
        for k in (0, 1)
        for name, what in (("body.ball", ".r[2]"), ("body.ball", ".v[2]"), ("event.floor", " meets[0].t"))
    ]
    S = mbd.sensitivity(lambda **p: build(**p, k=0.0), p, outputs, t_end=0.6, h=2e-2)
    assert np.abs(S.jacobian - differences(exact, p)).max() < 1e-8
    with pytest.raises(mbd.UsageError, match="several contacts, which a parameter parts"):
        mbd.sensitivity(lambda **p: build(**p, k=0.0), p, "impact[0].t", t_end=0.6, h=2e-2)
    with pytest.raises(mbd.UsageError, match="'floor 0 meets' and 'floor 1 meets' are of one instant"):
        mbd.sensitivity(lambda **p: build(**p, k=3.0), p, outputs, t_end=0.6, h=2e-2)
