"""Methods at several settings: what steps, tolerances and intervals of projection do to errors, violations and costs.

settings              runs at several settings, and their errors against one reference
order_fit             the order of errors over steps, with its confidence
convergence           orders of methods in every group of errors
work_precision        costs of methods for an error
projection_interval   what is lost if constraints are projected at every n-th step only
tolerance_map         error, violation and cost over relative and absolute tolerance
"""
