r"""A model of MuJoCo and its pose; names of its elements; elements that cannot be read, as faults."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.compiled.notices import note_wait
from haugmbd.deprecated import did_you_mean
from haugmbd.errors import Fault, ModelFileError, UsageError
from haugmbd.modelfile.mjcf.bounds import check_file
from haugmbd.modelfile.mjcf.missing_files import compile_without
from haugmbd.modelfile.values import finite

FREE, BALL, SLIDE, HINGE = range(4)
"""Types of joints, mjtJoint."""
CONNECT, WELD, JOINT, TENDON = range(4)
"""Types of equalities, mjtEq."""
ON_JOINTS = 1
"""Of mjtWrap: a part of a fixed tendon, whose length is a sum of joint coordinates."""


LARGEST = 1e60
"""Numbers are below it: products of three of them are finite."""
NONLINEAR = (
    ("jnt_stiffnesspoly", "joint", "nonlinear stiffness"),
    ("jnt_springyield", "joint", "yielding spring"),
    ("dof_dampingpoly", "joint", "nonlinear damping"),
    ("actuator_damping", "actuator", "own damping"),
    ("actuator_dampingpoly", "actuator", "own nonlinear damping"),
    ("actuator_armature", "actuator", "own armature"),
)
"""Arrays of newer versions of MuJoCo, the kind of their owner, and what they are."""


CONSTRAINTS = ("EQUALITY", "LIMIT")
"""Parts of the physics that are disabled with all constraints."""
LAST_GROUP = 30
"""Largest number of a group of actuators that can be disabled."""


MANY_BODIES, OF_MANY = 1_000, 0.4
"""Bodies from which on it is said that MuJoCo's compiler takes its time, which grows with their square; and that of so many [s]."""


