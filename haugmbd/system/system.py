r"""The mechanism as the user builds it: bodies, joints and loads by name; validated, and compiled to a frozen Model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar, overload
from weakref import WeakSet

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.bodies.part import frozen_part
from haugmbd.bodies.plane import read_plane
from haugmbd.bodies.validation import numbers
from haugmbd.choices import check_flags
from haugmbd.compiled.collection import collection_paused
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.joint import Joint, Single
from haugmbd.contact.contact import Contact
from haugmbd.contact.contacts import Contacts
from haugmbd.contact.joint_stop import stops_of
from haugmbd.content_digest import register_content, sorted_state
from haugmbd.control.block import Block
from haugmbd.control.diagram.build import build_network, driven_by_blocks, try_network
from haugmbd.control.diagram.network import Network
from haugmbd.control.output import BlockOutput
from haugmbd.control.signals import SensorLike
from haugmbd.deprecated import public_class
from haugmbd.drivers.expression import read_parameters
from haugmbd.errors import Fault, LockedModelWarning, ModelError, UsageError, warn_user
from haugmbd.forces.base import ForceElement
from haugmbd.forces.compliant.contact_force import ContactForce
from haugmbd.forces.joint_friction import CYLINDRICAL, JointFriction, lead_of
from haugmbd.forces.mass_in_time import MassInTime
from haugmbd.forces.rope import SlackRope
from haugmbd.formats import MODELS, named
from haugmbd.kkt.registry import check_solver
from haugmbd.kkt.solver import BLOCK, LEAVE, TREE, TREES_ON_BLOCKS
from haugmbd.model.compiling.compile import edges_without_rows
from haugmbd.model.compiling.numbering import StateLayout
from haugmbd.model.dependent_rows import DropDependentRows, Redundancy, Rule, check_rule
from haugmbd.model.inspection.given import Compilable
from haugmbd.model.inspection.length import put_length
from haugmbd.model.memory import need_least_memory
from haugmbd.model.model import Model
from haugmbd.model.pickling import OF_THIS_PROCESS, reduce_system
from haugmbd.model.state import State
from haugmbd.redundancy.rank import put_row_scale
from haugmbd.redundancy.redundancy import put_mask
from haugmbd.system.assemblies import Subassembly, add_system, remove_parts
from haugmbd.system.build import build_model
from haugmbd.system.checks.contradictions import REDUNDANT
from haugmbd.system.checks.validation import Checked, Parts, check, warnings_of
from haugmbd.system.custom_joint import ACCEPTED, JointLike, Wrapped
from haugmbd.system.in_plane import check_plane
from haugmbd.system.joint_equations import JointEquations
from haugmbd.system.parameters import bind_expressions
from haugmbd.system.structures import Structure, SwitchableParts
from haugmbd.system.summary import overview
from haugmbd.tolerances import check_tolerance

Part = TypeVar("Part")

_SYSTEMS: WeakSet[System] = WeakSet()


def _check_switchable(part: Any, active: Any) -> None:
    """Raise UsageError for an `active` that is no truth value, or a part that cannot be off."""
    if not isinstance(active, bool):
        raise UsageError(f"system.add: active is {active!r}, must be True or False.")
    if not active and isinstance(part, Body | Block | SensorLike) and not isinstance(part, Joint | ForceElement):
        raise UsageError(
            f"system.add: {part.name!r} cannot be off: joints, loads and rigid contacts can. A body is set free by releasing its joints."
        )


@public_class
class System(Compilable):
    """A mechanism under construction: bodies, joints and force elements.

    Parameters
    ----------
    name : str
        Name of the system in messages and results.
    gravity : array_like, (3,)
        Gravity, global frame [m/s2]; by default zero.
    ground_shape : Shape or sequence of Shape, optional
        What is drawn of the ground, global frame, such as a frame or a table.
    parameters : mapping of str to float, optional
        Named numbers that `Expression` drivers of this system read.
    tolerance : float, optional
        How far redundant rows may contradict each other [rad, or part of the size of the mechanism], in all that is done with the system:
        as by axes of a planar loop that are not quite parallel. Such rows are left out, the independent ones hold to rounding, and what is
        left is told. Beyond it the mechanism is refused. By default 1e-3 for joints that were meant to fit; see `haugmbd.tolerances`.
    planar : {"xz", "zx", "xy", "yx", "yz", "zy"}, optional
        The plane of a planar mechanism, by two global axes. Bodies then have two coordinates and an angle phi, from the first axis to the
        second; what leaves the plane is refused by name. Results are those of the spatial model; runs of loops are faster.

    Attributes
    ----------
    ground : Body
        The fixed body.
    bodies : list of Body
        The bodies, the ground first.
    joints, loads, contacts, blocks, sensors : list
        Joints, force elements, rigid contacts, blocks and sensors, in the order in which they were added.
    import_report : ImportReport or None
        What an importer did with the file that the system comes from, such as `read_urdf`; None without one.

    Raises
    ------
    UsageError
        If parameters are not finite numbers by name, or tolerance is not valid. Other bad values are collected in `faults()`.
    """

    def __init__(
        self,
        name: str = "system",
        *,
        gravity: Any = (0.0, 0.0, 0.0),
        ground_shape: Any = (),
        parameters: Mapping[str, float] | None = None,
        tolerance: float | None = None,
        planar: str | None = None,
    ) -> None:
        check_tolerance(tolerance)
        self.name = name
        self.planar = read_plane(planar, f"system {name!r}")
        self.tolerance = tolerance
        self.gravity = gravity
        self.ground = Body.ground(shape=ground_shape)
        self.bodies: list[Body] = [self.ground]
        self.joints: list[Joint] = []
        self.loads: list[ForceElement] = []
        self.contacts: list[Contact] = []
        self._contact_groups: list[Contacts] = []
        self.blocks: list[Block] = []
        self.sensors: list[Any] = []
        self._parameters = read_parameters(parameters or {})
        self.import_report: Any = None
        _SYSTEMS.add(self)

    _off: tuple[Any, ...] = ()
    """Loads and contacts that are off at the start; joints know it themselves."""
    layout: StateLayout | None = None
    _of_signals: tuple[Sequence[Joint], Sequence[ForceElement]] | None = None
    """Of the system of those parts alone that are on: the layout of the state, and the joints and loads that signals are of."""

    @property
    def parameters(self) -> Mapping[str, float]:
        """Return the named parameters, read-only."""
        return MappingProxyType(self._parameters)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Return the pickled form. Raise PicklingError, with the elements, if a function of the user cannot be pickled."""
        return reduce_system(self)

    @overload
    def add(self, part: System, *, prefix: str = ..., at: Any = ..., mirror: str | None = ...) -> Subassembly: ...
    @overload
    def add(self, part: Part, *, active: bool = ...) -> Part: ...
    def add(self, part: Any, *, active: bool = True, prefix: str = "", at: Any = None, mirror: str | None = None) -> Any:
        """Add a part to the system, and return it.

        Parameters
        ----------
        part : Body, Joint, Primitive, ForceElement, Contact, Contacts, Block, Sensor, System, or object with `name` and `primitives()`
            A body, a joint, a single constraint equation (it is named by its kind), a force element, a rigid contact or a group of them, a
            block, or a sensor that blocks read; every run records it. Of another system its parts are copied, as often as it is added.
        active : bool
            False for a joint, load or rigid contact that is off at the start, and is switched on by an event, see `Switch`.
        prefix : str
            Of a system: what the names of the copies begin with, such as "left/".
        at : (r, p) or r, optional
            Of a system: where its origin comes to stand [m], and its orientation, as Euler parameters or a rotation matrix.
        mirror : {"xy", "xz", "yz"}, optional
            Of a system: the plane of its own frame in which the copy is its image; then it is put at its place.

        Returns
        -------
        same type, or Subassembly
            The part, for use in other parts; of a system the copies of its parts, by their old names.

        Raises
        ------
        UsageError
            If part is none of these, or a class in place of an object; if a system has parts that cannot be copied, by name; if a part of
            its kind cannot be off.
        """
        if active is not True:
            _check_switchable(part, active)
        if isinstance(part, System):
            return add_system(self, part, prefix, at, mirror)
        if not isinstance(prefix, str) or prefix or at is not None or mirror is not None:
            raise UsageError(f"system.add: prefix, at and mirror are of systems, and {part!r:.80} is none.")
        if isinstance(part, Body):
            self.bodies.append(part)
            if part.in_time is not None and not part.faults():
                self.loads.append(MassInTime(part))
        elif isinstance(part, ForceElement):
            self._add_force(part)
        elif isinstance(part, Contact):
            self.contacts.append(part)
        elif isinstance(part, Contacts):
            self._add_contacts(part)
        elif isinstance(part, Block):
            self.blocks.append(part)
        elif not isinstance(part, Joint) and isinstance(part, SensorLike) and not isinstance(part, type):
            self.sensors.append(part)
        elif isinstance(part, type):
            raise UsageError(f"system.add got the class {part.__name__}, not an object made by it. {ACCEPTED}")
        else:
            self._add_joint(part, active)
            return part
        if not active:
            self._off = (*self._off, part)
        return part

    def _add_force(self, load: ForceElement) -> None:
        """Add a force element behind the parts that it consists of."""
        for part in load.parts():
            self.add(part)
        self.loads.append(load)
        if isinstance(load, JointFriction) and load.shape == CYLINDRICAL:
            self._put_in_threads((load,), self.joints)

    def _add_contacts(self, group: Contacts) -> None:
        """Add the members of a group of contacts: rigid contacts, and contacts that are forces."""
        for member in group.members(self.bodies, self.joints):
            if isinstance(member, Contact):
                self.contacts.append(member)
            else:
                self.loads.append(member)
        self._contact_groups.append(group)

    def _add_joint(self, part: Any, active: bool) -> None:
        """Add a joint, or the load of a rope that may be slack, which is no row while it is."""
        joint = self._as_joint(part)
        joint.put_on_ground(self.ground)
        frozen_part(joint)
        if not active:
            joint.__dict__["active"] = False
        if joint.may_be_slack:
            self.loads.append(SlackRope(joint))
            if not joint.active:
                self._off = (*self._off, self.loads[-1])
            return
        self.joints.append(joint)
        if lead_of(joint) != 0.0:
            self._put_in_threads(self.loads, (joint,))

    @staticmethod
    def _put_in_threads(loads: Sequence[ForceElement], joints: Sequence[Joint]) -> None:
        """Let frictions of cylindrical joints rub in the threads of the screws that move these."""
        for load in loads:
            if isinstance(load, JointFriction):
                for screw in joints:
                    load.rubs_in_thread(screw)

    @property
    def inactive(self) -> tuple[Any, ...]:
        """Return the joints, loads and contacts that are off at the start."""
        return (*(joint for joint in self.joints if not joint.active), *self._off)

    def put_off(self, parts: Sequence[Any]) -> None:
        """Let parts of the system be off at the start; forget those that are not in it any more."""
        for part in parts:
            if isinstance(part, Joint):
                part.__dict__["active"] = False
        there = {id(part) for part in (*self.loads, *self.contacts)}
        kept = tuple(part for part in (*self._off, *(part for part in parts if not isinstance(part, Joint))) if id(part) in there)
        if kept != self._off:
            self._off = kept

    def remove(self, part: Any) -> None:
        """Take a part out of the system again.

        Parameters
        ----------
        part : Body, Joint, ForceElement, Contact, Contacts, Block, Sensor, Subassembly, or a list of these
            What `add` has returned.

        Raises
        ------
        UsageError
            If it is not in the system, or if other parts need it, by name.
        """
        several = tuple(part) if isinstance(part, Subassembly | list | tuple) else (part,)
        if isinstance(part, Contacts):
            several = (*filter(part.has_member, self.contacts), *filter(part.has_member, self.loads))
        remove_parts(self, several)
        gone = [contact for contact in several if isinstance(contact, Contact | ContactForce)]
        self._contact_groups = [group for group in self._contact_groups if not any(map(group.has_member, gone))]

    def _parts(self) -> Iterator[tuple[str, Any]]:
        """Yield the names of all parts, and the parts as they were given to `add`."""
        for part in chain(self.bodies, self.joints, self.loads, self.contacts, self.blocks, self.sensors):
            yield part.name, part.as_added() if isinstance(part, Joint) else part

    def _as_joint(self, part: Any) -> Joint:
        """Return the joint for `part`."""
        if isinstance(part, Joint):
            if not all(hasattr(part, name) for name in ("name", "frame_i", "frame_j")):
                kind = type(part).__name__
                remedy = f"let {kind}.__init__ call super().__init__(name, frame_i, frame_j)"
                raise UsageError(f"system.add got a {kind} without its name or frames: {remedy}.")
            return part
        if isinstance(part, Primitive):
            return Single(self._free_name(part.kind), part)
        if isinstance(part, JointLike) and callable(part.primitives):
            return Wrapped(part)
        raise UsageError(f"system.add got {part!r} ({type(part).__name__}). {ACCEPTED}")

    def _free_name(self, kind: str) -> str:
        """Return kind 1, kind 2, ...: the first name that no joint has."""
        taken, number = {joint.name for joint in self.joints}, 1
        while f"{kind} {number}" in taken:
            number += 1
        return f"{kind} {number}"

    def __getitem__(self, name: str) -> Any:
        """Return the part of this name. Raise UsageError, with the nearest name, if there is none or more than one."""
        same_name = [part for other, part in self._parts() if other == name]
        if len(same_name) == 1:
            return same_name[0]
        if same_name:
            raise UsageError(f"system {self.name!r} has {len(same_name)} parts named {name!r}. Keep what system.add(...) returned.")
        names = [other for other, _ in self._parts()]
        near = get_close_matches(str(name), names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"It has {', '.join(map(repr, names[:12]))}{', ...' * (len(names) > 12)}."
        raise UsageError(f"system {self.name!r} has nothing named {name!r}. {hint}")

    def __contains__(self, name: object) -> bool:
        """Return whether a part of this name was added."""
        return any(other == name for other, _ in self._parts())

    def __repr__(self) -> str:
        n = len(self.bodies) - 1
        return f"System({self.name!r}: {n} bodies, {len(self.joints)} joints, {len(self.loads)} loads)"

    def table(self) -> str:
        """Return a text table: bodies, loads, joints with the degrees of freedom that they remove, and Gruebler's count."""
        return overview(self.name, self.bodies, self.joints, self.loads, self.contacts)

    def save(self, path: str | Path) -> Path:
        """Write the system to a model file, .json; `haugmbd.load_model` reads it.

        Parameters
        ----------
        path : str or Path
            The file. An old file of that name is replaced when the new one is complete.

        Returns
        -------
        Path
            The file.

        Raises
        ------
        UsageError
            If the ending is not .json, if the file cannot be written (then it is an OSError, too), or if a part cannot: all of them, by
            name, such as a driver whose function is a lambda.

        Notes
        -----
        No digit is lost: the system that is read has the same equations, bit by bit. The same system gives the same bytes.
        """
        where: Path = named(MODELS[0].writer)(self, path)
        return where

    def faults(self) -> tuple[Fault, ...]:
        """Return the faults of this system; () if there is none."""
        return self.checked().faults

    def validate(self) -> None:
        """Raise one ModelError with all faults, if there are any."""
        faults = self.faults()
        if faults:
            raise ModelError(faults)

    def compile(
        self,
        *,
        check_pose: bool = True,
        redundancy: Rule = DropDependentRows(),  # noqa: B008  frozen
        tolerance: float | None = None,
        solver: str | None = None,
    ) -> Model:
        """Validate the system, and return the frozen Model.

        Parameters
        ----------
        check_pose : bool
            Whether to check that joints and drivers agree with the modelled pose, and that the motion is determined there. False serves to
            evaluate rows of a mechanism that is not closed as modelled, or is singular there; no row is dropped then.
        redundancy : DropDependentRows or MinimumNorm
            The choice of multipliers of dependent rows; the motion does not depend on it.
        tolerance : float, optional
            How far redundant rows may contradict each other: the misalignment of an axis [rad], or of a point relative to the size of the
            mechanism. Dropped rows have gaps of this size. By default that of the system, see `System`.
        solver : {"block LDL^T", "tree", "trees on blocks", "multifrontal", "dense"}, optional
            How the equations of motion are factored, for study; by default the way that is predicted to be faster: a recursion over
            open chains and trees, also such that hang on loops, fronts for nets and trusses, blocks for other models; a dense matrix of
            all rows only on request. The solutions agree to rounding. `Model.solver` says which was chosen.

        Returns
        -------
        Model
            The compiled mechanism.

        Raises
        ------
        ModelError
            With all faults of the system.
        UsageError
            If tolerance, redundancy or solver is not valid.

        Warns
        -----
        UserWarning
            If a part is doubtful, such as a cam whose profile nearly closes, or a contact whose restitution its model cannot reach, or if
            redundant rows fit only up to more than typed digits; also in `Model.warnings`.
        LockedModelWarning
            If no degree of freedom is left and nothing is driven, or if a misalignment locks a loop; also in `Model.warnings`.
        """
        check_flags(check_pose=check_pose)
        model = self.compile_quietly(check_pose=check_pose, redundancy=redundancy, tolerance=tolerance, solver=solver)
        if self.planar is not None:
            model = replace(model, planar=self.planar)
            check_plane(model)
        of_parts = warnings_of(self.joints, self.loads)
        for note in model.warnings:
            told = note in of_parts or note.startswith(REDUNDANT)
            warn_user(note, UserWarning if told else LockedModelWarning)
        return model

    def compile_quietly(self, *, check_pose: bool, redundancy: Rule, tolerance: float | None, solver: str | None) -> Model:
        """Return the model as `compile` does, without issuing its warnings."""
        check_rule(redundancy)
        tolerance = self.tolerance if tolerance is None else tolerance
        check_tolerance(tolerance)
        check_solver(solver)
        if self.inactive:
            return self._compiled_in_part(check_pose=check_pose, redundancy=redundancy, tolerance=tolerance, solver=solver)
        return self._compiled_acting(check_pose=check_pose, redundancy=redundancy, tolerance=tolerance, solver=solver)

    def _compiled_acting(self, *, check_pose: bool, redundancy: Rule, tolerance: float | None, solver: str | None) -> Model:
        """Return the model of all parts of the system."""
        checked, equations = self._checked(check_pose, tolerance, solver, redundancy)
        checked = checked._replace(examined=None)  # of many rows it is large
        if checked.rows is None:
            raise ModelError(checked.faults)
        # a tree has no rows that depend on others
        dropped = checked.redundancy.joints if checked.redundancy is not None else ()
        if solver in (TREE, TREES_ON_BLOCKS) and dropped:
            names = ", ".join(map(repr, dropped))
            raise UsageError(f"solver = {solver!r} does not serve this model: rows of {names} depend on others. {LEAVE}")
        no_tree = bool(dropped) and checked.model is not None and checked.model.solver in (TREE, TREES_ON_BLOCKS)
        model = self._built(checked, equations, BLOCK if no_tree else solver, may_be_whole=not no_tree)
        if no_tree:
            model = replace(model, solver_reason="because rows depend on others")
        # what the rows at the modelled pose decide
        put_row_scale(model, checked.rows)
        put_mask(model)
        put_length(model, checked.rows)
        return model.with_redundancy(redundancy, tolerance)

    def _built(self, checked: Checked, equations: JointEquations, solver: str | None, *, may_be_whole: bool) -> Model:
        """Return the model of checked parts: the one of the checks, if it has all of them, or another one with loads and blocks."""
        settings: dict[str, Any] = {"warnings": checked.notes}
        if checked.redundancy is not None:
            settings["redundancy"] = checked.redundancy
        contacts = tuple(self.contacts)
        if (
            may_be_whole
            and checked.model is not None
            and not (self.loads or checked.network or self.layout or leaves_out(checked.model, checked.redundancy))
        ):
            return checked.model.changed(**settings, contacts=contacts)
        return build_model(
            self.name,
            self.bodies,
            self.joints,
            self.loads,
            np.array(self.gravity, dtype=np.float64),
            **settings,
            solver=solver,
            equations=equations,
            network=checked.network,
            contacts=contacts,
            layout=self.layout,
        )

    def _compiled_in_part(self, *, check_pose: bool, redundancy: Rule, tolerance: float | None, solver: str | None) -> Model:
        """Return the model of the parts that are on. All parts are checked by themselves, those that are on at the modelled pose."""
        whole = self._checked(False, tolerance, solver)[0]
        if whole.faults:
            raise ModelError(whole.faults)
        acting, parts = self.acting(self._angles_of(whole))
        model = acting._compiled_acting(check_pose=check_pose, redundancy=redundancy, tolerance=tolerance, solver=solver)
        return replace(model, parts=parts)

    @staticmethod
    def _angles_of(whole: Checked) -> tuple[Coordinate, ...]:
        """Return the joint angles that couplings read;  whole: what is known of all parts"""
        return () if whole.model is None else tuple(q for q, _ in whole.model.angles)

    def acting(self, angles: tuple[Coordinate, ...]) -> tuple[System, SwitchableParts]:
        """Return the system of the parts alone that are on at the start, and all parts.

        angles: the joint angles that couplings of the whole system read
        """
        off = self.inactive
        loads = tuple(self.loads)
        layout = StateLayout(loads, (*(q for load in loads for q in load.coordinates() if q.turns), *angles))
        names = frozenset(part.name for part in off)
        parts = SwitchableParts(tuple(self.joints), loads, tuple(self.contacts), Structure(names))
        joints, some, contacts = parts.on(parts.structure)
        acting = System(self.name, gravity=self.gravity, parameters=self._parameters, tolerance=self.tolerance)
        acting.ground, acting.bodies, acting.joints, acting.loads = self.ground, self.bodies, joints, some
        acting.contacts, acting.blocks, acting.sensors = contacts, self.blocks, self.sensors
        acting.import_report, acting.layout, acting._of_signals = self.import_report, layout, (self.joints, self.loads)
        twice = sorted(name for name in names if sum(part.name == name for part in parts.parts) > 1)
        known = set(map(id, self.joints))
        users: list[Joint | ForceElement] = [*self.joints, *loads]
        missing = [(part, joint) for part in users for joint in part.needs() if id(joint) not in known]
        if missing:
            raise ModelError(
                Fault(
                    f"part {part.name!r}",
                    f"its joint {joint.name!r} was never added to the system",
                    "Add it with system.add(joint).",
                )
                for part, joint in missing
            )
        if twice:
            raise ModelError(
                Fault(f"part {name!r}", "two parts have this name, and one of them is off", "Give each a name of its own.")
                for name in twice
            )
        return acting, parts

    def checked(self, at_pose: bool = True, tolerance: float | None = None, solver: str | None = None) -> Checked:
        """Return all faults, the findings at the modelled pose, and a model of the faultless parts."""
        tolerance = self.tolerance if tolerance is None else tolerance
        if not (self.inactive and at_pose):
            return self._checked(at_pose, tolerance, solver)[0]
        whole = self._checked(False, tolerance, solver)[0]
        if whole.faults:
            return whole
        acting, _ = self.acting(self._angles_of(whole))
        return acting._checked(at_pose, tolerance, solver)[0]

    @collection_paused()
    def _checked(
        self, at_pose: bool, tolerance: float | None, solver: str | None, rule: Rule | None = None
    ) -> tuple[Checked, JointEquations]:
        """Return the findings, and the equations of the joints: a joint of the user is asked for them once."""
        need_least_memory(len(self.bodies) - 1, self.joints)
        equations = JointEquations(self.joints)
        bind_expressions(self.name, self._parameters, equations.that_were_read(), (*self.loads, *self.blocks))
        parts = Parts(
            self.name,
            self.gravity,
            self.bodies,
            self.joints,
            self.loads,
            self.contacts,
            _owner,
            equations,
            getattr(self.import_report, "nothing_moves", ""),
        )
        gravity = numbers(self.gravity)
        g = gravity if gravity is not None and gravity.shape == (3,) else np.zeros(3)

        def build(bodies: Sequence[Body], joints: Sequence[Joint]) -> Model:
            return build_model(self.name, bodies, joints, (), g, solver=solver, equations=equations, network=moving)

        read_one_by_one = equations.that_have_no_pattern(self.joints)
        driven = driven_by_blocks(read_one_by_one, map(equations.of, read_one_by_one))
        moving: Network | None = None
        # drivers that blocks write: the blocks are tried first, on the other joints
        if driven:  # without the blocks the rows of these joints have no values
            of_blocks = {where for where, _ in driven}
            others = parts._replace(joints=[joint for joint in self.joints if f"joint {joint.name!r}" not in of_blocks])
            checked = check(others, build, at_pose, tolerance, rule)
            moving, faults = self._network(driven, try_it=not checked.faults)
            if checked.faults or faults:
                return checked._replace(faults=(*checked.faults, *faults), rows=None), equations
        checked = check(parts, build, at_pose, tolerance, rule)
        late = [
            x for group in self._contact_groups for x in group.late_faults(self.bodies, self.joints, (*self.contacts, *self.loads))
        ]
        if late:
            checked = checked._replace(faults=(*checked.faults, *late), rows=None)
        return checked._replace(network=moving) if driven else self._with_network(checked), equations

    @property
    def signal_parts(self) -> tuple[Sequence[Joint], Sequence[ForceElement]]:
        """Return the joints and loads that signals are of."""
        return (self.joints, self.loads) if self._of_signals is None else self._of_signals

    def _with_network(self, checked: Checked) -> Checked:
        """Return the findings with those of the blocks, whose functions are called if nothing else is wrong."""
        network, faults = self._network((), try_it=not checked.faults)
        if faults:
            return checked._replace(faults=(*checked.faults, *faults), rows=None)
        return checked._replace(network=network)

    def _network(self, driven: Sequence[tuple[str, BlockOutput]], *, try_it: bool) -> tuple[Network | None, tuple[Fault, ...]]:
        """Return the blocks, and their faults;  driven: the outputs that drive joints;  try_it: whether functions are called."""
        parts = self.signal_parts
        struck = (*self.contacts, *stops_of(parts[1]))
        network, faults = build_network(self.blocks, self.sensors, self.bodies, *parts, State.from_y, struck, driven)
        if network is not None and try_it and not faults:
            faults = try_network(network, parts[1], driven)
        return network, faults


def leaves_out(model: Model, redundancy: Redundancy | None) -> bool:
    """Return whether a redundancy drops all rows of an edge of a model, which is then built without it."""
    return redundancy is not None and bool(edges_without_rows(model.slot_of_row, redundancy.dropped))


def _owner(body: Body) -> str:
    """Return the name of a system that the body was added to, "" if there is none."""
    return next((system.name for system in _SYSTEMS if any(body is other for other in system.bodies)), "")


register_content(System, lambda system: sorted_state(system, OF_THIS_PROCESS))
