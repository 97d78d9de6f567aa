r"""Rigid contacts with friction in the file of a result: the modes of the segments of an event-driven run, the steps of a stepped one.

event-driven     metadata of each segment: `modes`, for each point that touches  [contact, feature, mode, hint, fixed]; those at its end
time stepping    variables over the stored states, and over the points of their steps:

contact_step     (nt, 2)          middle and length of the step before the state [s]
contact_y        (nt, ny)         its positions, and the velocities behind its impulses
contact_u        (nt, 2, nb + 1, 6)    velocities before it, and those of its forces
contact_wrench   (nt, nb + 1, 6)  forces of the contacts on the bodies
contact_forces   (nt, K, 5)       of each point that presses in the run: normal force, friction, state
contact_points   (n, 6)           of all steps, one after the other: contact, feature, three impulses, restitution
contact_count    (nt,)            how many of these lines belong to each step

The points (K, 2) are in the metadata, `contact_keys`.  Contacts are those of the model, by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.contact.impact_laws import LAWS
from haugmbd.contact.joint_stop import rigid_contacts
from haugmbd.errors import UsageError
from haugmbd.impacts.contact_history import ContactSegment, StepLaws, SteppedContacts
from haugmbd.impacts.contact_problem import ContactProblem, Key, PointMode
from haugmbd.model.model import Model
from haugmbd.simulation.results.io.schema import STEPPED

STEP, Y, U, WRENCH, FORCES, POINTS, COUNT = STEPPED


def problem_data(p: ContactProblem) -> dict[str, Any]:
    """Return the contacts of a run, by their names in its model, and its law of impacts."""
    of_model = {contact.name for contact in rigid_contacts(p.model)}
    missing = [repr(name) for name in p.names if name not in of_model]
    if missing:
        raise UsageError(f"its contacts {', '.join(missing[:5])} are not parts of its model: add them, system.add(...)")
    return {"names": list(p.names), "impact": None if p.law is None else type(p.law).__name__}


def problem_of(data: Mapping[str, Any], model: Model) -> ContactProblem:
    """Return the contacts of a file.  Raise UsageError if its model does not have them."""
    of_model = {contact.name: contact for contact in rigid_contacts(model)}
    missing = [repr(name) for name in data["names"] if name not in of_model]
    if missing:
        raise UsageError(f"its contacts {', '.join(missing[:5])} are not parts of its model")
    return ContactProblem(model, [of_model[name] for name in data["names"]], _law(data))


def problem_of_structure(data: Mapping[str, Any], model: Model) -> ContactProblem | None:
    """Return the contacts of a structure of a mechanism whose structure changes; None where none is on."""
    return ContactProblem(model, model.contacts, _law(data)) if model.contacts else None


def _law(data: Mapping[str, Any]) -> Any:
    """Return the law of impacts of a file."""
    law = data.get("impact")
    return None if law is None else LAWS[law]()


def segment_data(segment: ContactSegment | None) -> dict[str, Any]:
    """Return the modes of a segment, and those at its end."""
    if segment is None:
        return {"modes": []}
    end = {} if segment.end is None else {"end": segment.end[0], "modes_at_end": _lines(segment.end[1])}
    return {"modes": _lines(segment.modes)} | end


def segment_of(p: ContactProblem, data: Mapping[str, Any]) -> ContactSegment:
    """Return the modes of a segment of a file."""
    end = (float(data["end"]), _modes(data["modes_at_end"])) if "end" in data else None
    return ContactSegment(p, _modes(data.get("modes", ())), end)


def _lines(modes: Mapping[Key, PointMode]) -> list[list[Any]]:
    return [
        [*key, mode.mode, None if mode.hint is None else np.asarray(mode.hint).tolist(), mode.fixed] for key, mode in modes.items()
    ]


def _modes(lines: Any) -> dict[Key, PointMode]:
    modes: dict[Key, PointMode] = {}
    for c, feature, mode, hint, fixed in lines:
        modes[int(c), int(feature)] = PointMode(int(mode), None if hint is None else np.array(hint, dtype=np.float64), bool(fixed))
    return modes


def stepped_data(contacts: SteppedContacts) -> tuple[dict[str, Any], dict[str, Array], dict[str, str]]:
    """Return metadata, arrays and first axes of the contacts of a stepped run."""
    p, laws, nt = contacts.problem, contacts.laws, len(contacts.laws)
    lines = [
        np.column_stack([np.asarray(keys, dtype=np.float64).reshape(-1, 2), f, law.e])
        for (keys, f), law in zip(contacts.steps, laws, strict=True)
    ]
    shape = (nt, 2, p.n, 6)
    arrays = {
        STEP: np.array([(law.t, law.h) for law in laws]).reshape(nt, 2),
        Y: np.array([law.y for law in laws]).reshape(nt, -1),
        U: np.array([(law.u, law.u_m) for law in laws]).reshape(shape),
        WRENCH: contacts.wrench,
        FORCES: np.concatenate([contacts.normal[..., None], contacts.friction, contacts.state[..., None]], axis=2),
        POINTS: np.concatenate([np.zeros((0, 6)), *lines]),
        COUNT: np.array([len(line) for line in lines], dtype=np.float64),
    }
    arrays = {name: np.asarray(array, dtype=np.float64) for name, array in arrays.items() if array.size}
    meta = {"contact_problem": problem_data(p), "contact_keys": [list(key) for key in contacts.keys]}
    return meta, arrays, {POINTS: "contact_point"}


def stepped_of(meta: Mapping[str, Any], arrays: Mapping[str, Array], model: Model, nt: int) -> SteppedContacts:
    """Return the contacts of a stepped run from its file."""
    p = problem_of(meta["contact_problem"], model)
    keys: tuple[Key, ...] = tuple((int(c), int(feature)) for c, feature in meta["contact_keys"])
    forces = arrays.get(FORCES, np.zeros((nt, 0, 5)))
    lines = np.split(arrays.get(POINTS, np.zeros((0, 6))), np.cumsum(arrays[COUNT].astype(int))[:-1]) if nt else []
    laws = [
        StepLaws(
            float(arrays[STEP][n, 0]), arrays[Y][n], arrays[U][n, 0], arrays[U][n, 1], float(arrays[STEP][n, 1]), lines[n][:, 5]
        )
        for n in range(nt)
    ]
    steps = [(np.ascontiguousarray(line[:, :2]).astype(np.int64), np.ascontiguousarray(line[:, 2:5])) for line in lines]
    state = forces[..., 4].astype(np.int64)
    return SteppedContacts(p, keys, forces[..., 0], forces[..., 1:4], state, arrays[WRENCH], laws, steps)
