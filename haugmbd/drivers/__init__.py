"""Prescribed functions of time f(t) with exact first and second derivatives.

driver             Driver, and a constant
user_function      calls of a user's function of time, and their faults
derivative_check   f, f' and f'' compared with each other
functions          drivers from plain Python functions
expression_grammar the grammar of formulas that are given as text
expression         drivers given as text
spline             QuinticSpline through a table
spline_kernel      evaluation of a spline in compiled code
recorded_values    what a recorded function has read, and whether it has changed
program            a driver as numbers that compiled code evaluates
tables             all drivers of a model
autodiff           derivatives of functions of one variable
"""

from haugmbd.drivers.autodiff.jet import Jet
from haugmbd.drivers.driver import Constant, Driver, Unusable
from haugmbd.drivers.expression import Expression
from haugmbd.drivers.functions import Functions, PythonDriver, TimeFunction
from haugmbd.drivers.spline import QuinticSpline
from haugmbd.drivers.tables import (
    DriverTables,
    as_driver,
    call_python_drivers,
    compile_drivers,
    driver_of,
    evaluate_drivers,
    note_what_can_change,
)

__all__ = [
    "Constant",
    "Driver",
    "DriverTables",
    "Expression",
    "Functions",
    "Jet",
    "PythonDriver",
    "QuinticSpline",
    "TimeFunction",
    "Unusable",
    "as_driver",
    "call_python_drivers",
    "compile_drivers",
    "driver_of",
    "evaluate_drivers",
    "note_what_can_change",
]
