# %% [markdown]
# # Lab 1: a first mechanism and its reactions
#
# *45 to 60 minutes. You need mechanics of rigid bodies; no knowledge of the library.*
#
# **Question.** A steel bar of 4 m hangs on a pin and is released from the horizontal. What does the pin have to carry:
# right after the release, and at worst? And what if a second bar hangs from the first?
#
# ## Theory in a screenful
#
# A bar of mass $m$ and length $L$ turns about a pin at its end, $J = J_C + m (L/2)^2$ is its inertia about the pin, and
# $\theta$ its angle from the downward vertical:
#
# $$J\,\ddot\theta = -m g \tfrac{L}{2} \sin\theta .$$
#
# The pin gives the force that the centre of mass $r$ needs besides the weight, $R = m\,(\ddot r - g)$. For a slender
# bar ($J = m L^2 / 3$) that is released at $\theta = \pi/2$:
#
# * right after the release $\ddot\theta = -\tfrac{3 g}{2 L}$, and the pin carries a quarter of the weight, $R = m g /
#   4$;
# * at the bottom $\dot\theta^2 = 3 g / L$, and it carries $R = m g + m \dot\theta^2 L / 2 = \tfrac52 m g$.
#
# The library knows nothing of $\theta$. It describes every body by the place $r$ of its centre of mass and its rotation
# (Euler parameters $p$), six freedoms for each body, and a joint by equations $\Phi(r, p) = 0$. A pin (revolute joint)
# has five: 6 - 5 = 1 freedom is left. The forces that keep the equations, the **reactions**, are computed together with
# the accelerations.
#
# ## A bar on a pin
#
# Everything is in SI units. The global frame is at the pin: $y$ to the right, $z$ upwards; the pin points along $x$.

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import RJ

steel = 7800.0  # kg/m3

system = mbd.System("pendulum", gravity=(0, 0, -9.81))
bar = system.add(mbd.Body("bar", *mbd.inertia.box((0.05, 4.0, 0.05), density=steel), r=(0, 2, 0)))
pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(1, 0, 0)))
print(system.table())

# %% [markdown]
# Line by line:
#
# * `Body(name, mass, J_bar, r=...)`: `mbd.inertia.box((x, y, z), density=...)` gives mass and inertia of a box with these
#   edges along the axes x, y and z, and the `*` hands both on. `J_bar` is the inertia about the **centre of mass** in
#   the frame of the body, which at first has the global axes. `r` is the place of the centre of mass: the bar is 4 m
#   long along $y$, from the pin at the origin to $y = 4$ m, so that its centre is at $y = 2$ m.
# * `RJ(name, body i, body j, point=..., axis=...)`: a revolute joint between the ground and the bar, through this
#   point, about this axis. Both are **global**, where the bar is modelled; nothing has to be converted to body frames.
# * `system.add` returns what it was given, so that `bar` and `pin` can be used later.
#
# Does it move as we think? `mobility` counts the freedoms and names what is left to move.

# %%
print(mbd.mobility(system))

# %% [markdown]
# ## It falls
#
# `simulate(system, t_end, h=...)` takes steps of `h` seconds with the classical Runge-Kutta method, and returns a
# result. (The first run of all compiles the library, 10 to 30 s; later ones take milliseconds.)

# %%
result = mbd.simulate(system, t_end=2.4, h=1e-3)
print(result.t.shape, result["bar"].r.shape)  # one row for each stored time
print("the centre of mass at the end [m]:", result["bar"].r[-1])

# %% [markdown]
# A notebook shows the animation when a result is the last line of a cell. From a terminal, write it to a file and open
# that in a browser: `result.animate("pendulum.html")`. Press F there to see the reactions as arrows.

# %%
result

# %% [markdown]
# ## What the pin carries
#
# `result.reaction("pin").force` is the force **on body j**, here on the bar, in global components, one row for each
# time. The bar was `body j` because it stands second in `RJ("pin", system.ground, bar, ...)`.

# %%
reaction = result.reaction("pin")
theta = np.arctan2(result["bar"].r[:, 1], -result["bar"].r[:, 2])  # from the downward vertical

