# %% [markdown]
# # Lab 9: impulses of a chain, and bouncing
#
# *45 to 75 minutes. Before it: labs 1 and 6.*
#
# **Question.** Where does one hit a rod such that the hand at its end feels nothing? And how many times does a ball
# bounce?
#
# ## Theory in a screenful
#
# A blow is short: places stay, velocities jump. Integrated over the blow, the equations of motion become
#
# $$\begin{bmatrix} M & \Phi_q^T \\ \Phi_q & 0 \end{bmatrix} \begin{bmatrix} u^+ - u^- \\ \Lambda \end{bmatrix} =
#   \begin{bmatrix} P \\ 0 \end{bmatrix},$$
#
# the same matrix as for accelerations, with impulses $P$ [N s] in place of forces and the impulses of the joints
# $\Lambda$ in place of $\lambda$. A contact with normal $n$ and Newton's coefficient of restitution $0 \le e \le 1$
# gives such an impulse that the normal velocity after is $-e$ times the one before.
#
# A rod of mass $m$ and length $L$ on a pin, struck by $S$ across at a distance $d$: $\dot\theta = S d / J$ with $J = m
# L^2 / 3$, and the pin gives what the centre of mass needs besides $S$:
#
# $$R = m \dot\theta \tfrac{L}{2} - S = S \left( \tfrac{3 d}{2 L} - 1 \right).$$
#
# A ball that falls from $h$ needs $t_1 = \sqrt{2h/g}$; the flights that follow last $2 e t_1, 2 e^2 t_1, \dots$:
# infinitely many bounces in a finite time.
#
# ## A blow on a chain of rods

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import RJ


def rods(n):
    """Return a system of n rods of 1 kg and 1 m in a row along x, the first on a pin at the origin, all hinges along z."""
    system = mbd.System(f"{n} rods")
    before = system.ground
    for k in range(n):
        rod = system.add(mbd.Body(f"rod {k + 1}", *mbd.inertia.rod(1.0, mass=1.0, axis=(1, 0, 0)), r=(k + 0.5, 0, 0)))
        system.add(RJ(f"hinge {k + 1}", before, rod, point=(k, 0, 0), axis=(0, 0, 1)))
        before = rod
    return system


figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
for n in (1, 2, 3, 5):
    system = rods(n)
    blow = mbd.PointImpulse("blow", system[f"rod {n}"], point=(n, 0, 0), impulse=(0, -1, 0))
    struck = mbd.impulse(system, applied=blow)
    axes.plot(range(1, n + 1), [struck.joint(f"hinge {k + 1}").force[1] for k in range(n)], "o-", label=f"{n} rods")
axes.set(xlabel="hinge, from the pin", ylabel="impulse on the outer rod, along y [N s]", title="1 N s downwards on the tip")
axes.axhline(0.0, color="k", linewidth=0.6)
axes.legend()
plt.show()

# %% [markdown]
# The impulse dies out along the chain, and changes its sign at every hinge. `struck.joint(name).force` is the impulse
# on body j, the second body of the joint; `struck.state` is the state right after, ready for a run:

# %%
system = rods(3)
struck = mbd.impulse(system, applied=mbd.PointImpulse("blow", system["rod 3"], point=(3, 0, 0), impulse=(0, -1, 0)))
result = mbd.simulate(system, 3.0, h=1e-2, state=struck.state)
result

# %% [markdown]
# ## A ball that bounces
#
# `simulate` finds the instants of the impacts. A cascade that has an end comes to rest, and the contact then
# carries the weight.

# %%
g, height, e = 9.81, 1.0, 0.7
drop = mbd.System("ball", gravity=(0, 0, -g))
ball = drop.add(mbd.Body("ball", *mbd.inertia.sphere(0.1, mass=1.0), r=(0, 0, height + 0.1)))
floor = mbd.Contact("floor", drop.ground, ball, point=ball.r, normal=(0, 0, 1), plane_point=(0, 0, 0), radius=0.1, restitution=e)
drop.add(floor)
bounces = mbd.simulate(drop, 3.5, h=5e-3)

figure, axes = plt.subplots(figsize=(7, 3.2), layout="constrained")
axes.plot(bounces.t, bounces["ball"].r[:, 2] - 0.1)
axes.set(xlabel="t [s]", ylabel="height [m]", title=f"{len(bounces.impacts)} impacts, then rest")
plt.show()
print("the first impacts at", [f"{impact.t:.6f} s" for impact in bounces.impacts[:4]])

# %%
bounces

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `sweet spot`.** The distance $d$ from the pin at which a blow on **one** rod of 1 m leaves the pin without
# impulse [m]. Find it by two impulses at two places and the straight line through them; then by the formula.
#
# **2. `elbow`.** Two rods, struck by $(0, -1, 0)$ N s at the tip $(2, 0, 0)$: the impulse of the elbow (`hinge 2`) on
# the outer rod along $y$ [N s].

# %% tags=["solution"]


def pin_impulse(d):
    one = rods(1)
    return (
        mbd.impulse(one, applied=mbd.PointImpulse("blow", one["rod 1"], point=(d, 0, 0), impulse=(0, -1, 0)))
        .joint("hinge 1")
        .force[1]
    )


near, far = pin_impulse(0.2), pin_impulse(1.0)
answers["sweet spot"] = 0.2 + 0.8 * near / (near - far)
two = rods(2)
tip = mbd.PointImpulse("blow", two["rod 2"], point=(2, 0, 0), impulse=(0, -1, 0))
answers["elbow"] = mbd.impulse(two, applied=tip).joint("hinge 2").force[1]

# %%
print(mbd.labs.check("lab9", answers))

# %% [markdown]
# **3. `rest`.** When does the ball of the text lie still [s]? Sum the series by hand, and compare with the first time
# at which the contact is closed: `contact = bounces.contact("floor")` has the times in `contact.t`, and in
# `contact.closed` whether it is.

# %% tags=["solution"]
contact = bounces.contact("floor")
answers["rest"] = contact.t[contact.closed][0]
print(answers["rest"], np.sqrt(2 * height / g) * (1 + e) / (1 - e))

# %%
print(mbd.labs.check("lab9", answers))

# %% [markdown]
# ## What you have seen
#
# Impulses are one more right-hand side of the same matrix; joints pass them on, with changing sign; and infinitely many
# bounces are over in a finite time.
