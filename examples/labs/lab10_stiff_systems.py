# %% [markdown]
# # Lab 10: stiff systems and implicit methods
#
# *45 to 75 minutes. Before it: labs 1 and 5.*
#
# **Question.** A bar sinks slowly in thick oil. Why does a good method need thousands of steps for a motion in which
# next to nothing happens?
#
# ## Theory in a screenful
#
# A bar on a pin with a strong damper $c$, $\varphi$ below the horizontal: $J \ddot\varphi = m g \tfrac{L}{2}
# \cos\varphi - c\,\dot\varphi$. Two rates live in it:
#
# * fast: the rate of turning adapts to the load with $\lambda_1 \approx -c / J$;
# * slow: then the bar sinks with $\dot\varphi \approx \tfrac{m g L}{2 c} \cos\varphi$.
#
# The fast part is gone after some milliseconds. But an **explicit** method is stable only if $|R(h \lambda)| \le 1$ for
# **every** eigenvalue, with $R(z) = 1 + z + z^2/2 + z^3/6 + z^4/24$ for RK4: on the negative real axis $h |\lambda| \le
# 2.785$. The eigenvalue that is asleep sets the step. An **implicit** method solves an equation in each step; backward
# differences (BDF) and Radau IIA damp $e^{h\lambda}$ for any $h$, and the step follows what happens. Such systems are
# called **stiff**.
#
# ## The bar in oil

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import RJ

warnings.simplefilter("ignore", mbd.RunWarning)  # of the runs that are unstable on purpose


def bar_with_damper(c):
    """Return the bar of lab 1, level at first, with a damper on its pin."""
    system = mbd.System("bar in oil", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", mass=78.0, J_bar=(0.0325, 104.01625, 104.01625), r=(2, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    system.add(mbd.RSDA("oil", pin, c=c))
    return system


system = bar_with_damper(4e5)
J = 104.01625 + 78.0 * 2.0**2
print(f"fast {-4e5 / J:.0f} 1/s, slow {78 * 9.81 * 2 / 4e5:.4f} rad/s")

# %%
figure, axes = plt.subplots(figsize=(7.5, 3.8), layout="constrained")
for h in (2.8e-3, 2.9e-3, 3.0e-3):
    run = mbd.simulate(system, 0.25, h=h)
    axes.plot(run.t, np.clip(run["bar"].v[:, 2], -0.2, 0.2), ".-", label=f"RK4, h = {h:g} s", linewidth=0.8, markersize=3)
axes.set(xlabel="t [s]", ylabel="velocity of the centre of mass [m/s]", title="the boundary of stability (clipped at 0.2 m/s)")
axes.legend()
plt.show()

# %% [markdown]
# Between two steps that differ by some percent, a smooth motion becomes an explosion. That is not an error of accuracy:
# it is stability.
#
# ## The same by implicit methods

# %%
runs = {
    "RK4, h = 2.5 ms": mbd.simulate(system, 10.0, h=2.5e-3),
    "Dormand-Prince, rtol = 1e-6": mbd.simulate(system, 10.0, rtol=1e-6),
    "BDF, rtol = 1e-6": mbd.simulate(system, 10.0, integrator=mbd.BDF(rtol=1e-6, atol=1e-9)),
    "Radau IIA, rtol = 1e-6": mbd.simulate(system, 10.0, integrator=mbd.RadauIIA(rtol=1e-6, atol=1e-9)),
}
for name, run in runs.items():
    print(f"{name:<30} {run.counters.steps:>6} steps   z at the end {run['bar'].r[-1, 2]:.9f} m")

figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for name in ("Dormand-Prince, rtol = 1e-6", "BDF, rtol = 1e-6", "Radau IIA, rtol = 1e-6"):
    axes.semilogy(runs[name].t[1:], np.diff(runs[name].t), label=name, linewidth=0.9)
axes.set(xlabel="t [s]", ylabel="step [s]", title="error control chooses the step")
axes.legend()
plt.show()

# %%
runs["BDF, rtol = 1e-6"]

# %% [markdown]
# The explicit pair with error control is not unstable: it notices, and pays with steps of the size that stability
# allows. The implicit ones let the step grow as soon as the fast part is gone. Each of their steps costs more (an
# iteration with derivatives), so that they lose where nothing is stiff.
#
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `eigenvalue`.** The fast eigenvalue of the bar with $c = 4 \cdot 10^5$ N m s/rad [1/s], with its sign. By hand;
# then by `mbd.linearize(equilibrium)`, where `equilibrium = mbd.equilibrium(system)` is the bar that hangs, and
# `.eigenvalues` has a slow and a fast one.
#
# **2. `step`.** The largest step with which RK4 is stable for it [s].

# %% tags=["solution"]
hanging = mbd.equilibrium(system)
answers["eigenvalue"] = min(mbd.linearize(hanging).eigenvalues.real)
answers["step"] = 2.785 / abs(answers["eigenvalue"])
print(answers)

# %%
print(mbd.labs.check("lab10", answers))

# %% [markdown]
# **3. `run`.** A run of this bar to $t = 10$ s in at most 40 steps whose last height is right to 1e-5 (relative). Hand
# in the result. *Which method, and which tolerances? `rtol` is relative; `atol` [m, rad, m/s, rad/s] is what matters
# for numbers that are small, such as the speed here. `result.counters.steps` counts.*

# %% tags=["solution"]
answers["run"] = mbd.simulate(system, 10.0, integrator=mbd.RadauIIA(rtol=1e-6, atol=1e-6))
print(answers["run"].counters.steps)

# %%
print(mbd.labs.check("lab10", answers))

# %% [markdown]
# ## What you have seen
#
# Stiff is not fast motion, but fast motion that is asleep. Explicit methods pay for its stability, implicit ones only
# for what happens.
