"""Friction in joints, proportional to their own reactions, in compiled code.

columns       the tables of friction, and the places of their numbers
tables        the constant tables
load          what a joint carries: its wrench, and the normal force of its friction
channels      rates, directions and coefficients of friction at a state
loop          friction and multipliers solved together, with joints that stick
tangents      damping by friction, for implicit steps
stages        the stages of the routine
routine       the entry point that evaluations call by address
"""