figure, (above, below) = plt.subplots(2, 1, figsize=(7.5, 5.5), sharex=True, layout="constrained")
above.plot(result.t, np.degrees(theta))
above.set(ylabel="angle from below [deg]", title="a bar of 4 m, released from the horizontal")
below.plot(result.t, reaction.force[:, 1], label="horizontal, y")
below.plot(result.t, reaction.force[:, 2], label="vertical, z")
below.plot(result.t, np.linalg.norm(reaction.force, axis=1), "k--", linewidth=1, label="magnitude")
below.set(xlabel="t [s]", ylabel="force of the pin on the bar [N]")
below.legend()
plt.show()

# %% [markdown]
# ## Can we believe it?
#
# Three questions that should be asked of every run. Does the pin hold (violation of its equations)? Is energy
# conserved? And does the force agree with the second law, written for the centre of mass? `result["bar"].a` is the
# acceleration of the centre of mass, `.r` its place and `.v` its velocity, each with a row for each stored time; `[0]`
# is the first, `[-1]` the last.

# %%
print(f"largest gap of the pin  {abs(result.violation('position')).max():.1e} (m)")
print(f"energy drift            {abs(result.energy().drift).max():.1e} J")
weight = bar.mass * np.array([0, 0, -9.81])
needed = bar.mass * result["bar"].a - weight  # R = m (a - g)
print(f"reaction against m (a - g)  {abs(needed - reaction.force).max():.1e} N")

# %% [markdown]
# ## Exercises
#
# Put your answers into the dict and run the check as often as you like. It says where to look, not what the answer is.

# %%
answers = {}

# %% [markdown]
# **1. `release`.** The vertical force of the pin on the bar right after the release [N]: from `reaction`, and by hand
# from the theory above. How far are the two apart, and why is the bar of the model not quite slender?
#
# **2. `largest`.** The largest magnitude of the pin force during the swing [N]. At which angle does it occur?

# %% tags=["solution"]
answers["release"] = reaction.force[0, 2]
answers["largest"] = np.linalg.norm(reaction.force, axis=1).max()
print(f"{answers['release']:.3f} N beside m g / 4 = {bar.mass * 9.81 / 4:.3f} N: the thickness adds to J")
print(f"at {np.degrees(theta[np.linalg.norm(reaction.force, axis=1).argmax()]):.1f} degrees")

# %%
print(mbd.labs.check("lab1", answers))

# %% [markdown]
# **3. `system` and `elbow`.** Build a double pendulum as a **new** system: bar 1 as before, from the origin along $+y$;
# bar 2 is 2 m long, of the same steel and the same section of 0.05 m x 0.05 m, and **hangs straight down** from the
# free end of bar 1 at $(0, 4, 0)$, on a second pin along $x$. Both are at rest. Hand in the system, and the magnitude
# of the force in the second pin right after the release [N].
#
# *Before you compute: will it be more or less than the weight of bar 2? The end of a slender bar that falls about its
# other end is faster than a stone.*

# %% tags=["solution"]
double = mbd.System("double pendulum", gravity=(0, 0, -9.81))
bar_1 = double.add(mbd.Body("bar 1", *mbd.inertia.box((0.05, 4.0, 0.05), density=steel), r=(0, 2, 0)))
bar_2 = double.add(mbd.Body("bar 2", *mbd.inertia.box((0.05, 0.05, 2.0), density=steel), r=(0, 4, -1)))
double.add(RJ("pin 1", double.ground, bar_1, point=(0, 0, 0), axis=(1, 0, 0)))
double.add(RJ("pin 2", bar_1, bar_2, point=(0, 4, 0), axis=(1, 0, 0)))
swing = mbd.simulate(double, t_end=3.0, h=1e-3)
answers["system"] = double
answers["elbow"] = np.linalg.norm(swing.reaction("pin 2").force[0])

# %%
print(mbd.labs.check("lab1", answers))

# %% [markdown]
# ## What you have seen
#
# A mechanism is bodies and joints between them; reactions come with the motion, by the name of the joint, on body j, in
# global components; and a result can be questioned: gaps, energy, balances. [Lab 2](lab02_constraints_by_hand) looks
# into the joint.
