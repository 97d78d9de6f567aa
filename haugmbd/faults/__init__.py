"""Faults for teaching: each is a context that breaks one thing in one model, and ends with the block.

    with mbd.faults.wrong_gamma_sign(model) as broken:
        result = mbd.simulate(broken, 1.0, h=1e-3)
    result.violation("velocity")                     # after the block the model is right again: this is the true violation

broken_model     a model with a fault, while its block lasts: rows and forces with one thing wrong
contexts         the faults, by name
fingerprint      which diagnostics see a fault, at which level, and with which order of the step
"""

from haugmbd.faults.contexts import (
    FAULTS,
    forgotten_normalization,
    missing_factor_2,
    no_gyroscopic_term,
    transposed_A,
    world_inertia,
    wrong_gamma_sign,
    wrong_PiBar,
)
from haugmbd.faults.fingerprint import FINGERPRINTS, Fingerprint, fingerprint

__all__ = [
    "FAULTS",
    "FINGERPRINTS",
    "Fingerprint",
    "fingerprint",
    "forgotten_normalization",
    "missing_factor_2",
    "no_gyroscopic_term",
    "transposed_A",
    "world_inertia",
    "wrong_PiBar",
    "wrong_gamma_sign",
]
