r"""The body or joint of a model that an object is: objects are compared by identity, not by name.

Parts of another system can have the same names and other poses; their points and axes would have another meaning.
"""

from __future__ import annotations

from haugmbd.bodies.body import Body
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault, UsageError
from haugmbd.model.labels import JointEntry
from haugmbd.model.model import Model

SHOWN = 12
"""Number of names that a remedy lists."""


def number_of(model: Model, body: Body, where: str = "the call") -> int:
    """Return the number of a body of `model`, 0 for its ground. Raise UsageError for a body of another system."""
    own = list(map(id, model.bodies))
    if id(body) not in own:
        raise UsageError(str(foreign_body_fault(model, where, body)))
    return own.index(id(body))


def foreign_body_faults(model: Model, where: str, *bodies: Body) -> list[Fault]:
    """Return a fault for each of the bodies that the model was not compiled from."""
    own = set(map(id, model.bodies))
    return [foreign_body_fault(model, where, body) for body in bodies if id(body) not in own]


def foreign_body_fault(model: Model, where: str, body: Body) -> Fault:
    """Return the fault of a body that does not belong to the model, with the way to get the one that does."""
    if body.is_ground:
        what = f"it is attached to the ground of another system than that of model {model.name!r}"
        return Fault(where, what, f"Use system.ground of the system that was compiled, or model.bodies[0] of {model.name!r}.")
    if body.name in model.body_names:
        what = f"body {body.name!r} is not the body of this name in model {model.name!r}, but one of another system"
        k = model.body_names.index(body.name)
        return Fault(where, what, f"Use what system.add(...) of the system that was compiled returned, or model.bodies[{k}].")
    names = ", ".join(map(repr, model.body_names[:SHOWN])) + (", ..." if len(model.body_names) > SHOWN else "")
    return Fault(where, f"body {body.name!r} is not in model {model.name!r}", f"Its bodies are {names}.")


def entry_of(model: Model, joint: Joint, where: str) -> JointEntry:
    """Return the entry of a joint of `model`. Raise UsageError for a joint of another system."""
    found = model.joints.get(joint.name)
    if found is not None and found.part is joint:
        return found
    if found is not None:
        raise UsageError(
            f"{where}: joint {joint.name!r} is not the joint of this name in model {model.name!r}, but one of another system. "
            f"Use what system.add(...) of the system that was compiled returned, or model.joints[{joint.name!r}].part."
        )
    names = ", ".join(map(repr, model.joints)) or "none"
    raise UsageError(f"{where}: no joint is called {joint.name!r}; the joints are {names}.")
