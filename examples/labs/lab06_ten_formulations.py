# %% [markdown]
# # Lab 6: ten formulations of one four-bar
#
# *60 to 90 minutes. Before it: labs 2 and 4.*
#
# **Question.** Null space, range space, Udwadia-Kalaba, augmented Lagrangian ...: are these different mechanics, or
# different algebra? What does each one solve, and what does it cost?
#
# ## Theory in a screenful
#
# All start from the same matrices, $M$ (mass), $\Phi_q$ (rows), $Q$ (forces) and $\gamma$:
#
# $$\begin{bmatrix} M & \Phi_q^T \\ \Phi_q & 0 \end{bmatrix} \begin{bmatrix} \dot u \\ \lambda \end{bmatrix} =
#   \begin{bmatrix} Q \\ \gamma \end{bmatrix}$$
#
# | formulation | idea | solves for |
# |---|---|---|
# | `NewtonEuler` | the augmented system as it stands | $\dot u$ and $\lambda$ together |
# | `EulerParameters` | the same in $(r, p)$, with $p^T p = 1$ as a row for each body | $\ddot r, \ddot p$, $\lambda$, $\lambda^p$ |
# | `RangeSpace` | $\Phi_q M^{-1} \Phi_q^T \lambda = \Phi_q M^{-1} Q - \gamma$, then $\dot u$ | $\lambda$ first |
# | `NullSpace` | $\Phi_q Z = 0$: $\;Z^T M Z\, \ddot y = Z^T (Q - M \dot u_\gamma)$ | what is free |
# | `CoordinatePartitioning` | some coordinates independent, the others follow | the same, in coordinates |
# | `UdwadiaKalaba` | free motion plus the least correction in the norm of $M$ (Gauss) | the correction |
# | `UdwadiaPhohomsiri` | the same for a singular $M$ | all, by a pseudo-inverse |
# | `AugmentedLagrangian` | stiff penalties, and multipliers by iteration | $\dot u$, again and again |
# | `Penalty` | stiff penalties alone | $\dot u$, approximately |
# | `ReducedChain` | joint coordinates, where the system is a serial chain | $\ddot q$ |
#
# ## Are they the same?

# %%
import time

import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from haugmbd.gallery import four_bar

model = four_bar().compile()
moved = mbd.simulate(model, 0.7, h=1e-3).state(-1)  # somewhere in motion
exact = mbd.accelerations(model, moved)

formulations = [
    mbd.NewtonEuler(),
    mbd.EulerParameters(),
    mbd.RangeSpace(),
    mbd.NullSpace(),
    mbd.CoordinatePartitioning(),
    mbd.UdwadiaKalaba(),
    mbd.UdwadiaPhohomsiri(),
    mbd.AugmentedLagrangian(),
    mbd.Penalty(),
    mbd.ReducedChain(),
]
scale = abs(exact.v_dot).max()
for formulation in formulations:
    try:
        found = mbd.accelerations(model, moved, formulation=formulation)
    except mbd.ModelError as error:
        print(f"{type(formulation).__name__:<24} refuses: {str(error).split(':', 1)[1][:90].strip()} ...")
        continue
    gap = abs(found.v_dot - exact.v_dot).max() / scale
    lam_gap = abs(found.lam - exact.lam).max() / abs(exact.lam).max()
    print(f"{type(formulation).__name__:<24} accelerations {gap:.0e}, multipliers {lam_gap:.0e}")

# %% [markdown]
# Where they can treat the model, they agree to rounding; a penalty is an approximation. Three refuse it, and say why:
# the slender rods have no inertia about their own axes, and `RangeSpace` and `UdwadiaKalaba` divide by it; and a loop
# is not a serial chain. **The mechanics is one, the algebra is ten.**
#
# ## What do they cost?
#
# Cost grows with the number of bodies, and differently. Time one solution for chains of links (a busy computer shows
# noise; look at the slopes):

# %%
from haugmbd.gallery import chain

sizes = [4, 8, 16, 32]
shown = [mbd.NewtonEuler(), mbd.RangeSpace(), mbd.NullSpace(), mbd.UdwadiaKalaba()]
figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
for formulation in shown:
    least = []
    for n in sizes:
        many = chain(n).compile()
        state, spent = many.state(), []
        mbd.accelerations(many, state, formulation=formulation)
        for _ in range(5):
            clock = time.perf_counter()
            mbd.accelerations(many, state, formulation=formulation)
            spent.append(time.perf_counter() - clock)
        least.append(min(spent))
    axes.loglog(sizes, 1e3 * np.array(least), "o-", label=type(formulation).__name__)
axes.set(xlabel="links", ylabel="one solution, called from Python [ms]", title="least of five calls")
axes.legend()
plt.show()

# %% [markdown]
# ## A run with each, compared
#
# `mbd.compare` measures whole runs: errors by group against one reference, violations at three levels, drift, and work.

