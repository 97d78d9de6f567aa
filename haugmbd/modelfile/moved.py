r"""The document of a system for another pose of its bodies: coordinates of joints are counted from the modelled pose.

    springs, limits      free, lower and upper are shifted by q - q_0
    functions of q       (cams, forces that read coordinates) keep their meaning by the start of RJ and TJ:   q_0' = q, and frame i is put
                         where body j is:  turned about h by q - q_0, or moved along it, so that f_i is along f_j and P_i at P_j again
Drivers and RSDA measure from the frames turned or moved back by q_0: they see no difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from haugmbd.bodies.body import Body
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.coordinate import ANGLE, DISPLACEMENT
from haugmbd.constraints.joint import Joint
from haugmbd.errors import Fault
from haugmbd.forces.base import ForceElement
from haugmbd.forces.joint_loads.joint_load import JointLoad
from haugmbd.joints import RJ, TJ, CoordinateFunction
from haugmbd.modelfile.parts.joint_loads import shifted, value_at
from haugmbd.system.system import System

Document = dict[str, Any]
States = Mapping[Body, Array]
WIDTH_OF_POSE = 7
"""Numbers of a position and Euler parameters."""
REMEDY = "Model the system where its joints are closed, so that it need not be moved."


def move(document: Document, system: System, states: States) -> list[Fault]:
    """Change joints and force elements of a document for other states (13,) of the bodies; return faults of parts that cannot follow."""
    joints = {joint.name: joint for joint in system.joints}
    loads = {load.name: load for load in system.loads}
    functions = [joint for joint in joints.values() if isinstance(joint, CoordinateFunction)]
    started: set[int] = set()
    if functions or any(map(_reads_coordinates, loads.values())):
        for entry in document["joints"]:
            joint = joints[entry["name"]]
            if type(joint) in (RJ, TJ) and "frame_i" in entry:
                _start(entry, joint, states)
                started.add(id(joint))
    faults = []
    for entry in document["loads"]:
        load = loads[entry["name"]]
        why = _where_it_stands(load, states) if load.is_open() else shifted(entry, load, states, started)
        faults += [Fault(load.where, why, REMEDY)] if why else []
    for function in functions:
        for coordinate, _ in function.terms:
            if id(coordinate.joint) not in started and value_at(coordinate, states) != coordinate.q0:
                what = f"its function is counted from the modelled pose, and {coordinate.label} has no start q0 that could be set"
                faults.append(Fault(f"joint {function.name!r}", what, REMEDY))
    return faults


def _where_it_stands(load: ForceElement, states: States) -> str:
    """Return why an element of a class of the user cannot follow, "" if its bodies stay: its constructor is called at the other pose."""
    for body in load.bodies() if load.reads_pose else ():
        if states[body][:WIDTH_OF_POSE].tolist() != [*body.r, *body.p]:
            return f"the constructor of its class {type(load).__name__} may read the modelled pose, and body {body.name!r} is moved"
    return ""


def _reads_coordinates(load: ForceElement) -> bool:
    """Return whether a force is a function of joint coordinates."""
    return isinstance(load, JointLoad) and load.value().user_function is not None


def _start(entry: Document, joint: Joint, states: States) -> None:
    """Let the coordinate of a joint start at its value, and put frame i where body j is."""
    coordinate = joint.coordinate(ANGLE if type(joint) is RJ else DISPLACEMENT)
    value = value_at(coordinate, states)
    moved, frame = value - coordinate.q0, joint.frame_i
    if moved == 0.0:
        return
    entry["q0"] = value
    if type(joint) is RJ:
        c, s = np.cos(moved), np.sin(moved)
        A = frame.A_bar @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        entry["frame_i"] = entry["frame_i"] | {"A_bar": A.tolist()}
    else:
        entry["frame_i"] = entry["frame_i"] | {"s_bar": (frame.s_bar + moved * frame.h).tolist()}
