r"""Random chains for tests and cross-checks: random joints, inertias and link frames."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from haugmbd.compiled.array_types import Array
from haugmbd.deprecated import check_keywords
from haugmbd.errors import UsageError
from haugmbd.math.euler_parameters import cross, normalized
from haugmbd.serial_chain.chain import SerialChain
from haugmbd.serial_chain.link import Link

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed")


@check_keywords
def random_chain(
    n: int, seed: int, *, kinds: Sequence[str] = KINDS, free_base: bool = False, gravity: Any = (0.0, 0.0, -9.81)
) -> SerialChain:
    """Return a random serial chain; the same seed gives the same chain.

    Parameters
    ----------
    n : int
        Number of links.
    seed : int
        Seed of the random numbers.
    kinds : sequence of str
        Kinds of joints: "revolute", "prismatic", "cylindrical", "universal", "spherical", "fixed".
    free_base : bool
        If True, the first link is free.
    gravity : array_like, (3,)
        Gravity, global [m/s2].

    Returns
    -------
    SerialChain
        The chain: lengths of about 0.5 m, masses of 0.5 to 2 kg, full inertia tensors. If all joints are fixed, nothing moves.

    Raises
    ------
    UsageError
        If an argument is not valid.
    """
    if isinstance(n, bool) or not (isinstance(n, int | np.integer) and n >= 1):
        raise UsageError(f"a random chain needs a whole number of links, 1 or more, got {n!r}.")
    if isinstance(seed, bool) or not (isinstance(seed, int | np.integer) and seed >= 0):
        raise UsageError(f"a random chain needs a seed, a whole number, 0 or more, got {seed!r}.")
    if isinstance(kinds, str) or not isinstance(kinds, Iterable):
        raise UsageError(f"kinds={kinds!r} is not a list of joints. Give a list or tuple of some of {', '.join(KINDS)}.")
    kinds = tuple(kinds)
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown or not kinds:
        raise UsageError(f"kinds of joints {unknown or 'none'}: choose from {', '.join(KINDS)}.")
    rng = np.random.default_rng(seed)
    chosen = [str(kind) for kind in rng.choice(list(kinds), size=n)]
    if free_base:
        chosen[0] = "free"
    return SerialChain(
        [_link(rng, f"link {k}", kind) for k, kind in enumerate(chosen, start=1)], gravity=gravity, name=f"random {seed}"
    )


def _link(rng: np.random.Generator, name: str, kind: str) -> Link:
    """Return one random link."""
    mass = rng.uniform(0.5, 2.0)
    R, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    spread = rng.uniform(0.05, 0.3, size=3) ** 2  # second moments of mass along three axes: any give a physical inertia
    J_bar = mass * R @ np.diag(spread.sum() - spread) @ R.T
    axis, other = rng.normal(size=(2, 3))
    place = {"c": 0.3 * rng.normal(size=3), "L": 0.5 * rng.normal(size=3), "p": normalized(rng.normal(size=4))}
    axes: dict[str, Array] = {}
    if kind == "universal":
        axes = {"axis_1": axis, "axis_2": cross(axis, other)}
    elif kind in ("revolute", "prismatic", "cylindrical"):
        axes = {"axis": axis}
    link: Link = getattr(Link, kind)(name, mass, 0.5 * (J_bar + J_bar.T), **place, **axes)
    return link


def random_motion(chain: SerialChain, seed: int) -> tuple[Array, Array, Array]:
    """Return random q (nq,), qd and tau (nv,) for a chain, of order one."""
    rng = np.random.default_rng(seed)
    q = rng.normal(size=chain.nq)
    for (_, n, at), link in zip(chain.tables["LINKS"], chain.links, strict=True):
        if link.nq > link.nv:
            q[at + n - 3 : at + n + 1] = normalized(q[at + n - 3 : at + n + 1])
    return q, rng.normal(size=chain.nv), rng.normal(size=chain.nv)
