# %% [markdown]
# # Lab 8: maximal against reduced coordinates
#
# *60 to 90 minutes. Before it: labs 1 and 6.*
#
# **Question.** A robot arm has six joint angles. Why describe it by six times six coordinates and thirty equations? Do
# both ways give the same numbers?
#
# ## Theory in a screenful
#
# In **joint coordinates** $q$ a serial chain has no constraints:
#
# $$M(q)\,\ddot q + c(q, \dot q) = \tau .$$
#
# Recursions along the chain compute everything without ever building the large system (Featherstone 2008):
#
# * **rnea**, recursive Newton-Euler: $\tau$ from $\ddot q$, outwards for the motion, inwards for the forces. Cost
#   $O(n)$;
# * **crba**, composite rigid bodies: $M(q)$. Cost $O(n^2)$;
# * **aba**, articulated bodies: $\ddot q$ from $\tau$, with the inertia that the rest of the chain shows at each joint.
#   Cost $O(n)$.
#
# In **maximal coordinates** every body has six freedoms, and joints are rows. The matrix is large, but sparse like the
# mechanism; eliminated from the tips inwards it is $O(n)$ as well, and it does not care whether there are loops. The
# same numbers come out, by other ways: the best check there is.
#
# ## Two rods, both ways

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd

rods = [mbd.Link.revolute(name, 1.0, (0, 1 / 12, 1 / 12), c=0.5, L=1.0) for name in ("upper", "lower")]
arm = mbd.SerialChain(rods, gravity=(0, -9.81, 0))

# %% [markdown]
# A link: mass 1 kg, inertia about its centre of mass, `c` from its joint to the centre of mass, `L` to the next joint,
# both along the link's x axis; it turns about z. `q` are relative angles: $q_2$ is that of the lower rod against the
# upper one, and $q = (0, 0)$ is straight along $+x$, level.

# %%
q, qd = np.array([0.3, -0.8]), np.array([1.0, 2.0])
print("accelerations by aba       ", mbd.aba(arm, q, qd))
M, bias = mbd.crba(arm, q), mbd.rnea(arm, q, qd)
print("by crba and rnea           ", np.linalg.solve(M, -bias))
model = arm.to_system(q=q, qd=qd).compile()
found = mbd.accelerations(model)
print("in maximal coordinates     ", [found.omega_bar_dot[1, 2], found.omega_bar_dot[2, 2] - found.omega_bar_dot[1, 2]])
print(model.nb, "bodies,", model.nc, "rows")

# %% [markdown]
# `crosscheck` does this for accelerations, joint wrenches, impulses and balances at once:

# %%
print(mbd.crosscheck(arm, q, qd))

# %% [markdown]
# ## A long chain, and its cost

# %%
import time


def least_time(call, *arguments):
    """Return the least time of twenty calls [s]."""
    spent = []
    for _ in range(20):
        clock = time.perf_counter()
        call(*arguments)
        spent.append(time.perf_counter() - clock)
    return min(spent)


sizes = [5, 10, 20, 40, 80]
costs = {"aba (reduced)": [], "augmented system (maximal)": []}
for n in sizes:
    long = mbd.random_chain(n, seed=3, kinds=("revolute",))
    start, rates = long.q_zero(), np.full(long.nv, 0.1)
    large = long.to_system(q=start, qd=rates).compile()
    costs["aba (reduced)"].append(least_time(mbd.aba, long, start, rates))
    costs["augmented system (maximal)"].append(least_time(large.evaluator(), 0.0, large.state().y))
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for name, spent in costs.items():
    axes.loglog(sizes, 1e6 * np.array(spent), "o-", label=name)
axes.set(xlabel="links", ylabel="one call from Python [us]", title="both grow like n; a call itself costs some microseconds")
axes.legend()
plt.show()

# %% [markdown]
# ## Watch a chain fall

# %%
chain = mbd.SerialChain(
    [mbd.Link.revolute(f"link {k}", 1.0, (0, 1 / 12, 1 / 12), c=0.5, L=1.0) for k in range(5)], gravity=(0, -9.81, 0)
)
falling = mbd.simulate(chain, 3.0, h=5e-3)
falling

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `M`.** The mass matrix of the two rods at $q = (0, \pi/2)$, 2 x 2. By hand: kinetic energy of two rods with the
# velocity of the elbow; then `mbd.crba`.
#
# **2. `tau`.** The torques that hold the arm level, $q = (0, 0)$, at rest [N m].

# %% tags=["solution"]
answers["M"] = mbd.crba(arm, [0.0, np.pi / 2])
answers["tau"] = mbd.rnea(arm, [0.0, 0.0], [0.0, 0.0])

# %%
print(mbd.labs.check("lab8", answers))

# %% [markdown]
# **3. `base`.** The arm is released from level. Which force does the first pin exert on the upper rod right after that,
# upwards [N]? Find it both ways: `mbd.joint_wrenches(arm, q, qd, qdd)` with accelerations of `aba` (row 0 of `.wrench`
# is what the first joint exerts on the upper rod: force, then moment, in the axes of this rod, which are the global
# ones while it is level); and the reaction of the same joint of `system = arm.to_system(q=q, qd=qd)`, which is
# `mbd.reaction(system.compile(), None, name).force` for `name = system.joints[0].name` (None is the modelled state).

# %% tags=["solution"]
level, rest = np.zeros(2), np.zeros(2)
answers["base"] = mbd.joint_wrenches(arm, level, rest, mbd.aba(arm, level, rest)).wrench[0, 1]
as_system = arm.to_system(q=level, qd=rest)
first = as_system.joints[0].name
print(answers["base"], mbd.reaction(as_system.compile(), None, first).force[1])

# %%
print(mbd.labs.check("lab8", answers))

# %% [markdown]
# ## What you have seen
#
# Recursions and the augmented system know nothing of each other, and agree to rounding. Reduced coordinates are small
# and fast for trees; maximal coordinates take loops, redundant joints and any joint that somebody writes down.
