# %% [markdown]
# # Lab 12: a study overnight
#
# *45 to 60 minutes. Before it: lab 1.*
#
# **Question.** What does the pin of lab 1 carry at worst if the bar is released from any angle? And what if the
# computer is switched off in the middle of the study?
#
# ## Theory in a screenful
#
# A slender bar that is released at rest at the angle $\theta_0$ from the downward vertical passes the bottom with
# $\dot\theta^2 = \tfrac{3 g}{L}(1 - \cos\theta_0)$. The pin then carries
#
# $$\frac{R}{m g} = 1 + \tfrac32 (1 - \cos\theta_0) ,$$
#
# whatever mass and length. A study evaluates such a thing in many **cells** of parameters. What it must have, besides
# results: a table with a row for every cell, also for those that fail; every row on disk as soon as it is known; and
# the same table whether it ran in one go or in pieces. Random cells have a seed and a number: cell $k$ is the same
# however many there are.
#
# ## The cell
#
# `build(**cell)` returns a system, `run(system)` a dict of numbers. In a program that uses several processes both stand
# at the top of a module; in a notebook `executor="serial"` runs the cells one after the other.

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import RJ


def build(theta, length=1.0):
    """Return a slender bar of 1 kg/m on a pin, at rest at an angle from the downward vertical."""
    along = np.array([np.sin(theta), 0.0, -np.cos(theta)])
    system = mbd.System("bar", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", *mbd.inertia.rod(length, density=1.0, axis=along), r=length / 2 * along))
    system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    return system


def run(system):
    """Return the largest force in the pin over the weight, and the energy drift."""
    result = mbd.simulate(system, 1.0, h=2e-3)
    force = np.linalg.norm(result.reaction("pin").force, axis=1)
    weight = result.model.mass[1] * 9.81
    return {"ratio": force.max() / weight, "drift": abs(result.energy().drift).max()}


print(run(build(theta=1.0)))

# %% [markdown]
# ## A grid
#
# A dict of lists is a grid. The table becomes an xarray with the parameters as coordinates:

# %%
grid = mbd.sweep(build, {"theta": [0.5, 1.0, 1.5], "length": [0.5, 1.0]}, run, executor="serial")
print(grid)
print(grid.to_xarray()["ratio"].values.round(6))

# %% [markdown]
# The length makes no difference, as it should: a check that costs nothing. Here is one of the cells:

# %%
mbd.simulate(build(theta=1.5), 3.0, h=5e-3)

# %% [markdown]
# ## Random cells, a store, and a power cut
#
# `store=` is a folder. First 10 cells, as if the computer had been switched off; then the same call for 24. Cells that
# are known are read, the others run. The journal has a line for each cell, after one that describes the study.

# %%
folder = Path(tempfile.mkdtemp()) / "study"
first = mbd.sweep(build, mbd.RandomCells({"theta": (0.2, 1.5)}, n=10, seed=1), run, executor="serial", store=folder)
print(len(first), "cells,", len((folder / "cells.jsonl").read_text().splitlines()), "lines in the journal")
table = mbd.sweep(build, mbd.RandomCells({"theta": (0.2, 1.5)}, n=24, seed=1), run, executor="serial", store=folder)
print(len(table), "cells, the first ten the same:", bool((table["ratio"][:10] == first["ratio"]).all()))

# %%
theta = np.array([row["theta"] for row in table.to_pandas().reset_index().to_dict("records")])
ratio = np.array(table["ratio"])
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
line = np.linspace(0.2, 1.5, 100)
left.plot(line, 1 + 1.5 * (1 - np.cos(line)), "k-", linewidth=0.8, label="theory")
left.plot(theta, ratio, "o", label="24 cells")
left.set(xlabel="angle of release [rad]", ylabel="largest force over the weight")
left.legend()
right.hist(ratio, bins=8)
right.set(xlabel="largest force over the weight", ylabel="cells")
plt.show()

# %% [markdown]
# ## A cell that fails
#
# A study overnight meets cells that cannot be built. They are rows, not the end:

# %%
partly = mbd.sweep(build, {"theta": [0.5], "length": [1.0, -1.0]}, run, executor="serial")
print(partly.status)
for failure in partly.failures:
    print(failure)

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `mean` and `spread`.** Mean and standard deviation (with $n - 1$) of the ratio over the 24 random cells.
#
# **2. `ratios`.** The ratios for $\theta_0 = 0.5$, 1.0 and 1.5 rad, to four digits, as a list of three. Hand in what
# the sweep of the grid says for the length of 1 m, not the formula: `.sel(length=1.0)` of an xarray takes this length.

# %% tags=["solution"]
answers["mean"] = ratio.mean()
answers["spread"] = ratio.std(ddof=1)
answers["ratios"] = grid.to_xarray()["ratio"].sel(length=1.0).values

# %%
print(mbd.labs.check("lab12", answers))

# %% [markdown]
# **3. Overnight.** Write the study as a program with `if __name__ == "__main__":`, with 2000 cells, `store="pins"` and
# the default executor (all processors). Start it, stop it with Ctrl-C, and start it again. How many cells run the
# second time? The answer is in the journal, and in your report; `check` does not ask for it.
#
# ## What you have seen
#
# A study is a function of cells; every row is on disk when it is known; and what was computed once is not computed
# again.
