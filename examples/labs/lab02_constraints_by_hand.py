# %% [markdown]
# # Lab 2: constraints by hand
#
# *60 to 90 minutes. Before it: lab 1.*
#
# **Question.** What is a joint, in equations? Can you write one, and know that it is right before it moves anything?
#
# ## Theory in a screenful
#
# Four scalar equations between two bodies $i$ and $j$ make almost every joint. With $a = A\,\bar a$ (a vector fixed on
# a body, $\bar a$ in its frame, $A$ its rotation matrix), $s = A\,\bar s$ (a point fixed on it, from the centre of
# mass) and $d_{ij} = r_j + s_j - r_i - s_i$:
#
# | equation | $\Phi$ | says |
# |---|---|---|
# | DP1 | $a_i \cdot a_j - f(t)$ | two vectors keep their angle; $f = 0$: perpendicular |
# | DP2 | $a_i \cdot d_{ij} - f(t)$ | the point of $j$ stays in a plane that is fixed on $i$ |
# | D | $d_{ij} \cdot d_{ij} - f(t)^2$ | two points keep their distance |
# | CD | $c \cdot d_{ij} - f(t)$ | the same coordinate of two points ($c$: a global direction) |
#
# One equation is one row of everything that follows. Bodies move with $v = \dot r$ (global) and $\bar\omega$ (angular
# velocity in the frame of the **body**); a small rotation about the axes of the body is $\delta\bar\pi$, and $\delta a
# = A\,(\delta\bar\pi \times \bar a)$. So
#
# $$\delta\Phi = \Phi_r\,\delta r + \bar\Pi\,\delta\bar\pi, \qquad \Phi_r v + \bar\Pi\,\bar\omega = \nu, \qquad
#   \Phi_r \dot v + \bar\Pi\,\dot{\bar\omega} = \gamma ,$$
#
# where $\nu = \dot f$ (for D: $2 f \dot f$), and $\gamma$ collects all that remains of $\ddot\Phi$ without
# accelerations. For DP1, with $x \cdot (u \times w) = u \cdot (w \times x)$:
#
# $$\delta\Phi = \delta a_i \cdot a_j + a_i \cdot \delta a_j
#   \quad\Rightarrow\quad \bar\Pi_i = A_i^T (a_i \times a_j), \qquad \bar\Pi_j = -A_j^T (a_i \times a_j), \qquad \Phi_r = 0 .$$
#
# A joint is a tuple of such rows: a revolute joint is three CD (two points coincide) and two DP1 (the axis of $j$ stays
# perpendicular to two vectors across the axis on $i$).
#
# ## One row, and its numbers

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.constraints import coincident, perpendicular_1

system = mbd.System("one row", gravity=(0, 0, 0))
half = np.pi / 12  # half of 30 degrees
plate = system.add(mbd.Body("plate", 1.0, (0.1, 0.1, 0.2), r=(1, 0, 0), p=(np.cos(half), 0, 0, np.sin(half))))
row = mbd.DP1(system.ground, (1, 0, 0), plate, (0, 1, 0), f=-0.5)
system.add(row)
model = system.compile()
print(model.explain(0))

# %% [markdown]
# `mbd.DP1(i, a_bar_i, j, a_bar_j, f)` is the row of the table above; the others are `mbd.DP2(i, a_bar_i, s_bar_i, j,
# s_bar_j, f)`, `mbd.D(i, s_bar_i, j, s_bar_j, f)` and `mbd.CD(c, i, s_bar_i, j, s_bar_j, f)`, all with vectors in body
# frames and points from the centre of mass; for the ground both are global. A row that is added to a system by itself
# is a joint with one row. The plate is turned by 30 degrees about $z$: `p` are Euler parameters,
# $(\cos\tfrac{\varphi}{2}, \sin\tfrac{\varphi}{2}\,n)$ for an angle $\varphi$ about the axis $n$. The row keeps the dot
# product of the global $x$ axis and the $y$ axis of the plate at $-\sin 30° = -0.5$. `evaluate` gives its numbers:
# arrays with an entry for each row; `PiBar[0]` is the first row, with body i and body j in it.

# %%
rows = mbd.evaluate(model, model.state())
print("Phi  ", rows.Phi)
print("nu   ", rows.nu, " gamma", rows.gamma)
print("PiBar of body i and of body j:\n", rows.PiBar[0])

# %% [markdown]
# ## Is it right? Differences
#
# A derivative is checked by differences of $\Phi$. Turn the plate by a small angle $\varepsilon$ about each of **its
# own** axes, and watch $\Phi$:

# %%


def turned(p, axis, angle):
    """Return Euler parameters after a further rotation about an axis of the body: the product p * q."""
    q0, q = np.cos(angle / 2), np.sin(angle / 2) * np.eye(3)[axis]
    return np.array([p[0] * q0 - p[1:] @ q, *(p[0] * q + q0 * p[1:] + np.cross(p[1:], q))])


def Phi(p):
    """Return x . (A y_bar) - (-0.5): the row, written down once more."""
    return mbd.Body("any", 1.0, (1, 1, 1), p=p).A[0, 1] + 0.5


steps = 10.0 ** np.arange(-1, -13, -1)
errors = [abs((Phi(turned(plate.p, 2, e)) - Phi(turned(plate.p, 2, -e))) / (2 * e) - rows.PiBar[0, 1, 2]) for e in steps]

figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
axes.loglog(steps, np.maximum(errors, 1e-17), "o-")
axes.set(xlabel="step of the difference [rad]", ylabel="error", title="PiBar of DP1 by central differences")
plt.show()

