"""Singular configurations: how a run finds them, and crosses them.

singularity_crossing  crossing of singular configurations, for every method
singularity_search    where the constraints lose rank on the way
run_motion            the motion of a run between and ahead of its steps
collocation           Gauss collocation by Picard's iteration
smooth_branch         the continuation that the velocity selects
branch_selection      whether it does
branch_crossing       the crossing of one singular configuration
near_singular         nearly singular configurations that a run has passed
"""
