"""A ball bounces until it lies, a box lands on an edge and rattles until it lies flat; a rising force lifts the ball again.

The bounces of the ball end at v0 (1 + e) / (g (1 - e)) after the first contact: infinitely many, in a finite time.
python examples/bouncing.py [FOLDER]            the picture goes to FOLDER, if one is given
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd

G, E, HEIGHT, SIZES = 9.81, 0.7, 1.0, np.array((0.6, 0.4, 0.2))
T_1 = (2.0 * HEIGHT / G) ** 0.5
REST = T_1 * (1.0 + E) / (1.0 - E)


def ball() -> mbd.Result:
    """Falls from 1 m, comes to rest, and is lifted by a force that grows from t = 3 s on."""
    system = mbd.System("ball", gravity=(0, 0, -G))
    body = system.add(mbd.Body("ball", *mbd.inertia.sphere(0.1, density=500.0), r=(0, 0, HEIGHT + 0.1)))
    weight = G * body.mass
    system.add(mbd.PointForce("lift", body, point=body.r, force=lambda t: (0.0, 0.0, weight * max(0.0, t - 3.0))))
    floor = mbd.Contact(
        "floor", system.ground, body, point=body.r, normal=(0, 0, 1), plane_point=(0, 0, 0), radius=0.1, restitution=E
    )
    system.add(floor)
    return mbd.simulate(system, 4.6, h=5e-3)


def box() -> mbd.Result:
    """Falls on an edge."""
    system = mbd.System("box", gravity=(0, 0, -G))
    body = system.add(mbd.Body("box", *mbd.inertia.box(SIZES, density=100.0), r=(0, 0, 0.5), p=(np.cos(0.1), 0, np.sin(0.1), 0)))
    corners = [
        mbd.Contact(
            name,
            system.ground,
            body,
            point=body.r + body.A @ (0.5 * SIZES * at),
            normal=(0, 0, 1),
            plane_point=(0, 0, 0),
            restitution=0.4,
        )
        for name, at in {"a": (1, 1, -1), "b": (-1, 1, -1), "c": (-1, -1, -1), "d": (1, -1, -1)}.items()
    ]
    for corner in corners:
        system.add(corner)
    return mbd.simulate(system, 2.0, h=5e-3)


def main(folder: Path | None = None) -> dict[str, mbd.Result]:
    results = {"ball": ball(), "box": box()}
    floor = results["ball"].contact("floor")
    closes, opens = floor.t[floor.closed][[0, -1]]
    print(
        f"ball: {len(results['ball'].impacts)} impacts, at rest from {closes:.5f} s ({REST:.5f} s of all bounces), lifted at {opens:.9f} s"
    )
    print(f"box: {len(results['box'].impacts)} impacts, {results['box'].energy().kinetic[-1]:.1e} J left of its motion")
    if folder is None:
        return results

    figure, (above, middle, below) = pyplot.subplots(3, 1, figsize=(7.2, 7.2), layout="constrained")
    above.plot(floor.t, floor.gap)
    above.set(ylabel="gap [m]", title=f"a ball with e = {E}")
    middle.plot(floor.t, floor.force)
    middle.set(ylabel="normal force [N]")
    for name in "abcd":
        corner = results["box"].contact(name)
        below.plot(corner.t, corner.gap, label=name)
    below.set(xlabel="t [s]", ylabel="gap [m]", title="the lower corners of a box")
    below.legend()
    figure.savefig(folder / "bouncing.png", dpi=100)
    return results


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
