# %% [markdown]
# # Lab 15: feel the drift
#
# *30 to 60 minutes. Before it: lab 4.*
#
# **Question.** The equations of motion hold accelerations on the constraints, and nothing else. What does that look like, when a
# mechanism moves under your hand?
#
# ## Theory in a screenful
#
# Runge-Kutta steps of $\ddot q$ satisfy $\Phi_q\ddot q = \gamma$ at each stage. The positions are integrated twice, so that an error
# of each step, of the size $h^{p+1}$, is carried on with a rate: a violation of $\dot\Phi$ grows like $t\,h^p$, one of $\Phi$
# like $t^2 h^p$. Nothing pulls it back: $\ddot\Phi = 0$ is content with $\Phi = a + b\,t$. **Projection** puts positions and
# velocities back after each step; **Baumgarte** adds a spring and a damper, $\ddot\Phi + 2\alpha\dot\Phi + \beta^2\Phi = 0$.
#
# A mechanism is also not a formula in its lengths: where the bars of a loop are in line it cannot be closed any more, and
# just before that a small change of a length is a large change of the pose.
#
# ## A lever whose crank has a slider
#
# The crank `A`-`B` stands upright, a coupler goes from `B` to `C`, a rocker from `C` to the ground at `D`. The slider changes the crank
# alone, so that the loop is open until it is assembled.

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.labs.exercises import lever_of_lab15

system = lever_of_lab15()
try:
    page = mbd.live(lever_of_lab15, "drift.html", {"length": (0.4, 0.1, 3.0)}, h=0.01)
    print(f"open {page} in a browser")
except mbd.UsageError as error:
    print(f"no page: {error}")  # it needs the engine: pip install a wheel that has it, or make engine in a clone

# %% [markdown]
# **In the page:**
#
# 1. Let it swing with *projection*. The lower curve, $\max|\Phi|$, stays at rounding.
# 2. Choose *no stabilization*, and a step ten times as long. Watch the pins. Then drag a body: the hand is a spring to the pointer.
# 3. Choose *Baumgarte*: the violation falls, and stays at a size that depends on the step.
# 4. Move the slider to the right. The pose is closed anew for each length, on its branch; beyond a certain length the page says
#    that it cannot be closed, and stays.
#
# ## The same with numbers

# %%
for h in (0.02, 0.01, 0.005):
    result = mbd.simulate(system, 4.0, h=h, stabilization=None)
    Phi = np.abs(result.violation("position")).max(axis=1)
    plt.loglog(result.t[1:], Phi[1:], label=f"h = {h:g} s")
plt.xlabel("t [s]")
plt.ylabel("max |Phi|")
plt.legend()
plt.show()

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `step`.** The violation after a given time grows with the step like $h^k$. Measure $k$, and give the whole number.

# %% tags=["solution"]
last = [np.abs(mbd.simulate(system, 4.0, h=h, stabilization=None).violation("position")).max(axis=1)[-1] for h in (0.01, 0.005)]
answers["step"] = round(np.log2(last[0] / last[1]))

# %%
print(mbd.labs.check("lab15", answers))

# %% [markdown]
# **2. `time`.** With a given step it grows with time like $t^k$. Measure $k$ between 2 s and 4 s, and give the whole number.

# %% tags=["solution"]
Phi = np.abs(mbd.simulate(system, 4.0, h=0.01, stabilization=None).violation("position")).max(axis=1)
answers["time"] = round(np.log2(Phi[-1] / Phi[len(Phi) // 2]))

# %%
print(mbd.labs.check("lab15", answers))

# %% [markdown]
# **3. `reach`.** The longest crank [m] with which the loop can be closed at all, from the lengths of the others. (The page stops near it.)

# %% tags=["solution"]
A, B, C, D = (np.array(point) for point in ((0.0, 0.0), (0.0, 0.4), (0.9, 0.7), (1.0, 0.0)))
answers["reach"] = sum(np.linalg.norm(P - Q) for P, Q in ((B, C), (C, D), (D, A)))

# %%
print(mbd.labs.check("lab15", answers))

# %% [markdown]
# ## What you have seen
#
# A run without stabilization is not wrong at once: it is wrong like $t^2 h^4$, which a smaller step hides and a longer run brings back.
# Projection removes it for the price of a few solutions a step. And a length is a number with a range.
