"""Models in MJCF, the format of MuJoCo."""

from __future__ import annotations

import numpy as np

SEED = 20261124


def model(bodies, *, gravity="0 0 -9.81", **sections):
    inside = "".join(f"<{name}>{text}</{name}>" for name, text in sections.items() if text)
    option = f'<option gravity="{gravity}" integrator="Euler"/><compiler angle="degree"/>'
    return f'<mujoco model="model">{option}<worldbody>{bodies}</worldbody>{inside}</mujoco>'


def numbers(values):
    return " ".join(repr(float(x)) for x in np.ravel(values))


def inertial(rng):
    a, b, c = rng.uniform(0.1, 0.5, 3) ** 2
    m = rng.uniform(0.5, 3.0)
    p = rng.normal(size=4)
    moments = numbers(m * np.array((b + c, a + c, a + b)))
    place = f'pos="{numbers(rng.normal(scale=0.2, size=3))}" quat="{numbers(p)}"'
    return f'<inertial {place} mass="{m!r}" diaginertia="{moments}"/>'


def random_tree(seed, n=6):
    """A random tree of hinges, slides, balls, free and fixed bodies, with forces; and a control."""
    rng = np.random.default_rng(SEED + seed)
    children = {k: [] for k in range(-1, n)}
    parents = [-1 if k == 0 else int(rng.integers(max(-1, k - 3), k)) for k in range(n)]
    for k, parent in enumerate(parents):
        children[parent].append(k)
    q, v, actuators, control = [], [], [], {}
    kinds = ("hinge", "slide", "ball", "free", "fixed", "hinge")

    def body(k):
        kind = kinds[int(rng.integers(len(kinds)))]
        if kind == "free" and parents[k] != -1:
            kind = "hinge"
        joint = ""
        if kind in ("hinge", "slide"):
            axis, at = rng.normal(size=3), rng.normal(scale=0.2, size=3)
            spring = f'stiffness="{rng.uniform(1, 5)!r}" springref="{rng.uniform(-0.3, 0.3)!r}"' if rng.random() < 0.5 else ""
            rotor = f'armature="{rng.uniform(0.01, 0.3)!r}"' if rng.random() < 0.6 else ""
            damper = f'damping="{rng.uniform(0, 1)!r}"'
            joint = f'<joint name="j{k}" type="{kind}" axis="{numbers(axis)}" pos="{numbers(at)}" {damper} {spring} {rotor}/>'
            q.append(rng.uniform(-0.5, 0.5))
            v.append(rng.normal())
            choice = int(rng.integers(4))
            name = f"u{k}"
            if choice == 1:
                actuators.append(
                    f'<motor name="{name}" joint="j{k}" gear="{rng.uniform(-3, 3)!r}" ctrllimited="true" ctrlrange="-1 1"/>'
                )
            elif choice == 2:
                actuators.append(f'<position name="{name}" joint="j{k}" kp="{rng.uniform(1, 9)!r}" kv="0.5" gear="1.5"/>')
            elif choice == 3:
                actuators.append(f'<velocity name="{name}" joint="j{k}" kv="0.7"/>')
            if choice:
                control[name] = float(rng.uniform(-2, 2))
        elif kind in ("ball", "free"):
            rotor = f'armature="{rng.uniform(0.01, 0.3)!r}"' if kind == "free" or parents[k] == -1 else ""
            rotor += f' damping="{rng.uniform(0, 1)!r}"' if rng.random() < 0.6 else ""
            rotor += f' stiffness="{rng.uniform(1, 5)!r}"' if rng.random() < 0.6 else ""
            at = "0 0 0" if kind == "free" else numbers(rng.normal(scale=0.2, size=3))
            joint = f'<joint name="j{k}" type="{kind}" pos="{at}" {rotor}/>'
            q.extend([*(rng.normal(size=3) if kind == "free" else ()), *rng.normal(size=4)])
            v.extend(rng.normal(size=6 if kind == "free" else 3))
        place = f'pos="{numbers(rng.normal(scale=0.4, size=3))}" quat="{numbers(rng.normal(size=4))}"'
        inside = inertial(rng)
        held = f'gravcomp="{rng.uniform(0, 2)!r}"' if rng.random() < 0.3 else ""
        return f'<body name="b{k}" {place} {held}>{joint}{inside}' + "".join(body(c) for c in children[k]) + "</body>"

    bodies = "".join(body(k) for k in children[-1])
    key = f'<key name="pose" qpos="{numbers(q)}" qvel="{numbers(v)}"/>' if q else '<key name="pose"/>'
    return model(bodies, actuator="".join(actuators), keyframe=key), control
