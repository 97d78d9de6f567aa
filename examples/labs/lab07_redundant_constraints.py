# %% [markdown]
# # Lab 7: redundant constraints, and which reactions exist
#
# *45 to 75 minutes. Before it: labs 1 and 2.*
#
# **Question.** A door has two hinges, and yours may have three. Which force does each of them carry? Does rigid-body
# mechanics know?
#
# ## Theory in a screenful
#
# Each row of $\Phi_q$ takes one freedom, **if** it does not depend on the others. Let $r$ be the rank of $\Phi_q$,
# $n_c$ the number of rows and $n_b$ that of bodies:
#
# $$\text{degrees of freedom} = 6 n_b - r, \qquad \text{Grübler's count} = 6 n_b - n_c \le 6 n_b - r .$$
#
# With $r < n_c$ there are combinations of multipliers that do nothing: $\Phi_q^T \mu = 0$. If $\lambda$ solves the
# equations of motion, so does $\lambda + \mu$. So
#
# * **the motion is unique**: accelerations see only $\Phi_q^T \lambda$ (as long as no force depends on $\lambda$, as
#   Coulomb friction does, and the pose is not singular: at a dead point the motion may go on in two ways);
# * **a reaction is unique** only if no such $\mu$ changes it. The weight of a door is carried by its hinges together;
#   how they share it is decided by elasticity and by the joiner, not by rigid bodies.
#
# A program that needs a number may keep a set of independent rows (the others carry nothing) or take the $\lambda$ of
# least norm (a compromise). Neither is *the* answer, and a program should say so.
#
# ## A door on two hinges

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import CJ, RJ, SJ, PointOnLine


def door_on(*heights):
    """Return a door of 20 kg on revolute joints along z at these heights."""
    system = mbd.System("door", gravity=(0, 0, -9.81))
    door = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0), omega_bar=(0, 0, 1.0), v=(0, 0.45, 0)))
    for number, z in enumerate(heights):
        system.add(RJ(f"hinge {number}", system.ground, door, point=(0, 0, z), axis=(0, 0, 1)))
    return system


system = door_on(-0.8, 0.8)
report = mbd.mobility(system)
print(report)

# %% [markdown]
# Ten rows, of which five say something: the second hinge repeats what the first one says. The report names each
# dependent row by its joint, and what it depends on. `(1)` and `(2)` number the rows of one kind in a joint.
#
# It runs all the same, and the motion is the same with every choice. By default a set of independent rows is kept and
# the others carry nothing; `redundancy=mbd.MinimumNorm()` takes the multipliers of least norm:

# %%
kept = mbd.simulate(system, 3.0, h=1e-2)
least = mbd.simulate(system, 3.0, h=1e-2, redundancy=mbd.MinimumNorm())
print(f"largest difference of the motions {abs(kept.r - least.r).max():.1e} m")
for name, run in (("independent rows kept", kept), ("least norm", least)):
    lower, upper = (run.reaction(f"hinge {k}").force[0, 2] for k in (0, 1))
    print(f"{name:<22} vertical force: lower hinge {lower:7.2f} N, upper hinge {upper:7.2f} N, together {lower + upper:.2f} N")

# %% [markdown]
# The sum is the weight, 196.2 N, and each share is a convention. `unique` says which components are more than that
# (force x, y, z, then moment x, y, z, on body j, in global components):

# %%
print(kept.reaction("hinge 0").unique)

# %% [markdown]
# The last one is the moment about the axis of the hinge, which is zero whatever the hinges share. Plots hatch what is
# not unique, and in the animation (F) such arrows are in pieces.

# %%
figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
mbd.plot.reactions(kept, "hinge 0", ax=axes)
plt.show()

# %%
kept

# %% [markdown]
# ## A four-bar on four hinges
#
# In the plane a four-bar needs four hinges. In space their axes have to stay parallel, and three rows say that more
# than once: Grübler counts 3 x 6 - 4 x 5 = -2 freedoms, and it moves.

# %%
points = np.array([(0, 0, 0), (0, 0, 1), (3, 0, 2), (4, 0, 0)], dtype=float)


def four_bar(joint_at_C, joint_at_D):
    """Return a four-bar in the plane y = 0 with revolute joints at A and B, and these kinds of joints at C and D."""
    system = mbd.System("four-bar", gravity=(0, 0, -9.81))
    bodies = [system.ground]
    for name, start, end in zip(("crank", "coupler", "rocker"), points[:-1], points[1:], strict=True):
        bodies.append(system.add(mbd.Body(name, *slender_rod(start, end), r=(start + end) / 2)))
    bodies.append(system.ground)
    for number, kind in enumerate((RJ, RJ, joint_at_C, joint_at_D)):
        geometry = {"point": points[number]} if kind is SJ else {"point": points[number], "axis": (0, 1, 0)}
        system.add(kind("ABCD"[number], bodies[number], bodies[number + 1], **geometry))
    return system


