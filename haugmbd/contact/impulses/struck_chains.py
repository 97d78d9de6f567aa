r"""Contacts that are struck through others that are closed, such as touching balls in line: their restitution is a matter of choice.

    at once                c+ = c + W f >= b      all of them together, by Newton's law: what `impulse` gives
    one after the other    f_k = -(1 + e_k) c_k / W_kk,  c <- c + W e_k f_k,  the fastest approach first, until none approaches

Hard bodies whose waves are short beside the gaps between impacts follow the second; both conserve energy for e = 1, and with a gap between
the bodies, however small, they are one law.
Source: Stronge (2018), Impact Mechanics, ch. 10, on chains; Moreau (1988) for the first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from haugmbd.compiled.array_types import Array

AGREE = 1e-6
"""Relative to the fastest approach: gap rates of both laws that differ by less are the same."""
STILL = 1e-9
"""Relative to the same: a slower approach ends the sequence."""
MOST_IMPACTS = 2000
"""Impacts of the sequence; with less restitution it is a geometric series, and short."""
NAMED = 6
"""Number of contacts that a sentence names before it counts the others."""


def chain_remark(
    names: Sequence[str], restitution: Array, W: Array, rates: tuple[Array, Array, Array], f: Array, rounding: Array, t: float
) -> str:
    """Return a sentence if contacts are struck through closed ones, and both laws differ; "" otherwise.

    names: (k,) of the contacts;  W: (k, k) [1/kg];  rates: gap rates before, without and with the impulses f, (k,) each [m/s]
    rounding: (k,) rates that are zero [m/s];  t: [s]
    """
    before, left, after = rates
    acting = f > 0.0
    struck, closed = acting & (before < -rounding), acting & (np.abs(before) <= rounding)
    if not (closed.any() and (restitution[struck] > 0.0).any()):
        return ""
    fastest = float(-before.min())
    sequence = one_after_the_other(restitution, W, left, fastest)
    if sequence is None or np.abs(sequence - after)[acting].max() <= AGREE * fastest:
        return ""
    who, closing = (_named([name for name, one in zip(names, flags, strict=True) if one]) for flags in (struck, closed))
    k = np.flatnonzero(acting)[:NAMED]
    of = _named([names[n] for n in np.flatnonzero(acting).tolist()])
    return (
        f"at t = {t:.9g} s the impact of {who} goes through contacts that are closed, {closing}, and Newton's law for all at once is a "
        f"choice: the gaps of {of} open at {_rates(after[k], fastest)} [m/s, of angles rad/s], and at {_rates(sequence[k], fastest)} if "
        "they strike one after the other, as hard bodies do. Leave a small gap between the bodies, such as 1e-6 m, for the second."
    )


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


def _named(names: Sequence[str]) -> str:
    """Return the first few names, and the number of the others."""
    more = len(names) - NAMED
    return ", ".join(map(repr, names[:NAMED])) + (f" and {more} more" if more > 0 else "")
