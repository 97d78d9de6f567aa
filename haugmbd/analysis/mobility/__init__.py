"""Degrees of freedom, dependent rows and unique reactions.

free_motions            free motions at a state, by singular values, and in words
instantaneous_motions   the remaining motions, by named bodies, from the freedoms of joints, block by block
dependent_rows          dependent rows by joint
likely_mistakes         loops that one axis locks; probable mistakes: units, order of moments, free bodies
report                  Mobility, and its text
mobility                mobility
"""
