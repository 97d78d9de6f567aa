"""The violation of one run: its law over time, its joints, and the condition of the constraints.

signal                 the violation of a result as one number over time
trend_fits             least-squares fits of trends over time
random_walk            a test for uncorrelated increments
law_choice             the choice of a law, with its evidence
drift_law              the law that a violation follows over time
violation_by_joint     the violation of each joint over time
constraint_condition   the condition of the constraints at a pose
violation_condition    how fast the violation grows against the condition
"""
