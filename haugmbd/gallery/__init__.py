"""Ready-made mechanisms, with their sources and published values.

    published  a published value
    linkage    bars and points of planar linkages
    count      the check of a number of parts
    shown      how long each is shown, and drawn to which tolerance

    simple     pendulums, chains, tops, a net, a disc that rolls

    linkages   linkages: loops of bars

    machines   machines with drives, gears, cams, springs and platforms

A new mechanism is one file and one line in `GALLERY`; the tests compile each of them, count its degrees of freedom and run it.
"""

from collections.abc import Callable

from haugmbd.compiled.collection import collection_paused

with collection_paused():  # most of the package is imported, and Numba
    from haugmbd.gallery.linkages.andrews import andrews
    from haugmbd.gallery.linkages.four_bar import four_bar
    from haugmbd.gallery.linkages.hoberman_ring import hoberman_ring
    from haugmbd.gallery.linkages.jansen_leg import jansen_leg
    from haugmbd.gallery.linkages.peaucellier import peaucellier
    from haugmbd.gallery.linkages.planar_slider_crank import planar_slider_crank
    from haugmbd.gallery.linkages.scissor_lift import scissor_lift
    from haugmbd.gallery.linkages.slider_crank import slider_crank
    from haugmbd.gallery.linkages.spatial_loops import bennett, bricard, bricard_cube
    from haugmbd.gallery.linkages.universal_shaft import universal_shaft
    from haugmbd.gallery.linkages.windows import windows
    from haugmbd.gallery.machines.bouncing_toy import bouncing_toy
    from haugmbd.gallery.machines.delta_robot import delta_robot
    from haugmbd.gallery.machines.differential import differential
    from haugmbd.gallery.machines.double_wishbone import double_wishbone
    from haugmbd.gallery.machines.excavator import excavator
    from haugmbd.gallery.machines.governor import governor
    from haugmbd.gallery.machines.indexing_cam import indexing_cam
    from haugmbd.gallery.machines.piston_engine import piston_engine
    from haugmbd.gallery.machines.planetary_gear import planetary_gear
    from haugmbd.gallery.machines.stewart_platform import stewart_platform
    from haugmbd.gallery.machines.trebuchet import trebuchet
    from haugmbd.gallery.published import Published
    from haugmbd.gallery.shown import SHOWN
    from haugmbd.gallery.simple.chain import chain
    from haugmbd.gallery.simple.double_pendulum import double_pendulum
    from haugmbd.gallery.simple.free_body import dzhanibekov, gyroscope
    from haugmbd.gallery.simple.heavy_top import heavy_top
    from haugmbd.gallery.simple.net import net
    from haugmbd.gallery.simple.pendulum import pendulum
    from haugmbd.gallery.simple.rolling_disc import rolling_disc
    from haugmbd.system.system import System

GALLERY: tuple[Callable[[], System], ...] = (
    pendulum,
    double_pendulum,
    heavy_top,
    four_bar,
    slider_crank,
    chain,
    andrews,
    governor,
    dzhanibekov,
    gyroscope,
    planar_slider_crank,
    windows,
    bennett,
    bricard,
    bricard_cube,
    peaucellier,
    jansen_leg,
    scissor_lift,
    hoberman_ring,
    universal_shaft,
    indexing_cam,
    planetary_gear,
    differential,
    piston_engine,
    double_wishbone,
    stewart_platform,
    delta_robot,
    excavator,
    rolling_disc,
    bouncing_toy,
    trebuchet,
    net,
)

__all__ = [
    "GALLERY",
    "SHOWN",
    "Published",
    "andrews",
    "bennett",
    "bouncing_toy",
    "bricard",
    "bricard_cube",
    "chain",
    "delta_robot",
    "differential",
    "double_pendulum",
    "double_wishbone",
    "dzhanibekov",
    "excavator",
    "four_bar",
    "governor",
    "gyroscope",
    "heavy_top",
    "hoberman_ring",
    "indexing_cam",
    "jansen_leg",
    "net",
    "peaucellier",
    "pendulum",
    "piston_engine",
    "planar_slider_crank",
    "planetary_gear",
    "rolling_disc",
    "scissor_lift",
    "slider_crank",
    "stewart_platform",
    "trebuchet",
    "universal_shaft",
    "windows",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
