r"""The section of `make bench` on what surrounds the kernels: what an event, an impact, a sticking joint, a member of a batch, a start, a
stored state, an instant of an analysis costs, and how these costs grow.

Each row is a quantity of one call, as a user makes it; where the cost of one of many is wanted, it is the difference of two calls, with
many and with few.  Peers whose law is another one are no row of this table.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import haugmbd as mbd
from haugmbd import gallery
from haugmbd.bodies import inertia
from joints import RJ, RotationDriver
from tests.benchmarks.turns import best, in_turn, median, verdict
from tests.benchmarks.worker import Worker, serve

LINKS = 10
"""Links of the chains that are stepped."""
SECONDS = 0.05
"""CPU time of one sample, at least."""
REPEATS = 5


class Row(NamedTuple):
    """A line of the table.

    call: the path that a user calls;  unit: of the cost;  sizes: models that are measured;  bar: of the cost at the last size
    growth: bar of the exponent between first and last size
    """

    call: str
    unit: str
    sizes: tuple[int, ...]
    bar: float | None = None
    growth: float | None = None


ROWS = {
    "event": Row("an event of `simulate(events=)`, beside the same run without", "us", (1, 10), 50.0),
    "impact": Row("an impact of a ball, `system.add(Contact(...))`, `simulate`", "us", (1,), 300.0),
    "balls": Row("0.3 s of bouncing balls, `system.add(Contact(...))`, `simulate`", "ms", (10, 100, 300), None, 1.2),
    "free balls": Row("1 s of free balls in one system, `simulate`", "ms", (10, 100, 1000), None, 1.1),
    "sticking": Row("`accelerations`, a chain of which every joint sticks", "us", (10, 20, 40), None, 1.2),
    "sticking bars": Row("the same, bars with inertia about every axis", "us", (10, 20, 40, 80), None, 1.2),
    "stick and slip": Row("a switch of stick and slip of a `JointFriction`, with what friction adds to steps", "us", (1,), 300.0),
    "switch alone": Row(
        "a switch of stick and slip, beside steps of a `JointFriction` that only slides or sticks", "us", (1,), 300.0
    ),
    "control": Row("a step with a `PID`, over the same with a torque of time, `simulate`", "", (1,), 2.0),
    "one step": Row("`simulate` of one step", "us", (LINKS,), 200.0),
    "stepper": Row("`Stepper.step`", "us", (LINKS,), 15.0),
    "member": Row("a member of `batch(...).simulate` of ten steps, beyond its steps", "us", (LINKS,), 50.0),
    "chain state": Row("a state of `batch(...).accelerations`, with multipliers, chain", "us", (5,), 0.35),
    "four-bar state": Row("a state of `batch(...).accelerations`, with multipliers, four-bar", "us", (1,), 0.6),
    "kinematics": Row("an instant of `kinematics`, over an RK4 step of the free mechanism", "", (1,), 2.0),
    "inverse dynamics": Row("an instant of `inverse_dynamics`, over an RK4 step", "", (LINKS, 30), 2.0),
    "equilibrium": Row("`equilibrium`, a chain held by springs, far from it", "ms", (10, 40, 100), 50.0),
    "large equilibrium": Row("the same, larger", "ms", (30, 100, 300, 1000), 1000.0, 1.5),
    "scissor lift": Row("`accelerations`, scissor lift", "us", (20, 60, 200), None, 1.2),
    "planets": Row("`accelerations`, planetary gear", "us", (12, 24, 48), None, 1.5),
    "compile": Row("`System.compile`, slider-crank", "ms", (1,), 1.5),
    "stored state": Row("`Result.save`, .npz, a state of a slider-crank", "us", (200_001,), 5.0),
}
"""What is measured."""


def pendulums(n: int) -> mbd.System:
    """A chain of n links that falls from the side."""
    return gallery.chain(n)


def sample(call: Callable[[], Any]) -> float:
    """Return the CPU time [s] of a call."""
    count, start = 0, time.process_time()
    while count == 0 or time.process_time() - start < SECONDS:
        call()
        count += 1
    return (time.process_time() - start) / count


@cache
def of_event(n: int) -> Callable[[], float]:
    """The cost of an event [us]: a chain with events at 40 instants, and without."""
    model, t_end, step = pendulums(n).compile(), 0.4, 1e-3
    events = [mbd.Event("tick", lambda t, state: np.sin(2.0 * np.pi * 50.0 * (t + 0.0005)))]
    count = len(mbd.simulate(model, t_end, h=step, events=events).events)
    few = [mbd.Event("never", lambda t, state: 1.0 + np.sin(2.0 * np.pi * 50.0 * (t + 0.0005)) ** 2)]

    def cost() -> float:
        many = sample(lambda: mbd.simulate(model, t_end, h=step, events=events))
        return 1e6 * (many - sample(lambda: mbd.simulate(model, t_end, h=step, events=few))) / count

    return cost


def ball_game(n: int, *, restitution: float = 1.0) -> mbd.System:
    """Balls above a floor, each at a height of its own."""
    system = mbd.System("balls", gravity=(0.0, 0.0, -9.81))
    for k in range(n):
        ball = system.add(
            mbd.Body(f"ball {k}", *inertia.sphere(0.01, mass=1.0), r=(0.1 * k, 0.0, 0.02 + 0.2 * ((k * 0.618) % 1.0)))
        )
        plane = {"normal": (0.0, 0.0, 1.0), "plane_point": (0.0, 0.0, 0.0)}
        system.add(mbd.Contact(f"touch {k}", system.ground, ball, point=ball.r, radius=0.01, restitution=restitution, **plane))
    return system


@cache
def of_impact(n: int) -> Callable[[], float]:
    """The cost of an impact [us]: a ball that bounces for 8 s, without loss, beside the same steps without a floor."""
    model, free, t_end = ball_game(n).compile(), mbd.System("ball", gravity=(0.0, 0.0, -9.81)), 8.0
    free.add(mbd.Body("ball", *inertia.sphere(0.01, mass=1.0)))
    alone = free.compile()
    count = len(mbd.simulate(model, t_end, h=1e-2).impacts)
    assert count > 0

    def cost() -> float:
        bouncing = sample(lambda: mbd.simulate(model, t_end, h=1e-2))
        return 1e6 * (bouncing - sample(lambda: mbd.simulate(alone, t_end, h=1e-2))) / count

    return cost


@cache
def of_balls(n: int) -> Callable[[], float]:
    """A run of 0.3 s of n balls [ms]."""
    model = ball_game(n).compile()
    mbd.simulate(model, 0.3, h=1e-2)
    return lambda: 1e3 * sample(lambda: mbd.simulate(model, 0.3, h=1e-2))


@cache
def of_free_balls(n: int) -> Callable[[], float]:
    """A run of 1 s of n bodies that do not touch [ms]."""
    system = mbd.System("free", gravity=(0.0, 0.0, -9.81))
    for k in range(n):
        system.add(mbd.Body(f"ball {k}", *inertia.sphere(0.01, mass=1.0), r=(0.1 * k, 0.0, 0.0)))
    model = system.compile()
    mbd.simulate(model, 0.01, h=1e-2)
    return lambda: 1e3 * sample(lambda: mbd.simulate(model, 1.0, h=1e-2))


def stiff_chain(n: int, mu: float, radius: float = 0.2, *, slender: bool = True) -> mbd.System:
    """A chain that hangs a little aside, with friction in all joints, enough to hold it;  slender: without inertia about their axes."""
    system = mbd.System("sticking", gravity=(0.0, 0.0, -9.81))
    before = system.ground
    for k in range(n):
        own = inertia.rod(1.0, mass=1.0) if slender else inertia.box((0.1, 0.1, 1.0), mass=1.0)
        link = system.add(mbd.Body(f"link {k}", *own, r=(k * 0.05, 0.0, -k - 0.5)))
        pin = system.add(RJ(f"pin {k}", before, link, point=(k * 0.05, 0.0, -float(k)), axis=(0.0, 1.0, 0.0)))
        system.add(mbd.JointFriction(f"friction {k}", pin, mbd.Coulomb(mu, mu), radius=radius))
        before = link
    return system


@cache
def of_sticking(n: int) -> Callable[[], float]:
    """`accelerations` of a chain of which every joint sticks [us]."""
    model = stiff_chain(n, 0.9, radius=2.0).compile()
    state = model.state()
    assert np.abs(mbd.accelerations(model, state).v_dot).max() < 1e-6  # noqa: PLR2004
    return lambda: 1e6 * sample(lambda: mbd.accelerations(model, state))


@cache
def of_sticking_bars(n: int) -> Callable[[], float]:
    """`accelerations` of a chain of bars of which every joint sticks [us]."""
    model = stiff_chain(n, 0.9, radius=4.0, slender=False).compile()
    state = model.state()
    assert np.abs(mbd.accelerations(model, state).v_dot).max() < 1e-6  # noqa: PLR2004
    return lambda: 1e6 * sample(lambda: mbd.accelerations(model, state))


def swinging(mu: float, torque: Callable[[float], Any] = lambda t: (0.0, 3.0 * np.sin(20.0 * t), 0.0)) -> mbd.Model:
    """A pendulum with dry friction whose swings are fed by a torque."""
    system = mbd.System("swing", gravity=(0.0, 0.0, -9.81))
    rod = system.add(mbd.Body("rod", *inertia.rod(1.0, mass=1.0), r=(0.0, 0.0, -0.5)))
    pin = system.add(RJ("pin", system.ground, rod, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    if mu:
        system.add(mbd.JointFriction("friction", pin, mbd.Coulomb(mu, mu), radius=0.05))
    system.add(mbd.Torque("push", rod, torque=torque))
    return system.compile()


@cache
def of_switch_alone(n: int) -> Callable[[], float]:
    """The cost of a switch [us]: the swings of `of_stick_and_slip`, beside as many steps that slide, and that stick."""
    rubbing, turning, still = swinging(0.5), swinging(0.5, lambda t: (0.0, 30.0, 0.0)), swinging(0.5, lambda t: (0.0, 0.1, 0.0))
    t_end, step = 4.0, 1e-3
    found = mbd.simulate(rubbing, t_end, h=step)
    count, rest = len(found.events), float(np.mean(np.abs(found.omega_bar[:, 1, 1]) < 1e-9))
    assert count > 0
    assert len(mbd.simulate(turning, t_end, h=step).events) <= 1

    def cost() -> float:
        switching = sample(lambda: mbd.simulate(rubbing, t_end, h=step))
        plain = [sample(lambda model=model: mbd.simulate(model, t_end, h=step)) for model in (turning, still)]
        return 1e6 * (switching - (1.0 - rest) * plain[0] - rest * plain[1]) / count

    return cost


@cache
def of_control(n: int) -> Callable[[], float]:
    """A step of a pendulum under a PID, over one of the same pendulum under a torque of time."""

    def pendulum(*, controlled: bool) -> mbd.Model:
        system = mbd.System("controlled", gravity=(0.0, 0.0, -9.81))
        rod = system.add(mbd.Body("rod", *inertia.rod(1.0, mass=1.0), r=(0.5, 0.0, 0.0)))
        pin = system.add(RJ("pin", system.ground, rod, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        torque: Any = np.sin
        if controlled:
            torque = system.add(mbd.PID("pid", "pin.angle", 0.3, kp=40.0, ki=10.0, kd=5.0, tau=0.01))["out"]
        system.add(mbd.Motor("motor", pin, torque=torque))
        return system.compile()

    models = [pendulum(controlled=controlled) for controlled in (True, False)]
    for model in models:
        mbd.simulate(model, 0.1, h=1e-3)

    def of_steps(model: mbd.Model) -> float:
        return sample(lambda: mbd.simulate(model, 2.0, h=1e-3)) - sample(lambda: mbd.simulate(model, 1.0, h=1e-3))

    return lambda: of_steps(models[0]) / of_steps(models[1])


@cache
def of_stick_and_slip(n: int) -> Callable[[], float]:
    """The cost of a switch [us]: a pendulum with dry friction whose swings are fed by a torque, beside the same without friction."""
    rubbing, free, t_end = swinging(0.5), swinging(0.0), 4.0
    count = len(mbd.simulate(rubbing, t_end, h=1e-3).events)
    assert count > 0

    def cost() -> float:
        with_friction = sample(lambda: mbd.simulate(rubbing, t_end, h=1e-3))
        return 1e6 * (with_friction - sample(lambda: mbd.simulate(free, t_end, h=1e-3))) / count

    return cost


@cache
def of_one_step(n: int) -> Callable[[], float]:
    """`simulate` of one step [us]."""
    model = pendulums(n).compile()
    mbd.simulate(model, 1e-3, h=1e-3)
    return lambda: 1e6 * sample(lambda: mbd.simulate(model, 1e-3, h=1e-3))


@cache
def of_stepper(n: int) -> Callable[[], float]:
    """`Stepper.step` [us]."""
    stepper = mbd.Stepper(pendulums(n), h=1e-3)
    stepper.step()

    def steps() -> None:
        for _ in range(1000):
            stepper.step()

    return lambda: 1e3 * sample(steps)


@cache
def of_member(n: int) -> Callable[[], float]:
    """A member of a batch of runs of ten steps, beyond its steps [us]: a hundred members, and one run of as many steps."""
    model, members, steps = pendulums(n).compile(), 100, 10
    batch = mbd.batch(model, np.tile(model.y0, (members, 1)), threads=1)
    t_end = steps * 1e-3
    batch.simulate(t_end, h=1e-3)

    def cost() -> float:
        whole = sample(lambda: batch.simulate(t_end, h=1e-3))
        long = sample(lambda: mbd.simulate(model, 1e-3 * steps * members, h=1e-3))
        return 1e6 * (whole - long) / members

    return cost


def _of_states(model: mbd.Model) -> Callable[[], float]:
    """A state of a batch of right-hand sides with multipliers [us]; the batch, with its copy of the states, is made before."""
    members = 32768
    y = mbd.simulate(model, 1.0, h=1e-2).y
    states = y[np.random.default_rng(0).integers(0, len(y), members)]
    mbd.batch(model, states, threads=1).accelerations()

    def cost() -> float:
        batch = mbd.batch(model, states, threads=1)
        begun = time.process_time()
        batch.accelerations()
        return 1e6 * (time.process_time() - begun) / members

    return cost


@cache
def of_chain_state(n: int) -> Callable[[], float]:
    """A state of a chain of n links [us]."""
    return _of_states(pendulums(n).compile())


@cache
def of_four_bar_state(n: int) -> Callable[[], float]:
    """A state of a four-bar [us]."""
    return _of_states(gallery.four_bar().compile())


def step_of(model: mbd.Model) -> float:
    """Return the CPU time [s] of an RK4 step, without the start of a run."""
    few, many = 100, 600
    mbd.simulate(model, 1e-4 * few, h=1e-4)
    long, short = (sample(lambda m=m: mbd.simulate(model, 1e-4 * m, h=1e-4, store_every=m)) for m in (many, few))
    return (long - short) / (many - few)


@cache
def of_kinematics(n: int) -> Callable[[], float]:
    """An instant of `kinematics` of driven four-bars, over a step of the same free ones."""
    driven = gallery.four_bar()
    crank = next(joint for joint in driven.joints if isinstance(joint, RJ))
    driven.add(RotationDriver("motor", crank, lambda t: 6.0 * t))
    free, model, t = gallery.four_bar().compile(), driven.compile(), np.linspace(0.0, 1.0, 1001)
    mbd.kinematics(model, t)
    return lambda: sample(lambda: mbd.kinematics(model, t)) / len(t) / step_of(free)


@cache
def of_inverse_dynamics(n: int) -> Callable[[], float]:
    """An instant of `inverse_dynamics` of a chain with a driver in each joint, over a step of it."""
    driven, free = pendulums(n), pendulums(n).compile()
    for joint in tuple(driven.joints):
        driven.add(RotationDriver(f"drive of {joint.name}", joint, lambda t: 0.1 * np.sin(3.0 * t)))
    model = driven.compile()
    motion = mbd.kinematics(model, np.linspace(0.0, 1.0, 501))
    mbd.inverse_dynamics(model, motion)
    return lambda: sample(lambda: mbd.inverse_dynamics(model, motion)) / len(motion.t) / step_of(free)


@cache
def of_equilibrium(n: int) -> Callable[[], float]:
    """`equilibrium` of a cantilever of n links with springs in its joints, which bends far [ms]."""
    system = mbd.System("cantilever", gravity=(0.0, 0.0, -9.81))
    before, length = system.ground, 1.0 / n
    for k in range(n):
        link = system.add(mbd.Body(f"link {k}", *inertia.rod(length, mass=1.0 / n), r=((k + 0.5) * length, 0.0, 0.0)))
        pin = system.add(RJ(f"pin {k}", before, link, point=(k * length, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
        system.add(mbd.RSDA(f"spring {k}", pin, k=3.0 * n))
        before = link
    model = system.compile()
    mbd.equilibrium(model)
    return lambda: 1e3 * sample(lambda: mbd.equilibrium(model))


def _accelerations(model: mbd.Model) -> Callable[[], float]:
    state = model.state()
    mbd.accelerations(model, state)
    return lambda: 1e6 * sample(lambda: mbd.accelerations(model, state))


@cache
def of_scissor_lift(n: int) -> Callable[[], float]:
    """`accelerations` of a scissor lift of n stages [us]."""
    return _accelerations(gallery.scissor_lift(n).compile())


@cache
def of_planets(n: int) -> Callable[[], float]:
    """`accelerations` of a planetary gear of n planets [us]."""
    return _accelerations(gallery.planetary_gear(n).compile())


@cache
def of_compile(n: int) -> Callable[[], float]:
    """`compile` of a slider-crank [ms]."""
    system = gallery.slider_crank()
    system.compile()
    return lambda: 1e3 * sample(system.compile)


@cache
def of_stored_state(n: int) -> Callable[[], float]:
    """A state that `save` writes [us]."""
    model = gallery.slider_crank().compile()
    result = mbd.simulate(model, 1e-4 * (n - 1), h=1e-4)
    folder = tempfile.TemporaryDirectory()

    def cost() -> float:
        return 1e6 * sample(lambda: result.save(Path(folder.name) / "run.npz")) / len(result.t)

    return cost


MEASURES: dict[str, Callable[[int], Callable[[], float]]] = {
    "event": of_event,
    "impact": of_impact,
    "balls": of_balls,
    "free balls": of_free_balls,
    "sticking": of_sticking,
    "sticking bars": of_sticking_bars,
    "stick and slip": of_stick_and_slip,
    "switch alone": of_switch_alone,
    "control": of_control,
    "one step": of_one_step,
    "stepper": of_stepper,
    "member": of_member,
    "chain state": of_chain_state,
    "four-bar state": of_four_bar_state,
    "kinematics": of_kinematics,
    "inverse dynamics": of_inverse_dynamics,
    "equilibrium": of_equilibrium,
    "large equilibrium": of_equilibrium,
    "scissor lift": of_scissor_lift,
    "planets": of_planets,
    "compile": of_compile,
    "stored state": of_stored_state,
}
"""The measure of each row, for a size."""


def cost(row: str, n: int) -> dict[str, Any]:
    """One sample of a row, in its unit."""
    return {"cost": MEASURES[row](n)()}


def exponent(sizes: tuple[int, ...], costs: list[float]) -> float:
    """Return the exponent of growth by least squares."""
    return float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])


def section(repeats: int = REPEATS) -> None:
    """Print the table."""
    ours = Worker("surroundings", sys.executable, "haugmbd")
    print("\nAround the kernels: minimum and median of one sample, for each size; exponent of growth over the sizes")
    for name, row in ROWS.items():
        print(f"{row.call}{f' [{row.unit}]' if row.unit else ''}")
        found = in_turn({str(n): lambda n=n, name=name: ours.ask("cost", row=name, n=n) for n in row.sizes}, repeats)
        costs = [best(found[str(n)], "cost") for n in row.sizes]
        for n, least in zip(row.sizes, costs, strict=True):
            last = f"  {verdict(least, row.bar)}" if row.bar is not None and n == row.sizes[-1] else ""
            print(f"{n:>10} {least:>10.4g} {median(found[str(n)], 'cost'):>10.4g}{last}", flush=True)
        if row.growth is not None:
            grown = exponent(row.sizes, costs)
            print(f"{'exponent':>10} {grown:>10.2f}  {verdict(grown, row.growth)}")
    ours.close()


if __name__ == "__main__":
    serve(cost=cost)
