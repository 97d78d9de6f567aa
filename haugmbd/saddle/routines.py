r"""The questions to the augmented matrix as routines: compiled once each, and called by address from every formulation and integrator.

factorize    K = [ M  Phi_q^T; Phi_q  0 ]  from the rows in J, carrying b along;  a model with dependent rows has `factorize_chosen`
begin        half the way to K x = b, for any other b, with the factor at hand
finish       the other half, after factorize or begin
refine       the same for a model with massless directions, which is factored with a little inertia there

b = (Q, gamma): accelerations and multipliers;   (0, -Phi), (0, nu - Phi_q u): projections;   (P, .): impulses
None of these asks the `teacher`, who answers in their place where the formulation is written in Python: see `saddle.taught`.
"""

from __future__ import annotations

from haugmbd.algebra.jit import entry, inlined, kernel
from haugmbd.algebra.routine import Routine
from haugmbd.algebra.vec3 import Array, Ints
from haugmbd.model import tables as at
from haugmbd.model.status import FREE_AXIS, OK, SINGULAR, report
from haugmbd.model.tables import QUESTION_SIGNATURE, blocks, line, view
from haugmbd.model.user import Asked
from haugmbd.saddle.factor import REFINED, Factor, assemble, backward, factor, forward, refine
from haugmbd.saddle.redundant import Choice, factor_chosen
from haugmbd.saddle.schedule import Steps

SINGULAR_TOL = 1e-13
"""|pivot| / scale below which the rows depend on one another now: rounding of a pivot that should be zero is about 1e-15."""


@inlined
def steps_of(ints: Ints) -> Steps:
    """The order of elimination."""
    return Steps(
        line(ints, ints, at.ORDER),
        line(ints, ints, at.NEAR_AT),
        view(ints, ints, at.NEAR),
        line(ints, ints, at.PAIR_AT),
        view(ints, ints, at.PAIRS),
    )


@inlined
def factor_of(ints: Ints, work: Array) -> Factor:
    """The room of the factorization."""
    return Factor(blocks(work, ints, at.D, 6, 6), view(work, ints, at.D_INV), blocks(work, ints, at.B, 6, 6))


@inlined
def assembled(ints: Ints, reals: Array, work: Array) -> Factor:
    """The blocks of M and the rows."""
    f = factor_of(ints, work)
    assemble(
        view(ints, ints, at.BODY_BLOCK),
        view(ints, ints, at.BODY_FIRST),
        view(reals, ints, at.SHIFTED),
        line(reals, ints, at.PAD),
        blocks(work, ints, at.J, 2, 6),
        f,
    )
    return f


@inlined
def eliminated(ints: Ints, reals: Array, work: Array, f: Factor) -> int:
    """Eliminate, carrying b along; SINGULAR where a pivot vanishes."""
    x = view(work, ints, at.SOLUTION)
    copy(view(work, ints, at.RIGHT), x)
    worst, node = factor(steps_of(ints), view(reals, ints, at.SCALE), f, x)
    if not worst > SINGULAR_TOL:
        return report(line(work, ints, at.STATUS), SINGULAR, node, worst)
    return OK


@entry
def factorize_entry(ints: Ints, reals: Array, work: Array, teacher: Asked) -> int:
    """Factor the augmented matrix of the rows at hand, and go half the way to the solution for b: `finish` goes the other.

    With the tangents of the forces in it, for an implicit step, where the tables have them.
    """
    f = assembled(ints, reals, work)
    add_tangents(ints, work, f)
    return eliminated(ints, reals, work, f)


@entry
def factorize_chosen_entry(ints: Ints, reals: Array, work: Array, teacher: Asked) -> int:
    """The same where rows are dropped: as many rows of each edge as it keeps."""
    f = assembled(ints, reals, work)
    add_tangents(ints, work, f)
    x = view(work, ints, at.SOLUTION)
    copy(view(work, ints, at.RIGHT), x)
    choice = Choice(view(reals, ints, at.PAD), view(reals, ints, at.KEPT), view(reals, ints, at.SCALE), view(work, ints, at.PIVOTS))
    worst, node = factor_chosen(steps_of(ints), choice, f, x)
    if not worst > SINGULAR_TOL:
        return report(line(work, ints, at.STATUS), SINGULAR, node, worst)
    return OK


@inlined
def add_tangents(ints: Ints, work: Array, f: Factor) -> None:
    """Add the tangents of an implicit step, if the tables have them, to the bodies' blocks, and put those of ties in their place."""
    own, tied, ties = blocks(work, ints, at.TANGENT, 6, 6), blocks(work, ints, at.TIE_TANGENT, 6, 6), view(ints, ints, at.TIES)
    for k in range(1, own.shape[0]):
        for a in range(6):
            for c in range(a + 1):
                f.D[k, a, c] += own[k, a, c]
    for n in range(ties.shape[0]):
        block, transposed = ties[n, 2], ties[n, 3] == 1
        for a in range(6):
            for c in range(6):
                f.B[block, a, c] = tied[n, c, a] if transposed else tied[n, a, c]


@entry
def begin_entry(ints: Ints, reals: Array, work: Array, teacher: Asked) -> int:
    """Go half the way to K^-1 b with the factor at hand: `finish` goes the other."""
    x = view(work, ints, at.SOLUTION)
    copy(view(work, ints, at.RIGHT), x)
    forward(steps_of(ints), factor_of(ints, work), x)
    return OK


@entry
def finish_entry(ints: Ints, reals: Array, work: Array, teacher: Asked) -> int:
    """Leave K^-1 b in the solution, for the b of `factorize` or `begin`."""
    backward(steps_of(ints), factor_of(ints, work), view(work, ints, at.SOLUTION))
    return OK


@entry
def refine_entry(ints: Ints, reals: Array, work: Array, teacher: Asked) -> int:
    """Improve the solution until it is that of the true inertia."""
    change, node = refine(
        steps_of(ints),
        factor_of(ints, work),
        view(reals, ints, at.INERTIA),
        line(reals, ints, at.PAD),
        view(ints, ints, at.EDGES),
        blocks(work, ints, at.J, 2, 6),
        view(work, ints, at.RIGHT),
        view(work, ints, at.SOLUTION),
        view(work, ints, at.CORRECTION),
    )
    if not change <= 1e3 * REFINED:
        return report(line(work, ints, at.STATUS), FREE_AXIS, node, change)
    return OK


@kernel
def copy(a: Array, b: Array) -> None:
    """b <- a."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            b[i, j] = a[i, j]


FACTORIZE = Routine(factorize_entry, QUESTION_SIGNATURE)
FACTORIZE_CHOSEN = Routine(factorize_chosen_entry, QUESTION_SIGNATURE)
FINISH = Routine(finish_entry, QUESTION_SIGNATURE)
BEGIN = Routine(begin_entry, QUESTION_SIGNATURE)
REFINE = Routine(refine_entry, QUESTION_SIGNATURE)
NO_REFINE = Routine(None, QUESTION_SIGNATURE)
