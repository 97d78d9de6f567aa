# %% [markdown]
# # Lab 4: drift, index and stabilization
#
# *60 to 90 minutes. Before it: labs 1 and 2.*
#
# **Question.** The equations of motion keep the accelerations on the constraints. Who keeps the positions there? And if
# a violation grows: is it the method, or a wrong equation?
#
# ## Theory in a screenful
#
# The constraints $\Phi(q, t) = 0$ and their two derivatives are
#
# $$\Phi = 0 \;\text{(index 3)}, \qquad \Phi_q u = \nu \;\text{(index 2)}, \qquad \Phi_q \dot u = \gamma \;\text{(index 1)} .$$
#
# The augmented system
#
# $$\begin{bmatrix} M & \Phi_q^T \\ \Phi_q & 0 \end{bmatrix} \begin{bmatrix} \dot u \\ \lambda \end{bmatrix} =
#   \begin{bmatrix} Q \\ \gamma \end{bmatrix}$$
#
# solves the last one exactly, so that $\ddot\Phi = 0$: whatever error a step leaves in $\dot\Phi$ stays, and $\Phi$
# grows with it. If the steps of a method of order $k$ push $\dot\Phi$ to the same side, $\dot\Phi \sim t\,h^k$ and
# $\Phi \sim t^2 h^k$. Three remedies:
#
# * **projection**: after every step back to $\Phi = 0$ and $\Phi_q u = \nu$ by the least correction;
# * **Baumgarte**: feedback, $\ddot\Phi + 2\alpha\dot\Phi + \beta^2 \Phi = 0$ in place of $\ddot\Phi = 0$;
# * **another index**: implicit methods that solve $\Phi = 0$ (index 3), or $\Phi_q u = \nu$ (index 2), or both (GGL) in
#   every step.
#
# ## A point on a rod
#
# One equation, $\Phi = |r|^2 - 1$ in m²: a point of 1 kg on a massless rod of 1 m, released from the horizontal.

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import Distance

system = mbd.System("point pendulum", gravity=(0, -9.81, 0))
mass = system.add(mbd.Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(1, 0, 0)))
system.add(Distance("rod", system.ground, mass, point_i=(0, 0, 0), point_j=(1, 0, 0)))
model = system.compile()

h = 1e-2
runs = {
    "none": mbd.simulate(model, 20.0, h=h, stabilization=None),
    "Baumgarte(10, 10)": mbd.simulate(model, 20.0, h=h, stabilization=mbd.Baumgarte(alpha=10.0, beta=10.0)),
    "projection": mbd.simulate(model, 20.0, h=h, stabilization=mbd.Projection()),
    "index 3, generalized-alpha": mbd.simulate(model, 20.0, integrator=mbd.GeneralizedAlpha(h, constraint_form=mbd.Index3())),
    "index 2, generalized-alpha": mbd.simulate(model, 20.0, integrator=mbd.GeneralizedAlpha(h, constraint_form=mbd.Index2())),
}

# %% [markdown]
# A method is three objects: `formulation=` (how accelerations are computed), `integrator=` (how steps are made; `h=`
# alone means RK4), and `stabilization=` (what keeps the constraints; `None`: nothing). `result.violation(level)`
# computes $\Phi$, $\Phi_q u - \nu$ or $\Phi_q \dot u - \gamma$ of the stored states: an array with a row for each time
# and a column for each equation.

# %%
figure, panels = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharex=True)
for name, run in runs.items():
    for panel, level in zip(panels, ("position", "velocity"), strict=True):
        panel.semilogy(run.t, np.maximum(abs(run.violation(level)[:, 0]), 1e-17), label=name, linewidth=1)
for panel, text in zip(panels, ("position, |Phi| [m²]", "velocity, |Phi_q u - nu| [m²/s]"), strict=True):
    panel.set(xlabel="t [s]", title=text)
panels[0].legend(fontsize=8)
plt.show()

# %% [markdown]
# Read the left picture: without stabilization the violation grows; Baumgarte keeps it bounded, not small; projection
# and index 3 keep it at rounding. On the right, index 3 satisfies positions only: its velocities are off. Index 2 is
# the other way round. **The index that a method solves is the level at which it is clean.**
#
# Which law does the drift follow? `drift_law` fits several and says which one is borne out.

# %%
print(mbd.drift_law(runs["none"], level="velocity"))

# %% [markdown]
# ## Watch it
#
# The solid pendulum is stabilized, its ghost (`other=`) is not, with a step of 0.04 s so that one can see something:
# the rod of the ghost changes its length. In the file, press V to colour joints by violation. Below is the pendulum
# without stabilization by itself.

