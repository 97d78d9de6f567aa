r"""What the engine is compiled of: runs that reach every entry, in the process that keeps the LLVM code.

    python -m haugmbd.engine_build.workload FILE        the collection, pickled

An entry is compiled for the types that it is called with.  Routines have their signature; the others get theirs here, from short runs
of each kind of question.  An entry that no run reaches is named at the end, unless it is among those that are left out for a reason.
"""

from __future__ import annotations

import os
import pickle
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import haugmbd as mbd
from haugmbd.analysis.kinematics.path_steps import start_entry, step_entry, volumes_entry
from haugmbd.cli import warm as command_line
from haugmbd.compiled.function_pointers import F1, F2, F3, types
from haugmbd.contact.cone import sweep_contacts
from haugmbd.diagnostics.method_solutions import keep_entry
from haugmbd.engine.blob import first_call
from haugmbd.engine.doors import compile_doors
from haugmbd.engine.implicit import implicit_steps
from haugmbd.engine.stops import make_steps
from haugmbd.engine_build import collect
from haugmbd.formulations.newton_euler import factorize_and_solve_entry
from haugmbd.gallery import (
    chain,
    delta_robot,
    double_pendulum,
    four_bar,
    incline_block,
    net,
    peaucellier,
    slider_crank,
    stack,
    tumbling_box,
    windows,
)
from haugmbd.impacts.contact_response import solve_entry
from haugmbd.joints import RJ, TJ, Rope
from haugmbd.kkt.front_solver import factorize_independent_entry, solve_columns_entry
from haugmbd.model.inspection.row_gaps import first_open_entry
from haugmbd.redundancy.minimum_norm import spread_entry
from haugmbd.serial_chain import SerialChain
from haugmbd.serial_chain.impulses import chain_impulse
from haugmbd.serial_chain.recursions.aba import aba
from haugmbd.serial_chain.recursions.crba import crba
from haugmbd.serial_chain.recursions.rnea import joint_wrenches, rnea
from haugmbd.workspace.layout import PACK_TYPE

LEFT_OUT: dict[str, str] = {
    "haugmbd.kkt.minimum_degree.minimum_degree": "returns arrays that it makes: plain Python orders the fronts of a net",
    "haugmbd.kkt.minimum_degree.bisection_levels": "returns arrays that it makes",
    "haugmbd.kkt.front_plan.lay_out": "returns arrays that it makes",
    "haugmbd.kkt.front_plan.fold": "returns arrays that it makes",
    "haugmbd.geometry.narrow_phase.manifold_entry": "of one pair of shapes: its kernel is part of the entries of all contacts",
    "haugmbd.geometry.narrow_phase.rates_entry": "of one pair of shapes",
    **dict.fromkeys(
        (
            "haugmbd.batches.runs_side_by_side.run_group_entry",
            "haugmbd.batches.side_by_side.accelerate_groups",
            "haugmbd.model.inspection.row_gaps.gaps_of_states_entry",
        ),
        "of members side by side, whose kernels are compiled for another kind of number: the engine makes members one by one",
    ),
    **dict.fromkeys(
        (
            "haugmbd.sensitivity.adjoint.again_entry",
            "haugmbd.sensitivity.adjoint.backward_entry",
            "haugmbd.sensitivity.adjoint.beside_entry",
            "haugmbd.sensitivity.implicit_tangents.run_entry",
            "haugmbd.sensitivity.rattle_tangents.rattle_entry",
            "haugmbd.sensitivity.tangents.place_entry",
            "haugmbd.sensitivity.tangents.run_entry",
        ),
        "of derivatives, whose kernels are compiled for another kind of number: they need Numba",
    ),
}
"""Entries that are not in the engine, and why."""
LARGE_CHAIN = 80
"""Bodies of a chain whose equilibrium is sought by the equations of its tree."""