# %% [markdown]
# The error falls with the square of the step, until rounding takes over: the difference is right, and so is the row.
# `mbd.verify` does this for all blocks of a row, at random states, and compares $\gamma$ with a motion:

# %%
print(mbd.verify(row))

# %% [markdown]
# ## A joint of one's own
#
# A joint is a class with `primitives()`. It gets a **frame** on each body from global geometry: a point and three axes
# $f, g, h$, perpendicular to each other, of which $h$ is along `axis`. At the modelled pose the frames of both bodies
# coincide. `self.frame_i.f` and the like are in the frame of the body, ready for DP1; `self.frame_i.s_bar` is the
# point, ready for CD and DP2.

# %%


class Hinge(mbd.Joint):
    """A revolute joint: the points coincide, and h of body j is perpendicular to f and g of body i."""

    def __init__(self, name, i, j, *, point, axis):
        super().__init__(name, mbd.Frame.from_global(i, point, axis), mbd.Frame.from_global(j, point, axis))

    def primitives(self):
        i, j = self.frame_i, self.frame_j
        return (*coincident(self.i, i.s_bar, self.j, j.s_bar), *perpendicular_1(self.i, i.f, i.g, self.j, j.h))


system = mbd.System("door", gravity=(0, 0, -9.81))
door = system.add(mbd.Body("door", 20.0, (8.0, 6.7, 1.4), r=(0.45, 0, 0), omega_bar=(0, 0, 1.5), v=(0, 0.45 * 1.5, 0)))
hinge = system.add(Hinge("hinge", system.ground, door, point=(0, 0, 0), axis=(0, 0, 1)))
print(mbd.verify(hinge))
result = mbd.simulate(system, t_end=4.0, h=1e-2)
result

# %% [markdown]
# `coincident(...)` is three CD, `perpendicular_1(...)` two DP1; with `perpendicular_2(i, a_i, b_i, s_i, j, s_j)`, two
# DP2, they are all you need: it keeps $d_{ij}$ perpendicular to $a_i$ and $b_i$. They are functions that return tuples;
# the `*` puts their rows into one tuple.
#
# ## And a wrong one
#
# What does `verify` say of a joint with a mistake? Here the second perpendicularity is a copy of the first.

# %%


class Sloppy(Hinge):
    """A hinge with f in place of g."""

    def primitives(self):
        i, j = self.frame_i, self.frame_j
        return (*coincident(self.i, i.s_bar, self.j, j.s_bar), *perpendicular_1(self.i, i.f, i.f, self.j, j.h))


print(mbd.verify(Sloppy("hinge", system.ground, door, point=(0, 0, 0), axis=(0, 0, 1))))

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `PiBar`.** By hand, from the formulas above: $\bar\Pi_i$ and $\bar\Pi_j$ of the DP1 row of the plate, as two rows
# of three numbers, (2, 3). Compute $a_i$, $a_j$ and their vector product in global components first. Then compare with
# `rows.PiBar[0]`.

# %% tags=["solution"]
a_i, a_j = np.array([1.0, 0, 0]), plate.A @ [0, 1, 0]
answers["PiBar"] = [np.cross(a_i, a_j), -plate.A.T @ np.cross(a_i, a_j)]

# %%
print(mbd.labs.check("lab2", answers))

# %% [markdown]
# **2. `joint`.** Write a **translational joint**: body j slides along the axis and does not turn. It has five rows.
# Hand in the class (not an object) with the constructor of `Hinge`. *Which of the functions above says "does not turn
# about two axes", which one "stays on the axis", and which single row keeps body j from turning about the axis itself?
# `mbd.DP1(i, a_bar_i, j, a_bar_j)` is one such row.*

# %% tags=["solution"]
from haugmbd.constraints import perpendicular_2


class Slider(Hinge):
    """A translational joint: parallel axes, the point of j on the axis of i, and no rotation about it."""

    def primitives(self):
        i, j = self.frame_i, self.frame_j
        return (
            *perpendicular_1(self.i, i.f, i.g, self.j, j.h),
            *perpendicular_2(self.i, i.f, i.g, i.s_bar, self.j, j.s_bar),
            mbd.DP1(self.i, i.f, self.j, j.g),
        )


answers["joint"] = Slider

# %%
print(mbd.labs.check("lab2", answers))

# %% [markdown]
# **3. `gamma`.** A ball of 1 kg is held at a distance of 1 m from the origin by one D row. It is at $r = (0.6, 0,
# -0.8)$ and moves with $v = (0, 2, 0)$ m/s, without rotation; the rod ends at its centre of mass. Which number is
# $\gamma$? Derive it from $\Phi = d \cdot d - 1$, then check it with `mbd.evaluate`.

# %% tags=["solution"]
ball_system = mbd.System("ball", gravity=(0, 0, -9.81))
ball = ball_system.add(mbd.Body("ball", 1.0, (1e-3, 1e-3, 1e-3), r=(0.6, 0, -0.8), v=(0, 2, 0)))
ball_system.add(mbd.D(ball_system.ground, (0, 0, 0), ball, (0, 0, 0), 1.0))
answers["gamma"] = mbd.evaluate(ball_system).gamma[0]

# %%
print(mbd.labs.check("lab2", answers))

# %% [markdown]
# ## What you have seen
#
# A joint is a few rows; each row is two times six numbers, $\nu$ and $\gamma$; and each block can be checked against
# differences before it moves anything. [Lab 4](lab04_drift_and_stabilization) shows what happens when one of them is
# wrong.
