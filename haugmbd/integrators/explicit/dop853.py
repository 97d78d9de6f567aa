r"""DOP853: order eight in twelve stages, with two embedded errors, of orders five and three.

    error = |e5|^2 / sqrt( (|e5|^2 + |e3|^2 / 100) n )         falls like h^8: e5, reduced where e3 is large

A step needs two to three times as many evaluations as Dormand-Prince 5(4), and is several times as long for sharp tolerances.
Source: Dormand, Prince (1981); Hairer, Norsett, Wanner, Solving ODE I, sec. II.5 and II.10, whose code gives these digits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from haugmbd.deprecated import public_class
from haugmbd.integrators.explicit.embedded import EmbeddedRungeKutta
from haugmbd.integrators.explicit.tableau import tableau

# fmt: off
TABLEAU = tableau(
    (0.0,),
    (0.05260015195876773, 0.05260015195876773),
    (0.0789002279381516, 0.0197250569845379, 0.0591751709536137),
    (0.1183503419072274, 0.02958758547680685, 0.0, 0.08876275643042054),
    (0.2816496580927726, 0.2413651341592667, 0.0, -0.8845494793282861, 0.924834003261792),
    (0.3333333333333333, 0.037037037037037035, 0.0, 0.0, 0.17082860872947386, 0.12546768756682242),
    (0.25, 0.037109375, 0.0, 0.0, 0.17025221101954405, 0.06021653898045596, -0.017578125),
    (0.3076923076923077, 0.03709200011850479, 0.0, 0.0, 0.17038392571223998, 0.10726203044637328, -0.015319437748624402,
     0.008273789163814023),
    (0.6512820512820513, 0.6241109587160757, 0.0, 0.0, -3.3608926294469414, -0.868219346841726, 27.59209969944671,
     20.154067550477894, -43.48988418106996),
    (0.6, 0.47766253643826434, 0.0, 0.0, -2.4881146199716677, -0.590290826836843, 21.230051448181193, 15.279233632882423,
     -33.28821096898486, -0.020331201708508627),
    (0.8571428571428571, -0.9371424300859873, 0.0, 0.0, 5.186372428844064, 1.0914373489967295, -8.149787010746927,
     -18.52006565999696, 22.739487099350505, 2.4936055526796523, -3.0467644718982196),
    (1.0, 2.273310147516538, 0.0, 0.0, -10.53449546673725, -2.0008720582248625, -17.9589318631188, 27.94888452941996,
     -2.8589982771350235, -8.87285693353063, 12.360567175794303, 0.6433927460157636),
    (0.054293734116568765, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, 0.3111643669578199,
     -0.1521609496625161, 0.20136540080403034, 0.04471061572777259),
)
ERRORS = np.array([
    [0.01312004499419488, 0.0, 0.0, 0.0, 0.0, -1.2251564463762044, -0.4957589496572502, 1.6643771824549864,
     -0.35032884874997366, 0.3341791187130175, 0.08192320648511571, -0.022355307863886294, 0.0],
    [-0.18980075407240762, 0.0, 0.0, 0.0, 0.0, 4.450312892752409, 1.8915178993145003, -5.801203960010585, -0.4226823213237919,
     -0.1521609496625161, 0.20136540080403034, 0.02265179219836082, 0.0],
])
# fmt: on


@public_class
@dataclass(frozen=True, kw_only=True)
class DOP853(EmbeddedRungeKutta):
    """The Dormand-Prince method of order eight with error control, for sharp tolerances and smooth motions.

    Parameters
    ----------
    rtol, atol : float
        Relative and absolute tolerances of the error of a step.
    h_first : float, optional
        First step [s]; by default chosen.
    h_max : float
        Largest step [s].
    beta : float
        Exponent of the PI step size control; 0 switches it off, 0.04 is usual.

    Notes
    -----
    Sources: Dormand and Prince 1981; Hairer, Norsett and Wanner, Solving ODE I, sec. II.5 and II.10.
    """

    reference = "Dormand and Prince 1981; Hairer, Norsett and Wanner, Solving ODE I, sec. II.5 and II.10 (DOP853)"
    order = 8
    error_order = 8
    tableau = TABLEAU
    errors = ERRORS

    @property
    def dense(self) -> bool:
        return False
