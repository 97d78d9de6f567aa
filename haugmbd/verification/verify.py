"""Verify what a user has written: compare each of its blocks with something that does not depend on it, and name the wrong one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.choices import check_flags
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint, Single
from haugmbd.constraints.registry import ROW_KINDS as CONSTRAINTS
from haugmbd.control.output_values import with_outputs
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Driver
from haugmbd.errors import ModelError, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.formulations.base import Formulation
from haugmbd.integrators.base import Integrator
from haugmbd.integrators.stabilization.base import Stabilization
from haugmbd.model.model import Model
from haugmbd.simulation.stepping.progress import Progress
from haugmbd.system.build import build_model
from haugmbd.system.custom_joint import JointLike, Wrapped
from haugmbd.system.system import System
from haugmbd.verification.comparisons import Check, Random, Verification
from haugmbd.verification.forces import check_force, check_inertial_forces, check_law
from haugmbd.verification.formulations import check_formulation, mechanisms_for
from haugmbd.verification.integrators import check_integrator, check_stabilization
from haugmbd.verification.rows import check_driver, check_joint, check_rows

KINDS = "a constraint (DP1, ...), a joint, a force element, a driver, a formulation, an integrator, a stabilization, a System or a Model"


@check_keywords
def verify(x: Any, *, states: int = 5, seed: int = 0, progress: bool = False) -> Verification:
    """Compare each block of a part with differences or dense algebra, at random states.

    Parameters
    ----------
    x : Primitive, joint, ForceElement, Driver, Formulation, Integrator, Stabilization, System or Model
        The object, not its class.
    states : int
        Number of random states.
    seed : int
        Seed of the random states.
    progress : bool
        If True, show a progress bar.

    Returns
    -------
    Verification
        A check for each block; `.ok`, `.wrong`, `.worst`, and a table when it is printed. After Ctrl-C the checks so far, with
        `interrupted` set; `.ok` is then False.

    Raises
    ------
    UsageError
        If x is of another kind, or a class.
    ModelError
        If the part has faults.

    Notes
    -----
    Constraints and joints: Phi (both signs of p), Phi_r, PiBar, nu, gamma; of a joint also Phi at the modelled pose, the rank of its rows,
    and its declared freedoms. Forces: power against energy, and a declared jacobian; of a class of your own also whether its law depends on
    its arguments alone, and on those of its constructor. Drivers: f' and f''. Formulations: accelerations,
    multipliers, and the right-hand sides of projections. Integrators and stabilizations: order, repetition, restart, dense output, and
    constraints, in two mechanisms, against DOP853.
    """
    _check_options(x, states, seed)
    check_flags(progress=progress)
    if isinstance(x, System):
        x = x.compile()
    rng, checks = np.random.default_rng(seed), list[Check]()
    with Progress(progress, 0, _parts(x) * states, "states") as bar:
        try:
            for check in _checks(x, states, rng, bar):
                checks.append(check)  # noqa: PERF402  those before Ctrl-C are kept
        except KeyboardInterrupt:
            return Verification(_subject(x), tuple(checks), interrupted=True)
    return Verification(_subject(x), tuple(checks))


def _check_options(x: Any, states: Any, seed: Any) -> None:
    """Raise UsageError for a class in place of an object, and for values that are not numbers."""
    if isinstance(x, type):
        raise UsageError(f"verify got the class {x.__name__}; pass an object of it: {x.__name__}(...).")
    for name, number, least in (("states", states, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise UsageError(f"verify: {name} = {number!r} must be an integer, {least} or more.")


def _parts(x: Any) -> int:
    """Return how many parts of x are each verified at all states."""
    if isinstance(x, Model):
        return 2 + len(x.loads)  # its rows, and its weights and gyroscopic torques
    return len(mechanisms_for(x)) if isinstance(x, Formulation) else 1


def _checks(x: Any, states: int, rng: Random, bar: Progress) -> Iterator[Check]:
    """Yield the checks of a part, by its kind."""
    if isinstance(x, Model):
        yield from _model_checks(x, states, rng, bar)
    elif isinstance(x, Formulation):
        yield from check_formulation(x, states, rng, bar)
    elif isinstance(x, Integrator):
        yield from check_integrator(x, bar)
    elif isinstance(x, Stabilization):
        yield from check_stabilization(x, bar)
    elif isinstance(x, Driver):
        _raise_faults(x.faults())
        yield from check_driver(x, states, rng)
        bar.reach(states)
    elif isinstance(x, ForceElement):
        _raise_faults(x.faults())
        yield from _force_checks(x, states, rng, bar)
    else:
        joint = Single(repr(x), x) if isinstance(x, Primitive) else x if isinstance(x, Joint) else None
        if joint is None and isinstance(x, JointLike):
            joint = Wrapped(x)
        if joint is None:
            raise UsageError(f"verify got a {type(x).__name__}, {x!r}; give {KINDS}.")
        _raise_faults(joint.faults())
        yield from _joint_checks(joint, states, rng, bar)


def _model_checks(model: Model, states: int, rng: Random, bar: Progress) -> Iterator[Check]:
    """Yield the checks of all rows of a model, of its weights and gyroscopic torques, and of each force element alone."""
    joints = [entry.part for entry in model.joints.values()]
    loads = [with_constants(entry.load) for entry in model.loads]
    whole, bare = (build_model(model.name, model.bodies, joints, some, model.gravity) for some in (loads, []))
    known = model if model.network is None else whole
    yield from check_rows(model, np.arange(model.nc), states, rng, bar)
    yield check_inertial_forces(known, whole, bare, states, rng, bar)
    for load in loads:
        for check in _force_checks(load, states, rng, bar):
            yield replace(check, name=f"{check.name} of {load.name!r}")


def _joint_checks(joint: Joint, states: int, rng: Random, bar: Progress) -> Iterator[Check]:
    """Yield the checks of a joint alone, with the joints that it needs."""
    joints = [*joint.needs(), joint]
    bodies = [body for j in joints for body in (j.i, j.j, *(place.body for place in j.places()))]
    model = _alone(bodies, joints, [])
    yield from check_rows(model, model.joints[joint.name].rows, states, rng, bar)
    if not isinstance(joint, Single):
        yield from check_joint(model, joint.name, joint.freedoms)


def _force_checks(load: ForceElement, states: int, rng: Random, bar: Progress) -> tuple[Check, ...]:
    """Return the checks of a force element alone."""
    load, joints = with_constants(load), list(load.needs())
    bodies = [*load.bodies(), *(p for j in joints for p in (j.i, j.j))]
    model = _alone(bodies, joints, [load])
    own = check_law(model, states, rng) if load.is_open() else ()
    return (*check_force(model, _alone(bodies, joints, []), states, rng, bar), *own)


def with_constants(load: ForceElement) -> ForceElement:
    """Return a force element with constants in place of outputs of blocks: its own equations are checked, for any value of them."""
    return with_outputs(load, lambda output: np.array(1.0))


def _alone(used: list[Body], joints: list[Joint], loads: list[ForceElement]) -> Model:
    """Return a model of these parts and no others. Raise UsageError for a kind that has no kernel."""
    for part in (p for joint in joints for p in joint.primitives()):
        if type(part) not in CONSTRAINTS:
            entry = "enter it in MODULES of haugmbd/constraints/registry.py, as CONTRIBUTING.md says"
            raise UsageError(f"verify: {type(part).__name__} has no kernel: {entry}.")
    grounds = [body for body in dict.fromkeys(used) if body.is_ground]
    moving = [body for body in dict.fromkeys(used) if not body.is_ground]
    _raise_faults(fault for body in moving for fault in body.faults())
    return build_model("verify", [*(grounds or [Body.ground()]), *moving], joints, loads, np.zeros(3))


def _raise_faults(faults: Any) -> None:
    """Raise ModelError if there are faults."""
    found = tuple(faults)
    if found:
        raise ModelError(found)


def _subject(x: Any) -> str:
    """Return the name of what was verified."""
    return f"{type(x).__name__} {x.name!r}" if isinstance(x, Model | System) else repr(x)
