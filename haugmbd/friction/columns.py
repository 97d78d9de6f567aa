"""The tables of friction: where the numbers of each joint stand.

INTS       kind of joint, rates, first of its channels, bodies i and j, side of body j, slots of its rows, markers, whether it is exact
REALS      radius, length, preload, thrust radius, law, displacement of a thread for one radian, compliance of the bearing
PATHS      bodies between the joints with friction and the ground, where the recursion over a forest is the solver
TERMS      what an evaluation leaves: directions, rates, coefficients, and the friction found
MODES      of a run with stick: how each joint moves until the next event, and against which direction

A CHANNEL is one rate that friction acts against: q' = B u, with the generalized force B^T f.
"""

from __future__ import annotations

KIND, CHANNELS, FIRST, BODY_I, BODY_J, SIDE_J, N_SLOTS, SLOTS = 0, 1, 2, 3, 4, 5, 6, 7
POINT_I, POINT_J, F_I, G_I, H_I, EXACT, LOADED = 13, 14, 15, 16, 17, 18, 19
STATE_Z, PLACE_Z = 20, 21
"""The first internal state of the law in `m.angles`, and its line in the driver table, see `workspace.internal_states`; -1 for none."""
CHILD, JOINTS_ON_I, JOINTS_ON_J = 22, 23, 24
"""The body behind the joint, -1 where `contraction` has no bound; the number of joints with friction on body i, and on body j."""
PLACE_PRELOAD = 25
"""The line of a preload that changes in the driver table; -1 for a constant one."""
SHARED = 26
"""The number of rows of the model that may share loads by the compliance of bearings, see `shared_loads`; 0 without such bearings."""
INT_COLUMNS = 27

RADIUS, LENGTH, PRELOAD, THRUST_RADIUS, LAW, LEAD, COMPLIANCE = 0, 1, 2, 3, 4, 11, 12
"""COMPLIANCE: (2,) of the bearing, against forces [m/N] and moments [rad/N m]; 0 for a rigid one."""
REAL_COLUMNS = 14

B = 0
"""(3, 12): of each channel force and torque_bar on body i, then on body j."""
RATE, BIAS, ARM, DIRECTION = 36, 39, 42, 45
"""(3,) each: q';  q'' at u' = 0;  sliding speed by rate;  direction of the sliding in the channels, so that friction is -f_t D."""
C_0, C_1, C_2 = 48, 49, 50
"""f_t = C_0 + C_1 N(wrench) + C_2 |thrust|, of sliding."""
S_0, S_1, S_2 = 51, 52, 53
"""Their values at rest: the limit."""
SPEED, STATE = 54, 55
"""Sliding speed [m/s], and how the joint moves: FREE, SLIDES, AT_LIMIT or STICKS."""
FRICTION = 56
"""(3,) friction in the channels [N, N m], positive along them."""
NORMAL, LIMIT, MARGIN = 59, 60, 61
"""Normal force [N], largest friction at rest [N, N m], limit less friction needed."""
AXIS, LEVER = 62, 65
"""(3,) each: the axis h_i;  from the centre of mass of body j to P_j, global."""
SLOPE = 68
"""d f_t / d s of sliding by the law alone, at the reaction found [N s/m, N s], for implicit steps."""
BY_THRUST = 69
COEFFICIENT = 70
"""|sigma0 z + sigma1 z' + sigma2 s| of the LuGre law."""
CHILD_LEVER = 71
"""(3,) From the centre of mass of the body behind the joint to P_j, global."""
PRESSED = 74
"""The preload at this instant [N]; a negative one, of a clutch that is pulled open, presses nothing."""
TERM_COLUMNS = 75

BODY, PARENT, FRICTION_OF, SIDE, IS_CHAIN = 0, 1, 2, 3, 4
"""Of a body on the paths: its number, the line of the body that carries it (-1: the ground), friction of its joint (-1: none), and
whether it is body j (1) or body i (-1) of that joint; whether it carries the body of the next line only (1, otherwise 0)."""
PATH_COLUMNS = 5

MODE, AGAINST, FAST = 0, 1, 4
"""How a joint moves;  (3,) the direction;  the speed at which a joint of several rates follows its velocity [m/s].

Where the mode is FREE the speed is one up to which the joint is at rest, if that is larger than REST: that of a joint that has just stopped
is rounding."""
MODE_COLUMNS = 5

FREE, SLIDES, AT_LIMIT, STICKS, BEGINS, SLOWS = 0.0, 1.0, 2.0, 3.0, 4.0, 5.0
"""FREE in MODES: the state decides.  AT_LIMIT: at rest with the largest friction, while others hold.  Only in MODES, of joints of several
rates that slide too slowly to follow their velocity: BEGINS, along the acceleration; SLOWS, along a fixed direction."""

REST = 1e-9
"""[m/s] A slower joint with exact Coulomb friction is at rest, where no mode says how it moves."""