# %%
rough = mbd.simulate(model, 20.0, h=0.04, stabilization=None)
fine = mbd.simulate(model, 20.0, h=1e-2)
print(f"length of the rod after 20 s: {np.linalg.norm(rough['mass'].r[-1]):.4f} m and {np.linalg.norm(fine['mass'].r[-1]):.4f} m")
print(fine.animate("pendulum_and_ghost.html", other=rough).name)  # open this file in a browser
rough

# %% [markdown]
# ## Drift or a mistake?
#
# A violation of a **right** program falls with the step, $\sim h^k$. That of a **wrong equation** does not: halve the
# step and look. Here the sign of gamma is turned in one model; `mbd.faults` has seven such faults, each in a block of
# its own.

# %%
import warnings

warnings.simplefilter("ignore", mbd.RunWarning)  # the library warns of the wrong runs: their energy drifts
for step in (4e-3, 2e-3, 1e-3):
    right = mbd.simulate(model, 1.0, h=step, stabilization=None)
    with mbd.faults.wrong_gamma_sign(model) as broken:
        wrong = mbd.simulate(broken, 1.0, h=step, stabilization=None)
    sizes = [abs(run.violation("position")).max() for run in (right, wrong)]
    print(f"h = {step:g} s:  |Phi| {sizes[0]:.1e} in the right program, {sizes[1]:.1e} in the wrong one")

# %% [markdown]
# With projection the wrong program would **look** clean: positions and velocities are corrected after every step, and
# the motion is wrong all the same. So look for mistakes without stabilization, and look at several things. What each
# fault leaves behind, at five diagnostics, is its fingerprint:

# %%
print(mbd.faults.fingerprint("wrong_gamma_sign"))
print()
seen = {name: sees for name, (sees, _) in mbd.faults.FINGERPRINTS.items()}
for name, sees in seen.items():
    print(f"{name:<24} is seen by {', '.join(sees)}")

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `law`.** Which law does the drift of **positions** without stabilization follow: one of "constant", "linear",
# "quadratic", "exponential", "oscillating", "random walk"? Use `runs["none"]`. Does it agree with the theory above?
#
# **2. `order`.** With which power of the step does the violation at the end (20 s) fall? Run two steps, `h=1e-2` and
# `h=5e-3`, without stabilization, and hand in $\log_2$ of the ratio.

# %% tags=["solution"]
answers["law"] = mbd.drift_law(runs["none"], level="position").law
at_end = [abs(mbd.simulate(model, 20.0, h=step, stabilization=None).violation("position")[-1, 0]) for step in (1e-2, 5e-3)]
answers["order"] = np.log2(at_end[0] / at_end[1])

# %%
print(mbd.labs.check("lab4", answers))

# %% [markdown]
# **3. `faults`.** In each of three models, A, B and C, one thing is wrong. The mechanism is two bodies, one on a ball
# joint at the origin, the other on a skew hinge, spinning under gravity along $-z$; its energy and its angular momentum
# about $z$ should be constant. Find out which of the seven faults each one has, and hand in a dict such as `{"A":
# "wrong_PiBar", "B": ..., "C": ...}`.
#
# Run each model, and `"none"` (the same without a fault) beside it, like this, and see which of the numbers are far
# larger than without a fault. `mystery` yields the model and its initial state. The fault lasts as long as the block of
# `with`; what is computed from the result behind it is measured by the right equations. `result.momentum().angular` has
# the angular momentum about the origin, a row for each time, and its last column is the component about $z$. (The
# models know the name of their fault. Looking there is not the exercise.)

# %%
with mbd.labs.mystery("none") as (healthy, state):
    run = mbd.simulate(healthy, 0.5, h=4e-3, state=state, stabilization=None)
about_z = run.momentum().angular[:, 2]
print(f"position {abs(run.violation('position')).max():.1e}")
print(f"energy   {abs(run.energy().drift).max():.1e} J")
print(f"momentum {abs(about_z - about_z[0]).max():.1e} kg m2/s")

# %% tags=["solution"]
for letter in "ABC":
    with mbd.labs.mystery(letter) as (broken, state):
        run = mbd.simulate(broken, 0.5, h=4e-3, state=state, stabilization=None)
    about_z = run.momentum().angular[:, 2]
    print(
        f"{letter}: position {abs(run.violation('position')).max():.1e}, energy {abs(run.energy().drift).max():.1e},",
        f"momentum {abs(about_z - about_z[0]).max():.1e}",
    )
answers["faults"] = {"A": "no_gyroscopic_term", "B": "missing_factor_2", "C": "world_inertia"}

# %%
print(mbd.labs.check("lab4", answers))

# %% [markdown]
# ## What you have seen
#
# Drift is the error of the steps, twice integrated; each remedy is clean at the level that it solves; and an error that
# a smaller step does not cure is a mistake. [Lab 5](lab05_baumgarte) is about Baumgarte's gains, [lab
# 7](lab07_redundant_constraints) about rows that depend on each other.
