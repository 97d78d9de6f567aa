"""A walk through what haugmbd computes, as numbers by name: a program that runs with Numba and without it, see `test_without_numba`.

python walk.py [hidden] [GROUP ...]      hidden: Numba cannot be imported;  prints {"case": numbers, or "Error: text"} and what was loaded
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np

HIDDEN = "hidden"
GROUPS = {}
"""Functions that yield names and what computes numbers, by name."""


def group(function):
    """Add a group of cases."""
    GROUPS[function.__name__] = function
    return function


def flat(*values):
    """Return all numbers of some values in one list."""
    return [float(x) for value in values for x in np.ravel(np.asarray(value, dtype=np.float64))]


def pendulum(mbd, friction=None, **limit):
    """Return a swinging rod with a radius for friction, and a stop."""
    system = mbd.gallery.pendulum()
    if friction is not None:
        system.add(mbd.JointFriction("rub", system.joints[0], friction, radius=0.05))
    if limit:
        system.add(mbd.JointLimit("stop", system.joints[0], **limit))
    return system


def ball(mbd, mu=0.0, **more):
    """Return a ball above a floor that it strikes."""
    system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0.0, 0.0, 0.105), v=(0.2, 0.0, 0.0)))
    more = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.1), **more}
    system.add(mbd.ContactForce("floor", system.ground, part, mu=mu, **more))
    return system


def struck(mbd, **more):
    """Return a ball that bounces on a plane."""
    system = mbd.System("bounce", gravity=(0.0, 0.0, -9.81))
    part = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.11)))
    at = {"point": part.r, "normal": (0, 0, 1), "plane_point": (0, 0, 0), "radius": 0.1}
    system.add(mbd.Contact("floor", system.ground, part, **{"restitution": 0.7, **at, **more}))
    return system


def driven(mbd):
    """Return a mechanism whose only freedom is driven."""
    return mbd.gallery.slider_crank(driven=True)


def controlled(mbd):
    """Return a pendulum with blocks of every kind."""
    system = mbd.gallery.pendulum()
    joint = system.joints[0]
    angle = f"{joint.name}.angle"
    pid = system.add(mbd.PID("pid", angle, 0.2, kp=8.0, ki=6.0, kd=1.5, tau=0.01))
    system.add(mbd.LowPass("slow", angle, 0.05))
    system.add(mbd.TransferFunction("lead", angle, [1.0, 2.0], [0.1, 1.0]))
    system.add(mbd.DelayLine("late", angle, 0.004))
    system.add(mbd.Motor("motor", joint, torque=pid["out"]))
    return system


def sampled(mbd):
    """Return a pendulum with a sampled controller in Python."""
    system = mbd.gallery.pendulum()
    joint = system.joints[0]
    angle = f"{joint.name}.angle"
    law = system.add(mbd.Sampled("law", 0.005, lambda t, signals: -0.5 * signals[angle], inputs=(angle,)))
    system.add(mbd.Motor("motor", joint, torque=law["out"]))
    return system


def end(mbd, make, t_end=0.02, **how):
    """Return the last state, and the number of steps, of a run."""
    result = mbd.simulate(make(), t_end, **how)
    return flat(result.y[-1], len(result.t))


def asked(mbd, make, t_end=0.02, **how):
    """Return what a result says of a run."""
    result = mbd.simulate(make(), t_end, **how)
    joint = next(iter(result.model.joints), None)
    found = [result.y[-1], result.energy().total, *(result.violation(x) for x in ("position", "velocity", "acceleration"))]
    if joint is not None:
        reaction = result.reaction(joint)
        found += [reaction.force[-1], reaction.torque[-1]]
    found.append(result.resample(result.t[:-1] + 0.3 * np.diff(result.t)).y[-1])
    return flat(*found)


@group
def gallery(mbd):
    """Every mechanism, by fixed steps and by steps with control of the error."""
    for make in mbd.gallery.GALLERY:
        yield f"{make.__name__} RK4", partial(asked, mbd, make, h=1e-3)
        if make.__name__ not in ("net", "stack"):
            yield f"{make.__name__} adaptive", partial(end, mbd, make, rtol=1e-7, atol=1e-9)


EVENTS_OF_THEIR_OWN = ("net", "stack", "dominoes", "ratchet", "geneva_drive", "rattleback", "woodpecker", "rimless_wheel")
"""Mechanisms of many bodies or contacts, which a tenth of a second shows as well."""


@group
def mechanisms(mbd):
    """Every mechanism through every kind of question: a second of motion, motion without forces, rest, modes, many at once, a page."""
    for make in mbd.gallery.GALLERY:
        name, t_end = make.__name__, 0.1 if make.__name__ in EVENTS_OF_THEIR_OWN else 1.0
        yield f"{name} simulate", partial(end, mbd, make, t_end, h=1e-3)
        yield f"{name} kinematics", lambda make=make: flat(mbd.kinematics(make(), np.linspace(0.0, 0.1, 3)).y)
        yield f"{name} equilibrium", lambda make=make: flat(mbd.equilibrium(make()).state.y)
        yield f"{name} linearize", lambda make=make: frequencies(mbd.linearize(mbd.equilibrium(make())))
        yield f"{name} batch", partial(two_members, mbd, make)
        yield f"{name} compare", partial(compared, mbd, make, 0.01)
        yield f"{name} page", lambda make=make: written(lambda path: mbd.simulate(make(), 0.01, h=1e-3).animate(path))


def two_members(mbd, make):
    """Return the last states of a mechanism that runs twice at once."""
    model = make().compile()
    return flat(mbd.batch(model, np.stack([model.y0, model.y0]), threads=1).simulate(0.01, h=1e-3).y_end)


def frequencies(found):
    """Return the frequencies of modes, sorted."""
    return flat(sorted(abs(mode.frequency) for mode in found.modes))


@group
def methods(mbd):
    """Every integrator, formulation, stabilization and form of constraints, and rules for dependent rows."""
    from haugmbd.formulations import FORMULATIONS
    from haugmbd.integrators.base import Adaptive
    from haugmbd.simulation.compatibility import STABILIZATIONS, integrators

    for name, method in integrators().items():
        for make in (mbd.gallery.double_pendulum, mbd.gallery.slider_crank):
            how = {} if isinstance(method, Adaptive) or method.step is not None else {"h": 1e-3}
            how |= {} if method.correctable else {"stabilization": None}
            yield f"{name} {make.__name__}", partial(end, mbd, make, integrator=method, **how)
    for kind in FORMULATIONS:
        for make in (mbd.gallery.double_pendulum, mbd.gallery.four_bar):
            yield f"{kind.__name__} {make.__name__}", partial(end, mbd, make, h=1e-3, formulation=kind())
    for name, rule in STABILIZATIONS.items():
        yield f"stabilization {name}", partial(end, mbd, mbd.gallery.slider_crank, h=1e-3, stabilization=rule)
    for form in (mbd.Index2(), mbd.Index3(), mbd.GGL(), mbd.HillerAnantharaman()):
        for method in (mbd.BDF, mbd.RadauIIA, mbd.GeneralizedAlpha):
            yield f"{method.__name__} {type(form).__name__}", partial(formed, mbd, method, form)
    for rule in (mbd.DropDependentRows(), mbd.MinimumNorm()):
        yield type(rule).__name__, partial(asked, mbd, mbd.gallery.peaucellier, 0.005, h=1e-3, redundancy=rule)
    yield "SerialChain", partial(chain, mbd)


def formed(mbd, method, form):
    """Return the end of a run by an implicit method with a form of the constraints."""
    return end(mbd, mbd.gallery.slider_crank, h=1e-3, integrator=method(constraint_form=form), stabilization=None)


def chain(mbd):
    """Return what a chain in joint coordinates does."""
    from haugmbd.serial_chain import SerialChain

    made = SerialChain.from_system(mbd.gallery.double_pendulum())
    return flat(*(mbd.simulate(made, 0.02, **how).y[-1] for how in ({"h": 1e-3}, {"rtol": 1e-6, "atol": 1e-8})))


@group
def touching(mbd):
    """Stops, contacts and friction, located, by steps and compliant."""
    implicit = {"integrator": mbd.GeneralizedAlpha(), "stabilization": None}
    ways = {"fixed": {"h": 1e-3}, "adaptive": {"rtol": 1e-7, "atol": 1e-9}, "implicit": {"h": 1e-3, **implicit}}
    limits = {"lower": -0.1, "upper": 0.1}
    for way, how in ways.items():
        yield f"soft stop {way}", partial(end, mbd, lambda: pendulum(mbd, k=1e4, c=10.0, **limits), 0.2, **how)
        yield f"hard stop {way}", partial(end, mbd, lambda: pendulum(mbd, restitution=0.5, **limits), 0.2, **how)
        for mu in (0.0, 0.3):
            fine = how | {"h": 2e-4} if "h" in how else how
            yield (
                f"soft floor mu = {mu} {way}",
                partial(end, mbd, lambda mu=mu: ball(mbd, mu, K=1e5, restitution=0.5), 0.06, **fine),
            )
        yield f"hard floor {way}", partial(end, mbd, lambda: struck(mbd), 0.3, **how)
        for law in (mbd.Viscous(0.1), mbd.BrownMcPhee(0.3, 0.2, 0.01), mbd.LuGre(0.3, 0.2, 0.01, sigma0=1e3), mbd.Coulomb(0.3)):
            yield f"{type(law).__name__} {way}", partial(end, mbd, lambda law=law: pendulum(mbd, law), 0.3, **how)
    for make in (mbd.gallery.incline_block, mbd.gallery.tumbling_box, partial(mbd.gallery.stack, 3)):
        name = getattr(make, "__name__", "stack")
        yield f"{name} MoreauJean", partial(end, mbd, make, 0.1, h=5e-3, integrator=mbd.MoreauJean())
    yield "pile MoreauJean", partial(pile, mbd)
    yield "block located", partial(end, mbd, partial(mbd.gallery.incline_block, 1.2), 0.02, h=1e-2)


def pile(mbd):
    """Return where balls that fall on each other are."""
    system = mbd.System("balls", gravity=(0.0, 0.0, -9.81))
    places = [(0.05 * (k % 3), 0.03 * (k % 2), 0.1 + 0.21 * k) for k in range(6)]
    balls = [system.add(mbd.Body(f"ball {k}", 1.0, (0.004,) * 3, r=r, shape=mbd.Sphere(0.1))) for k, r in enumerate(places)]
    system.add(mbd.Contacts("pile", [(system.ground, mbd.Plane()), *balls], mu=0.3))
    return flat(mbd.simulate(system, 0.3, h=1e-2, integrator=mbd.MoreauJean()).y[-1])


@group
def blocks(mbd):
    """Controllers, step by step and sampled."""
    yield "blocks", partial(end, mbd, lambda: controlled(mbd), 0.05, h=1e-3)
    yield "blocks adaptive", partial(end, mbd, lambda: controlled(mbd), 0.05, rtol=1e-7, atol=1e-9)
    yield "sampled", partial(end, mbd, lambda: sampled(mbd), 0.05, h=1e-3)
    yield "stepper", partial(stepped, mbd)
    yield "events", partial(located, mbd)


def stepped(mbd):
    """Return outputs of a mechanism that is stepped."""
    system = mbd.gallery.slider_crank()
    system.add(mbd.Motor("motor", system["R"], torque=0.0))
    stepper = mbd.Stepper(system, h=1e-3, inputs=["motor"], outputs=["R.angle", "R.force", "slider.r"])
    return flat(stepper.step(0.05, n=30), stepper.step(-0.02, n=3), stepper.step(n=1))


def located(mbd):
    """Return when a pendulum passes its lowest point."""
    event = mbd.Event("low", lambda t, state: float(state.y[0]))
    return flat([record.t for record in mbd.simulate(mbd.gallery.pendulum(), 1.0, h=5e-3, events=[event]).events])


@group
def analysis(mbd):
    """Questions without a simulation, and derivatives."""
    t = np.linspace(0.0, 0.2, 4)
    for make in (mbd.gallery.four_bar, mbd.gallery.peaucellier, mbd.gallery.stewart_platform):
        yield f"assemble {make.__name__}", lambda make=make: flat(mbd.assemble(make()).state.y)
        yield (
            f"mobility {make.__name__}",
            lambda make=make: flat(mbd.mobility(make()).degrees_of_freedom, mbd.mobility(make()).rank),
        )
    yield "kinematics", lambda: flat(mbd.kinematics(driven(mbd), t).y)
    yield "inverse_dynamics", lambda: flat(*mbd.inverse_dynamics(driven(mbd), t).power.values())
    yield "equilibrium", lambda: flat(mbd.equilibrium(mbd.gallery.pendulum()).state.y)
    yield "linearize", partial(linear, mbd)
    yield "assembly_modes", lambda: flat(len(mbd.assembly_modes(mbd.gallery.four_bar(), starts=4)))
    yield "impulse", partial(blow, mbd)
    yield "accelerations", lambda: flat(mbd.accelerations(mbd.gallery.four_bar().compile()).v_dot)


def blow(mbd):
    """Return the state behind a blow."""
    system = mbd.gallery.double_pendulum()
    found = mbd.impulse(system, applied=mbd.PointImpulse("blow", system.bodies[-1], impulse=(0, 0, 1)))
    return flat(found.v, found.omega_bar, found.energy_change)


def linear(mbd):
    """Return the frequencies of a pendulum about its rest."""
    balance = mbd.equilibrium(mbd.gallery.double_pendulum())
    found = mbd.linearize(mbd.gallery.double_pendulum().compile(), balance.state)
    return flat(sorted(abs(mode.frequency) for mode in found.modes))


@group
def studies(mbd):
    """Many runs at once."""
    yield (
        "batch",
        lambda: flat(
            mbd.batch(mbd.gallery.four_bar().compile(), parameters={"crank.mass": [1.0, 2.0, 3.0]}).simulate(0.05, h=1e-3).y_end
        ),
    )
    yield "compare", partial(compared, mbd)
    yield "sweep", partial(swept, mbd)
    yield (
        "convergence",
        lambda: flat(
            mbd.convergence(
                mbd.gallery.pendulum(), [mbd.Method(integrator=mbd.RK4())], 0.2, h=[0.04, 0.02], groups=["positions"]
            ).order("RK4, Projection", "positions")
        ),
    )
    yield "drift_law", lambda: flat(mbd.drift_law(mbd.simulate(driven(mbd), 0.5, h=5e-3, stabilization=None)).exponent)


def compared(mbd, make=None, t_end=0.05):
    """Return the last states of methods that are compared."""
    found = [mbd.Method(integrator=mbd.RK4()), mbd.Method(integrator=mbd.Heun()), mbd.Method(formulation=mbd.NullSpace())]
    results = mbd.compare((make or mbd.gallery.four_bar)(), found, t_end, h=1e-3, reference=False).results
    return flat(*(result.y[-1] for result in results.values()))


def swept(mbd):
    """Return a number of each run of a sweep."""

    def run(system, *_, **__):
        return {"end": float(mbd.simulate(system, 0.05, h=1e-3).y[-1][13])}

    table = mbd.sweep(mbd.gallery.double_pendulum(), {"gravity": [(0, 0, -9.81), (0, 0, -1.62)]}, run, executor="serial")
    return flat(table["end"])


def written(make_it):
    """Return whether a file was written."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "page.html")
        make_it(path)
        return flat(path.stat().st_size > 1000)


