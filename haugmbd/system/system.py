r"""The mechanism as the user builds it: bodies, joints and loads by name; validated, and compiled to a frozen Model."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, TypeVar
from weakref import WeakSet

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.joint import Joint, Single
from haugmbd.deprecated import public_class
from haugmbd.errors import Fault, LockedModelWarning, ModelError, UsageError, warn_user
from haugmbd.forces.base import ForceElement
from haugmbd.model.dependent_rows import DropDependentRows, Rule, check_rule
from haugmbd.model.model import Model
from haugmbd.model.pickling import reduce_system
from haugmbd.model.views import Pictured
from haugmbd.redundancy.rank import TOLERANCE, put_row_scale
from haugmbd.redundancy.redundancy import check_tolerance, put_mask
from haugmbd.system.build import build_model
from haugmbd.system.custom_joint import ACCEPTED, JointLike, Wrapped
from haugmbd.system.summary import overview
from haugmbd.system.validation import Checked, Parts, check

Part = TypeVar("Part")

_SYSTEMS: WeakSet[System] = WeakSet()


@public_class
class System(Pictured):
    """A mechanism under construction.

    name: what results call it;  gravity: (3,) global [m/s2], by default none
    ground: the fixed body;  bodies: the ground first;  joints, loads: in the order they were added
    """

    def __init__(self, name: str = "system", *, gravity: Any = (0.0, 0.0, 0.0)) -> None:
        self.name = name
        self.gravity = gravity
        self.ground = Body.ground()
        self.bodies: list[Body] = [self.ground]
        self.joints: list[Joint] = []
        self.loads: list[ForceElement] = []
        self._given: list[tuple[str, Any]] = [(self.ground.name, self.ground)]
        _SYSTEMS.add(self)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """What pickle keeps; PicklingError, with the elements, where a function of the user cannot be pickled."""
        return reduce_system(self)

    def add(self, part: Part) -> Part:
        """Add a body, a joint, a primitive by itself (it is named by its kind), or a force element; return it.

        A joint is a `Joint`, or any object with a `name` and `primitives()`.
        """
        if isinstance(part, Body):
            self.bodies.append(part)
            name = part.name
        elif isinstance(part, ForceElement):
            self.loads.append(part)
            name = part.name
        elif isinstance(part, type):
            raise UsageError(f"system.add got the class {part.__name__}, not an object made by it. {ACCEPTED}")
        else:
            joint = self._as_joint(part)
            self.joints.append(joint)
            name = joint.name
        self._given.append((name, part))
        return part

    def _as_joint(self, part: Any) -> Joint:
        """The joint that `part` is or means."""
        if isinstance(part, Joint):
            return part
        if isinstance(part, Primitive):
            return Single(self._free_name(part.kind), part)
        if isinstance(part, JointLike) and callable(part.primitives):
            return Wrapped(part)
        raise UsageError(f"system.add got {part!r} ({type(part).__name__}). {ACCEPTED}")

    def _free_name(self, kind: str) -> str:
        """kind 1, kind 2, ...: the first that no joint has."""
        taken, number = {joint.name for joint in self.joints}, 1
        while f"{kind} {number}" in taken:
            number += 1
        return f"{kind} {number}"

    def __getitem__(self, name: str) -> Any:
        """What was added under this name; a UsageError with the nearest name where there is nothing, or more than one part."""
        found = [part for other, part in self._given if other == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise UsageError(f"system {self.name!r} has {len(found)} parts named {name!r}. Keep what system.add(...) returned.")
        names = [other for other, _ in self._given]
        near = get_close_matches(str(name), names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(map(repr, names[:12]))}{', ...' * (len(names) > 12)}."
        raise UsageError(f"system {self.name!r} has nothing named {name!r}. {hint}")

    def __contains__(self, name: object) -> bool:
        """Say whether something was added under this name."""
        return any(other == name for other, _ in self._given)

    def __repr__(self) -> str:
        n = len(self.bodies) - 1
        return f"System({self.name!r}: {n} bodies, {len(self.joints)} joints, {len(self.loads)} loads)"

    def table(self) -> str:
        """Bodies, joints with rows and degrees of freedom removed, loads, and Gruebler's count, as text."""
        return overview(self.name, self.bodies, self.joints, self.loads)

    def faults(self) -> tuple[Fault, ...]:
        """Everything that is wrong with this system, () if nothing is."""
        return self.checked().faults

    def validate(self) -> None:
        """Raise one ModelError with all faults, if there are any."""
        faults = self.faults()
        if faults:
            raise ModelError(faults)

    def compile(self, *, check_pose: bool = True, redundancy: Rule = DropDependentRows(), tolerance: float = TOLERANCE) -> Model:  # noqa: B008  frozen
        """Validate, and return the frozen Model.

        check_pose: False to evaluate rows of a mechanism that is not closed as modelled, or is singular there; it is then not
        checked that joints and drivers agree with the modelled pose, and that the motion is determined, and no row is dropped
        redundancy: which multipliers dependent rows get: `DropDependentRows()`, or `MinimumNorm()`; the motion is the same
        tolerance: distance of a row from the span of the others, about the misalignment of an axis [rad] or of a point relative to the
            size of the model, below which it depends on them and is dropped; the dropped rows then stay open by about as much.
            The default takes axes that are typed with five digits for parallel; a larger one frees a loop whose axes fit less well

        Raises ModelError with all faults, UsageError for a tolerance that is none.  Warns with LockedModelWarning, and notes in
        `Model.warnings`, where no degree of freedom is left and nothing is driven, or where a misalignment locks a loop.
        """
        check_rule(redundancy)
        check_tolerance(tolerance)
        checked = self.checked(check_pose, tolerance)
        if checked.rows is None:
            raise ModelError(checked.faults)
        gravity = np.array(self.gravity, dtype=np.float64)
        model = build_model(self.name, self.bodies, self.joints, self.loads, gravity, checked.redundancy, checked.notes)
        put_row_scale(model, checked.rows)
        put_mask(model)
        for note in model.warnings:
            warn_user(note, LockedModelWarning)
        return model.with_redundancy(redundancy, tolerance)

    def checked(self, at_pose: bool = True, tolerance: float = TOLERANCE) -> Checked:
        """All faults, what was found at the modelled pose, and a model of the sound parts."""
        parts = Parts(self.name, self.gravity, self.bodies, self.joints, self.loads, _owner)
        return check(parts, lambda bodies, joints: build_model(self.name, bodies, joints, (), np.zeros(3)), at_pose, tolerance)


def _owner(body: Body) -> str:
    """The name of a system that the body was added to, "" if there is none."""
    return next((system.name for system in _SYSTEMS if any(body is other for other in system.bodies)), "")
