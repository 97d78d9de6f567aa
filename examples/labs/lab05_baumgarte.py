# %% [markdown]
# # Lab 5: Baumgarte: folklore and the stability boundary
#
# *45 to 75 minutes. Before it: lab 4.*
#
# **Question.** "Take alpha = beta, somewhere between 1 and 20." Where does that come from, is larger better, and where
# does it end?
#
# ## Theory in a screenful
#
# Baumgarte (1972) replaces $\ddot\Phi = 0$ by
#
# $$\ddot\Phi + 2\alpha\,\dot\Phi + \beta^2\,\Phi = 0 .$$
#
# In continuous time this is a damped oscillator with the roots $s_{1,2} = -\alpha \pm \sqrt{\alpha^2 - \beta^2}$:
# critically damped for $\alpha = \beta$. But a program takes steps. A Runge-Kutta method with the stability function
# $R(z)$ turns $e^{s h}$ into $R(s h)$, so that the violation dies out only if $|R(s_1 h)| < 1$ and $|R(s_2 h)| < 1$.
# For RK4
#
# $$R(z) = 1 + z + \tfrac{z^2}{2} + \tfrac{z^3}{6} + \tfrac{z^4}{24} .$$
#
# And the violation is not zero, but where the error of each step (of order $h^{k+1}$) and the feedback balance. The
# feedback does not see $\Phi$ alone: within a step the stages of the method are off the constraints by $O(h^2)$, and
# gains amplify that, too.
#
# ## A map

# %%
import matplotlib.pyplot as plt
import numpy as np

import haugmbd as mbd
from joints import Distance

system = mbd.System("point pendulum", gravity=(0, -9.81, 0))
mass = system.add(mbd.Body("mass", 1.0, (1e-3, 1e-3, 1e-3), r=(1, 0, 0)))
system.add(Distance("rod", system.ground, mass, point_i=(0, 0, 0), point_j=(1, 0, 0)))
model = system.compile()
h = 1e-2

gains = np.linspace(20.0, 340.0, 9)
found = mbd.gain_map(model, alpha=gains, beta=gains, h=h, t_end=2.0)
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
found.plot(ax=axes)
plt.show()

# %% [markdown]
# Each cell is a run. The line is where theory ends stability: the larger $|R|$ of both roots is 1. Beyond it the
# violation grows until the run fails: gains that are too large are no "better feedback", they blow up.
#
# ## Does a larger gain help?

# %%
ladder = [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
worst = []
for gain in ladder:
    run = mbd.simulate(model, 10.0, h=h, stabilization=mbd.Baumgarte(gain, gain))
    worst.append(abs(run.violation("position")).max())
none = abs(mbd.simulate(model, 10.0, h=h, stabilization=None).violation("position")).max()
projected = abs(mbd.simulate(model, 10.0, h=h, stabilization=mbd.Projection()).violation("position")).max()

figure, axes = plt.subplots(figsize=(7, 3.8), layout="constrained")
axes.loglog(ladder, worst, "o-", label="Baumgarte, alpha = beta")
axes.axhline(none, color="#d55e00", linestyle="--", label="none")
axes.axhline(projected, color="#009e73", linestyle="--", label="projection")
axes.set(xlabel="alpha = beta [1/s]", ylabel="largest |Phi| in 10 s [m²]", title="RK4, h = 0.01 s")
axes.legend()
plt.show()

# %% [markdown]
# There is a best gain, and it is small: about the rate of the motion itself. Beyond it the feedback multiplies the
# violation of the stages. Projection is better by orders of magnitude with every gain.
#
# And this is what a run looks like with $\alpha h = 2.5$, not far below the limit for RK4. (The library warns that its
# energy is lost.) The limit holds for frozen constraints; in a motion, a double root is the first to leave.

# %%
shaken = mbd.simulate(model, 4.0, h=h, stabilization=mbd.Baumgarte(250.0, 250.0))
print(f"largest |Phi| with alpha h = 2.5: {abs(shaken.violation('position')).max():.1e} m²")
shaken

# %% [markdown]
# ## Gains that fit the step?
#
# Some programs scale: $\alpha = a/h$. `mbd.Baumgarte.scaled(alpha_h, beta_h)` does. Stability is then the same for
# every step; but look at the order in exercise 3.
#
# ## Exercises

# %%
answers = {}

# %% [markdown]
# **1. `limit`.** From $R(z)$ above: the largest $\alpha h$ for $\alpha = \beta$ with which RK4 is stable, to four
# digits. Both roots are then $-\alpha$. (They are $-\alpha \pm \sqrt{\alpha^2 - \beta^2}$: complex for $\beta >
# \alpha$, real and different for $\beta < \alpha$, and the limit is another one: `print(mbd.gain_limit(model,
# ratio=2.0, h=1e-2, t_end=4.0))` measures it for $\beta = 2\alpha$, and says what theory gives. For a double root,
# $\beta = \alpha$, runs leave before the limit of theory.)
#
# **2. `best`.** Which of the gains in `ladder` has the least violation over 10 s?

# %% tags=["solution"]
coefficients = [1 / 24, -1 / 6, 1 / 2, -1.0, 0.0]  # R(-x) - 1 = 0 besides x = 0
answers["limit"] = max(root.real for root in np.roots(coefficients[:4]) if abs(root.imag) < 1e-9)
answers["best"] = ladder[int(np.argmin(worst))]
print(mbd.gain_limit(model, ratio=2.0, h=h, t_end=4.0))

# %%
print(mbd.labs.check("lab5", answers))

# %% [markdown]
# **3. `orders`.** With which power of $h$ does the largest violation over 10 s fall, (i) with fixed gains,
# `Baumgarte(5, 5)`, (ii) with gains that grow like $1/h$, `Baumgarte.scaled(0.5, 0.5)`? Use h = 0.01, 0.005 and 0.0025
# s, and hand in both exponents as a list, rounded to whole numbers if you like. *If a violation $V(h)$ falls like
# $h^k$, then $k = \log_2 (V(h) / V(h/2))$.*

# %% tags=["solution"]


def order(rule):
    sizes = [
        abs(mbd.simulate(model, 10.0, h=step, stabilization=rule).violation("position")).max() for step in (1e-2, 5e-3, 2.5e-3)
    ]
    return np.log2(sizes[0] / sizes[2]) / 2.0


answers["orders"] = [order(mbd.Baumgarte(5.0, 5.0)), order(mbd.Baumgarte.scaled(0.5, 0.5))]
print(answers["orders"])

# %%
print(mbd.labs.check("lab5", answers))

# %% [markdown]
# ## What you have seen
#
# Gains have a limit that follows from the stability function, a best value that has little to do with it, and a price
# if they grow like $1/h$. Where a projection is possible, it wins.
