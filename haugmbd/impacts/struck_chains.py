r"""Contacts that are struck through others that are closed, such as touching balls in line: their restitution is a matter of choice.

    at once                c+ = c + W f >= b      all of them together, by Newton's law
    one after the other    f_k = -(1 + e_k) c_k / W_kk,  c <- c + W e_k f_k,  the fastest approach first, until none approaches

Hard bodies whose waves are short beside the gaps between impacts follow the second; both conserve energy for e = 1, and with a gap between
the bodies, however small, they are one law. A row of bodies that all bounce takes the second by default (`contact.impact_laws`), and the
remark has both answers. Where all strike at once, the result of a row is doubtful; one that the ground ends is a choice like any other of
the law, and the contacts of one pair of bodies, such as the corners of a box, are no row. Nothing is said of a law that is given.
Source: Stronge (2018), Impact Mechanics, ch. 10, on chains; Moreau (1988) for the first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from haugmbd.compiled.array_types import Array, Ints
from haugmbd.contact.impact_laws import is_row
from haugmbd.impacts.restitution import restitution
from haugmbd.text_table import first_few

AGREE = 1e-6
"""Relative to the fastest approach: gap rates of both laws that differ by less are the same."""
STILL = 1e-9
"""Relative to the same: a slower approach ends the sequence."""
MOST_IMPACTS = 2000
"""Impacts of the sequence; with less restitution it is a geometric series, and short."""
NAMED = 6
"""Number of contacts that a sentence names before it counts the others."""


class Chain(NamedTuple):
    """Contacts that are struck through closed ones.  text: a sentence, "" without;  doubtful: whether a moving body hands the impulse on"""

    text: str = ""
    doubtful: bool = False


class Struck(NamedTuple):
    """Contacts at an impact: names, bodies (k, 2), restitution (k,), W (k, k) [1/kg].

    before, left, after: gap rates before, without and with the impulses f, (k,) each;  rounding: rates that are zero [m/s];  t: [s]
    """

    names: Sequence[str]
    bodies: Ints
    restitution: Array
    W: Array
    before: Array
    left: Array
    after: Array
    f: Array
    rounding: Array
    t: float


def chain_of(q: Struck) -> Chain:
    """Return the remark on contacts that are struck through closed ones, where both laws differ."""
    acting = q.f > 0.0
    struck, closed = acting & (q.before < -q.rounding), acting & (np.abs(q.before) <= q.rounding)
    if not (closed.any() and (q.restitution[struck] > 0.0).any()):
        return Chain()
    pairs, reached = ({frozenset(pair) for pair in q.bodies[flags].tolist()} for flags in (struck, closed))
    if reached <= pairs:
        return Chain()
    fastest = float(-q.before.min())
    in_sequence = is_row(q.restitution, q.before, q.bodies)
    other = _at_once(q) if in_sequence else one_after_the_other(q.restitution, q.W, q.left, fastest)
    if other is None or np.abs(other - q.after)[acting].max() <= AGREE * fastest:
        return Chain()
    first, closing, both = (
        first_few([repr(name) for name, one in zip(q.names, flags, strict=True) if one], NAMED)
        for flags in (struck, closed, acting)
    )
    k = np.flatnonzero(acting)[:NAMED]
    start = f"at t = {q.t:.9g} s the impact of {first} goes through contacts that are closed, {closing}"
    rates = f"the gaps of {both} open at {_rates(q.after[k], fastest)} [m/s, of angles rad/s]"
    if in_sequence:
        text = (
            f"{start}, which strike one after the other, as hard bodies do: {rates}. They would at {_rates(other[k], fastest)} by Newton's "
            "law for all at once: give impact=mbd.NewtonImpact() for it, or mbd.SequentialImpact() to choose this."
        )
        return Chain(text)
    text = (
        f"{start}, and Newton's law for all at once is a choice: {rates}, and at {_rates(other[k], fastest)} if they strike one after the "
        "other, as hard bodies do. Give impact=mbd.SequentialImpact() for the second, or mbd.NewtonImpact() to choose the first."
    )
    return Chain(text, bool(frozenset().union(*reached) - frozenset().union(*pairs) - {0}))


def _at_once(q: Struck) -> Array | None:
    """Return the gap rates (k,) by Newton's law for all at once; None if there are none."""
    mobile = np.flatnonzero(np.diag(q.W) > 0.0)
    W = q.W[np.ix_(mobile, mobile)]
    f = restitution(W, (np.maximum(0.0, -q.restitution * q.before) - q.left)[mobile], np.diag(W))
    return None if f is None else q.left + q.W[:, mobile] @ f


def one_after_the_other(restitution: Array, W: Array, rates: Array, fastest: float) -> Array | None:
    """Return the gap rates (k,) after single impacts, from those before [m/s]; None if these do not end."""
    c, mobile = rates.copy(), np.diag(W) > 0.0
    for _ in range(MOST_IMPACTS):
        k = int(np.where(mobile, c, 0.0).argmin())
        if c[k] >= -STILL * fastest or not mobile[k]:
            return c
        c -= W[:, k] * (1.0 + restitution[k]) * c[k] / W[k, k]
    return None


def _rates(values: Array, fastest: float) -> str:
    """Return gap rates as text, without their rounding."""
    values = np.where(np.abs(values) <= STILL * fastest, 0.0, values)
    return "(" + ", ".join(f"{value:.4g}" for value in values.tolist()) + ")"
