"""Verify what a user has written: compare each of its blocks with something that does not depend on it, and name the wrong one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint, Single
from haugmbd.constraints.registry import ROW_KINDS as CONSTRAINTS
from haugmbd.control.output_values import with_outputs
from haugmbd.deprecated import check_keywords
from haugmbd.drivers import Driver
from haugmbd.errors import ModelError, UsageError
from haugmbd.forces.base import ForceElement
from haugmbd.forces.registry import KINDS as FORCES
from haugmbd.formulations.base import Formulation
from haugmbd.model.model import Model
from haugmbd.system.build import build_model
from haugmbd.system.custom_joint import JointLike, Wrapped
from haugmbd.system.system import System
from haugmbd.verification.drivers import check_driver
from haugmbd.verification.forces import check_force, check_inertial_forces
from haugmbd.verification.formulations import check_formulation
from haugmbd.verification.joints import check_joint
from haugmbd.verification.report import Check, Verification
from haugmbd.verification.rows import check_rows
from haugmbd.verification.states import Random

KINDS = "a constraint (DP1, ...), a joint, a force element, a driver, a formulation, a System or a Model"


@check_keywords
def verify(x: Any, *, states: int = 5, seed: int = 0) -> Verification:
    """Compare each block of a part with differences or dense algebra, at random states.

    Parameters
    ----------
    x : Primitive, joint, ForceElement, Driver, Formulation, System or Model
        The object, not its class.
    states : int
        Number of random states.
    seed : int
        Seed of the random states.

    Returns
    -------
    Verification
        A check for each block; `.ok`, `.wrong`, `.worst`, and a table when it is printed.

    Raises
    ------
    UsageError
        If x is of another kind, or a class.
    ModelError
        If the part has faults.

    Notes
    -----
    Constraints and joints: Phi (both signs of p), Phi_r, PiBar, nu, gamma; of a joint also Phi at the modelled pose, the rank of its rows,
    and its declared freedoms. Forces: power against energy, and a declared jacobian. Drivers: f' and f''. Formulations: accelerations,
    multipliers, and the right-hand sides of projections.
    """
    _check_options(x, states, seed)
    rng = np.random.default_rng(seed)
    checks = _checks(x, states, rng)
    return Verification(_subject(x), checks)


def _check_options(x: Any, states: Any, seed: Any) -> None:
    """Raise UsageError for a class in place of an object, and for values that are not numbers."""
    if isinstance(x, type):
        raise UsageError(f"verify got the class {x.__name__}; pass an object of it: {x.__name__}(...).")
    for name, number, least in (("states", states, 1), ("seed", seed, 0)):
        if not isinstance(number, int) or isinstance(number, bool) or number < least:
            raise UsageError(f"verify: {name} = {number!r} must be an integer, {least} or more.")


def _checks(x: Any, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of a part, by its kind."""
    if isinstance(x, System):
        x = x.compile()
    if isinstance(x, Model):
        return _model_checks(x, states, rng)
    if isinstance(x, Formulation):
        return check_formulation(x, states, rng)
    if isinstance(x, Driver):
        _raise_faults(x.faults())
        return check_driver(x, states, rng)
    if isinstance(x, ForceElement):
        _raise_faults(x.faults())
        return _force_checks(x, states, rng)
    joint = Single(repr(x), x) if isinstance(x, Primitive) else x if isinstance(x, Joint) else None
    if joint is None and isinstance(x, JointLike):
        joint = Wrapped(x)
    if joint is None:
        raise UsageError(f"verify got a {type(x).__name__}, {x!r}; give {KINDS}.")
    _raise_faults(joint.faults())
    return _joint_checks(joint, states, rng)


def _model_checks(model: Model, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of all rows of a model, of its weights and gyroscopic torques, and of each force element alone."""
    joints = [entry.part for entry in model.joints.values()]
    loads = [with_constants(entry.load) for entry in model.loads]
    whole, bare = (build_model(model.name, model.bodies, joints, some, model.gravity) for some in (loads, []))
    known = model if model.network is None else whole
    checks = [*check_rows(model, np.arange(model.nc), states, rng), check_inertial_forces(known, whole, bare, states, rng)]
    for load in loads:
        checks += [replace(check, name=f"{check.name} of {load.name!r}") for check in _force_checks(load, states, rng)]
    return tuple(checks)


def _joint_checks(joint: Joint, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of a joint alone, with the joints that it needs."""
    joints = [*joint.needs(), joint]
    model = _alone([p for j in joints for p in (j.i, j.j)], joints, [])
    found = check_rows(model, model.joints[joint.name].rows, states, rng)
    return found if isinstance(joint, Single) else (*found, *check_joint(model, joint.name, joint.freedoms))


def _force_checks(load: ForceElement, states: int, rng: Random) -> tuple[Check, ...]:
    """Return the checks of a force element alone."""
    load, joints = with_constants(load), list(load.needs())
    bodies = [*load.bodies(), *(p for j in joints for p in (j.i, j.j))]
    return check_force(_alone(bodies, joints, [load]), _alone(bodies, joints, []), states, rng)


def with_constants(load: ForceElement) -> ForceElement:
    """Return a force element with constants in place of outputs of blocks: its own equations are checked, for any value of them."""
    return with_outputs(load, lambda output: np.array(1.0))


def _alone(used: list[Body], joints: list[Joint], loads: list[ForceElement]) -> Model:
    """Return a model of these parts and no others. Raise UsageError for a kind that has no kernel."""
    known = (*CONSTRAINTS, *FORCES)
    for part, where in (
        *((p, "constraints") for joint in joints for p in joint.primitives()),
        *((load, "forces") for load in loads),
    ):
        if type(part) not in known:
            raise UsageError(
                f"verify: {type(part).__name__} has no kernel: enter it in MODULES of haugmbd/{where}/registry.py, as CONTRIBUTING.md says."
            )
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