# %%
methods = [mbd.Method(formulation=one, integrator=mbd.RK4(h=5e-3), label=type(one).__name__) for one in formulations[:-1]]
comparison = mbd.compare(four_bar(), methods, t_end=0.5, repeats=1)
table = comparison.to_pandas()
print(table[["status", "error_positions_max", "violation_acceleration_max", "evaluations"]].to_string())

# %%
comparison.results["NewtonEuler"]

# %% [markdown]
# ## A formulation of one's own
#
# A formulation solves one linear system, for any right-hand side. Written in Python it is a class with one method.
# `kkt.M` is (nb, 6, 6), a block for each body; `kkt.Phi_q` is (k, 6 nb); `kkt.b_u` and `kkt.b_c` are the right-hand
# sides (here $Q$ and $\gamma$, in projections others).

# %%
from haugmbd.formulations.base import KKTSolution
from haugmbd.formulations.python_formulation import PythonFormulation


class Inverse(PythonFormulation):
    """The augmented system by the inverse of the whole matrix: what one should not do, in three lines."""

    reference = "nobody"

    def solve(self, kkt):
        n, k = kkt.Phi_q.shape[1], kkt.Phi_q.shape[0]
        M = np.zeros((n, n))
        for body, block in enumerate(kkt.M):
            M[6 * body : 6 * body + 6, 6 * body : 6 * body + 6] = block
        K = np.block([[M, kkt.Phi_q.T], [kkt.Phi_q, np.zeros((k, k))]])
        x = np.linalg.inv(K) @ np.concatenate([kkt.b_u, kkt.b_c])
        return KKTSolution(x[:n], x[n:])


print(mbd.verify(Inverse()))

# %% [markdown]
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `sizes`.** How many unknowns has the (largest) linear system that each of these solves for the four-bar, with its
# 3 bodies and 17 independent rows: `{"NewtonEuler": ..., "EulerParameters": ..., "RangeSpace": ..., "NullSpace": ...}`?
# *`EulerParameters` has 7 accelerations for each body, and one more row.*

# %% tags=["solution"]
nb, nc = 3, model.nc
answers["sizes"] = {"NewtonEuler": 6 * nb + nc, "EulerParameters": 8 * nb + nc, "RangeSpace": nc, "NullSpace": 6 * nb - nc}

# %%
print(mbd.labs.check("lab6", answers))

# %% [markdown]
# **2. `formulation`.** Write a null-space method of your own: with `scipy.linalg.null_space(kkt.Phi_q)` as $Z$, a
# particular solution $\dot u_\gamma$ of $\Phi_q \dot u = b_c$ by `np.linalg.lstsq`, then $Z^T M Z\,\ddot y = Z^T (b_u -
# M \dot u_\gamma)$, $\dot u = \dot u_\gamma + Z \ddot y$, and at last $\lambda$ from $\Phi_q^T \lambda = b_u - M \dot u$,
# by `lstsq` too. `scipy.linalg.block_diag(*kkt.M)` is $M$ as one matrix. Hand in an object of your class; begin with
# the class `Inverse` above, and ask `mbd.verify` of yours.

# %% tags=["solution"]
from scipy.linalg import block_diag, null_space


class MyNullSpace(PythonFormulation):
    """Z from SciPy."""

    reference = "my own"

    def solve(self, kkt):
        M = block_diag(*kkt.M)
        Z = null_space(kkt.Phi_q)
        particular = np.linalg.lstsq(kkt.Phi_q, kkt.b_c)[0]
        u = particular + Z @ np.linalg.solve(Z.T @ M @ Z, Z.T @ (kkt.b_u - M @ particular))
        return KKTSolution(u, np.linalg.lstsq(kkt.Phi_q.T, kkt.b_u - M @ u)[0])


answers["formulation"] = MyNullSpace()

# %%
print(mbd.labs.check("lab6", answers))

# %% [markdown]
# **3. `factor`.** `mbd.Penalty(alpha=...)` replaces each row by a stiff element. By which factor does the error of its
# accelerations fall when `alpha` grows tenfold? The error is the largest $|\dot v - \dot v_{exact}|$ of
# `mbd.accelerations(model, moved, formulation=...)`, as in the first program. Take several values, for instance 1e2,
# 1e3 and 1e4. What spoils it at very large values?

# %% tags=["solution"]
errors = [
    abs(mbd.accelerations(model, moved, formulation=mbd.Penalty(alpha=alpha)).v_dot - exact.v_dot).max() for alpha in (1e3, 1e4)
]
answers["factor"] = errors[0] / errors[1]

# %%
print(mbd.labs.check("lab6", answers))

# %% [markdown]
# ## What you have seen
#
# One mechanics, ten algebras: they differ in what they solve, in which models they take, and in how the work grows.
# That a method is right can be shown by agreement with others.
