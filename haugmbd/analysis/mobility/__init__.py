"""What moves, which rows depend on others, and which reactions are unique.

twist_format            motions in words
remaining_freedom       what rows leave free at a state
joint_freedoms          which joint freedoms drive a motion
instantaneous_motions   the motions that remain, by named bodies
dependent_rows          dependent rows by joint
reaction_uniqueness     which reaction components are unique
locked_loops            loops that one axis keeps from moving
plausibility            what is allowed and looks like a mistake
report                  Mobility, and its text
mobility                mobility
"""