def main() -> int:
    """Write the collection of this source tree."""
    texts = collect.keep_modules()
    for name, run in runs():
        _say(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                run()
            except Exception as error:  # noqa: BLE001  what it did not reach is named at the end
                _say(f"{name}: {type(error).__name__}: {error}")
    compile_doors()
    compile_rare()
    collect.import_everything(mbd)
    file = Path(sys.argv[1])
    found = collect.collection(texts, LEFT_OUT, _say)
    new = file.with_suffix(f".{os.getpid()}")
    new.write_bytes(pickle.dumps(found))
    os.replace(new, file)
    return 0


def _say(text: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def runs() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the runs by name."""
    yield from command_line.default_methods()
    yield from command_line.other_methods()
    yield "friction", friction
    yield "stops and compliant contacts", stops_and_contacts
    yield "stops of blobs", stops_of_blobs
    yield "implicit methods of blobs", implicit_blobs
    yield "contacts by steps", contacts_by_steps
    yield "ropes", ropes
    yield "blocks", blocks
    yield "serial chains", chains
    yield "kinematics and equilibrium", kinematics
    yield "dependent rows", dependent_rows
    yield "singular configurations", singular
    yield "batches", batches
    yield "a step at a time", stepper
    yield "nets", nets
    yield "impulses", impulses


def pendulum() -> Any:
    """Return a pendulum on a pin."""
    system = mbd.System("pendulum")
    rod = system.add(mbd.Body("rod", 1.0, (0.1, 0.1, 0.1), r=(0.5, 0.0, 0.0)))
    system.add(RJ("pin", system.ground, rod, point=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0)))
    return system


def slider() -> Any:
    """Return a body on a rail."""
    system = mbd.System("slider", gravity=(0.0, 0.0, -9.81))
    block = system.add(mbd.Body("block", 1.0, (0.1, 0.1, 0.1), v=(1.0, 0.0, 0.0)))
    system.add(TJ("rail", system.ground, block, point=(0.0, 0.0, 0.0), axis=(1.0, 0.0, 0.0)))
    return system


def _ask(result: Any) -> None:
    """Ask a result for what has entries of its own."""
    result.energy()
    for level in ("position", "velocity", "acceleration"):
        result.violation(level)
    for joint in list(result.model.joints)[:1]:
        result.reaction(joint)
    result.resample(result.t[:-1] + 0.3 * np.diff(result.t))


def friction() -> None:
    """Let joints slide and stick, with every kind of method."""
    for make, law in ((slider, mbd.Coulomb(0.3)), (pendulum, mbd.Coulomb(0.3)), (pendulum, mbd.Viscous(0.1))):
        system = make()
        more: dict[str, Any] = {} if make is slider or isinstance(law, mbd.Viscous) else {"radius": 0.05}
        system.add(mbd.JointFriction("rubbing", system.joints[0], law, **more))
        for how in (
            {"h": 1e-3},
            {"rtol": 1e-6, "atol": 1e-8},
            {"h": 1e-3, "integrator": mbd.GeneralizedAlpha(), "stabilization": None},
        ):
            try:
                result = mbd.simulate(system, 0.5, **how)
            except mbd.UsageError:
                continue
            _ask(result)


def stops_and_contacts() -> None:
    """Let joints and bodies touch."""
    for more in ({"k": 1e4, "c": 10.0}, {"restitution": 0.5}):
        system = pendulum()
        system.add(mbd.JointLimit("stop", system.joints[0], lower=-0.2, upper=0.2, **more))
        _ask(result := mbd.simulate(system, 0.3, h=1e-3))
        if "restitution" in more:
            result.contact("stop lower")
        mbd.mobility(system)
    system = mbd.System("bounce", gravity=(0.0, 0.0, -9.81))
    ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.11)))
    at: dict[str, Any] = {"point": ball.r, "normal": (0, 0, 1), "plane_point": (0, 0, 0), "radius": 0.1}
    system.add(mbd.Contact("floor", system.ground, ball, restitution=0.7, **at))
    fixed, adaptive = dict[str, Any](h=1e-3), dict[str, Any](rtol=1e-6, atol=1e-8)
    for how in (fixed, adaptive):
        _ask(result := mbd.simulate(system, 0.3, **how))
        result.contact("floor")
    for mu in (0.0, 0.3):
        system = mbd.System("ball", gravity=(0.0, 0.0, -9.81))
        ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.0, 0.0, 0.11)))
        shapes: dict[str, Any] = {"shape_i": mbd.Plane(normal=(0, 0, 1)), "shape_j": mbd.Sphere(0.1)}
        system.add(mbd.ContactForce("floor", system.ground, ball, **shapes, K=1e5, restitution=0.5, mu=mu))
        for how in (
            {"h": 1e-4},
            {"rtol": 1e-6, "atol": 1e-8},
            {"h": 1e-4, "integrator": mbd.GeneralizedAlpha(), "stabilization": None},
        ):
            _ask(mbd.simulate(system, 0.05, **how))


def stops_of_blobs() -> None:
    """Let a joint reach its stop as it does in a blob."""
    system = pendulum()
    system.add(mbd.JointLimit("stop", system.joints[0], lower=-0.2, upper=0.2, k=1e4, c=10.0))
    model, method = system.compile(), mbd.RK4(h=1e-3)
    call = first_call(model, method, {"stabilization": mbd.Projection()})
    make_steps(model, call.problem, method.tableau, call.t, 1e-3, call.k1, 300)


def implicit_blobs() -> None:
    """Let a pendulum move by an implicit method as it does in a blob."""
    model = pendulum().compile()
    for method in (mbd.Trapezoidal(h=1e-3), mbd.BDF(h=1e-3)):
        call = first_call(model, method, {"stabilization": None})
        implicit_steps(call.problem, method, call.t, 1e-3, call.k1, 5)


def contacts_by_steps() -> None:
    """Let boxes rest, slide and tumble by Moreau-Jean."""
    for system, t_end in ((stack(3), 0.05), (incline_block(1.2), 0.05), (tumbling_box(), 0.6)):
        mbd.simulate(system, t_end, h=1e-2, integrator=mbd.MoreauJean())
    system = mbd.System("balls", gravity=(0.0, 0.0, -9.81))
    places = [(0.05 * (k % 3), 0.03 * (k % 2), 0.1 + 0.21 * k) for k in range(6)]
    balls = [system.add(mbd.Body(f"ball {k}", 1.0, (0.004,) * 3, r=r, shape=mbd.Sphere(0.1))) for k, r in enumerate(places)]
    system.add(mbd.Contacts("pile", [(system.ground, mbd.Plane()), *balls], mu=0.3))
    mbd.simulate(system, 0.3, h=1e-2, integrator=mbd.MoreauJean())
    mbd.simulate(incline_block(1.2), 0.02, h=1e-2)
    bouncing = mbd.System("bouncing", gravity=(0.0, 0.0, -9.81))
    ball = bouncing.add(mbd.Body("ball", 1.0, (0.004,) * 3, r=(0.0, 0.0, 0.12), shape=mbd.Sphere(0.1)))
    bouncing.add(mbd.Contact("floor", bouncing.ground, ball, shape_i=mbd.Plane(), restitution=0.5, mu=0.3))
    mbd.simulate(bouncing, 0.2, h=1e-2)
    mbd.simulate(bouncing, 0.2, rtol=1e-6)
    many = mbd.System("crowd", gravity=(0.0, 0.0, -9.81))
    grid = [(0.3 * (k % 4), 0.3 * (k // 4), 0.0501) for k in range(12)]
    crowd = [many.add(mbd.Body(f"ball {k}", 1.0, (1e-3,) * 3, r=r, shape=mbd.Sphere(0.05))) for k, r in enumerate(grid)]
    many.add(mbd.Contacts("all", [(many.ground, mbd.Plane()), *crowd], mu=0.3))
    for method in (mbd.MoreauJean(), mbd.RK4()):
        mbd.simulate(many, 0.02, h=1e-2, integrator=method)


def ropes() -> None:
    """Let a ball hang by a cord that only pulls."""
    for more in ({"EA": 1e4, "c": 1.0}, {"unilateral": True}, {}):
        system = mbd.System("cord", gravity=(0.0, 0.0, -9.81))
        ball = system.add(mbd.Body("ball", 1.0, (0.1, 0.1, 0.1), r=(0.3, 0.0, -1.0)))
        system.add(Rope("cord", [(system.ground, (0.0, 0.0, 0.0)), (ball, ball.r)], **more))
        _ask(mbd.simulate(system, 0.02, h=1e-3))


def blocks() -> None:
    """Control a pendulum."""
    system = pendulum()
    pid = system.add(mbd.PID("pid", "pin.angle", 0.2, kp=80.0, ki=60.0, kd=15.0, tau=0.01))
    system.add(mbd.LowPass("slow", "pin.angle", 0.05))
    system.add(mbd.Motor("motor", system.joints[0], torque=pid["out"]))
    model = system.compile()
    _ask(mbd.simulate(model, 0.05, h=1e-3))
    # as Python calls the blocks, where there is no compiler
    calls = model.force_callbacks
    calls.call(0.0, model.y0.copy(), *(np.zeros(shape) for shape in calls.shapes[1:]))


def chains() -> None:
    """Ask a serial chain everything."""
    chain = SerialChain.from_system(double_pendulum())
    q, qd = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    crba(chain, q)
    aba(chain, q, qd)
    rnea(chain, q, qd, qd)
    joint_wrenches(chain, q, qd, qd)
    chain_impulse(chain, q, tau=qd)


def kinematics() -> None:
    """Ask for motions without forces, and for equilibria."""
    mbd.kinematics(slider_crank(driven=True), np.linspace(0.0, 0.2, 5))
    mbd.inverse_dynamics(slider_crank(driven=True), np.linspace(0.0, 0.2, 5))
    mbd.assemble(four_bar())
    balance = mbd.equilibrium(pendulum())
    mbd.linearize(pendulum(), balance.state)
    mbd.equilibrium(chain(LARGE_CHAIN))
    mbd.mobility(four_bar())


def dependent_rows() -> None:
    """Let formulations choose among dependent rows."""
    for rule in (mbd.DropDependentRows(), mbd.MinimumNorm()):
        result = mbd.simulate(peaucellier(), 0.005, h=1e-3, redundancy=rule, record_method=True)
        _ask(result)
        mbd.accelerations(four_bar().compile(), redundancy=rule)
    for formulation in (mbd.NullSpace(), mbd.UdwadiaPhohomsiri()):
        _ask(mbd.simulate(four_bar(), 0.005, h=1e-3, formulation=formulation, record_method=True))


def singular() -> None:
    """Pass through singular configurations."""
    for make in (windows, delta_robot, peaucellier):
        mbd.simulate(make(), 1.0, h=1e-3)


def batches() -> None:
    """Ask for many variants at once."""
    model = double_pendulum().compile()
    many = mbd.batch(model, np.stack([model.y0, model.y0]), threads=1)
    many.accelerations()
    many.simulate(5e-3, h=1e-3)


def stepper() -> None:
    """Advance step by step, with an input."""
    system = pendulum()
    system.add(mbd.RSDA("spring", system.joints[0], k=1.0, c=0.1))
    system.add(mbd.Motor("motor", system.joints[0], torque=0.0))
    steps = mbd.Stepper(system, h=1e-3, inputs=["motor"], outputs=["pin.angle", "rod.v", "motor.torque"])
    steps.step()


def nets() -> None:
    """Let a large net move."""
    system = net(24)
    mbd.simulate(system, 2e-3, h=1e-3)


def impulses() -> None:
    """Strike a mechanism."""
    system = double_pendulum()
    mbd.impulse(system.compile(), applied=mbd.PointImpulse("blow", system.bodies[-1], impulse=(0.0, 0.0, 1.0)))


RARE: tuple[tuple[Any, tuple[Any, ...]], ...] = (
    (factorize_and_solve_entry, (PACK_TYPE,)),
    (first_open_entry, (PACK_TYPE, F1, F2, types.int64, types.float64, types.float64)),
    (volumes_entry, (PACK_TYPE, F1, F2, F2)),
    (keep_entry, (PACK_TYPE, F1, F2, F2)),
    (spread_entry, (PACK_TYPE, F1, F2, F2, F3, F3)),
    (solve_entry, (PACK_TYPE,)),
    (sweep_contacts, (F2, F1, F1, F2, types.int64, types.float64)),
)
"""Entries that only rare mechanisms reach, with their types."""


def compile_rare() -> None:
    """Compile the entries above."""
    for entry, arguments in RARE:
        entry.compile(arguments)
    of_start: Any = start_entry
    of_workspace: Any = factorize_independent_entry
    more: list[tuple[Any, tuple[Any, ...]]] = [(step_entry, signature) for signature in of_start.overloads]
    more += [(solve_columns_entry, (signature[0], F3)) for signature in of_workspace.overloads]
    for like, signature in more:
        like.compile(signature)


if __name__ == "__main__":
    sys.exit(main())
