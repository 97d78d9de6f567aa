"""Ready-made mechanisms, with their sources and published values.

    pendulums          pendulum, double_pendulum, chain, net, trebuchet
    spinning_bodies    heavy_top, dzhanibekov, gyroscope, governor, rolling_disc, bouncing_toy
    planar_linkages    four_bar, andrews, planar_slider_crank, windows, peaucellier, jansen_leg, scissor_lift
    spatial_linkages   bennett, bricard, bricard_cube, hoberman_ring, universal_shaft, slider_crank, double_wishbone
    gears_and_cams     indexing_cam, planetary_gear, differential, piston_engine
    robots             stewart_platform, delta_robot, excavator
    touching_bodies    rattleback, tippe_top, woodpecker, incline_block, stack, tumbling_box, gripper, jumping_follower, rimless_wheel
    driven_by_contact  dominoes, ratchet, geneva_drive

`building` has what they share, and `shown` how long each is shown.
A new mechanism is a function there and a line in `GALLERY`; the tests compile each of them, count its degrees of freedom and run it.
"""

from collections.abc import Callable

from haugmbd.compiled.collection import collection_paused

with collection_paused():  # most of the package is imported, and Numba
    from haugmbd.gallery.building import Published
    from haugmbd.gallery.driven_by_contact import dominoes, geneva_drive, ratchet
    from haugmbd.gallery.gears_and_cams import differential, indexing_cam, piston_engine, planetary_gear
    from haugmbd.gallery.pendulums import chain, double_pendulum, net, pendulum, trebuchet
    from haugmbd.gallery.planar_linkages import (
        andrews,
        four_bar,
        jansen_leg,
        peaucellier,
        planar_slider_crank,
        scissor_lift,
        windows,
    )
    from haugmbd.gallery.robots import delta_robot, excavator, stewart_platform
    from haugmbd.gallery.shown import SHOWN
    from haugmbd.gallery.spatial_linkages import (
        bennett,
        bricard,
        bricard_cube,
        double_wishbone,
        hoberman_ring,
        slider_crank,
        universal_shaft,
    )
    from haugmbd.gallery.spinning_bodies import bouncing_toy, dzhanibekov, governor, gyroscope, heavy_top, rolling_disc
    from haugmbd.gallery.touching_bodies import (
        gripper,
        incline_block,
        jumping_follower,
        rattleback,
        rimless_wheel,
        stack,
        tippe_top,
        tumbling_box,
        woodpecker,
    )
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
    rattleback,
    tippe_top,
    woodpecker,
    incline_block,
    stack,
    tumbling_box,
    gripper,
    jumping_follower,
    rimless_wheel,
    dominoes,
    ratchet,
    geneva_drive,
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
    "dominoes",
    "double_pendulum",
    "double_wishbone",
    "dzhanibekov",
    "excavator",
    "four_bar",
    "geneva_drive",
    "governor",
    "gripper",
    "gyroscope",
    "heavy_top",
    "hoberman_ring",
    "incline_block",
    "indexing_cam",
    "jansen_leg",
    "jumping_follower",
    "net",
    "peaucellier",
    "pendulum",
    "piston_engine",
    "planar_slider_crank",
    "planetary_gear",
    "ratchet",
    "rattleback",
    "rimless_wheel",
    "rolling_disc",
    "scissor_lift",
    "slider_crank",
    "stack",
    "stewart_platform",
    "tippe_top",
    "trebuchet",
    "tumbling_box",
    "universal_shaft",
    "windows",
    "woodpecker",
]


def __dir__() -> list[str]:
    """Return the public names."""
    return sorted(__all__)
