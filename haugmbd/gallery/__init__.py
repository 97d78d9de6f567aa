"""Ready-made mechanisms, with their sources and published values.

One file a mechanism or a family; `building` has what they share, `published` the published values, `shown` how long each is shown.
A new mechanism is one file and one line in `GALLERY`; the tests compile each of them, count its degrees of freedom and run it.
"""

from collections.abc import Callable

from haugmbd.compiled.collection import collection_paused

with collection_paused():  # most of the package is imported, and Numba
    from haugmbd.gallery.andrews import andrews
    from haugmbd.gallery.bouncing_toy import bouncing_toy
    from haugmbd.gallery.chain import chain
    from haugmbd.gallery.delta_robot import delta_robot
    from haugmbd.gallery.differential import differential
    from haugmbd.gallery.double_pendulum import double_pendulum
    from haugmbd.gallery.double_wishbone import double_wishbone
    from haugmbd.gallery.excavator import excavator
    from haugmbd.gallery.four_bar import four_bar
    from haugmbd.gallery.free_body import dzhanibekov, gyroscope
    from haugmbd.gallery.governor import governor
    from haugmbd.gallery.heavy_top import heavy_top
    from haugmbd.gallery.hoberman_ring import hoberman_ring
    from haugmbd.gallery.indexing_cam import indexing_cam
    from haugmbd.gallery.jansen_leg import jansen_leg
    from haugmbd.gallery.net import net
    from haugmbd.gallery.peaucellier import peaucellier
    from haugmbd.gallery.pendulum import pendulum
    from haugmbd.gallery.piston_engine import piston_engine
    from haugmbd.gallery.planar_slider_crank import planar_slider_crank
    from haugmbd.gallery.planetary_gear import planetary_gear
    from haugmbd.gallery.published import Published
    from haugmbd.gallery.rolling_disc import rolling_disc
    from haugmbd.gallery.scissor_lift import scissor_lift
    from haugmbd.gallery.shown import SHOWN
    from haugmbd.gallery.slider_crank import slider_crank
    from haugmbd.gallery.spatial_loops import bennett, bricard, bricard_cube
    from haugmbd.gallery.stewart_platform import stewart_platform
    from haugmbd.gallery.trebuchet import trebuchet
    from haugmbd.gallery.universal_shaft import universal_shaft
    from haugmbd.gallery.windows import windows
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
