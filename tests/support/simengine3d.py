"""Models in the JSON of simEngine3D, written from systems, in two dialects of its keys."""

from __future__ import annotations

import json

import numpy as np

from haugmbd.math import euler_parameters

DIALECTS = (
    {"s_bar_i": "s_bar_p_i", "s_bar_j": "s_bar_q_j", "r_dot": "r_dot", "p_dot": "p_dot", "f_dot": "f_dot", "f_ddot": "f_ddot"},
    {
        "a_bar_i": "ai",
        "a_bar_j": "aj",
        "s_bar_i": "si",
        "s_bar_j": "sj",
        "r_dot": "dr",
        "p_dot": "dp",
        "f_dot": "df",
        "f_ddot": "ddf",
    },
)


def document_of(system, dialect=0, *, scale=1.0, matrices=False, masses=True):
    """The document of a system of DP1, DP2, D and CD with constant values; p is `scale` times too long."""
    names = DIALECTS[dialect]
    ids = {system.ground.name: "ground", **{body.name: k for k, body in enumerate(system.bodies[1:], start=1)}}
    bodies = []
    for body in system.bodies[1:]:
        entry = {"name": body.name, "id": ids[body.name], "r": body.r.tolist(), names["r_dot"]: body.v.tolist()}
        if matrices:
            entry |= {"A": body.A.tolist(), "omega": body.omega_bar.tolist()}
        else:
            entry |= {"p": (scale * body.p).tolist()}
            entry[names["p_dot"]] = (scale * euler_parameters.p_dot_from(body.p, body.omega_bar)).tolist()
        if masses:
            entry |= {"mass": body.mass, "J_bar": body.J_bar.tolist()}
        bodies.append(entry)
    constraints = []
    for joint in system.joints:
        for k, row in enumerate(joint.primitives()):
            f = float(row.f.values(0.0)[0])
            entry = {"name": f"{joint.name} {k}", "type": row.kind, "body_i": ids[row.i.name], "body_j": ids[row.j.name]}
            entry |= {names.get(key, key): np.asarray(x).tolist() for key, x in row.given().items()}
            f_text = repr(f * f if row.kind == "D" else f)
            constraints.append(entry | {"f": f_text, names["f_dot"]: "0", names["f_ddot"]: "0"})
    return {"name": system.name, "bodies": bodies, "constraints": constraints}


def text_of(system, dialect=0, **how):
    return json.dumps(document_of(system, dialect, **how), indent=1)
