r"""A joint: a name, a frame on each of two bodies, and the constraint equations that it is composed of.

    Phi^joint = ( Phi^1, Phi^2, ... )        each Phi^k one of DP1, DP2, D, CD, ...

A system uses only the name of a joint, its equations, its frames (where the reaction is reported), and its freedoms if it declares
them. The catalogue is the package `joints`. A new joint is a subclass with `primitives()`.
Source: Haug (2021), spatial kinematics: joints composed of basic constraints.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from math import cos, sin
from types import MappingProxyType
from typing import Any, ClassVar

from haugmbd.bodies.body import Body
from haugmbd.bodies.frame import Frame
from haugmbd.bodies.part import Part
from haugmbd.compiled.array_types import Array
from haugmbd.constraints.base import Primitive
from haugmbd.constraints.coordinate import Coordinate
from haugmbd.constraints.freedoms import Freedom, slides_along_h_only, turns_about_h_only
from haugmbd.constraints.tooth_contact import ToothContact
from haugmbd.deprecated import check_keywords, public_class
from haugmbd.errors import Fault, UsageError


def _taking_active(constructor: Callable[..., None]) -> Callable[..., None]:
    """Return the constructor of a joint, which also takes active=: whether the joint is on at the start."""

    @wraps(constructor)
    def construct(self: Joint, *args: Any, **given: Any) -> None:
        if "active" not in given:
            constructor(self, *args, **given)
            return
        active = given.pop("active")
        constructor(self, *args, **given)
        if not isinstance(active, bool):
            raise UsageError(f"joint {self.name!r}: active is {active!r}, must be True or False.")
        self.__dict__["active"] = active

    return construct


@public_class
class Joint(Part):
    """Base class of joints: two bodies and the constraint equations between them.

    Parameters
    ----------
    name : str
        Name of the joint in messages and results.
    frame_i, frame_j : Frame
        The joint frames on body i and on body j; h is the axis, and reactions act at the points.
    active : bool
        False for a joint that is off at the start, and is switched on by an event, see `Switch`. Every joint takes it, as a keyword.

    Notes
    -----
    A subclass defines `primitives()`, and may declare `freedoms`. The constructor does not raise for bad values: `faults()` returns
    them, and `System.validate` raises them all in one ModelError.
    Source: Haug (2021), spatial kinematics: joints composed of basic constraints.
    """

    freedoms: ClassVar[tuple[Freedom, ...] | None] = None
    """The relative motions that the joint allows, from body i to body j, such as (slide(H_I), turn(H_J)); None if not declared."""
    active: bool = True
    """Whether the joint is on at the start; a joint that is off is switched on by an event, see `Switch`."""
    unilateral: bool = False
    """Whether the joint can only push: the multiplier of its first row must not be positive. Runs tell where it is."""
    one_way: bool = False
    """Whether it is a freewheel: `simulate` lets its row lock and slip, so that its sum of coordinates never falls."""
    may_be_slack: bool = False
    """Whether it is a rope that only pulls: a force or a contact along its path, in place of rows."""
    variable: ClassVar[Mapping[str, tuple[tuple[int, ...], ...]]] = MappingProxyType({})
    """The attributes that `varied` can change, each with its shapes; none by default."""
    q0: float = 0.0
    """Value of the coordinate at the modelled pose [rad or m], of a joint with one freedom."""
    uniform_rows: ClassVar[bool] = False
    """Whether `primitives()` reads nothing but the bodies and `vectors`, in the same way for all joints of the class that declares it.
    The rows of many such joints are written at once. Subclasses do not inherit the declaration."""
    n_vectors: ClassVar[int] = 0
    vectors: Any = ()
    """The `n_vectors` body-fixed vectors that rows are made of, of joints of the catalogue."""

    def __init_subclass__(cls) -> None:
        """Let the constructor of the class say which keyword was meant by a wrong one, and check what the class declares.

        Raise UsageError for a declaration that is not a tuple of freedoms, such as one freedom without its comma.
        """
        super().__init_subclass__()
        if "__init__" in vars(cls):
            constructor = _taking_active(check_keywords(vars(cls)["__init__"]))
            setattr(cls, "__init__", constructor)  # noqa: B010  mypy refuses the assignment to a method
        given = cls.freedoms
        if given is not None and not (type(given) is tuple and all(isinstance(freedom, Freedom) for freedom in given)):
            raise UsageError(f"{cls.__name__}.freedoms is {given!r}. Give a tuple of freedoms, such as (turn(H_I),), or None.")

    def __init__(self, name: str, frame_i: Frame, frame_j: Frame) -> None:
        self.name = name
        self.frame_i = frame_i
        self.frame_j = frame_j

    @property
    def i(self) -> Body:
        """Return the first body."""
        return self.frame_i.body

    @property
    def j(self) -> Body:
        """Return the second body; `reaction` reports the reaction on it by default."""
        return self.frame_j.body

    @property
    def rotates_about_h(self) -> bool:
        """Return whether body j can turn about h and about no other axis, as a rotation driver or an RSDA requires."""
        return turns_about_h_only(self.freedoms)

    @property
    def slides_along_h(self) -> bool:
        """Return whether body j can slide along h and along no other direction, as a translation driver requires."""
        return slides_along_h_only(self.freedoms)

    def coordinate(self, what: str, number: int = 1) -> Coordinate:
        """Return a coordinate of the joint, for couplings.

        Parameters
        ----------
        what : {"angle", "displacement"}
            The kind of coordinate.
        number : int
            Which one of several coordinates of this kind, from 1.

        Returns
        -------
        Coordinate
            The coordinate.

        Raises
        ------
        UsageError
            If the joint has no such coordinate.
        """
        return Coordinate(self, what, number)

    def angle_axes(self) -> tuple[Array, Array]:
        """Return the axes e_bar, n_bar of body i from which the angle of f_j is counted: f_i, g_i, turned back by q0."""
        f, g = self.frame_i.f, self.frame_i.g
        if self.q0 == 0.0:
            return f, g
        return cos(self.q0) * f - sin(self.q0) * g, sin(self.q0) * f + cos(self.q0) * g

    def places(self) -> tuple[Frame, ...]:
        """Return a frame on every body that the rows touch, where reactions on it are reported, if it is not one on body i or j alone."""
        return ()

    def tooth_contact(self) -> ToothContact | None:
        """Return where the teeth of a pair of gears touch, if their geometry was given; reactions then have tooth forces."""
        return None

    def warnings(self) -> tuple[str, ...]:
        """Return warnings of the model about a joint that can be built but may be a mistake, one sentence each."""
        return ()

    def as_added(self) -> Any:
        """Return what the user has added to the system: the joint itself, or the part that it was made of."""
        return self

    def put_on_ground(self, ground: Body) -> None:
        """Take the ground of the system that the joint is added to; for joints that are made without naming it."""

    def varied(self, **values: Any) -> Joint:
        """Return the joint that the constructor makes with other values of what is `variable`, for `batch`."""
        raise NotImplementedError(f"{type(self).__name__}.varied: {', '.join(values)}")

    def remade(self) -> Joint:
        """Return the joint as its constructor makes it of the geometry that other joints have now, for `batch`."""
        return self

    @classmethod
    def of_vectors(cls, i: Body, j: Body, vectors: Sequence[Array]) -> Joint:
        """Return a joint with these `vectors`, for the rows that are made of them; of classes with `uniform_rows`."""
        raise NotImplementedError(f"{cls.__name__}.of_vectors")

    def needs(self) -> tuple[Joint, ...]:
        """Return other joints that must be in the same system: for a driver, the joint it drives."""
        return ()

    def numbers_here(self, states: Mapping[Body, Array], angle: Callable[[Coordinate], float]) -> tuple[float, ...]:
        """Return the numbers with which the joint fits the pose of a moment, for `held_at`.

        states: r, p, v, omega_bar (13,) of the bodies;  angle: the angle of a coordinate, with its turns

        Raises
        ------
        UsageError
            If the joint closes at its modelled geometry only.
        """
        raise UsageError(
            f"joint {self.name!r} ({type(self).__name__}) cannot close at the pose of the moment: a Fixed, a Distance, a driver and a "
            "coupling can. Give its points and axes, and lock it where they meet."
        )

    def held_at(self, numbers: Sequence[float]) -> Joint:
        """Return the joint with the numbers of `numbers_here` in place of those of the modelled pose."""
        raise NotImplementedError(f"{type(self).__name__}.held_at")

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """Return the constraint equations, in the order of the rows."""

    @property
    def rows(self) -> int:
        """Return the number of equations: the degrees of freedom that the joint removes, if they are independent."""
        return len(self.primitives())

    def faults(self) -> tuple[Fault, ...]:
        """Return all faults of this joint alone; a fault of its frames hides those of the rows made from them."""
        given = self.faults_of_values()
        return self.faults_of_rows(self.primitives()) if given is None else given

    def faults_of_values(self) -> tuple[Fault, ...] | None:
        """Return the faults of the given values that hide those of the rows; None if the rows are to be checked."""
        if not (self.frame_i.faults() or self.frame_j.faults()):
            return None
        where = f"joint {self.name!r}"
        return (*self.frame_i.faults(where), *self.frame_j.faults(where))

    def faults_of_rows(self, primitives: Iterable[Primitive]) -> tuple[Fault, ...]:
        """Return the faults of the rows, which `primitives` has returned."""
        found = []
        for k, primitive in enumerate(primitives):
            for fault in primitive.faults():
                found.append(Fault(f"joint {self.name!r}, row {k} {fault.where}", fault.what, fault.remedy))
        return tuple(found)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name!r}, {self.i.name!r}, {self.j.name!r})"


class Single(Joint):
    """A joint with one equation: `System.add` makes it of an equation that is added by itself."""

    def __init__(self, name: str, primitive: Primitive) -> None:
        points = {body: x_bar for body, x_bar in primitive.markers()}
        super().__init__(name, Frame(primitive.i, points[primitive.i]), Frame(primitive.j, points[primitive.j]))
        self.primitive = primitive

    def as_added(self) -> Primitive:
        """Return the equation."""
        return self.primitive

    def primitives(self) -> tuple[Primitive, ...]:
        """Return the equation."""
        return (self.primitive,)
