"""A robot on two wheels that roll, held upright by torques at its axles while it drives to a place.

`linearize` gives A, B, C of the upright robot with wheels that roll; what the common torque moves is four states, in which Riccati's
equation gives the gains; a `Stepper` drives the mechanism, with the two tyres as rolling constraints.
python examples/balancing_robot.py [FOLDER]            the picture goes to FOLDER, if one is given
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot
from scipy.linalg import orth, solve_continuous_are

import haugmbd as mbd
from joints import RJ, RollingDisc

R, TRACK, HEIGHT = 0.1, 0.2, 0.25  # radius of a wheel, half the track, and the chassis above the axles [m]
H, HELD, END = 1e-3, 5, 6.0  # step [s], steps that a torque is held, end of the motion [s]
GOAL, TURN = 0.5, 0.02  # where it drives to [m], and what takes its turning back [N m s/rad]
MOTORS = ["left motor", "right motor"]
SEEN = ["chassis.r[0]", "left axle.angle", "chassis.v[0]", "left axle.rate"]


def robot() -> mbd.System:
    """A chassis, two wheels on their axles, and two tyres that roll on the ground."""
    system = mbd.System("balancing robot", gravity=(0, 0, -9.81))
    chassis = system.add(mbd.Body("chassis", 5.0, (0.08, 0.07, 0.03), r=(0, 0, R + HEIGHT)))
    for side, y in (("left", TRACK), ("right", -TRACK)):
        wheel = system.add(mbd.Body(f"{side} wheel", 0.5, (1.5e-3, 2.5e-3, 1.5e-3), r=(0, y, R)))
        axle = system.add(RJ(f"{side} axle", chassis, wheel, point=(0, y, R), axis=(0, 1, 0)))
        system.add(RollingDisc(f"{side} tyre", wheel, center=(0, y, R), axis=(0, 1, 0), radius=R))
        system.add(mbd.JointForce(f"{side} motor", axle, 0.0))
    return system


def gains(system: mbd.System) -> np.ndarray:
    """K with torque of each wheel = -K y, y as `SEEN`, of the least integral of z.z + 10 torque^2 in the four states z that it moves."""
    linear = mbd.linearize(system, inputs=MOTORS, outputs=SEEN)
    B = linear.B.sum(axis=1, keepdims=True)
    V = orth(np.column_stack([np.linalg.matrix_power(linear.A, k) @ B for k in range(4)]), rcond=1e-10)
    A, B = V.T @ linear.A @ V, V.T @ B
    weight = np.array([[10.0]])
    P = solve_continuous_are(A, B, np.eye(len(A)), weight)
    return np.linalg.solve(weight, B.T @ P)[0] @ np.linalg.inv(linear.C @ V)


def main(folder: Path | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Drive half a metre from rest, and return the times, and places of the chassis and angles of the left axle."""
    system = robot()
    K = gains(system)
    stepper = mbd.Stepper(system, h=H, inputs=MOTORS, outputs=[*SEEN, "right axle.rate"])
    y = np.array(stepper.reset())
    goal = np.array([GOAL, GOAL / R, 0.0, 0.0])
    t, seen = [0.0], [y[:2].copy()]
    while stepper.t < END:
        both, apart = float(-K @ (y[:4] - goal)), TURN * float(y[4] - y[3])
        y = np.array(stepper.step([both + apart, both - apart], n=HELD))
        t.append(stepper.t)
        seen.append(y[:2].copy())
    times, places = np.array(t), np.array(seen)
    pitch = (places[:, 0] - R * places[:, 1]) / (R + HEIGHT)  # of small angles: x = R (axle + pitch) + HEIGHT pitch
    axes = pyplot.figure(figsize=(7, 4)).add_subplot()
    axes.plot(times, places[:, 0], label="place of the chassis [m]")
    axes.plot(times, np.degrees(pitch) / 10.0, label="pitch [10 degrees]")
    axes.set(xlabel="t [s]", title="A robot on two wheels drives half a metre")
    axes.legend()
    if folder is not None:
        axes.figure.savefig(folder / "balancing_robot.png")
    print(f"at {places[-1, 0]:.4f} m after {times[-1]:.1f} s, pitch up to {np.degrees(np.abs(pitch).max()):.2f} degrees")
    return times, places


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
