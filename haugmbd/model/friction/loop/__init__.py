"""The friction loop: friction depends on the reactions, and the reactions on friction.

arrays       the arrays of the loop
responses    what unit friction does to the whole mechanism
algebra      small dense systems: elimination with dropped rows, the test for a unique solution
sticking     joints that stick, as rows that are switched on
holding      joints that stick stay in place in steps and projections
sliding      joints that slide: Newton's iteration
uniqueness   whether a solution is the only one (Painleve)
contraction  a cheap proof that the friction is unique
anderson     the step of an iteration without columns, and when it is done
recursion    the friction loop of revolute joints of a forest, in sweeps of the recursion
fixed_point  where the loop contracts: an iteration with solutions of the factored system
release      whether joints at rest stick or begin to slide
first_motion the direction in which a joint of several rates begins to slide
solve        friction and multipliers solved together
"""
