"""Ready-made mechanisms, with their sources and published values.

`mechanisms` has a file for each mechanism or family, `building` what they share, `published` the published values, and `shown` how long
each is shown.
A new mechanism is one file there and one line in `GALLERY`; the tests compile each of them, count its degrees of freedom and run it.
"""

from collections.abc import Callable

from haugmbd.compiled.collection import collection_paused

with collection_paused():  # most of the package is imported, and Numba
    from haugmbd.gallery.mechanisms.andrews import andrews
    from haugmbd.gallery.mechanisms.bouncing_toy import bouncing_toy
    from haugmbd.gallery.mechanisms.chain import chain
    from haugmbd.gallery.mechanisms.delta_robot import delta_robot
    from haugmbd.gallery.mechanisms.differential import differential
    from haugmbd.gallery.mechanisms.double_pendulum import double_pendulum
    from haugmbd.gallery.mechanisms.double_wishbone import double_wishbone
    from haugmbd.gallery.mechanisms.excavator import excavator
    from haugmbd.gallery.mechanisms.four_bar import four_bar
    from haugmbd.gallery.mechanisms.free_body import dzhanibekov, gyroscope
    from haugmbd.gallery.mechanisms.governor import governor
    from haugmbd.gallery.mechanisms.heavy_top import heavy_top
    from haugmbd.gallery.mechanisms.hoberman_ring import hoberman_ring
    from haugmbd.gallery.mechanisms.indexing_cam import indexing_cam
    from haugmbd.gallery.mechanisms.jansen_leg import jansen_leg
    from haugmbd.gallery.mechanisms.net import net
    from haugmbd.gallery.mechanisms.peaucellier import peaucellier
    from haugmbd.gallery.mechanisms.pendulum import pendulum
    from haugmbd.gallery.mechanisms.piston_engine import piston_engine
    from haugmbd.gallery.mechanisms.planar_slider_crank import planar_slider_crank
    from haugmbd.gallery.mechanisms.planetary_gear import planetary_gear
    from haugmbd.gallery.mechanisms.rolling_disc import rolling_disc
    from haugmbd.gallery.mechanisms.scissor_lift import scissor_lift
    from haugmbd.gallery.mechanisms.slider_crank import slider_crank
    from haugmbd.gallery.mechanisms.spatial_loops import bennett, bricard, bricard_cube
    from haugmbd.gallery.mechanisms.stewart_platform import stewart_platform
    from haugmbd.gallery.mechanisms.trebuchet import trebuchet
    from haugmbd.gallery.mechanisms.universal_shaft import universal_shaft
    from haugmbd.gallery.mechanisms.windows import windows
    from haugmbd.gallery.published import Published
    from haugmbd.gallery.shown import SHOWN
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
