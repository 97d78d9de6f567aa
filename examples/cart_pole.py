"""A pole on a cart that a crank moves through a rod, held upright by a torque on the crank.

`linearize` gives A and B of the closed loop in the angles of crank and pole, Riccati's equation the gains, a `Stepper` the motion.
python examples/cart_pole.py [FOLDER]            the picture goes to FOLDER, if one is given
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from scipy.linalg import solve_continuous_are

import haugmbd as mbd
from joints import RJ, TJ, PointOnLine

H, HELD, PUSHED, END = 1e-3, 5, 0.1, 6.0  # step [s], steps that a torque is held, end of the push and of the motion [s]
ANGLES = ["motor axle.angle", "pin.angle"]
RATES = ["motor axle.rate", "pin.rate"]


def cart_pole() -> mbd.System:
    """The loop ground, crank, rod, cart, and the pole on the cart."""
    system = mbd.System("cart-pole on a crank", gravity=(0, 0, -9.81))
    crank = system.add(mbd.Body("crank", 0.5, (1e-3, 2e-3, 2e-3), r=(-0.5, 0, 0.1)))
    rod = system.add(mbd.Body("rod", 0.3, (1e-4, 4e-3, 4e-3), r=(-0.25, 0, 0.1)))
    cart = system.add(mbd.Body("cart", 1.0, (0.01, 0.01, 0.01)))
    pole = system.add(mbd.Body("pole", 0.2, (6e-3, 6e-3, 1e-4), r=(0, 0, 0.3)))
    motor = system.add(RJ("motor axle", system.ground, crank, point=(-0.5, 0, 0), axis=(0, 1, 0)))
    system.add(RJ("crank pin", crank, rod, point=(-0.5, 0, 0.2), axis=(0, 1, 0)))
    system.add(PointOnLine("cart pin", rod, cart, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(TJ("rail", system.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    system.add(RJ("pin", cart, pole, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.JointForce("torque", motor, 0.0))
    system.add(mbd.PointForce("push", pole, point=(0, 0, 0.6), force=(0, 0, 0)))
    return system


def gains(system: mbd.System) -> np.ndarray:
    """K with torque = -K x, of the least integral of x.x + 0.1 torque^2;  x: the angles of crank and pole, and their rates."""
    linear = mbd.linearize(system, inputs=["torque"], coordinates=ANGLES)
    R = np.array([[0.1]])
    P = solve_continuous_are(linear.A, linear.B, np.eye(len(linear.A)), R)
    return np.linalg.solve(R, linear.B.T @ P)[0]


def main(folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Push the pole for 0.1 s, and return the times and the angles of crank and pole until the torque has brought them to rest."""
    system = cart_pole()
    K = gains(system)
    stepper = mbd.Stepper(system, h=H, inputs=["torque", "push"], outputs=[*ANGLES, *RATES])
    x = np.array(stepper.reset())
    t, angles = [0.0], [x[:2].copy()]
    while stepper.t < END:
        push = (0.2 if stepper.t < PUSHED else 0.0, 0.0, 0.0)
        x = np.array(stepper.step([float(-K @ x), *push], n=HELD))
        t.append(stepper.t)
        angles.append(x[:2].copy())
    axes = pyplot.figure(figsize=(7, 4)).add_subplot()
    axes.plot(t, np.degrees(angles), label=["crank", "pole"])
    axes.set(xlabel="t [s]", ylabel="angle [degrees]", title="A push of 0.1 s, and the torque on the crank")
    axes.legend()
    if folder is not None:
        axes.figure.savefig(folder / "cart_pole.png")
    print(
        f"pole: up to {np.degrees(np.abs(angles)[:, 1].max()):.2f} degrees, at the end {np.degrees(abs(angles[-1][1])):.4f} degrees"
    )
    return np.array(t), np.array(angles)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
