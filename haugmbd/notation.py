"""The conventions of haugmbd as data: each symbol has one name in code and one meaning; the table lists what other sources write.

Data in other conventions are converted where they enter. Row 0 of every body array is the ground; `_bar` = body frame; identifiers
are ASCII, texts may be Greek.

The column of other sources names them by topic: chain impulses (impulses in serial chains, Mirtich 1996), spatial vectors (Featherstone
2008), projected Newton-Euler, articulated bodies, and Haug (2021).
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Symbol:
    """One row of the table.

    Attributes
    ----------
    symbol : str
        The symbol in texts.
    code : tuple of str
        Its names in code.
    shape, unit, meaning : str
        Shape of the array, unit, and meaning.
    clashes : dict of str to str
        Source to what it writes instead, and how to convert.
    """

    symbol: str
    code: tuple[str, ...]
    shape: str
    unit: str
    meaning: str
    clashes: dict[str, str] = field(default_factory=dict)


NOTATION: tuple[Symbol, ...] = (
    Symbol(
        "r",
        ("r",),
        "(nb+1, 3)",
        "m",
        "centre of mass, global frame",
        {"chain impulses, spatial vectors": "spatial quantities are taken at the world origin"},
    ),
    Symbol(
        "p = (e0, e)",
        ("p",),
        "(nb+1, 4)",
        "1",
        "Euler parameters, scalar first, |p| = 1",
        {"numpy-quaternion": "the same order (w, x, y, z)", "SciPy Rotation": "scalar-last: p[[1, 2, 3, 0]]"},
    ),
    Symbol("r-dot", ("v",), "(nb+1, 3)", "m/s", "velocity of the centre of mass, global frame"),
    Symbol(
        "omega-bar",
        ("omega_bar",),
        "(nb+1, 3)",
        "rad/s",
        "angular velocity, body frame",
        {"chain impulses": "z is in the world frame: R_(i-1) z_i; omega = A omega_bar"},
    ),
    Symbol(
        "A",
        ("A",),
        "(3, 3)",
        "1",
        "rotation matrix, A = E G^T; a = A a_bar",
        {"chain impulses": "A_i^-1 is the constrained inverse inertia"},
    ),
    Symbol(
        "E",
        ("E",),
        "(3, 4)",
        "1",
        "[-e, e~ + e0 I]; omega = 2 E p_dot",
        {"spatial vectors": "the rotation from components in A to components in B: `R` of the spatial transforms"},
    ),
    Symbol("G", ("G",), "(3, 4)", "1", "[-e, -e~ + e0 I]; omega_bar = 2 G p_dot, p_dot = G^T omega_bar / 2"),
    Symbol("s-bar", ("s_bar_i", "s_bar_j"), "(3,)", "m", "point fixed on body i (j), body frame, from the centre of mass"),
    Symbol("a-bar", ("a_bar_i", "a_bar_j"), "(3,)", "1", "vector fixed on body i (j), body frame"),
    Symbol("d_ij", ("d_ij",), "(3,)", "m", "r_j + A_j s_bar_j - r_i - A_i s_bar_i"),
    Symbol("m", ("mass",), "(nb+1,)", "kg", "mass"),
    Symbol("u_rel", ("exhaust",), "(3,)", "m/s", "velocity of what leaves a body whose mass changes, against it, body frame"),
    Symbol(
        "J-bar",
        ("J_bar",),
        "(3, 3)",
        "kg m2",
        "inertia about the centre of mass, body frame, positive semi-definite",
        {
            "chain impulses, spatial vectors": "spatial inertia about the world origin: shift by the parallel-axis theorem",
            "spatial vectors, projected Newton-Euler": "I",
        },
    ),
    Symbol(
        "Phi",
        ("Phi",),
        "(nc,)",
        "m, m2 or 1",
        "constraints, Phi = 0",
        {
            "chain impulses": "Phi_i is an impulse propagation matrix: `propagation`",
            "spatial vectors": "Phi is the inverse inertia: `inverse_inertia`",
        },
    ),
    Symbol("Phi_q", ("Phi_q",), "(nc, 6 nb)", "", "Jacobian, Phi_q u = nu, with u = (v, omega_bar)", {"spatial vectors": "K"}),
    Symbol("nu", ("nu",), "(nc,)", "", "right-hand side of the velocity equation, Phi_q u = nu"),
    Symbol(
        "gamma",
        ("gamma",),
        "(nc,)",
        "",
        "right-hand side of the acceleration equation, Phi_q u_dot = gamma",
        {"spatial vectors": "k"},
    ),
    Symbol("Phi_r", ("Phi_r",), "(nc, 2, 3)", "", "delta Phi = Phi_r dr + PiBar dpi_bar, for bodies i and j"),
    Symbol("Pi-bar", ("PiBar",), "(nc, 2, 3)", "", "the same for a small rotation, body frame; Phi_p = 2 PiBar G"),
    Symbol(
        "lambda",
        ("lam",),
        "(nc,)",
        "N, N/m or N m",
        "multipliers, M u_dot + Phi_q^T lam = Q; the reaction on a body is -Phi_q^T lam",
        {"Haug": "the same sign", "chain impulses": "the external impulse n J acts as -n J: the body hits a fixed object"},
    ),
    Symbol(
        "lambda^p",
        ("lam_p",),
        "(nb+1,)",
        "N m",
        "multipliers of (p^T p - 1) / 2 = 0 in the r-p form: 2 omega_bar^T J_bar omega_bar, whatever the joints are",
    ),
    Symbol(
        "Lambda",
        ("Lam",),
        "(nc,)",
        "N s",
        "impulses, M (u+ - u-) + Phi_q^T Lam = P",
        {"chain impulses": "J, and l_i for a joint's reaction impulse"},
    ),
    Symbol(
        "twist, wrench",
        ("twist", "wrench"),
        "(6,)",
        "",
        "linear part first, everywhere",
        {
            "chain impulses": "linear first, at the world origin",
            "spatial vectors": "angular first (Pluecker), at the world origin",
            "articulated bodies": "angular first, at the centre of mass",
        },
    ),
    Symbol(
        "S",
        ("S",),
        "(6, k)",
        "",
        "basis of the twists that a joint allows",
        {"chain impulses": "s_i, one column", "spatial vectors": "s_i, S"},
    ),
    Symbol(
        "I^-1",
        ("inverse_inertia",),
        "(6, 6)",
        "",
        "inverse spatial inertia of a body, apparent or articulated: twist (its change) from wrench (impulse)",
        {"chain impulses": "A_i^-1", "spatial vectors": "Phi"},
    ),
    Symbol(
        "Phi_i of chain impulses",
        ("propagation",),
        "(6, 6)",
        "1",
        "impulse propagation, l_i = propagation n J",
        {"chain impulses": "Phi_i; its Psi_i is a temporary"},
    ),
    Symbol(
        "f, f', f''",
        ("f", "f_dot", "f_ddot"),
        "(nd,)",
        "",
        "driver and its time derivatives; for D, f is the distance, f > 0",
        {"Haug": "D: f^2 inside"},
    ),
)


def table() -> str:
    """Return the table as Markdown, one row per symbol."""
    head = ["| symbol | code | shape | unit | meaning | elsewhere |", "|---|---|---|---|---|---|"]
    return "\n".join(head + [_row(entry) for entry in NOTATION])


def _row(entry: Symbol) -> str:
    """Return one row of the table."""
    code = ", ".join(f"`{name}`" for name in entry.code)
    clashes = "; ".join(f"{source}: {text}" for source, text in entry.clashes.items())
    cells = (entry.symbol, code, entry.shape, entry.unit, entry.meaning, clashes)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
