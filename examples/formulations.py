"""One double pendulum, ten formulations, one ruler; and what a penalty costs in accuracy, for every size of it.

python examples/formulations.py [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import haugmbd as mbd
from haugmbd.formulations import FORMULATIONS
from haugmbd.gallery import double_pendulum

ALPHAS = 10.0 ** np.arange(0, 15)


def penalties(model: mbd.Model) -> tuple[list[float], list[int]]:
    """For each alpha: the error of Penalty's multipliers, relative, and the iterations of AugmentedLagrangian."""
    lam, errors, iterations = mbd.accelerations(model).lam, [], []
    for alpha in ALPHAS:
        found = mbd.accelerations(model, formulation=mbd.Penalty(alpha=alpha)).lam
        errors.append(abs(found - lam).max() / abs(lam).max())
        by_turns = mbd.AugmentedLagrangian(alpha=alpha, tol=1e-11, most_iterations=500)
        iterations.append(mbd.accelerations(model, formulation=by_turns).iterations)
    return errors, iterations


def main(folder: Path) -> tuple[dict[str, mbd.Result], list[float], list[int]]:
    model = double_pendulum().compile()
    results = {}
    for kind in FORMULATIONS:
        result = results[kind.__name__] = mbd.simulate(model, t_end=0.2, h=2e-3, formulation=kind())
        apart, gap = abs(result.y[-1] - results["NewtonEuler"].y[-1]).max(), abs(result.violation("position")).max()
        us = 1e6 * result.counters.cpu / result.counters.steps
        print(f"{kind.__name__:<24} from NewtonEuler {apart:.0e}   violation {gap:.0e}   {us:6.0f} us a step")
    errors, iterations = penalties(model)
    figure, axes = pyplot.subplots(figsize=(7.2, 4.0), layout="constrained")
    axes.loglog(ALPHAS, errors, "o-", label="Penalty: error of lam, relative")
    axes.loglog(ALPHAS, iterations, "s-", label="AugmentedLagrangian: iterations to 1e-11")
    axes.set(xlabel="alpha", title="double pendulum: 1 / alpha, until rounding takes over")
    axes.legend(loc="center left", bbox_to_anchor=(0.35, 0.65))
    figure.savefig(folder / "formulations.png", dpi=100)
    return results, errors, iterations


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
