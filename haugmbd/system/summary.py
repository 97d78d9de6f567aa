"""The text table of a system: bodies, joints with their rows, loads, and Gruebler's count."""

from __future__ import annotations

from collections.abc import Sequence

from haugmbd.bodies.body import Body
from haugmbd.constraints.joint import Joint
from haugmbd.contact.contact import Contact
from haugmbd.forces.base import ForceElement
from haugmbd.system.custom_joint import Wrapped, read_primitives
from haugmbd.text_table import table_lines


def overview(
    name: str, bodies: Sequence[Body], joints: Sequence[Joint], loads: Sequence[ForceElement], contacts: Sequence[Contact] = ()
) -> str:
    """Return the table; `bodies` with the ground first."""
    rows = [len(read_primitives(joint)[0]) for joint in joints]
    free = 6 * (len(bodies) - 1)
    parts = [f"system {name!r}"]
    parts += ["", *table_lines(("body", "mass [kg]", "centre of mass [m]"), [_body(body) for body in bodies])]
    if joints:
        lines = [(j.name, _kind(j), j.i.name, j.j.name, str(n)) for j, n in zip(joints, rows, strict=True)]
        parts += ["", *table_lines(("joint", "kind", "body i", "body j", "rows = degrees of freedom removed"), lines)]
    if loads:
        parts += [
            "",
            *table_lines(("load", "kind", "bodies"), [(f.name, f.kind, ", ".join(b.name for b in f.bodies())) for f in loads]),
        ]
    if contacts:
        of_contacts = [(c.name, c.i.name, c.j.name, f"{c.restitution:g}") for c in contacts]
        parts += ["", *table_lines(("contact", "plane on", "point on", "restitution"), of_contacts)]
    count = f"{free} - {sum(rows)} = {free - sum(rows)}"
    parts += ["", f"degrees of freedom (Gruebler): 6 x {len(bodies) - 1} - {sum(rows)} rows: {count}"]
    return "\n".join(parts)


def _kind(joint: Joint) -> str:
    """Return the class of the joint that the user knows."""
    return type(joint.given if isinstance(joint, Wrapped) else joint).__name__


def _body(body: Body) -> tuple[str, ...]:
    if body.is_ground:
        return (body.name, "fixed", "")
    return (body.name, f"{body.mass:g}", "(" + ", ".join(f"{x:g}" for x in body.r) + ")")
