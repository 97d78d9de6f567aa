# %% [markdown]
# # Lab 11: long runs: energy and symplectic methods
#
# *45 to 75 minutes. Before it: labs 1 and 4.*
#
# **Question.** A pendulum without friction swings for ever. Which methods know that?
#
# ## Theory in a screenful
#
# Most methods make a small error of energy at every step, always to the same side: $\Delta E \sim t\,h^k$. A
# **symplectic** method is the exact flow of a slightly different mechanical system, whose own energy $\tilde H = H +
# h^2 H_2 + \dots$ is conserved (backward error analysis; Hairer, Lubich and Wanner 2006, ch. IX). So $H$ swings by
# $O(h^2)$, and never drifts. RATTLE is such a method for constrained systems: with $\lambda$ for positions and $\mu$
# for velocities,
#
# $$M u_{1/2} = M u_0 + \tfrac h2 \left( Q - \Phi_q^T \lambda \right), \quad q_1 = q_0 \oplus h\,u_{1/2}
#   \;\text{ with }\; \Phi(q_1) = 0, \quad M u_1 = M u_{1/2} + \tfrac h2 \left( Q - \Phi_q^T \mu \right)
#   \;\text{ with }\; \Phi_q u_1 = 0 .$$
#
# It is also **symmetric**: turn the velocities, and it runs back where it came from. Its order is two. For a short time
# and great accuracy, a method of order eight is better; for a long time, quality beats order.
#
# ## A pendulum for four minutes

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.gallery import pendulum

model = pendulum().compile()
h, t_end = 2e-2, 240.0
methods = {
    "RK4, projection": {"h": h},
    "generalized-alpha, rho = 0.8": {"integrator": mbd.GeneralizedAlpha(h, rho=0.8)},
    "RATTLE": {"integrator": mbd.RATTLE(h)},
}
runs = {name: mbd.simulate(model, t_end, store_every=10, **given) for name, given in methods.items()}

figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
for name, run in runs.items():
    axes.plot(run.t, run.energy().drift, label=name, linewidth=0.8)
axes.set(xlabel="t [s]", ylabel="energy drift [J]", yscale="symlog", title=f"a bar of 4 m, h = {h:g} s")
axes.set_yscale("symlog", linthresh=1e-3)
axes.legend()
plt.show()

# %% [markdown]
# `store_every=10` keeps every tenth step. Constraints hold for all three (`result.violation`), and the angle at any
# time looks fine. Only the energy tells, and the laws have names:

# %%
for name, run in runs.items():
    found = mbd.drift_law(run.t, run.energy().drift)
    print(f"{name:<30} {found.law:<12} {found.y[-1]:+.1e} J at the end")

# %% [markdown]
# ## A projection on the energy?
#
# One can also force a method: `mbd.EnergyProjection()` moves every state back to the energy of the start, too. The
# energy is then right by construction, and no evidence of anything. Use it where a bounded energy matters more than an
# honest one.

# %%
forced = mbd.simulate(model, 20.0, h=h, stabilization=mbd.EnergyProjection())
print(f"{abs(forced.energy().drift).max():.1e} J")

# %%
mbd.simulate(model, 10.0, integrator=mbd.RATTLE(h))

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `laws`.** Which law does the energy drift follow for RK4 with projection, and for RATTLE? Hand in two of
# "constant", "linear", "quadratic", "exponential", "oscillating", "random walk", joined by a comma without a space:
# `"...,..."`.
#
# **2. `order`.** With which power of $h$ does the largest energy error of RATTLE fall? Run 20 s with h = 0.02 s and
# 0.01 s, and hand in $\log_2$ of the ratio.

# %% tags=["solution"]
laws = {name: mbd.drift_law(run.t, run.energy().drift).law for name, run in runs.items()}
answers["laws"] = f"{laws['RK4, projection']},{laws['RATTLE']}"
swings = [abs(mbd.simulate(model, 20.0, integrator=mbd.RATTLE(step)).energy().drift).max() for step in (0.02, 0.01)]
answers["order"] = np.log2(swings[0] / swings[1])

# %%
print(mbd.labs.check("lab11", answers))

# %% [markdown]
# **3. `return`.** Run RATTLE for 10 s, turn the velocities of the last state, and run 10 s again with the same step.
# How far is the centre of mass from where it began [m]? Then do the same with RK4. *`last = result.state(-1)` is the
# last state; `last.replace(t=0.0, v=-last.v, omega_bar=-last.omega_bar)` is a copy with turned velocities, for `state=`
# of `simulate`.*

# %% tags=["solution"]


def there_and_back(**method):
    last = mbd.simulate(model, 10.0, **method).state(-1)
    back = mbd.simulate(model, 10.0, state=last.replace(t=0.0, v=-last.v, omega_bar=-last.omega_bar), **method)
    return np.linalg.norm(back.r[-1, 1] - model.state().r[1])


answers["return"] = there_and_back(integrator=mbd.RATTLE(h))
print(f"RATTLE {answers['return']:.1e} m, RK4 {there_and_back(h=h):.1e} m")

# %%
print(mbd.labs.check("lab11", answers))

# %% [markdown]
# ## What you have seen
#
# Constraints, order and tolerance do not tell whether a long run can be trusted; conserved quantities do. Symplectic
# methods keep them without being told.