@group
def pages(mbd):
    """Files that show a mechanism: their sizes are not compared."""
    system = mbd.gallery.four_bar()
    yield "animation", lambda: written(lambda path: mbd.simulate(mbd.gallery.four_bar(), 0.02, h=1e-3).animate(path))
    yield "live page", lambda: written(lambda path: system.live(path, live=["crank.mass"]))
    yield "equations", lambda: flat(len(mbd.equations(mbd.gallery.planar_slider_crank()).Phi))
    yield (
        "saved",
        lambda: written(
            lambda path: mbd.simulate(mbd.gallery.four_bar(), 0.02, h=1e-3).save(path.with_suffix(".npz")).rename(path)
        ),
    )


@group
def refused(mbd):
    """What only Numba can do."""
    yield (
        "sensitivity",
        lambda: flat(mbd.sensitivity(mbd.gallery.pendulum(), {"bar.mass": 1.0}, ["body.bar.r[0]"], t_end=0.02, h=1e-3).jacobian),
    )
    yield "a function by njit", partial(jitted, mbd)


def jitted(mbd):
    """Return where a pendulum with a law of the user goes."""
    import numba

    system = mbd.gallery.pendulum()
    system.add(mbd.Motor("motor", system.joints[0], torque=numba.njit(lambda t: 0.1 * t)))
    return flat(mbd.simulate(system, 0.02, h=1e-3).y[-1])


def main():
    """Print the numbers of the groups that are named."""
    words = sys.argv[1:]
    if HIDDEN in words:
        sys.modules["numba"] = sys.modules["llvmlite"] = None
        words.remove(HIDDEN)
    warnings.simplefilter("ignore")
    plain, logger = [], logging.getLogger("haugmbd")
    logger.setLevel(logging.INFO)
    logger.addFilter(lambda record: plain.append(record.getMessage()))
    import haugmbd as mbd

    out = {}
    for name in words or GROUPS:
        for case, compute in GROUPS[name](mbd):
            try:
                out[f"{name}: {case}"] = compute()
            except Exception as error:  # noqa: BLE001  the text of a refusal is compared
                out[f"{name}: {case}"] = f"{type(error).__name__}: {error}"
    loaded = [name for name in ("numba", "llvmlite") if sys.modules.get(name) is not None]
    sys.stdout.write(json.dumps({"numbers": out, "loaded": loaded, "notes": plain}))


if __name__ == "__main__":
    main()
