# %% [markdown]
# # Lab 14: stick, slip, and the paradox
#
# *45 to 75 minutes. Before it: labs 1 and 9.*
#
# **Question.** Why does a block that holds not creep, how are the forces of its four corners shared, and when do rigid
# bodies with dry friction have no motion at all?
#
# ## Theory in a screenful
#
# A contact is a force that is not known, and laws instead of a formula. Along the normal (Signorini): either the gap
# $g$ is open, or a force $N$ presses, never both and never a pull. Across it (Coulomb): a point that slides with $v_T$
# has the friction $-\mu N\, v_T / |v_T|$; a point that sticks has whatever it needs, at most $\mu N$:
#
# $$g \ge 0, \quad N \ge 0, \quad N g = 0; \qquad |T| \le \mu N, \qquad T = -\mu N \frac{v_T}{|v_T|} \text{ where } v_T \ne 0.$$
#
# Nothing here is a spring: a block below the limit of sticking stands still for ever.
#
# A rod of length $2 l$ that slides on its tip, its middle behind the tip at the angle $\theta$ above the floor, has
# the normal acceleration of the tip
#
# $$a = \frac{N}{m} \left( 1 + 3 \cos^2 \theta - 3 \mu \sin \theta \cos \theta \right) + b.$$
#
# Where the bracket is negative, pressing pulls the tip **into** the floor: with $b < 0$ no force fulfils the laws, with
# $b > 0$ two do. Painleve found this in 1895.
#
# ## A block on an incline

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd

g = 9.81


def incline(degrees, mu, v=0.0):
    """Return a block of 1 kg on an incline, which moves with v along x at first; gravity is turned in place of the plane."""
    a = np.radians(degrees)
    system = mbd.System("incline", gravity=(-g * np.sin(a), 0, -g * np.cos(a)))
    box = mbd.Box((0.2, 0.2, 0.1))
    block = system.add(mbd.Body("block", *mbd.inertia.box((0.2, 0.2, 0.1), mass=1.0), r=(0, 0, 0.05), v=(v, 0, 0), shape=box))
    system.add(mbd.Contact("floor", system.ground, block, shape_i=mbd.Plane(), mu=mu))
    return system


held = mbd.simulate(incline(30.0, 0.6), 10.0, rtol=1e-8)
print("creep in 10 s:", np.abs(held["block"].r - (0, 0, 0.05)).max(), "m")
floor = held.contact("floor")
print("normal forces of the corners:", floor.normal_force[-1].round(6), "unique:", floor.unique[-1, :, 0])

# %% [markdown]
# The sum of the four normal forces is the weight along the normal; how the corners share it is not determined by the
# motion of a rigid body, and `unique` says so. A block that slides up stops, and then holds or slides back:

# %%
figure, axes = plt.subplots(figsize=(7, 3.4), layout="constrained")
for mu in (0.3, 0.5, 0.7):
    run = mbd.simulate(incline(30.0, mu, v=1.5), 0.8, rtol=1e-8, t_eval=np.linspace(0, 0.8, 81))
    axes.plot(run.t, run["block"].r[:, 0], label=f"mu = {mu}")
    print(mu, [f"{event.name} {event.t:.4f} s" for event in run.events])
axes.set(xlabel="t [s]", ylabel="along the incline [m]", title="30 degrees, thrown upwards with 1.5 m/s")
axes.legend()
plt.show()

# %%
run

# %% [markdown]
# ## A rod that jams
#
# The rod slides on its tip towards its lower end. With little friction it slips; with much it strikes the floor
# without any collision, the event "tip: jams":

# %%


def rod(mu, degrees=60.0, speed=3.0):
    """Return a slender rod of 1 kg and 2 m on its tip, which slides towards -x."""
    a = np.radians(degrees)
    system = mbd.System("rod", gravity=(0, 0, -g))
    bar = system.add(
        mbd.Body(
            "bar",
            1.0,
            (1e-3, 1.0 / 3.0, 1.0 / 3.0),
            r=(np.cos(a), 0, np.sin(a)),
            p=(np.cos(a / 2), 0, -np.sin(a / 2), 0),
            v=(-speed, 0, 0),
        )
    )
    tip = mbd.Sphere(0.0, center=(-1, 0, 0))
    system.add(mbd.Contact("tip", system.ground, bar, shape_i=mbd.Plane(), shape_j=tip, mu=mu))
    return system


for mu in (0.5, 1.0, 1.8):
    run = mbd.simulate(rod(mu), 0.05, rtol=1e-8)
    print(mu, [f"{event.name} {event.t:.4f} s" for event in run.events], run["bar"].v[-1].round(3))

# %%
run

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `least mu`.** The least coefficient of friction at which the block holds on 25 degrees. Find it by runs, or by the formula.
#
# **2. `stop`.** A block on a **level** floor starts with 2 m/s, with mu = 0.3: how far does it slide [m]?

# %% tags=["solution"]
answers["least mu"] = np.tan(np.radians(25.0))
slides = mbd.simulate(incline(0.0, 0.3, v=2.0), 1.0, rtol=1e-9)
answers["stop"] = slides["block"].r[-1, 0]

# %%
print(mbd.labs.check("lab14", answers))

# %% [markdown]
# **3. `paradox`.** The bracket of the text depends on the angle. Which coefficient of friction is the least one for
# which it is negative at **some** angle? By hand (set its derivative to zero), or by trying angles.

# %% tags=["solution"]
angle = np.linspace(0.1, 1.5, 100_001)
answers["paradox"] = ((1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))).min()

# %%
print(mbd.labs.check("lab14", answers))

# %% [markdown]
# ## What you have seen
#
# Contact laws are exact: what sticks stands still, and what is not determined is said. Rigid bodies with dry friction
# can have two motions or none; then the model, not the method, needs a second look: a softer contact, or less friction.