class Engine(NamedTuple):
    """The package, a compiled model, and its data at the pose that is read."""

    mujoco: ModuleType
    m: Any
    d: Any

    def name(self, kind: str, number: int) -> str:
        """Return the name of an element, or its kind and number."""
        found = self.mujoco.mj_id2name(self.m, getattr(self.mujoco.mjtObj, f"mjOBJ_{kind.upper()}"), number)
        return found or f"{kind} {number}"

    def leaders(self) -> Array:
        """Return the body that each body is welded to (nbody,); 0, the world, for mocap bodies, which no force moves."""
        leaders = np.array(self.m.body_weldid)
        return np.where(self.m.body_mocapid[leaders] >= 0, 0, leaders)

    def off(self, what: str) -> bool:
        """Return whether a part of the physics is disabled: GRAVITY, SPRING, DAMPER, ACTUATION, EQUALITY, LIMIT."""
        flags = [what, *(["CONSTRAINT"] if what in CONSTRAINTS else [])]
        disabled = int(self.m.opt.disableflags)
        return any(disabled & int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{flag}", 0)) for flag in flags)

    def acts(self, actuator: int) -> bool:
        """Return whether the group of an actuator is not disabled; groups have the numbers 0 to 30."""
        group, disabled = int(self.m.actuator_group[actuator]), int(getattr(self.m.opt, "disableactuator", 0))
        return not (0 <= group <= LAST_GROUP and disabled >> group & 1)


def load_engine() -> ModuleType:
    """Return the package mujoco. Raise UsageError if it is not installed."""
    try:
        import mujoco  # noqa: PLC0415  an optional package
    except ImportError:
        raise UsageError("MJCF is read by mujoco, which is not installed: pip install mujoco.") from None
    module: ModuleType = mujoco
    return module


def compile_file(
    path: Path,
    folder: Path | None,
    key: str | None,
    q: Mapping[str, float] | None,
    adjust: Callable[[Engine], tuple[str, ...]],
) -> tuple[Engine, tuple[str, ...], str]:
    """Return the engine with the model of a file at its pose, what `adjust` says that it has changed of the coordinates, and a note.

    The note is on files that the model names, that are not there, and that the motion does not need; "" for none.

    Raise ModelFileError, with MuJoCo's words, if the file cannot be compiled, or if it names files outside of the folder.
    """
    mujoco = load_engine()
    bodies = check_file(path, folder)
    if bodies > MANY_BODIES:
        note_wait(f"MuJoCo compiles {bodies} bodies of {path.name}", OF_MANY * (bodies / MANY_BODIES) ** 2)
    said: list[str] = []
    mujoco.set_mju_user_warning(said.append)
    try:
        m, without = _compiled(mujoco, path)
        engine = Engine(mujoco, m, mujoco.MjData(m))
        _put_pose(engine, key, q)
        note = adjust(engine)
        _forward(engine)
    except UsageError:
        raise
    except (ValueError, RuntimeError, mujoco.FatalError) as error:
        text = " ".join(str(error).split())[:1000].rstrip(".")
        raise ModelFileError(str(path), [Fault("the whole file", f"MuJoCo: {text}", "")]) from None
    finally:
        mujoco.set_mju_user_warning(None)
    return engine, note, without


def _compiled(mujoco: ModuleType, path: Path) -> tuple[Any, str]:
    """Return the compiled model of a file, and a note on files that are not there."""
    try:
        return mujoco.MjModel.from_xml_path(str(path)), ""
    except ValueError as error:
        less = compile_without(mujoco, path) if hasattr(mujoco, "MjSpec") else None
        if less is None or (less.model is None and not less.faults):
            raise error from None
    if less.faults:
        raise ModelFileError(str(path), less.faults)
    return less.model, less.note


def _put_pose(engine: Engine, key: str | None, q: Mapping[str, float] | None) -> None:
    """Set positions and velocities: of a keyframe, then of joints by name."""
    mujoco, m, d = engine
    if key is not None:
        keys = [engine.name("key", k) for k in range(m.nkey)]
        if key not in keys:
            raise UsageError(
                f"key: there is no keyframe {key!r}{did_you_mean(str(key), keys)}; there are {', '.join(keys) or 'none'}."
            )
        mujoco.mj_resetDataKeyframe(m, d, keys.index(key))
    joints = {engine.name("joint", k): k for k in range(m.njnt) if m.jnt_type[k] in (SLIDE, HINGE)}
    for name, value in (q or {}).items():
        number = finite(value.item() if isinstance(value, np.generic) else value)
        if name not in joints:
            raise UsageError(f"q: no joint {name!r} turns or slides{did_you_mean(str(name), joints)}.")
        if number is None:
            raise UsageError(f"q: the coordinate of {name!r} is {value!r}, must be a finite number.")
        d.qpos[m.jnt_qposadr[joints[name]]] = number
    d.time = 0.0


def _forward(engine: Engine) -> None:
    """Compute poses and velocities of all bodies."""
    mujoco, m, d = engine
    mujoco.mj_normalizeQuat(m, d.qpos)
    mujoco.mj_fwdPosition(m, d)
    mujoco.mj_fwdVelocity(m, d)


def refused(engine: Engine) -> list[Fault]:
    """Return a fault for each element that changes the motion and cannot be read."""
    m = engine.m
    faults: list[Fault] = []

    def refuse(where: str, what: str, remedy: str) -> None:
        faults.append(Fault(where, what, remedy))

    for k in range(m.nbody):
        numbers = np.concatenate([engine.d.xpos[k], m.body_ipos[k], [m.body_mass[k]], m.body_inertia[k]])
        if not np.all(np.abs(numbers) < LARGEST):
            what = f"its position, mass or inertia has the number {numbers[np.argmax(np.abs(numbers))]:g}"
            refuse(f"body {engine.name('body', k)!r}", what, f"Give numbers below {LARGEST:g}.")
    for k in _odd_tendons(m):
        what = "a tendon with an armature, or with a nonlinear spring or damper, cannot be read"
        refuse(f"tendon {engine.name('tendon', k)!r}", what, "Remove it, or replace it by a spring between bodies.")
    for k in range(getattr(m, "nflex", 0)):
        refuse(f"flex {engine.name('flex', k)!r}", "deformable bodies cannot be read", "Remove it.")
    ellipsoids = np.asarray(getattr(m, "geom_fluid", np.zeros((0, 1))))
    if (m.opt.density > 0.0 or m.opt.viscosity > 0.0) and ellipsoids.size and ellipsoids[:, 0].any():
        what = "the medium acts on geoms as ellipsoids (fluidshape), which cannot be read"
        refuse("option", what, "Leave fluidshape out: bodies are then boxes of their inertia; or set density and viscosity to 0.")
    for n in np.flatnonzero(np.asarray(getattr(m, "jnt_actgravcomp", np.zeros(0)))).tolist() if np.any(m.body_gravcomp) else ():
        what = "gravity is compensated by its actuators (actgravcomp), which cannot be read"
        refuse(f"joint {engine.name('joint', n)!r}", what, "Remove actgravcomp: bodies then have gravcomp as a force.")
    for key, kind, words in NONLINEAR:
        owners = np.asarray(getattr(m, key, np.zeros(0)))
        for k in sorted(set(np.argwhere(owners)[:, 0].tolist())):
            number = int(m.dof_jntid[k]) if key.startswith("dof") else k
            refuse(f"{kind} {engine.name(kind, number)!r}", f"its {words} cannot be read", "Remove it.")
    return faults


def _odd_tendons(m: Any) -> list[int]:
    """Return the tendons whose own inertia or nonlinear law acts on bodies."""
    arrays = [np.asarray(getattr(m, f"tendon_{key}", np.zeros(m.ntendon))) for key in ("armature", "stiffnesspoly", "dampingpoly")]
    return [k for k in range(m.ntendon) if any(np.any(array[k]) for array in arrays)]


def is_fixed(engine: Engine, tendon: int) -> bool:
    """Return whether the length of a tendon is a sum of joint coordinates."""
    return bool(engine.m.wrap_type[engine.m.tendon_adr[tendon]] == ON_JOINTS)


def sprung_tendons(engine: Engine) -> dict[int, tuple[float, float]]:
    """Return the stiffness and damping of each tendon that has one of them, and is not disabled."""
    m = engine.m
    k = np.zeros(m.ntendon) if engine.off("SPRING") else np.array(m.tendon_stiffness)
    c = np.zeros(m.ntendon) if engine.off("DAMPER") else np.array(m.tendon_damping)
    return {n: (float(k[n]), float(c[n])) for n in range(m.ntendon) if k[n] or c[n]}


def ignored(engine: Engine, *, stops: bool = False) -> list[str]:
    """Return the elements that are not read and do not change a motion without contacts, as texts."""
    m = engine.m
    contacts = int(np.count_nonzero(m.geom_contype | m.geom_conaffinity))
    counts = {
        "contacts of geoms": contacts,
        "friction losses of joints": int(np.count_nonzero(m.dof_frictionloss)),
        "motions of mocap bodies, which stand still": m.nmocap,
        "sensors": m.nsensor,
        "sites": m.nsite,
        "cameras and lights": m.ncam + m.nlight,
        "contact pairs": m.npair,
        "tendons, which have no spring and no damper": m.ntendon - len(sprung_tendons(engine)),
        "limits of tendons": 0 if stops else int(np.count_nonzero(m.tendon_limited)),
        "friction losses of tendons": int(np.count_nonzero(m.tendon_frictionloss)),
    }
    return [f"{what} ({n})" for what, n in counts.items() if n]
