"""`mbd.equations`: planes, steps, a student's expressions, motion by other methods, reports, and bad input."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import haugmbd as mbd
from haugmbd.gallery import double_pendulum
from haugmbd.joints import CJ, RJ, SJ

sp = pytest.importorskip("sympy")


@pytest.fixture(scope="module")
def readme():
    """The four-bar of the README: 17 rows."""
    A, B, C, D = np.array([(0, 0, 0), (0, 0, 1), (3, 0, 2), (4, 0, 0)], dtype=float)
    system, ends, across = (
        mbd.System("four-bar", gravity=(0, 0, -9.81)),
        [("crank", A, B), ("coupler", B, C), ("rocker", C, D)],
        (0, 1, 0),
    )
    bodies = [
        system.add(mbd.Body(name, *mbd.inertia.rod(np.linalg.norm(b - a), density=1.0, axis=b - a), r=(a + b) / 2))
        for name, a, b in ends
    ]
    system.add(RJ("A", system.ground, bodies[0], point=A, axis=across))
    system.add(RJ("B", bodies[0], bodies[1], point=B, axis=across))
    system.add(SJ("C", bodies[1], bodies[2], point=C))
    system.add(CJ("D", system.ground, bodies[2], point=D, axis=across))
    return system


@pytest.fixture(scope="module")
def spatial(readme):
    return mbd.equations(readme)


@pytest.fixture(scope="module")
def plane(readme):
    return mbd.equations(readme, planar="xz")


def test_the_four_bar_has_eight_rows_of_the_textbook_in_its_plane(spatial, plane):
    assert spatial.Phi.shape == (17, 1)
    assert plane.Phi.shape == (8, 1)
    assert len(plane.removed) == 9
    assert plane.Phi_q.shape == (8, 9)
    x, phi, s = (sp.Symbol(name, real=True) for name in ("x_crank", "phi_crank", "s_bar_A_j_z"))
    assert sp.simplify(plane.Phi[0] - (x - s * sp.sin(phi))) == 0


def test_accelerations_and_multipliers_of_the_plane_are_those_of_the_spatial_model(plane):
    numbers = plane.lambdify()()
    nc = len(numbers.Phi)
    K = np.block([[numbers.M, numbers.Phi_q.T], [numbers.Phi_q, np.zeros((nc, nc))]])
    x = np.linalg.solve(K, np.concatenate([numbers.Q, numbers.gamma]))
    answer = mbd.accelerations(plane.model)
    assert np.abs(x[:9].reshape(3, 3)[:, :2] - answer.v_dot[1:][:, [0, 2]]).max() < 1e-12 * np.abs(answer.v_dot).max()
    assert np.abs(x[:9].reshape(3, 3)[:, 2] + answer.omega_bar_dot[1:, 1]).max() < 1e-12 * np.abs(answer.omega_bar_dot).max()


def test_phi_p_is_the_part_by_small_rotations_in_euler_parameters(spatial):
    """Phi_p G^T / 2 = PiBar, as dp = G^T dpi_bar / 2."""
    values = {symbol: sp.Float(x, 17) for symbol, x in spatial.values().items()}
    for k, name in enumerate(("crank", "coupler", "rocker")):
        by_p = spatial.Phi_p[:, 4 * k : 4 * k + 4] * spatial.G(name).T / 2
        PiBar = spatial.Phi_q[:, 6 * k + 3 : 6 * k + 6]
        assert np.abs(np.array((by_p - PiBar).xreplace(values), dtype=float)).max() < 1e-14
    symbols = sp.symbols("a b c", real=True)
    p = spatial.symbols.body(spatial.symbols.bodies[1]).p
    assert sp.simplify(spatial.B("crank", symbols) - (spatial.A("crank") * sp.Matrix(symbols)).jacobian(p)) == sp.zeros(3, 4)


@pytest.mark.slow
def test_every_step_of_every_joint_agrees_with_its_numbers(spatial, plane):
    for eq in (spatial, plane):
        for name in eq.joints:
            derivation = eq.derive(name)
            assert derivation.ok, str(derivation)
    text = str(spatial.derive("A"))
    assert all(word in text for word in ("definition", "variation", "identity", "Phi_q", "gamma"))


RIGHT = ("x_crank - s_bar_A_j_z * sin(phi_crank)", "z_crank + s_bar_A_j_z * cos(phi_crank)")


def test_right_expressions_are_right_also_with_a_factor_or_in_vectors(spatial, plane):
    assert plane.check(RIGHT, "A").ok
    assert plane.check([f"-2 * ({RIGHT[0]})", RIGHT[1]], "A").rows[0].factor == -2.0
    assert plane.check(list(plane.Phi)).ok
    assert spatial.check(list(spatial.gamma), quantity="gamma").ok
    axis = "A_crank @ h_bar_A_j"
    assert spatial.check(["r_crank + A_crank @ s_bar_A_j", f"dot(f_bar_A_i, {axis})", f"g_bar_A_i.T @ {axis}"], "A").ok


@pytest.mark.parametrize(
    ("text", "word", "term"),
    [
        ("x_crank + s_bar_A_j_z * sin(phi_crank)", "wrong sign", "s_bar_A_j_z * sin(phi_crank)"),
        ("x_crank - 2 * s_bar_A_j_z * sin(phi_crank)", "factor 0.5", "-2 * s_bar_A_j_z * sin(phi_crank)"),
        ("x_crank", "missing", "-s_bar_A_j_z*sin(phi_crank)"),
        ("x_crank - s_bar_A_j_z * sin(phi_crank) + z_crank", "too much", "z_crank"),
        ("x_crank - s_bar_A_j_z * cos(phi_crank)", "does not have", "-s_bar_A_j_z*cos(phi_crank)"),
        ("-x_crank", "missing", "s_bar_A_j_z*sin(phi_crank)"),
        ("0", "zero at every state", ""),
        ("z_crank - z_crank", "zero at every state", ""),
        ("1e-12 * z_crank", "does not have", "1.0e-12*z_crank"),
        ("0.25", "does not have", "0.250000000000000"),
    ],
)
def test_the_first_wrong_term_is_named(plane, text, word, term):
    found = plane.check([text, RIGHT[1]], "A").first_wrong
    assert word in found.message
    assert found.term == term


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x_crnk", "'x_crank'"),
        ("x_crank +", "not complete"),
        ("__import__('os').system('true')", "no meaning"),
        ("x_crank.__class__", "no meaning"),
        ("(lambda: 1)()", "no meaning"),
        ("[x for x in (1, 2)]", "no meaning"),
        ("9 ** 9 ** 9", "exponent"),
        ("x_crank ^ 2", "**"),
        ("sinn(phi_crank)", "'sin'"),
        ("sin(1, 2)", "1 argument"),
        ("1 / 0", "zero"),
        ("-" * 2500 + "1", "parts"),
        ("1" * 6000, "characters"),
    ],
)
def test_text_is_parsed_and_never_executed(plane, text, words):
    with pytest.raises(mbd.UsageError, match=re.escape(words)):
        plane.check([text, RIGHT[1]], "A")


def test_a_row_of_any_size_is_right_or_wrong_by_its_own_size(plane):
    assert plane.check([f"1e-12 * ({RIGHT[0]})", RIGHT[1]], "A").ok
    assert not plane.check([f"1e-12 * ({RIGHT[0]} + z_crank)", RIGHT[1]], "A").ok
    assert not plane.check(["0"] * 8).ok
    assert not any(row.ok for row in plane.check(["0"] * 8).rows)


def test_a_state_of_another_model_is_refused_by_every_number(spatial, plane):
    other = double_pendulum().compile().state()
    for eq in (spatial, plane):
        for ask in (eq.values, eq.values_of_rows, eq.lambdify(), eq.lambdify("Phi")):
            with pytest.raises(mbd.UsageError, match=r"state of 2 bodies, and model 'four-bar' has 3"):
                ask(other)
            with pytest.raises(mbd.UsageError, match="needs a State"):
                ask([1.0, 2.0])


def test_bad_input_gets_one_sentence(readme, spatial, tmp_path):
    cases = [
        (lambda: spatial.derive("a"), "'A'"),
        (lambda: spatial.check("x", "AA"), "AA"),
        (lambda: spatial.check(["1"], "A"), "has 5"),
        (lambda: spatial.check(["1"], "A", quantity="phi"), "quantity"),
        (lambda: spatial.lambdify("Phy"), "Phi"),
        (lambda: spatial.lambdify("Phi")(m_cranc=1.0), "m_cranc"),
        (lambda: mbd.equations(readme, level="speed"), "position"),
        (lambda: mbd.equations(readme, planar="xx"), "two different axes"),
        (lambda: mbd.equations(readme, planar="xy"), "not planar"),
        (lambda: mbd.equations(spatial.model), "System"),
        (lambda: spatial.report(tmp_path / "x.pdf"), ".html"),
        (lambda: spatial.B("crnk", (1, 0, 0)), "crank"),
    ]
    for call, word in cases:
        with pytest.raises(mbd.UsageError) as error:
            call()
        assert word in str(error.value)


def test_a_page_is_well_formed_and_needs_nothing_else_and_the_tex_is_balanced(plane, tmp_path):
    page = plane.report(tmp_path / "equations.html").read_text(encoding="utf-8")
    for formula in re.findall(r"<math.*?</math>", page):
        ElementTree.fromstring(formula.replace("&#x2061;", ""))
    assert len(re.findall("<math", page)) > 40
    assert not re.findall(r"<script|https?://(?!www\.w3\.org)", page)
    tex = (tmp_path / "equations.tex").read_text(encoding="utf-8")
    assert tex.isascii()
    assert tex.count("{") == tex.count("}")
    assert tex.count(r"\left") == tex.count(r"\right")
    assert tex.count(r"\[") == tex.count(r"\]")
    for kind in set(re.findall(r"\\begin\{(\w+)\}", tex)):
        assert tex.count(rf"\begin{{{kind}}}") == tex.count(rf"\end{{{kind}}}")
    assert r"\gamma" not in mbd.equations(plane.system, planar="xz", level="position").latex()


@pytest.mark.slow
def test_accelerations_of_a_double_pendulum_are_those_of_kane():
    """The formulas of KanesMethod in two angles against the KKT system of the formulas in twelve velocities."""
    from sympy.physics.mechanics import KanesMethod, Point, ReferenceFrame, RigidBody, dynamicsymbols, inertia

    eq = mbd.equations(double_pendulum())
    numbers = eq.lambdify()()
    kept = np.delete(np.arange(eq.model.nc), list(eq.model.redundancy.dropped))
    J = numbers.Phi_q[kept]
    n, nc = len(numbers.M), len(J)
    K = np.block([[numbers.M, J.T], [J, np.zeros((nc, nc))]])
    u_dot = np.linalg.solve(K, np.concatenate([numbers.Q, numbers.gamma[kept]]))[:n].reshape(-1, 6)

    state, bodies, joints_ = eq.model.state(), eq.system.bodies, eq.system.joints
    N = ReferenceFrame("N")
    h = joints_[0].frame_i.A[:, 2]
    axis = sum((float(x) * e for x, e in zip(h, (N.x, N.y, N.z), strict=True)), 0 * N.x)
    q, u = dynamicsymbols("q1:3"), dynamicsymbols("u1:3")
    place = Point("O")
    place.set_vel(N, 0)
    parts, loads, at = [], [], joints_[0].frame_i.point
    for k in range(2):
        body, turned = bodies[k + 1], ReferenceFrame(f"B{k}")
        turned.orient_axis(N, axis, q[k])
        turned.set_ang_vel(N, u[k] * axis)

        def in_body(x, f=turned):
            return sum((float(c) * e for c, e in zip(x, (f.x, f.y, f.z), strict=True)), 0 * f.x)

        centre = place.locatenew(f"C{k}", in_body(body.r - at))
        centre.v2pt_theory(place, N, turned)
        J_global = body.A @ body.J_bar @ body.A.T
        I = inertia(turned, *(float(J_global[a, b]) for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))))
        parts.append(RigidBody(f"L{k}", centre, turned, float(body.mass), (I, centre)))
        loads.append(
            (centre, sum((float(body.mass * g) * e for g, e in zip(eq.system.gravity, (N.x, N.y, N.z), strict=True)), 0 * N.x))
        )
        if k == 0:
            following = joints_[1].frame_j.point
            place, at = place.locatenew("P", in_body(following - at)), following
            place.set_vel(N, u[0] * axis.cross(in_body(following - joints_[0].frame_i.point)))
    kane = KanesMethod(N, q_ind=q, u_ind=u, kd_eqs=[a.diff() - b for a, b in zip(q, u, strict=True)])
    kane.kanes_equations(parts, loads)
    rates = [float(h @ (bodies[k].A @ state.omega_bar[k])) for k in (1, 2)]
    put = {**dict.fromkeys(q, 0), **dict(zip(u, rates, strict=True))}
    M = np.array(kane.mass_matrix.subs(put), dtype=float)
    F = np.array(kane.forcing.subs(put), dtype=float).ravel()
    qdd = np.linalg.solve(M, F)
    own = [float(h @ (bodies[k].A @ u_dot[k - 1, 3:])) for k in (1, 2)]
    assert np.abs(np.array(own) - qdd).max() < 1e-12 * max(1.0, np.abs(qdd).max())


@pytest.mark.slow
def test_accelerations_of_a_four_bar_are_those_of_lagrange_in_its_plane(plane):
    """d/dt (dT/dq') - dT/dq + dV/dq + Phi_q^T lam = 0 by LagrangesMethod, with the rows of the plane as its constraints."""
    from sympy.physics.mechanics import LagrangesMethod, dynamicsymbols

    t = dynamicsymbols._t
    moving = [dynamicsymbols(str(q)) for q in plane.q]
    put = dict(zip(plane.q, moving, strict=True))
    put_u = dict(zip(plane.u, [q.diff(t) for q in moving], strict=True))
    u = plane.u.xreplace(put_u)
    V = -sum(f * q for f, q in zip(plane.Q, moving, strict=True))  # weights alone
    L = (u.T * plane.M * u)[0] / 2 - V
    lagrange = LagrangesMethod(L, moving, hol_coneqs=list(plane.Phi.xreplace(put)))
    lagrange.form_lagranges_equations()
    values = plane.values()
    numbers = {symbol: sp.Float(x, 17) for symbol, x in plane.parameters.items()}
    rates = {q.diff(t): values[s] + 0.3 * k for k, (q, s) in enumerate(zip(moving, plane.u, strict=True))}
    numbers |= {t: 0}

    def at(x):
        return np.array(x.subs(rates).subs({q: values[s] for q, s in zip(moving, plane.q, strict=True)}).subs(numbers), dtype=float)

    K, b = at(lagrange.mass_matrix_full), at(lagrange.forcing_full).ravel()
    theirs = np.linalg.solve(K, b)[9:18]
    own = {**values, **{s: values[s] + 0.3 * k for k, s in enumerate(plane.u)}}
    K, b = (np.array(x.xreplace({s: sp.Float(v, 17) for s, v in own.items()}), dtype=float) for x in plane.KKT[:2])
    ours = np.linalg.solve(K, b.ravel())[:9]
    assert np.abs(ours - theirs).max() < 1e-12 * np.abs(theirs).max()


def test_functions_of_the_user_are_symbols_with_a_name_and_loads_without_a_formula_are_one_symbol():
    system = mbd.System("driven", gravity=(0, 0, -9.81))
    bar = system.add(mbd.Body("bar", 2.0, (0.1, 0.2, 0.15), r=(0.5, 0, 0)))
    pin = system.add(RJ("pin", system.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))

    def pull(t, l, l_dot):
        return 3.0 + l_dot

    system.add(mbd.TSDA("spring", system.ground, bar, point_i=(0, 0, 1), point_j=(1, 0, 0), k=10.0, l0=0.5, actuator=pull))
    system.add(mbd.JointFriction("friction", pin, mbd.Viscous(0.2)))
    eq = mbd.equations(system)
    state = eq.model.state().replace(omega_bar=[(0, 0, 0), (0, 1.0, 0)], v=[(0, 0, 0), (0, 0, -0.5)])
    numbers = eq.lambdify()(state)
    answer, rows = mbd.accelerations(eq.model, state), mbd.evaluate(eq.model, state)
    needed = numbers.M @ np.hstack([answer.v_dot, answer.omega_bar_dot])[1:].ravel() + rows.Phi_q.T @ answer.lam
    assert np.abs(numbers.Q - needed).max() < 1e-12 * np.abs(needed).max()
    assert eq.forces.other == ["friction"]
    assert any("actuator" in str(atom) and "spring" in words for atom, words in eq.functions.items())
    assert abs(numbers.Q[4] - eq.lambdify("Q")(state, k_spring=20.0)[4]) > 0.1


def test_thirty_bodies_are_shown_joint_by_joint_at_once():
    from haugmbd.gallery import chain

    eq = mbd.equations(chain(30))
    name = eq.joints[-1]
    assert len(eq.rows_of(name)) == len(eq.derive(name).rows)
    with pytest.raises(mbd.UsageError, match="30 bodies"):
        eq.latex()
