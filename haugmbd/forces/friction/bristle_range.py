"""The range of the bristles of LuGre's law, as diagnostics and errors tell it.

sigma0 |z| <= mu_s        is never left by z' = s - sigma0 |s| z / g(s), g <= mu_s, from z = 0 on, but by steps that are too long
"""

from __future__ import annotations

from haugmbd.forces.friction.friction_laws import LuGre

BENT = 1.05
"""Times the largest value of the law: what a step that follows the bristles may exceed it by."""


def relaxation_text(law: LuGre) -> str:
    """Return within which slip bristles relax, and what to do, as the end of a sentence about them."""
    return f"relax within a slip of mu_c / sigma0 = {law.mu_c / law.sigma0:.3g} m. Take shorter steps, rtol=, or BDF."