def slender_rod(start, end):
    """Return mass and inertia of a slender rod of 1 kg/m."""
    return mbd.inertia.rod(np.linalg.norm(end - start), density=1.0, axis=end - start)


over = mbd.mobility(four_bar(RJ, RJ))
free = mbd.mobility(four_bar(SJ, CJ))
for name, found in (("four revolute joints", over), ("revolute, revolute, spherical, cylindrical", free)):
    print(f"{name}: {found.rows} rows, rank {found.rank}, {found.degrees_of_freedom} degree of freedom, Grübler {found.gruebler}")

# %% [markdown]
# With a spherical and a cylindrical joint in place of two revolute ones, the loop has exactly the rows that it needs,
# and **all** reactions are unique. The motion is the same. Which of the reactions of the over-constrained loop are
# unique as well? Those in the plane: a planar four-bar has unique forces in its plane. What acts across the plane (a
# force along $y$, moments about $x$ and $z$) depends on how parallel the axes are.

# %%
runs = [mbd.simulate(four_bar(*kinds), 2.0, h=1e-3) for kinds in ((RJ, RJ), (SJ, CJ))]
print(f"largest difference of the motions {abs(runs[0].r - runs[1].r).max():.1e} m")
figure, panels = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained", sharex=True)
for run, style in zip(runs, ("-", "--"), strict=True):
    for panel, component, label in ((panels[0], 2, "force along z [N]"), (panels[1], 1, "force along y [N]")):
        panel.plot(run.t, run.reaction("D").force[:, component], style, label=f"{run.model.nc} rows")
        panel.set(xlabel="t [s]", title=f"joint D, {label}")
panels[0].legend()
plt.show()

# %% [markdown]
# ## When an axis is off
#
# What if the hinges are not quite in line, by a twentieth of a degree? Rigid bodies then have no freedom left. The
# library says so when the model is compiled, and which tolerance would let it move:

# %%
skew = door_on(-0.8)
tilt = np.radians(0.05)
skew.add(RJ("crooked", skew.ground, skew["door"], point=(0, 0, 0.8), axis=(np.sin(tilt), 0, np.cos(tilt))))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it is printed in the next line
    for text in skew.compile().warnings:
        print(text)

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `counts`.** A door on **three** revolute hinges at the heights -0.8, 0 and 0.8 m: number of rows, rank, and
# degrees of freedom, as a list of three numbers. By hand first, then by `mbd.mobility`.

# %% tags=["solution"]
three = mbd.mobility(door_on(-0.8, 0.0, 0.8))
answers["counts"] = [three.rows, three.rank, three.degrees_of_freedom]

# %%
print(mbd.labs.check("lab7", answers))

# %% [markdown]
# **2. `unique`.** Which **global** components of the reaction at joint **B** of `four_bar(RJ, RJ)` are unique? Think
# first: which of them would a planar calculation give? Hand in a dict `{"fx": ..., "fy": ..., "fz": ..., "mx": ...,
# "mz": ...}` of `True` and `False` (the moment about $y$, the axis, is zero). Then compare with
# `runs[0].reaction("B").unique`: force x, y, z, then moment x, y, z. (The table of `mobility` uses the frame of the
# joint, in which the axis is the third.)

# %% tags=["solution"]
unique = dict(zip(("fx", "fy", "fz", "mx", "my", "mz"), runs[0].reaction("B").unique, strict=True))
answers["unique"] = {name: bool(unique[name]) for name in ("fx", "fy", "fz", "mx", "mz")}

# %%
print(mbd.labs.check("lab7", answers))

# %% [markdown]
# **3. `design`.** Design the bearings of the door (20 kg, `J_bar=(8.0, 6.7, 1.4)`, centre of mass at `(0.45, 0, 0)`)
# such that it turns about $z$ through the origin, and **no** row depends on others: five rows in all. The lower
# bearing, at $z = -0.8$ m, is to carry the whole weight. Hand in the system.
#
# `SJ(name, i, j, point=)` holds a point (three rows); `PointOnLine(name, i, j, point=, axis=)` keeps a point on a line
# (two rows). Look at the reactions: are they what you would have computed on paper?

# %% tags=["solution"]
design = mbd.System("door", gravity=(0, 0, -9.81))
leaf = design.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0)))
design.add(SJ("lower", design.ground, leaf, point=(0, 0, -0.8)))
design.add(PointOnLine("upper", design.ground, leaf, point=(0, 0, 0.8), axis=(0, 0, 1)))
answers["design"] = design
rest = mbd.simulate(design, 1.0, h=1e-2)
print(rest.reaction("lower").force[0], rest.reaction("upper").force[0])  # m g 0.45 / 1.6 = 55.18 N across

# %%
print(mbd.labs.check("lab7", answers))

# %% [markdown]
# ## What you have seen
#
# Motion is unique (without Coulomb friction, and away from singular poses), reactions are not; the rows that depend
# on others, and the components that are shared, can be named; and a mechanism can be designed so that every reaction
# exists. Engineers call that *exact constraint* design.
