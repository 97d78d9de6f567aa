"""Exact first and second derivatives of a plain function of t, in Python and in compiled code.

rules          g, g', g'' of the elementary functions
operators      the operators that a Jet and a recorded variable share
jet            Jet: a value with its first two derivatives
tape           a function recorded once
tape_machine   the evaluation of a recorded function in compiled code
"""
