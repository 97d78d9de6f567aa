r"""Plots of results: each function draws one diagram, takes `ax=` and `label=`, and returns the Axes.

over time     joint(result, name)   load(result, name)   driver(result, name)   coordinates(result, body)
              reactions(result, joint)   energy(result)   violation(result)
curves        path(result, *points)   phase(result, joint)   spectrum(result, joint)
style         theme(dark=True): a context of plots on a dark background

result: a Result. `result.plot.energy()` is `energy(result)`.
A second call with the same `ax=` overlays: the same colours in another line style, and lines that lie on each other are marked.

style                  colours, Axes, backgrounds
drawing                what is drawn; lines, limits, legends
over_time              joints, loads, drivers, bodies, energy, reactions and violation over time
curves                 paths, phase portraits, spectra
"""

from haugmbd.plotting.curves import path, phase, spectrum
from haugmbd.plotting.over_time import coordinates, driver, energy, joint, load, reactions, violation
from haugmbd.plotting.style import theme

__all__ = ["coordinates", "driver", "energy", "joint", "load", "path", "phase", "reactions", "spectrum", "theme", "violation"]
