r"""Plots of results: each function draws one diagram, takes `ax=` and `label=`, and returns the Axes.

over time     joint(result, name)   load(result, name)   driver(result, name)   coordinates(result, body)
              reactions(result, joint)   energy(result)   violation(result)
              block(result, name)   sensor(result, name)   quantities(result, names, over=name)
curves        path(result, *points)   phase(result, joint)   spectrum(result, joint)
style         theme("paper"), theme("dark"): for all plots from now on, or as a context; theme() ends it

result: a Result. `result.plot.energy()` is `energy(result)`.
A second call with the same `ax=` overlays: the same colours in another line style, and lines that lie on each other are marked.

style                  colours, Axes, backgrounds
drawing                what is drawn; lines, limits, legends
over_time              joints, loads, drivers, bodies, energy, reactions and violation over time
curves                 paths, phase portraits, spectra
"""

from haugmbd.plotting.curves import path, phase, spectrum
from haugmbd.plotting.over_time import block, coordinates, driver, energy, joint, load, quantities, reactions, sensor, violation
from haugmbd.plotting.style import theme

__all__ = [
    "block",
    "coordinates",
    "driver",
    "energy",
    "joint",
    "load",
    "path",
    "phase",
    "quantities",
    "reactions",
    "sensor",
    "spectrum",
    "theme",
    "violation",
]
