r"""The joints between the links of a chain, as rows between two bodies. They equal joints of the catalogue, which is not imported here.

    RevoluteLink     SJ, perp-1(f_i, g_i, h_j)          as RJ         CylindricalLink   perp-1, perp-2          as CJ
    PrismaticLink    CJ, DP1(f_i, g_j, 0)               as TJ         UniversalLink     SJ, DP1(f_i, g_j, 0)    as UJ
    FixedLink        RJ, DP1(f_i, g_j, 0)               as Fixed      SphericalLink     SJ                      as SJ

Body i is the link before, body j the link; the frames coincide where the link's coordinates are zero.
Source: Haug (2021), composition of joints from basic constraints.
"""

from __future__ import annotations

from haugmbd.bodies.frame import Frame
from haugmbd.constraints import DP1, Joint, Primitive, coincident, perpendicular_1, perpendicular_2
from haugmbd.constraints.freedoms import F_I, G_J, H_I, H_J, Side, ball, slide, turn
from haugmbd.serial_chain.chain_arrays import BALL, SLIDE, TURN


class LinkJoint(Joint):
    """The joint of a link.  q0: value of the coordinate at the modelled pose, of a joint with one freedom."""

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame, q0: float = 0.0) -> None:
        super().__init__(name, frame_i, frame_j)
        self.q0 = q0

    def coincident(self) -> tuple[Primitive, ...]:
        """Return the three rows of coincident points."""
        return coincident(self.i, self.frame_i.s_bar, self.j, self.frame_j.s_bar)

    def parallel(self) -> tuple[Primitive, ...]:
        """Return perp-1: h_j stays along h_i."""
        return perpendicular_1(self.i, self.frame_i.f, self.frame_i.g, self.j, self.frame_j.h)

    def on_line(self) -> tuple[Primitive, ...]:
        """Return perp-2: the point of body j stays on the line of body i along h_i."""
        i, j = self.frame_i, self.frame_j
        return perpendicular_2(self.i, i.f, i.g, i.s_bar, self.j, j.s_bar)

    def product(self) -> tuple[Primitive, ...]:
        """Return the row f_i . g_j = 0: no turn about h, or the axes of a universal joint."""
        return (DP1(self.i, self.frame_i.f, self.j, self.frame_j.g),)


class RevoluteLink(LinkJoint):
    """The link turns about h."""

    freedoms = (turn(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.parallel())


class PrismaticLink(LinkJoint):
    """The link slides along h."""

    freedoms = (slide(H_I),)

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.parallel(), *self.on_line(), *self.product())


class CylindricalLink(LinkJoint):
    """The link slides along h and turns about it."""

    freedoms = (slide(H_I), turn(H_J))

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.parallel(), *self.on_line())


class UniversalLink(LinkJoint):
    """The link turns about f of the link before, then about its own g."""

    freedoms = (turn(F_I), turn(G_J))

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.product())


class SphericalLink(LinkJoint):
    """The link turns freely."""

    freedoms = ball(Side.J)

    def primitives(self) -> tuple[Primitive, ...]:
        return self.coincident()


class FixedLink(LinkJoint):
    """The link keeps its place."""

    freedoms = ()

    def primitives(self) -> tuple[Primitive, ...]:
        return (*self.coincident(), *self.parallel(), *self.product())


JOINTS: dict[tuple[int, ...], type[LinkJoint]] = {
    (TURN,): RevoluteLink,
    (SLIDE,): PrismaticLink,
    (SLIDE, TURN): CylindricalLink,
    (TURN, TURN): UniversalLink,
    (BALL, BALL, BALL): SphericalLink,
    (): FixedLink,
}
"""The joint of a link, by the kinds of its ways."""
