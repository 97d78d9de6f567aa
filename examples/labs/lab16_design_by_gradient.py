# %% [markdown]
# # Lab 16: design by gradient
#
# *45 to 75 minutes. Before it: labs 1 and 9.*
#
# **Question.** A drawing has lengths, masses, springs. Which of them matters, which can be measured, and which value is best?
#
# ## Theory in a screenful
#
# A motion $y(t, p)$ depends on parameters $p$. Its derivative obeys the equations of motion differentiated,
#
# $$\dot y = f(t, y, p) \quad\Rightarrow\quad \frac{d}{dt}\frac{\partial y}{\partial p} = f_y \frac{\partial y}{\partial p} + f_p ,$$
#
# and starts at the derivative of the initial state. At an impact $g(y, p) = 0$ the **time moves**, too:
# $\partial t / \partial p = -(g_y\, \partial y/\partial p + g_p) / \dot g$. Who forgets it has a wrong sign behind every bounce.
#
# With derivatives, least squares find parameters from measurements, and a search finds the best ones. Singular values of
# $\partial z/\partial p$ say how many combinations of parameters the data $z$ can tell at all: the **rank**.
#
# ## What matters?

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.labs.exercises import ball_of_lab16, pendulum_of_lab16, spring_of_lab16

p = mbd.Parameters(height=1.0, restitution=0.7)
S = mbd.sensitivity(ball_of_lab16, p, ["body.ball.r[2]", "impact[0].t"], t_end=1.2, h=1e-2)
print(S.table())
for name, slopes in zip(S.parameters, S.over_time.jacobian[:, 0].T, strict=True):
    plt.plot(S.over_time.t, slopes, label=f"height of the ball by {name}")
plt.xlabel("t [s]")
plt.legend()
plt.show()

# %% [markdown]
# The curves jump at the impacts: a ball that starts higher arrives later, and at the old time of the impact it is still on
# its way down.
#
# ## What can be measured?
#
# A pendulum of unknown mass, inertia, length and spring is measured at twenty times. `identifiability` says before any data
# exist what they can tell.

# %%
t = np.linspace(0.05, 1.0, 20)
unknown = mbd.Parameters(mass=1.2, inertia=0.05, length=0.4, k=1.5)
found = mbd.identifiability(pendulum_of_lab16, "joint.pin.angle", unknown, t=t, h=1e-2)
for direction in found.null_directions:
    print("not told apart:", direction.text)

# %% [markdown]
# ## A fit, and an optimum

# %%
measured = mbd.simulate(pendulum_of_lab16(1.2, 0.05, 0.4, 1.5), 1.0, h=1e-2, t_eval=t).joint("pin").angle


def of_two(length, k):
    """Return the pendulum whose mass and inertia are known."""
    return pendulum_of_lab16(1.2, 0.05, length, k)


fit = mbd.fit(of_two, {"joint.pin.angle": measured}, {"length": 0.35, "k": 1.2}, t=t, sigma=1e-3, h=1e-2)
print(fit)
best = mbd.optimize(
    spring_of_lab16,
    lambda z: (z[0] - 0.7) ** 2,
    mbd.Parameters(k=mbd.Parameter(6.0, lower=2.0, upper=20.0)),
    outputs=["body.body.r[0]"],
    t_end=0.5,
    h=5e-3,
)
print(best)

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `impact`.** By how much does the time of the **second** impact of the ball change with the restitution [s]? Find it on
# paper, then ask `mbd.sensitivity` for `impact[1].t`.

# %% tags=["solution"]
answers["impact"] = mbd.sensitivity(ball_of_lab16, p, "impact[1].t", t_end=1.2, h=1e-2).jacobian[0, 1]

# %%
print(mbd.labs.check("lab16", answers))

# %% [markdown]
# **2. `rank`.** How many combinations of the four unknown numbers of the pendulum do the angles tell?

# %% tags=["solution"]
answers["rank"] = found.rank

# %%
print(mbd.labs.check("lab16", answers))

# %% [markdown]
# **3. `spring`.** Which spring rate [N/m] brings the body of `spring_of_lab16` to $x = 0.8$ m after half a second?

# %% tags=["solution"]
answers["spring"] = mbd.optimize(
    spring_of_lab16,
    lambda z: (z[0] - 0.8) ** 2,
    mbd.Parameters(k=mbd.Parameter(6.0, lower=2.0, upper=20.0)),
    outputs=["body.body.r[0]"],
    t_end=0.5,
    h=5e-3,
).values["k"]

# %%
print(mbd.labs.check("lab16", answers))

# %% [markdown]
# ## What you have seen
#
# A derivative of a motion is a motion of its own; an event moves, and so do the times behind it; data tell combinations of
# parameters, not always the parameters; and a gradient turns a drawing into a search.
