# %% [markdown]
# # Lab 13: equations by hand, checked
#
# *45 to 75 minutes. Before it: lab 2. It needs SymPy: `python -m pip install ".[equations]"`.*
#
# **Question.** You write the equations of a mechanism on paper. Are they right, and if not, which term is wrong?
#
# ## Theory in a screenful
#
# In a plane a body has two coordinates of its centre of mass and an angle: $(x, z, \varphi)$, with $\varphi$ counted from
# the $x$ axis to the $z$ axis. A point that is fixed on it at $\bar s = (\bar s_x, \bar s_z)$ is at
#
# $$x + \bar s_x \cos\varphi - \bar s_z \sin\varphi, \qquad z + \bar s_x \sin\varphi + \bar s_z \cos\varphi .$$
#
# A pin between bodies $i$ and $j$ says that two such points coincide: $\Phi = d_{ij} = 0$, two rows. Differentiate twice:
# $\dot\Phi = \Phi_q \dot q$, and $\ddot\Phi = \Phi_q \ddot q - \gamma$. What has no acceleration is $\gamma$ on the right. For
# a point, $\ddot s = \ddot\varphi\,(\ldots) - \dot\varphi^2 s$: **the part without accelerations is $-\dot\varphi^2 s$**, which points
# to the centre. So $\gamma$ of a pin is the sum of $\dot\varphi^2$ times the arms, with a sign for each body.
#
# ## A slider-crank

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.labs.exercises import slider_crank_of_lab13

system = slider_crank_of_lab13()
eq = mbd.equations(system, planar="xz")
print(eq)
for row in eq.rows:
    print(f"{row.joint.name:10s} {row.kind:4s} {row.Phi}")

# %% [markdown]
# These are the rows of the spatial model, 5 + 5 + 2 of them, of which five are left in the plane. Which fell away, and why?

# %%
for text in eq.removed:
    print(text)

# %% [markdown]
# ## A joint step by step
#
# `derive` goes the way of a lecture, definition, variation, identity, result, and compares every step with numbers at a
# random state. In a notebook `eq.derive("crank pin")` is typeset; `eq.report("equations.html")` writes a page of all.

# %%
print(eq.derive("crank pin"))

# %% [markdown]
# ## Yours against the model's
#
# `check` takes rows as text. Here is one with a wrong sign:

# %%
print(eq.check(["x_crank + s_bar_crank_pin_j_x * cos(phi_crank) + s_bar_crank_pin_j_z * sin(phi_crank)",
                "z_crank + s_bar_crank_pin_j_x * sin(phi_crank) + s_bar_crank_pin_j_z * cos(phi_crank)"], "crank pin"))  # fmt: skip

# %% [markdown]
# ## Newton's method, iterate by iterate
#
# Nonlinear equations are solved by $\Phi_q\,\Delta q = -\Phi$. Move the bodies away from where they belong and look at the
# iterates: once near, each step doubles the number of digits.

# %%
state = system.compile().state()
assembly = mbd.assemble(system, state.replace(r=np.asarray(state.r) + [[0, 0, 0], [0.2, 0, 0.1], [-0.1, 0, 0.2]]), record=True)
print(assembly.newton)
assembly.newton.plot()
plt.show()

# %% [markdown]
# ## Exercises
#
# Coordinates are `x_crank, z_crank, phi_crank, x_rod, z_rod, phi_rod`, rates `phi_dot_crank` and `phi_dot_rod`. The points
# are `s_bar_rod_pin_i_x, s_bar_rod_pin_i_z` on the crank (body i), `s_bar_rod_pin_j_x, s_bar_rod_pin_j_z` on the rod (body j).

# %%
answers = {}

# %% [markdown]
# **1. `Phi`.** The two rows of the **rod pin**, $d_{ij}$ along $x$ and along $z$: the point of the rod minus that of the
# crank. A list of two texts.

# %% tags=["solution"]
si_x, si_z, sj_x, sj_z = (f"s_bar_rod_pin_{side}_{axis}" for side in "ij" for axis in "xz")
on_rod = [f"{sj_x} * cos(phi_rod) - {sj_z} * sin(phi_rod)", f"{sj_x} * sin(phi_rod) + {sj_z} * cos(phi_rod)"]
on_crank = [f"{si_x} * cos(phi_crank) - {si_z} * sin(phi_crank)", f"{si_x} * sin(phi_crank) + {si_z} * cos(phi_crank)"]
answers["Phi"] = [f"{c}_rod + {on_rod[k]} - {c}_crank - ({on_crank[k]})" for k, c in enumerate("xz")]

# %%
print(mbd.labs.check("lab13", answers))

# %% [markdown]
# **2. `slider`.** The end of the rod, at `s_bar_slider_j_x, s_bar_slider_j_z` on it, stays on the $x$ axis. One row, a text:
# its sign and a factor are yours.

# %% tags=["solution"]
answers["slider"] = "z_rod + s_bar_slider_j_x * sin(phi_rod) + s_bar_slider_j_z * cos(phi_rod)"

# %%
print(mbd.labs.check("lab13", answers))

# %% [markdown]
# **3. `gamma`.** $\gamma$ of the two rows of the rod pin, a list of two texts. Use the sentence in bold above.

# %% tags=["solution"]
answers["gamma"] = [f"phi_dot_rod**2 * ({on_rod[k]}) - phi_dot_crank**2 * ({on_crank[k]})" for k in range(2)]

# %%
print(mbd.labs.check("lab13", answers))

# %% [markdown]
# ## What you have seen
#
# The textbook's rows are what is left of a spatial model in a plane; a row is right if it has the same numbers at random
# states; and a wrong term can be found by its numbers alone.
