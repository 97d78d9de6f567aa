# %% [markdown]
# # Lab 3: a driven pendulum and inverse dynamics
#
# *45 to 75 minutes. Before it: lab 1. After assignments A6 to A8 of ME751 (University of Wisconsin-Madison).*
#
# **Question.** Which torque does a motor need to swing a bar as we want, and which power?
#
# ## Theory in a screenful
#
# A **driver** is one more constraint: the coordinate of a joint is a function of time, $\Phi = \theta - f(t) = 0$. Its
# multiplier is the torque that keeps it. With as many drivers as freedoms nothing is left to integrate:
#
# $$\Phi(q, t) = 0 \;\to\; q, \qquad \Phi_q u = \nu \;\to\; u, \qquad \Phi_q \dot u = \gamma \;\to\; \dot u, \qquad
#   \Phi_q^T \lambda = Q - M \dot u \;\to\; \lambda ,$$
#
# four steps at each time by itself: **kinematics** (the first three) and **inverse dynamics** (the last). For a bar of
# mass $m$ and length $L$ on a pin, $\theta$ from the downward vertical and $J = J_C + m (L/2)^2$:
#
# $$T = J\,\ddot\theta + m g \tfrac{L}{2} \sin\theta, \qquad P = T\,\dot\theta .$$
#
# The driver needs $f$, $\dot f$ and $\ddot f$. Write $f$ with NumPy functions, and the library differentiates it
# exactly.
#
# ## The bar of ME751, driven as $\theta = \tfrac{\pi}{4} \cos 2t$

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.gallery import pendulum
from joints import RJ, RotationDriver

system = pendulum(driven=True)
print(system.table())

# %% [markdown]
# The builder of the gallery has put this driver on the pin: `RotationDriver("drive", pin, lambda t: np.pi / 4 *
# (np.cos(2 * t) - 1))`. The coordinate of a joint is **zero at the modelled pose** (here $\theta = \pi/4$), hence the
# $-1$; it is positive about the joint's axis.

# %%
t = np.linspace(0.0, 2.0 * np.pi, 401)
result = mbd.kinematics(system, t)
needed = mbd.inverse_dynamics(system, t)

theta = np.pi / 4 * np.cos(2 * t)
m, L, J = 78.0, 4.0, 104.01625 + 78.0 * 2.0**2
by_hand = J * (-np.pi * np.cos(2 * t)) + m * 9.81 * L / 2 * np.sin(theta)

figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
panels[0].plot(t, needed["drive"], label="inverse dynamics")
panels[0].plot(t[::10], by_hand[::10], "k.", label="by hand")
panels[0].set(xlabel="t [s]", ylabel="torque of the drive [N m]")
panels[0].legend()
panels[1].plot(t, needed.power["drive"])
panels[1].set(xlabel="t [s]", ylabel="power of the drive [W]")
plt.show()
print(f"largest difference {abs(needed['drive'] - by_hand).max():.1e} N m")

# %%
result

# %% [markdown]
# ## The position analysis, step by step
#
# The first of the four steps is the only one that iterates: Newton's method for $\Phi(q, t) = 0$, from the pose of the
# time before. `record=True` keeps its table for each time. Near the solution each step doubles the digits.

# %%
recorded = mbd.kinematics(system, t[:41:20], record=True)
print(recorded.newton[1])
recorded.newton[1].plot()
plt.show()

# %% [markdown]
# ## Two checks
#
# The reaction of the drive's own row is the same torque, and the work of the drive is the change of energy (no
# friction, no losses):

# %%
torque = result.reaction("drive").torque[:, 0]
energy = result.energy()
stored = energy.kinetic + energy.potential
print(f"torque by the multiplier   {abs(torque - needed['drive']).max():.1e} N m apart")
print(f"work of the drive - stored {abs(energy.applied_work - (stored - stored[0])).max():.1e} J")

# %% [markdown]
# ## Forward with this torque
#
# Feed the torque into the **free** bar, without a driver: a bar with the same mass, inertia and place, a pin, and an
# `mbd.Torque` (global components; the pin's axis is $x$). In theory it follows $\theta(t)$. In practice small errors
# grow wherever the motion is unstable: this is why robots combine a computed torque with feedback.

# %%
given = system["bar"]  # at pi/4, where the drive begins at rest


def bar_on_pin(name):
    """Return a system with the bar of ME751 at pi/4 on its pin, at rest, and the pin."""
    made = mbd.System(name, gravity=(0, 0, -9.81))
    bar = made.add(mbd.Body("bar", given.mass, given.J_bar, r=given.r, p=given.p))
    return made, made.add(RJ("pin", made.ground, bar, point=(0, 0, 0), axis=(1, 0, 0)))


def law(t):
    """Return the torque by hand [N m], three components."""
    return (J * (-np.pi * np.cos(2 * t)) + m * 9.81 * L / 2 * np.sin(np.pi / 4 * np.cos(2 * t)), 0.0, 0.0)


motor, pin = bar_on_pin("bar with a motor")
motor.add(mbd.Torque("motor", motor["bar"], torque=law))
forward = mbd.simulate(motor, t[-1], rtol=1e-10, t_eval=t)
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
angle = forward.joint("pin").angle
axes.semilogy(t[1:], abs(angle - (theta - np.pi / 4))[1:])
axes.set(xlabel="t [s]", ylabel="difference of the angle [rad]", title="the free bar under the computed torque")
plt.show()

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `torque`.** The torque of the drive at $t = 0$ [N m], to six digits. (A published value; its sign follows the
# coordinate.)
#
# **2. `power`.** The largest magnitude of the power of the drive [W]. Is it at the ends of the swing, at the bottom, or
# between?

# %% tags=["solution"]
answers["torque"] = needed["drive"][0]
answers["power"] = abs(needed.power["drive"]).max()

# %%
print(mbd.labs.check("lab3", answers))

# %% [markdown]
# **3. `driver`.** The bar is to swing from $\theta = \pi/4$ to $-\pi/4$ in 2 s, with rate and acceleration zero at both
# ends, so that the torque does not jump. Hand in a function `f(t)` for the driver (0 at the modelled pose), written
# with NumPy. *A polynomial in $s = t/2$ with $s^3$, $s^4$ and $s^5$ has three coefficients for three conditions at $s =
# 1$.* Then drive the bar with it, `RotationDriver("drive", pin, f)` on the pin that `bar_on_pin` returns, and look at
# the torque by `mbd.inverse_dynamics`.

# %% tags=["solution"]


def swing(t):
    s = t / 2.0
    return -np.pi / 2.0 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)


answers["driver"] = swing
moved, pin = bar_on_pin("smooth swing")
moved.add(RotationDriver("drive", pin, swing))
times = np.linspace(0.0, 2.0, 201)
figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(times, mbd.inverse_dynamics(moved, times)["drive"])
axes.set(xlabel="t [s]", ylabel="torque [N m]")

# %%
print(mbd.labs.check("lab3", answers))

# %% [markdown]
# ## What you have seen
#
# A prescribed motion is a constraint, its multiplier is the torque of the motor, and nothing is integrated. Smooth
# drivers make smooth torques.
