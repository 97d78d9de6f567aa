"""The friction loop: friction depends on the reactions, and the reactions on friction.

arrays       the arrays of the loop
responses    what unit friction does to the whole mechanism
algebra      small dense systems: elimination with dropped rows, the test for a unique solution
sticking     joints that stick, as rows that are switched on
holding      joints that stick stay in place in steps and projections
sliding      joints that slide: Newton's iteration
uniqueness   whether a solution is the only one (Painleve)
contracting  where the loop contracts: the proof, and an iteration
recursion    the friction loop of revolute joints of a forest, in sweeps of the recursion
release      whether joints at rest stick or begin to slide
first_motion the direction in which a joint of several rates begins to slide
solve        friction and multipliers solved together
"""
