r"""Events of one instant in parts of a mechanism that nothing joins: each part has a time of its own.

    dY+ = L_y (dY- + f- dt) + L_p - f+ dt          in the columns of each part, with the dt of its event

The state, its rates f- and f+, and the leap L of a part do not depend on the others: the saltations of the parts commute, and their
product is this one in all columns.  Where joints, loads or blocks join what the events belong to, what follows depends on which is first.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.drivers import Constant
from haugmbd.math.body_columns import WIDTH
from haugmbd.model.model import Model


def parts_of_bodies(models: Iterable[Model]) -> Ints:
    """Return a number for each body, the same for those that joints, loads or contacts of any of the models join; the ground joins none."""
    models = list(models)
    labels = np.arange(models[0].nb + 1)
    for model in models:
        joined = [[place[0] for place in entry.places] or [entry.i, entry.j] for entry in model.joints.values()]
        joined += [list(entry.bodies) for entry in model.loads]
        joined += [[placed.i, placed.j] for placed in (contact.placed(model) for contact in rigid_contacts(model))]
        for bodies in joined:
            moving = [body for body in bodies if body]
            for body in moving[1:]:
                labels[labels == labels[body]] = labels[moving[0]]
    return labels


def parts_of_columns(model: Model, labels: Ints) -> Ints | None:
    """Return the part of each number of a flat state, (ny,); None for a model whose parts time, blocks or internal states may join."""
    if model.network is not None or model.n_states or not all(isinstance(driver, Constant) for driver in model.drivers):
        return None
    first = WIDTH * (model.nb + 1)
    columns = np.concatenate([np.repeat(labels, WIDTH), np.full(len(model.y0) - first, -1)])
    for q, number in model.angles:
        columns[first + number] = labels[max(model.bodies.index(body) for body in q.bodies)]
    for entry in model.loads:
        if entry.load.angles and not entry.turns:
            columns[first + entry.angle : first + entry.angle + entry.load.angles] = labels[max(entry.bodies)]
    return None if (columns < 0).any() else columns


def bodies_of_event(model: Model, name: str) -> set[int]:
    """Return the bodies of an event of a contact or of dry friction; none for another one."""
    owner = name.rpartition(" ")[0]
    placed = [contact.placed(model) for contact in rigid_contacts(model) if contact.name == owner]
    bodies = {body for one in placed for body in (one.i, one.j)}
    bodies |= {body for entry in model.loads if entry.load.name == owner for body in entry.bodies}
    return bodies - {0}


def times_of_columns(models: Sequence[Model], names: Sequence[str], dt: Sequence[Array]) -> Array | None:
    """Return the derivatives (n, ny) of the times of events of one instant, by the columns of the state; None if their parts are joined.

    models: all of a run, of which the events are those of the first;  dt: of each event, (n,)
    """
    labels = parts_of_bodies(models)
    columns = parts_of_columns(models[0], labels)
    parts = [{int(labels[body]) for body in bodies_of_event(models[0], name)} for name in names]
    if columns is None or any(len(part) != 1 for part in parts) or len(set.union(*parts)) != len(parts):
        return None
    times = np.repeat(dt[0][:, None], len(columns), axis=1)
    for part, own in zip(parts, dt, strict=True):
        times[:, columns == next(iter(part))] = own[:, None]
    return times
