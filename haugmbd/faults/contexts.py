"""The faults as contexts: `with fault(model) as broken:`. The model itself is not touched, and `broken` is right again after the block.

A fault that would change nothing in a model is refused, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from haugmbd.errors import UsageError
from haugmbd.faults import broken_model as number_of
from haugmbd.faults.broken_model import BrokenModel, break_model
from haugmbd.model.inspection.given import model_given
from haugmbd.model.model import Model


@contextmanager
def _broken(model: Any, fault: str, number: int, why_not: Callable[[Model], str], parameter: float = 0.0) -> Iterator[BrokenModel]:
    """Yield the model with a fault, and end it. Raise UsageError if the fault would change nothing."""
    whole = model_given(model, fault)
    if isinstance(whole, BrokenModel) and whole.switch.on:
        raise UsageError(
            f"{fault}: the model is broken already, by {whole.fault}. One fault at a time can be recognized: give the model itself."
        )
    why = why_not(whole)
    if why:
        raise UsageError(f"{fault} changes nothing in model {whole.name!r}: {why}.")
    broken = break_model(whole, fault, number, parameter)
    try:
        yield broken
    finally:
        broken.switch.on = False


def _without_rows(model: Model) -> str:
    return "" if model.nc else "it has no constraints"


def _without_mixed_products(model: Model) -> str:
    """Return why gamma of no row has a term 2 a' . b' with two moving factors; "" if one has."""
    for label, (i, j, *_) in zip(model.labels, model.bodies_of_rows(), strict=True):
        if label.kind == "D" or (label.kind == "DP1" and i and j) or (label.kind == "DP2" and i):
            return ""
    return (
        "gamma has a mixed product in D, in DP1 between two moving bodies, and in DP2 whose body i moves, and it has none of these"
    )


def _round(model: Model) -> str:
    """Return why gyroscopic torques vanish; "" if they do not."""
    J_bar = model.J_bar[1:]
    mean = np.trace(J_bar, axis1=1, axis2=2)[:, None, None] / 3.0 * np.eye(3)
    return (
        ""
        if np.abs(J_bar - mean).max(initial=0.0) > 1e-12 * np.abs(J_bar).max(initial=0.0)
        else "all inertias are those of spheres"
    )


def _round_or_massless(model: Model) -> str:
    if (model.tables["INERTIA"] != model.tables["SHIFTED"]).any():
        return "a body has no inertia about an axis, which is another one when the inertia is turned"
    return _round(model)


def _never(model: Model) -> str:
    return ""


def wrong_gamma_sign(model: Any) -> AbstractContextManager[BrokenModel]:
    """Break the sign of gamma: Phi_q u_dot = -gamma.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.

    Raises
    ------
    UsageError
        If the model has no constraints.
    """
    return _broken(model, "wrong_gamma_sign", number_of.WRONG_GAMMA_SIGN, _without_rows)


def missing_factor_2(model: Any) -> AbstractContextManager[BrokenModel]:
    """Leave out the factor 2 of the mixed product in gamma: a_i' . a_j' in place of 2 a_i' . a_j', in DP1, DP2 and D.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.

    Raises
    ------
    UsageError
        If no row of the model has such a product.
    """
    return _broken(model, "missing_factor_2", number_of.MISSING_FACTOR_2, _without_mixed_products)


def world_inertia(model: Any) -> AbstractContextManager[BrokenModel]:
    """Use the inertia in global axes, A J_bar A^T, where that in body axes belongs: in M and in the gyroscopic term.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block. Formulations that are written in Python refuse it.

    Raises
    ------
    UsageError
        If all inertias are those of spheres, or a body has no inertia about an axis.
    """
    return _broken(model, "world_inertia", number_of.WORLD_INERTIA, _round_or_massless)


def no_gyroscopic_term(model: Any) -> AbstractContextManager[BrokenModel]:
    """Leave out omega_bar x J_bar omega_bar.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.

    Raises
    ------
    UsageError
        If all inertias are those of spheres.
    """
    return _broken(model, "no_gyroscopic_term", number_of.NO_GYROSCOPIC_TERM, _round)


def transposed_A(model: Any) -> AbstractContextManager[BrokenModel]:  # noqa: N802
    """Use A^T in place of A for all bodies.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.
    """
    return _broken(model, "transposed_A", number_of.TRANSPOSED_A, _never)


def forgotten_normalization(model: Any, *, length: float = 1.001) -> AbstractContextManager[BrokenModel]:
    """Compute A = E G^T as of Euler parameters that were never normalized: without the division by |p|^2.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.
    length : float
        The length to which |p| has drifted. It is given, because the integrators normalize p after each step.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.

    Raises
    ------
    UsageError
        If length is not a positive number other than 1.
    """
    good = isinstance(length, int | float) and np.isfinite(length) and length > 0.0 and length != 1.0
    if not good:
        raise UsageError(f"forgotten_normalization: length = {length!r} must be a positive number, and not 1.")
    return _broken(model, "forgotten_normalization", number_of.FORGOTTEN_NORMALIZATION, _never, float(length))


def wrong_PiBar(model: Any) -> AbstractContextManager[BrokenModel]:  # noqa: N802
    """Use PiBar in global axes, A PiBar, where the body's axes belong.

    Parameters
    ----------
    model : Model or System
        The model; it is not changed.

    Returns
    -------
    context manager
        It yields the broken model, which is right again after the block.

    Raises
    ------
    UsageError
        If the model has no constraints.
    """
    return _broken(model, "wrong_PiBar", number_of.WRONG_PIBAR, _without_rows)


FAULTS: dict[str, Callable[..., AbstractContextManager[BrokenModel]]] = {
    fault.__name__: fault
    for fault in (
        wrong_gamma_sign,
        missing_factor_2,
        world_inertia,
        no_gyroscopic_term,
        transposed_A,
        forgotten_normalization,
        wrong_PiBar,
    )
}
"""All faults, by name."""
