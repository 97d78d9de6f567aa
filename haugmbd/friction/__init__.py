"""Friction in joints, by what they carry: their reactions and their friction are solved for together.

    routine        the entry point that evaluations call by address, and its stages

what there is
    columns        where the numbers of each joint stand
    tables         the constant tables, and the sizes of the work arrays
    load           what a joint carries: its wrench, and the normal force of its friction
    channels       rates, directions and coefficients of friction at a state; damping by friction, for implicit steps

the loop: friction depends on reactions, and reactions on friction
    loop           friction and multipliers solved together
    loop_arrays    the arrays of the loop
    responses      what unit friction does to the whole mechanism
    sticking       joints that stick, as rows that are switched on; they stay in place in steps and projections
    sliding        joints that slide: Newton's iteration, and whether a solution is the only one (Painleve)
    contraction    where the loop contracts: the proof, and an iteration
    release        whether joints at rest stick or begin to slide
    first_motion   the direction in which a joint of several rates begins to slide

the loop of revolute joints of a forest, in sweeps of the recursion
    sweeps         inward and outward sweeps, until friction and reactions agree
    sweep_lanes    their arrays, and the normal forces of eight joints at once
    own_slopes     slopes of joints through their own friction
    one_joint      the friction of a joint that is the only one
    locks          joints that stick, locked

The parts that a user adds, `JointFriction` and its laws, are in `forces`; stick and slip as events of a run in `integrators.stick_slip`.
"""
